"""The command line: options made from the roles, files in, tables out, gates."""
