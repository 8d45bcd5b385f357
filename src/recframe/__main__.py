"""Run the command line: ``python -m recframe``."""

from recframe.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
