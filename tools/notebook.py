"""Runs the scripts of ``docs/notebooks`` and writes them as notebooks, with what their cells show.

``python tools/notebook.py`` writes ``docs/notebooks/*.ipynb``. A script is cells, as those of the tutorials;
the last expression of a cell is its output. No Jupyter is needed. ``python tools/notebook.py tracking`` writes one.
The notebook of a decision is a page too: ``docs/decide.md``, with its charts in ``docs/pictures``.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import tutorials

DOCS = Path(__file__).parent.parent / "docs"
SCRIPTS = DOCS / "notebooks"
PAGE = DOCS / "decide.md"


def run(script: Path) -> dict[str, Any]:
    """Return the notebook of a script."""
    names: dict[str, Any] = {"__name__": script.stem}
    cells: list[dict[str, Any]] = []
    for number, (is_text, body) in enumerate(tutorials.cells(script.read_text(encoding="utf-8"))):
        if is_text:
            text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.splitlines())
            cells.append({"cell_type": "markdown", "id": f"cell-{number}", "metadata": {}, "source": lines(text)})
            continue
        cells.append(
            {
                "cell_type": "code",
                "execution_count": number,
                "id": f"cell-{number}",
                "metadata": {},
                "outputs": outputs_of(body, names, number),
                "source": lines(body),
            }
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def outputs_of(body: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run a cell, and return what it prints and what its last expression is."""
    tree = ast.parse(body)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - the documentation's own script
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307 - the same
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None:
        outputs.append(
            {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": bundle(value)}
        )
    return outputs


def bundle(value: Any) -> dict[str, Any]:
    """Return a value as notebooks show it: charts as images, which need no network."""
    if hasattr(value, "to_dict") and hasattr(value, "save"):
        image = io.BytesIO()
        value.save(image, format="png", scale_factor=1)
        return {"image/png": base64.b64encode(image.getvalue()).decode(), "text/plain": ["<chart>"]}
    if hasattr(value, "_repr_png_"):
        return {"image/png": base64.b64encode(value._repr_png_()).decode(), "text/plain": ["<image>"]}
    if hasattr(value, "to_markdown"):
        return {"text/markdown": lines(value.to_markdown()), "text/plain": lines(repr(value))}
    return {"text/plain": lines(str(value))}


def page(notebook: dict[str, Any]) -> tuple[str, list[bytes]]:
    """Return a notebook as a page and its images."""
    parts, images = [], []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```py\n{source}\n```")
        for output in cell.get("outputs", []):
            data = output.get("data", {"text/plain": output.get("text")})
            if "image/png" in data:
                images.append(base64.b64decode(data["image/png"]))
                parts.append(f"![Chart {len(images)} of the decision](pictures/decision-{len(images)}.png)")
            elif "text/markdown" in data:
                parts.append("".join(data["text/markdown"]))
            else:
                parts.append(f"``` {{ .text .output }}\n{''.join(data['text/plain']).rstrip()}\n```")
    title, _, rest = "\n\n".join(parts).partition("\n")
    note = "[The notebook](notebooks/decision.ipynb), and [its script](notebooks/decision.py)."
    return f"{title}\n\n{note}\n{rest}\n", images


def lines(text: str) -> list[str]:
    """Return a text as notebooks store it."""
    return text.splitlines(keepends=True)


def main() -> int:
    """Write the notebooks, all or those that are named."""
    for script in tutorials.scripts(SCRIPTS, sys.argv[1:]):
        target = script.with_suffix(".ipynb")
        notebook = run(script)
        target.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        if script.stem == "decision":
            text, images = page(notebook)
            PAGE.write_text(text, encoding="utf-8")
            for number, image in enumerate(images, 1):
                (DOCS / "pictures" / f"decision-{number}.png").write_bytes(image)
        sys.stderr.write(f"{target.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
