"""The text of the namespace: the columns that it reads, and its calls grouped by question."""

from __future__ import annotations

from contextlib import suppress
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

from recframe._base.roles import ROLES
from recframe._base.values import as_tuple
from recframe._engines.column_spec import ColumnSpec, Source
from recframe._engines.registry import adapter_of, is_frame, kind_of
from recframe._plan.request import Request
from recframe.errors import MissingColumnError, RecError, quoted
from recframe.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recframe._plan.query import Query

REPR_WIDTH, REPR_INDENT = 100, 9
MOST_COUNTED_ROWS = 20_000_000
"""The most rows for which lists are counted; at that size it takes about a second."""


class CallText(NamedTuple):
    """One line about a call, and how it is written."""

    line: str
    example: str


CALL_TEXTS: Mapping[str, Mapping[str, CallText]] = {
    "measure": {
        "evaluate": CallText("many metrics, cutoffs and models in one table", 'evaluate(["ndcg", "map"], k=[5, 10])'),
        "describe": CallText("the mean of a metric, its interval, and how lists spread", 'describe("ndcg@10")'),
        "bounds": CallText("how far missing judgments could move a value", 'bounds("ndcg@10", truth=qrels)'),
        "estimate_with_judge": CallText(
            "a mean from few human judgments and many by a model",
            'estimate_with_judge("ndcg@10", truth=human, judge=llm)',
        ),
    },
    "compare": {
        "compare": CallText(
            "is a model better than the baseline, or is it luck?", 'compare("ndcg@10", baseline="old")'
        ),
        "rank_models": CallText("which of many models may be the best", 'rank_models("ndcg@10")'),
        "sample_size": CallText(
            "how many lists it takes to see a difference", 'sample_size("ndcg@10", difference=0.01)'
        ),
        "agreement": CallText("how similar the rankings of two models are (RBO, overlap)", "agreement(10)"),
    },
    "check": {
        "check": CallText("what is wrong with the data, before you trust a number", "check(k=10)"),
    },
    "explain": {
        "contributions": CallText("what each item adds to the value of its list", 'contributions("ndcg@10")'),
        "changes": CallText("which lists gained and lost most, and which items did it", 'changes("ndcg@10")'),
        "exposure": CallText("how much attention each group of items gets", 'exposure(10, group="seller")'),
        "position_bias": CallText(
            "how likely users look at each position, from clicks", 'position_bias(rank="position")'
        ),
    },
    "prepare": {
        "split": CallText("training and test interactions", 'split(last=1, time="timestamp")'),
        "label": CallText("recommendations with what happened: which were relevant", "label(test)"),
        "add_popular": CallText("a baseline: how popular each item is in the training data", "add_popular(train)"),
        "add_random": CallText("a baseline: random scores", "add_random(seed=0)"),
        "add_propensity": CallText("how likely each item was observed, by its popularity", "add_propensity(train)"),
        "fuse": CallText("one score made of the scores of several models", 'fuse(method="rrf")'),
        "tune_fusion": CallText("which fusion of models is best", 'tune_fusion("ndcg@10")'),
        "top": CallText("the k best rows of each list, with their rank", "top(10)"),
        "to_lists": CallText("a row for each list, with its items in order", "to_lists(10)"),
    },
    "show": {
        "plot": CallText("eight charts: df.rec.plot lists them", 'plot.curve("ndcg")'),
        "report": CallText("one HTML file with verdicts, charts and checks", 'report("report.html", "ndcg@10")'),
    },
    "store": {
        "state": CallText("sums to store and to add up later with recframe.merge_states", 'state("ndcg@10")'),
    },
}
"""The calls by the question that they answer."""
CHART_TEXTS: Mapping[str, CallText] = {
    "curve": CallText("a metric over the cutoff k, with intervals", 'curve("ndcg", k=range(1, 21))'),
    "distribution": CallText("how the values of lists spread", 'distribution("ndcg@10")'),
    "differences": CallText("how many lists gain and lose from one model to another", 'differences("ndcg@10")'),
    "segments": CallText("a metric in each segment, with intervals", 'segments("ndcg@10", per="country")'),
    "trend": CallText("a metric over time, with intervals", 'trend("ndcg@10", per="week")'),
    "tradeoff": CallText("two metrics against each other, a dot for each model", 'tradeoff("ndcg", "coverage", k=10)'),
    "ranks": CallText("the ranks that each model may have", 'ranks("ndcg@10")'),
    "power": CallText("how surely a difference is seen, over the number of lists", 'power("ndcg@10", difference=0.01)'),
}
"""The charts of ``df.rec.plot``."""
METRICS_LINE = f"{len(METRICS)} metrics are calls too, and recframe.explain() lists them"
METRICS_EXAMPLE = "ndcg(10)"
FUNCTIONS = (
    "recframe.table(result) prints a result, recframe.forest(result) draws it, recframe.require(result, ...) stops a "
    "job, and help(df.rec.compare) says everything about a call."
)


