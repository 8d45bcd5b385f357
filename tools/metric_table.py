"""Writes the documentation's table of metrics from their records.

``python tools/metric_table.py`` writes ``docs/metrics.md``; ``--check`` fails if that file is out of date.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from recframe.metrics import METRICS, CutMetric, Metric
from recframe.metrics._options import options_of

PAGE = Path(__file__).parent.parent / "docs" / "metrics.md"

HEAD = """# Metrics

Written by `tools/metric_table.py` from the records in `src/recframe/metrics/`. Each value is that of one list; the mean
over lists carries the same name. Every metric also accepts the roles and policies of [the contract](contract.md), and
`help(recframe.EagerRec.ndcg)` shows all of it in a notebook.

h(k): relevant rows among the top k · R: relevant items of the list, ranked or not · N: ranked rows · r: position.

Each metric has a page with an example by hand, when to use it and who computes the same under which name.

Names in strings do not depend on case and underscores, and may carry the cutoff as trec_eval writes it: `"nDCG@10"`,
`"HitRate@5"`, `"P_5"`, `"map_cut_10"`. The first name is that of the method and of the column. An alias sets the
options in its parentheses.

| names | what it is | formula | options, default first | range | better | reference |
| --- | --- | --- | --- | --- | --- | --- |
"""


def bound(number: float) -> str:
    """Return an end of a range."""
    return {math.inf: "∞", -math.inf: "−∞"}.get(number, f"{number:g}")


def options(kind: type[Metric]) -> str:
    """Return the options of a metric with their values."""
    found = [] if issubclass(kind, CutMetric) else ["accepts no k"]
    for option in options_of(kind):
        if option.name != "k":
            default, *others = [f'"{value}"' if value in option.words else value for value in option.values]
            found.append(", ".join([f"`{option.name}={default}`", *(f"`{other}`" for other in others)]))
    found += [f"needs `{name}=`" for name in kind.required_inputs]
    return "; ".join(found + [f"accepts `{name}=`" for name in kind.optional_inputs])


def names(kind: type[Metric]) -> str:
    """Return the name, which leads to the metric's page, and the aliases."""
    return ", ".join([f"[`{kind.name}`](metrics/{kind.name}.md)", *(f"`{alias}`" for alias in kind.aliases)])


def page() -> str:
    """Return the whole page."""
    rows = [
        f"| {names(kind)} | {kind.summary} | {kind.formula} | {options(kind)} "
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
