"""Writes the documentation's table of metrics from their records.

``python tools/metric_table.py`` writes ``docs/metrics.md``; ``--check`` fails if that file is out of date.
"""

from __future__ import annotations

import math
import sys
import tomllib
from pathlib import Path

from recframe.metrics import METRICS, Metric
from recframe.metrics._families import FAMILIES

NOTES = tomllib.loads((Path(__file__).parent / "metric_notes.toml").read_text(encoding="utf-8"))
PAGE = Path(__file__).parent.parent / "docs" / "metrics.md"

HEAD = """# Metrics

<!-- Written by tools/metric_table.py from the records in src/recframe/metrics. -->

COUNT metrics. Most of them are computed for each list and averaged over lists. [Choose a metric](choose.md) asks what
you want to know, and names one.

Each metric has a page with an example by hand, its options, and who computes the same under which name. In a notebook,
`help(recframe.EagerRec.ndcg)` shows it too. All accept the
[roles and policies](api/measure.md#roles-and-policies) of calls.

Names in strings do not depend on case and underscores, and may carry the cutoff as trec_eval writes it: `"nDCG@10"`,
`"HitRate@5"`, `"P_5"`, `"map_cut_10"`. The first name is the name of the method and of the column. An alias sets the
options in its parentheses. `undefined=` and `lists=` may stand there too, [for this metric
alone](concepts/undefined.md): `"precision(undefined=0)@10"`.

"""
FAMILY = """
## {title}

| metric | names | what it is | range |
| --- | --- | --- | --- |
{rows}
"""
LETTERS = """
## Letters in formulas

h(k): relevant rows among the top k · R: relevant items of the list, ranked or not · N: ranked rows · r: position.
"""


def bound(number: float) -> str:
    """Return an end of a range."""
    return {math.inf: "∞", -math.inf: "−∞"}.get(number, f"{number:g}")


def interval(kind: type[Metric]) -> str:
    """Return the range of a metric, and which of its ends is the better one."""
    ends = f"{bound(kind.range[0])} … {bound(kind.range[1])}"
    return ends if kind.higher_is_better else f"{ends}, lower is better"


def family_of(kind: type[Metric]) -> str:
    """Return the name of the family that holds a metric."""
    module = kind.__module__.rpartition(".")[2]
    for name, (_, modules) in FAMILIES.items():
        if module in modules:
            return name
    msg = f"{kind.name}: name the module {module!r} in recframe/metrics/_families.py"
    raise SystemExit(msg)


def row(kind: type[Metric]) -> str:
    """Return the row of a metric: its title, which leads to its page, its names, what it is and its range."""
    names = ", ".join(f"`{name}`" for name in (kind.name, *kind.aliases))
    return f"| [{NOTES[kind.name]['title']}](metrics/{kind.name}.md) | {names} | {kind.summary} | {interval(kind)} |"


def page() -> str:
    """Return the whole page."""
    kinds = [*METRICS.values()]
    families = [
        FAMILY.format(title=title, rows="\n".join(row(kind) for kind in kinds if family_of(kind) == family))
        for family, (title, _) in FAMILIES.items()
    ]
    return HEAD.replace("COUNT", str(len(kinds))).rstrip() + "\n" + "".join(families) + LETTERS


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
