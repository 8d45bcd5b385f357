"""Writes the documentation's table of metrics from their records.

``python tools/metric_table.py`` writes ``docs/metrics.md``; ``--check`` fails if that file is out of date.
"""

from __future__ import annotations

import math
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_args

from recframe.metrics import METRICS, Metric

PAGE = Path(__file__).parent.parent / "docs" / "metrics.md"

HEAD = """# Metrics

Written by `tools/metric_table.py` from the records in `src/recframe/metrics/`. Each value is that of one list; the mean
over lists carries the same name. Every metric also takes the roles and policies of [the contract](contract.md), and
`help(recframe.EagerRec.ndcg)` shows all of it in a notebook.

h(k): relevant rows among the top k · R: relevant items of the list, ranked or not · N: ranked rows · r: position.

Names in strings do not depend on case and underscores, and may carry the cutoff as trec_eval writes it: `"nDCG@10"`,
`"HitRate@5"`, `"P_5"`, `"map_cut_10"`. The first name is that of the method and of the column. An alias stands for the
options in its parentheses.

| names | what it is | formula | options, default first | range | better | reference |
| --- | --- | --- | --- | --- | --- | --- |
"""


def bound(number: float) -> str:
    """Return an end of a range."""
    return {math.inf: "∞", -math.inf: "−∞"}.get(number, f"{number:g}")


def options(kind: type[Metric]) -> str:
    """Return the options of a metric with their values."""
    module = sys.modules[kind.__module__]
    found = []
    for field in fields(kind):
        if field.name == "k":
            continue
        choices = _choices(getattr(module, str(field.type), None))
        default = f'"{field.default}"' if isinstance(field.default, str) else str(field.default)
        others = [f'"{choice}"' if choice != "function" else choice for choice in choices if choice != field.default]
        found.append(f"`{field.name}={default}`" + "".join(f", `{other}`" for other in others))
    cut = [] if "k" in {field.name for field in fields(kind)} else ["takes no k"]
    beside = [f"needs `{name}=`" for name in kind.required_inputs] + [
        f"takes `{name}=`" for name in kind.optional_inputs
    ]
    return "; ".join(cut + found + beside)


def _choices(alias: object) -> list[str]:
    """Return the values of a Literal type, or of the union of one with a function."""
    found: list[str] = []
    for part in get_args(alias):
        if isinstance(part, str):
            found.append(part)
        else:
            nested = _choices(part)
            found += [value for value in nested or ["function"] if value not in found]
    return found


def page() -> str:
    """Return the whole page."""
    rows = [
        f"| {', '.join(f'`{name}`' for name in (kind.name, *kind.aliases))} | {kind.summary} | {kind.formula} "
        f"| {options(kind)} "
        f"| {bound(kind.range[0])} … {bound(kind.range[1])} | {'higher' if kind.higher_is_better else 'lower'} "
        f"| {kind.reference} |"
        for kind in METRICS.values()
    ]
    return HEAD + "\n".join(rows) + "\n"


def main() -> int:
    """Write the page, or with --check compare it."""
    if "--check" in sys.argv:
        current = PAGE.read_text(encoding="utf-8") == page()
        if not current:
            sys.stderr.write(f"{PAGE.name} is out of date: run python tools/metric_table.py\n")
        return 0 if current else 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