def text_of_call(name: str) -> str:
    """Return two lines about a call: what it does, and how to write it."""
    if name in METRICS:
        more = f"{name}@10" if hasattr(METRICS[name], "k") else name
        example = f"{name}(10)" if more != name else f"{name}()"
        return f'{name}: {METRICS[name].summary}\ndf.rec.{example}; recframe.explain("{more}") says more'
    (call_text,) = (calls[name] for calls in CALL_TEXTS.values() if name in calls)
    return f"{name}: {call_text.line}\ndf.rec.{call_text.example}; help(df.rec.{name}) says more"


def text_of_charts() -> str:
    """Return what each chart shows, and how to draw it."""
    lines = [f"plot.{text.example:35} {text.line}" for text in CHART_TEXTS.values()]
    return "\n".join(["<charts of Altair: show them, change them, and save them by chart.save('chart.png')>", *lines])


def html_of_charts() -> str:
    """Return what each chart shows, and how to draw it, as HTML for notebooks."""
    rows = (
        f"<tr>{_cells(f'<code>plot.{escape(text.example)}</code>', escape(text.line))}</tr>"
        for text in CHART_TEXTS.values()
    )
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _cells(*texts: str) -> str:
    """Return texts as the cells of a row."""
    return "".join(f'<td style="text-align: left">{text}</td>' for text in texts)


def as_text(frame: Any, bound: Mapping[str, Any]) -> str:
    """Return the frame's columns by role and the calls, as text."""
    facts = Facts.of(frame, bound)
    lines = [f"<rec on {facts.heading}>", *facts.lines]
    lines.append("")
    for question, calls in _sections():
        for number, (name, text) in enumerate(calls):
            lines.append(f"{question if number == 0 else '':{REPR_INDENT}}{name:20} {text.line}")
    return "\n".join([*lines, "", fill(FUNCTIONS, REPR_WIDTH)])


def as_html(frame: Any, bound: Mapping[str, Any]) -> str:
    """Return the frame's columns by role and the calls, as HTML for notebooks."""
    facts = Facts.of(frame, bound)
    lines = "".join(f"<br>{escape(line)}" for line in facts.lines)
    parts = [f"<p><strong>rec</strong> on {escape(facts.heading)}{lines}</p><table><tbody>"]
    for question, calls in _sections():
        for number, (_, text) in enumerate(calls):
            head = f'<th rowspan="{len(calls)}" style="text-align: left; vertical-align: top">{question}</th>'
            shown = _cells(f"<code>{escape(text.example)}</code>", escape(text.line))
            parts.append(f"<tr>{head if number == 0 else ''}{shown}</tr>")
    parts.append(f"</tbody></table><p>{escape(FUNCTIONS)}</p>")
    return "".join(parts)


def _sections() -> Iterator[tuple[str, list[tuple[str, CallText]]]]:
    """Yield the questions with their calls; metrics are the first way to measure."""
    for question, calls in CALL_TEXTS.items():
        first = [("ndcg, map, mrr, ...", CallText(METRICS_LINE, METRICS_EXAMPLE))] if question == "measure" else []
        yield question, [*first, *calls.items()]


