"""The command line: options made from the roles, files in, tables out, gates.

`texts.py` is the table of commands and imports no more than `--help` needs. Every command makes a call of the
namespace; it computes nothing itself.
"""
