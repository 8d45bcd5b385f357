"""Wraps the examples of pages that are wider than the 80 columns of the site: ``python tools/wrap_examples.py``.

Only statements that are too wide change, and lists that are printed. Comments of such statements move above them.
"""

from __future__ import annotations

import io
import re
import subprocess
import textwrap
import tokenize
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
FENCE = re.compile(r"^( *)```(python|py)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
FLAG = re.compile(r" *# doctest: .*$", re.MULTILINE)
WIDTH = 80
RUFF = ["ruff", "format", "--isolated", "--line-length", str(WIDTH), "--stdin-filename", "example.py", "-"]


def without_wide_comments(code: str) -> tuple[list[str], str]:
    """Return the comments at the end of lines that are too wide, and the code without them."""
    lines, comments = code.split("\n"), []
    for token in tokenize.generate_tokens(io.StringIO(code + "\n").readline):
        row, column = token.start[0] - 1, token.start[1]
        if token.type == tokenize.COMMENT and len(lines[row]) > WIDTH and lines[row][:column].strip():
            comments += textwrap.wrap(token.string.lstrip("# "), WIDTH - 2)
            lines[row] = lines[row][:column].rstrip()
    return comments, "\n".join(lines)


def statement(lines: list[str]) -> list[str]:
    """Return the lines of a statement with its prompts, wrapped if it is too wide."""
    code = "\n".join(line[4:] for line in lines)
    flag = FLAG.search(code)
    comments, code = without_wide_comments(FLAG.sub("", code))
    if any(len(line) > WIDTH for line in code.split("\n")):
        done = subprocess.run(RUFF, input=code, capture_output=True, text=True, check=True)  # noqa: S603 - a page
        code = done.stdout.rstrip("\n")
    first, *rest = code.split("\n")
    body = [f">>> {first}{flag[0] if flag else ''}", *(f"... {line}".rstrip() for line in rest)]
    return [*(f">>> # {line}" for line in comments), *body]


def printed(lines: list[str]) -> list[str]:
    """Return a line of output, wrapped if it is a list or dict: tests compare its words."""
    return [part for line in lines for part in (textwrap.wrap(line, WIDTH) if line[:1] in {*"[{("} else [line])]


def block(match: re.Match[str]) -> str:
    """Return a block of code with its statements wrapped."""
    indent = match[1]
    groups: list[list[str]] = []
    for line in (line.removeprefix(indent) for line in match[3].splitlines()):
        if line.startswith("... ") or line == "...":
            groups[-1].append(line)
        else:
            groups.append([line])
    new = [line for group in groups for line in (statement(group) if group[0].startswith(">>> ") else printed(group))]
    return f"{indent}```{match[2]}\n" + "".join(f"{indent if line else ''}{line}\n" for line in new) + f"{indent}```"


def main() -> None:
    """Wrap the examples of all pages."""
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (new := FENCE.sub(block, text)) != text:
            page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