class Facts(NamedTuple):
    """What the text of the namespace says about a frame: about a lazy frame only which columns calls would read."""

    heading: str
    """The kind of the frame, and the bound roles."""
    lines: Sequence[str]
    """The number of rows, lists and models, the columns by their roles, and the columns that are missing."""

    @classmethod
    def of(cls, frame: Any, bound: Mapping[str, Any]) -> Facts:
        """Return the facts of a frame."""
        kind = type(frame)
        # Frames are not written, because the text of a DuckDB relation runs its query.
        named = "".join(f", {name}={'...' if is_frame(value) else quoted(value)}" for name, value in bound.items())
        heading = f"{kind.__module__.split('.')[0]}.{kind.__name__}{named}"
        try:
            query = Request(frame, bound, {}).query(tuple(ROLES), bound.get("truth"))
        except RecError as error:
            return cls(heading, [_line("wrong", str(error).partition("\n")[0])])
        columns = _columns(query, has_truth=bound.get("truth") is not None)
        adapter = adapter_of(frame)
        if not adapter.eager:
            return cls(heading, [_line("reads", _as_arguments(columns))])
        if query.item not in adapter.names(frame) and "item" not in bound:
            del columns["item"]  # most metrics do not read it
        specs = {
            f"{role} {name}": ColumnSpec(name, role, "exists")
            for role, value in columns.items()
            for name in as_tuple(value)
        }
        try:
            adapter.check_names({"frame": Source(frame, specs)})
        except MissingColumnError as error:
            lacking = {role: name for role, name in columns.items() if {*as_tuple(name)} - {*adapter.names(frame)}}
            lines = [
                _line("reads", _as_arguments(columns)),
                _line("lacks", _as_arguments(lacking)),
                _line("hint", str(error).partition("\n\nHint: ")[2]),
            ]
            return cls(heading, lines)
        except RecError as error:
            return cls(heading, [_line("wrong", str(error).partition("\n")[0])])
        return cls(heading, [_line("holds", _sizes(frame, query)), _line("reads", _as_arguments(columns))])


def _as_arguments(columns: Mapping[str, Any]) -> str:
    """Return columns as the arguments of a call."""
    return ", ".join(f"{role}={quoted(value)}" for role, value in columns.items())


def _line(title: str, text: str) -> str:
    """Return a fact in lines of the width of the screen."""
    return fill(text, REPR_WIDTH, initial_indent=title.ljust(REPR_INDENT), subsequent_indent=" " * REPR_INDENT)


def _columns(query: Query, *, has_truth: bool) -> dict[str, Any]:
    """Return the columns that metrics read, by their roles."""
    columns_by_role = {
        "by": query.by or None,
        "item": query.item,
        "relevant": query.relevant,
        "rank" if query.by_rank else "score": query.orders,
        "model": query.model,
        "per": query.per or None,
        "weight": query.weight,
    }
    # A truth holds the relevance, and may hold what describes lists.
    unread = ("relevant", "per", "weight") if has_truth else ()
    columns = {
        role: value
        for role, value in columns_by_role.items()
        if role == "by" or (value is not None and role not in unread)
    }
    several = {role: [*value] for role, value in columns.items() if isinstance(value, tuple)}
    return columns | {role: value[0] if len(value) == 1 else value for role, value in several.items()}


def _sizes(frame: Any, query: Query) -> str:
    """Return how many rows, lists and models a frame has."""
    rows, kind = len(frame), kind_of(frame)
    counts = [_counted(rows, "row")]
    if kind is not None and kind.makes_frames and rows <= MOST_COUNTED_ROWS:
        with suppress(Exception):  # a key that cannot be counted is the business of calls, not of what is shown
            counts += _counts_of_values(frame, query)
    if len(query.orders) > 1:
        counts.append(_counted(len(query.orders), "model"))
    return ", ".join(counts)


def _counts_of_values(frame: Any, query: Query) -> Iterator[str]:
    """Yield the numbers of lists and of models in rows."""
    distinct = adapter_of(frame).constructors.distinct
    yield _counted(len(distinct(frame, query.by)) if query.by else 1, "list")
    if query.model is not None:
        yield _counted(len(distinct(frame, [query.model])), "model")


def _counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
