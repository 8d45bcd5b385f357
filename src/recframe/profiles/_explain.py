"""Explain a metric under the options and policies in force, in words and as a formula."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from recframe._base.roles import EXPLAINED, POLICIES, ROLES, Roles
from recframe._base.signatures import checked_call
from recframe._plan.request import Request
from recframe.errors import OptionTypeError, closest
from recframe.metrics import METRICS, CutMetric
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from recframe.metrics._families import FAMILIES
from recframe.metrics._sampled_ranks import GAMMA
from recframe.profiles._builtin import PROFILES
from recframe.profiles._record import EVERY_ROW, metrics_and_query
from recframe.profiles._spec import spec_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recframe._plan.query import Averaging, Query
    from recframe.metrics import Metric
    from recframe.profiles._record import Profile

TEXT_WIDTH = 96
"""The width of the text."""
NAME_WIDTH = 11
"""The width of its left column."""
TIES_TEXTS = {
    "average": "exact expected value over all orders of the rows of equal score",
    "best": "of rows of equal score the more relevant first",
    "worst": "of rows of equal score the less relevant first",
    "item": "of rows of equal score the smaller item first",
    "item_desc": "of rows of equal score the larger item first",
    "first": "rows of equal score in the order of the frame",
}
LISTS_TEXTS = {
    "all": "all lists of the frame and of the truth",
    "truth": "the lists that the truth knows",
    "ranked": "the lists that were recommended something",
    "both": "the lists that the truth knows and that were recommended something",
    "recommended": "all lists",
}
LETTERS_OF_FORMULAS = {
    "h": "relevant rows among the top of the list",
    "R": "relevant rows of the list, ranked or not",
    "N": "ranked rows of the list",
    "r": "position, from 1",
}


LIST_END = "What one of them computes, in words and as a formula: recframe.explain('ndcg@10'"


class Explanation(str):
    """A text that shows as it prints."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@checked_call
def explain(metric: str | Metric | None = None, like: str | None = None, **policies: Any) -> Explanation:
    r"""Say in words and in a formula what a metric computes, or list the metrics with a line each.

    Parameters
    ----------
    metric : str or Metric, default None
        None: all metrics, or the metrics of the library that `like` names. Otherwise such as ``"ndcg@10"``,
        ``"ndcg(gain=exp2)@10"``, ``metrics.NDCG(k=10)``, or a metric of your own.
    like : str, optional
        The library whose options and policies are the defaults.
    **policies
        ``ties``, ``min_relevance``, ``undefined``, ``lists``, ``condensed``, ``propensity``, ``sampled``,
        ``estimator``, ``mean`` and ``weight``, as for every metric.

    Returns
    -------
    str
        Without `metric`, a line for each metric. Otherwise the definition with the options in force, how ties are
        broken, what becomes of undefined lists, which lists are averaged, and where a library departs from what it
        documents.

    Raises
    ------
    OptionError
        The library has no such metric, or defines it in a way that no option expresses.

    Examples
    --------
    >>> import recframe
    >>> print("\n".join(recframe.explain().splitlines()[:3]))
    Hits in the top k
      precision@k         share of the top k that is relevant
      recall@k            share of the relevant items that are in the top k
    >>> recframe.explain("ndcg@10", like="rectools")
    ndcg@10 like RecTools, which calls it NDCG
    <BLANKLINE>
      DCG@10 / IDCG@10
      DCG@10 = Σ r≤10 of gain(r)·discount(r)
      IDCG@10 = Σ r≤10 of discount(r), as if every position up to 10 held a gain of 1
      gain(r) = 1 for what is relevant, else 0, of the row at position r
      discount(r) = 1 / log2(r + 1)
    <BLANKLINE>
    r          position, from 1
    relevant   every row of truth=, whatever its relevance; without it, a relevance above 0
    ties       exact expected value over all orders of the rows of equal score (RecTools: it reads
               positions, not scores)
    undefined  a list without relevant rows, or whose ideal is 0: left out of the mean
    lists      all lists of the frame and of the truth; one that was recommended nothing scores 0
    variants   ideal='all' gives divide_by_achievable=True
    full name  ndcg(gain=binary,ideal=ones)@10, ties='average', undefined='skip', lists='all', with
               truth= min_relevance=-inf
    reference  Järvelin, Kekäläinen, ACM TOIS 2002; trec_eval `ndcg_cut`
    """
    if metric is None:
        return _list_of_metrics(like, policies)
    for name in policies:
        if name not in EXPLAINED:
            msg = f"explain has no argument {name!r}; it accepts like, {', '.join(EXPLAINED)}"
            raise OptionTypeError(msg, closest(name, ("like", *EXPLAINED)) or "options are part of the metric")
    spec = spec_of(metric)
    roles_named = policies if like is None else {**policies, "like": like}
    request = Request(None, {}, roles_named)
    roles = request.resolved(("like", *EXPLAINED))
    (defined,), query = metrics_and_query([spec], roles, request.policies_named(), PROFILES)
    _refuse(defined, query)
    profile = None if roles.like is None else PROFILES[roles.like]
    head = spec.name if profile is None else f"{spec.name} like {profile.title}, which calls it "
    head += f": {defined.summary}" if profile is None else profile.metrics[defined.name].calls
    formula = [_at(line, getattr(defined, "k", None)) for line in defined.explained()]
    lines = [*textwrap.wrap(head, TEXT_WIDTH), ""]
    for line in formula:
        lines += textwrap.wrap(line, TEXT_WIDTH, initial_indent="  ", subsequent_indent="    ")
    lines.append("")
    for name, text in _rows(defined, query, profile, "\n".join(formula)):
        heading = name.ljust(NAME_WIDTH)
        indent = " " * NAME_WIDTH
        lines += textwrap.wrap(
            text, TEXT_WIDTH, initial_indent=heading, subsequent_indent=indent, break_on_hyphens=False
        )
    return Explanation("\n".join(lines))


def _list_of_metrics(like: str | None, policies: Mapping[str, Any]) -> Explanation:
    """Return a line for each metric, or for each metric of a library."""
    if policies:
        msg = f"`{next(iter(policies))}=` is about one metric, but the call names no metric"
        raise OptionTypeError(msg, "explain('ndcg@10', ...)")
    profile = None if like is None else PROFILES[ROLES["like"].check("like", like, None)]
    lines = []
    for title, modules in FAMILIES.values():
        kinds = [kind for kind in METRICS.values() if kind.__module__.rpartition(".")[2] in modules]
        shown = [kind for kind in kinds if profile is None or kind.name in profile.metrics]
        lines += [title] if shown else []
        for kind in shown:
            name = f"{kind.name}@k" if issubclass(kind, CutMetric) else kind.name
            text = kind.summary if profile is None else f"{profile.title} calls it {profile.metrics[kind.name].calls}"
            lines += textwrap.wrap(text, TEXT_WIDTH, initial_indent=f"  {name:20}", subsequent_indent=" " * 22)
        lines += [""] if shown else []
    return Explanation("\n".join([*lines, f"{LIST_END}{'' if like is None else f', like={like!r}'})"]))


def _refuse(metric: Metric, query: Query) -> None:
    """Raise for a metric and policies that a call with them would refuse."""
    from recframe._plan.checks import check_median, check_policies  # the plan is imported where it is needed
    from recframe._plan.collect_terms import requirements_of
    from recframe._plan.sampled_lists import estimates

    check_policies(query, [metric])
    metrics = [metric] if query.sampled is None else estimates(query, [metric])
    if query.mean == "median":
        check_median(requirements_of(metrics, query, 1, truth=True))


def _at(line: str, k: int | None) -> str:
    """Return a formula with a number in place of k. Without a cutoff, N stands in its place: the ranked rows."""
    if k is None:
        line = line.replace("min(R, k)", "R").replace("min(k, N)", "N").replace("@k", "")
    return re.sub(r"\bk\b", "N" if k is None else str(k), line)


def _rows(metric: Metric, query: Query, profile: Profile | None, formula: str) -> Iterator[tuple[str, str]]:
    """Yield the lines below the formula, by name."""
    how = query.averaging(metric.label)
    every_row = profile is not None and profile.min_relevance == EVERY_ROW and query.min_relevance is None
    of_items = isinstance(metric, BeyondAccuracyMetric | ExposureMetric)
    yield from _letters(formula)
    if not of_items:
        yield "relevant", _relevant(metric, query.min_relevance, every_row=every_row)
    yield "ties", _ties(metric, query, profile, of_items=of_items)
    yield "undefined", _undefined(metric, how)
    which = "recommended" if of_items else how.lists
    # It is not known how a custom metric scores such lists.
    is_known = which in ("all", "truth") and METRICS.get(metric.name) is type(metric)
    unranked = f"; one that was recommended nothing {metric.unranked}" if is_known else ""
    yield "lists", LISTS_TEXTS[which] + unranked + (f"; {metric.weighs}" if metric.weighs else "")
    yield from _estimated(metric, query, of_items=of_items)
    if profile is not None:
        definition = profile.metrics[metric.name]
        departs = " ".join(filter(None, [definition.departs, *profile.departs]))
        yield from ((name, text) for name, text in (("variants", definition.variants), ("departs", departs)) if text)
    yield "full name", spelled(metric, query, how) + (", with truth= min_relevance=-inf" if every_row else "")
    if metric.reference:
        yield "reference", metric.reference


def _estimated(metric: Metric, query: Query, *, of_items: bool) -> Iterator[tuple[str, str]]:
    """Yield the lines about estimates, unjudged rows and means other than the plain one."""
    if query.condensed:
        yield "judged", "unjudged rows are left out before the rest is ranked"
    if query.propensity is not None and not of_items:
        meaning = f"the probability that its relevance was observed is {query.propensity}"
        meaning += "; shares divide sums over all lists" if query.estimator == "pooled" else ""
        yield "estimate", f"each relevant item counts as 1 / {query.propensity} items, in sums and in R: {meaning}"
    if query.sampled is not None:
        sampled, total = query.sampled
        text = f"of lists of {total} items, from {sampled} sampled ones and a relevant one, {_estimator(query)}"
        yield "estimate", "the expected value is the value of full lists" if metric.ignores_sampling else text
    if query.mean != "arithmetic" or query.weight is not None:
        yield "mean", query.mean + ("" if query.weight is None else f", of lists with the weight {query.weight}")


def _estimator(query: Query) -> str:
    """Return how a metric on full lists is estimated from sampled lists."""
    if query.estimator == "rank":
        return "at an unbiased estimate of the rank"
    if query.estimator == "cls":
        return "with the least squared bias of values that do not grow with the rank"
    share = GAMMA if isinstance(query.estimator, str) else query.estimator
    return f"with the least squared bias plus {share:g} · variance"


def _letters(formula: str) -> Iterator[tuple[str, str]]:
    """Yield what the letters of a formula mean, except the letters that the formula explains itself."""
    explained = {line.split(":")[0] for line in formula.splitlines() if ":" in line}
    for letter, meaning in LETTERS_OF_FORMULAS.items():
        used = re.search(rf"\b{letter}\(" if letter == "h" else rf"(?<!\w){letter}(?!\w)", formula)
        if used and letter not in explained:
            yield letter if letter != "h" else "h(…)", meaning


def _relevant(metric: Metric, least: float | None, *, every_row: bool) -> str:
    """Return the least relevance of a relevant row, and the effect of lower relevance.

    With `every_row`, each row of the truth is relevant.
    """
    above = "a relevance above 0" if least is None else f"a relevance of at least {least:g}"
    above += f"; lower grades {metric.lower_grades}" if metric.lower_grades and (least or 0.0) > 0 else ""
    return f"every row of truth=, whatever its relevance; without it, {above}" if every_row else above


def _ties(metric: Metric, query: Query, profile: Profile | None, *, of_items: bool) -> str:
    """Return how items of equal score are ordered or averaged."""
    ties = TIES_TEXTS[query.ties if not of_items or query.ties in ("item", "item_desc", "first") else "item"]
    if metric.inexact and of_items:
        ties = f"{ties}; {metric.inexact}"
    elif metric.inexact and query.ties == "average":
        ties = metric.inexact
    return ties if profile is None else f"{ties} ({profile.title}: {profile.ties_note})"


def spelled(metric: Metric, query: Query, how: Averaging) -> str:
    """Return the metric and the policies as a call spells them."""
    policies: dict[str, Any] = {"ties": query.ties, "undefined": how.undefined, "lists": how.lists}
    policies |= {} if query.min_relevance is None else {"min_relevance": query.min_relevance}
    estimates = query.sampled is not None or (query.propensity is not None and query.estimator == "pooled")
    others = {name: getattr(query, name) for name in EXPLAINED if name not in POLICIES}
    named = {name: value != getattr(Roles, name) for name, value in others.items()} | {"estimator": estimates}
    policies |= {name: value for name, value in others.items() if named[name]}
    return ", ".join([metric.label, *(f"{name}={value!r}" for name, value in policies.items())])


def _undefined(metric: Metric, how: Averaging) -> str:
    """Return which lists have no value, and how they count."""
    becomes = {
        "skip": "left out of the mean",
        "raise": "an error",
        "raise_all": "left out of the mean, an error if no list has a value",
    }
    if isinstance(metric, ExposureMetric):
        without = f"one value of all lists, not a mean; without a {metric.undefined_without}"
        becomes = {"skip": "missing", "raise": "an error", "raise_all": "an error"}
    elif isinstance(metric, BeyondAccuracyMetric):
        without = f"a list without a {metric.undefined_without}"
    else:
        needed = ["without relevant rows"] if metric.needs_relevant else []
        without = "a list " + ", or ".join([*needed, *filter(None, [metric.undefined_if])])
    if metric.of_every_list and not metric.undefined_if:
        return "no list: each has a value, even one without relevant rows, which precision and recall leave out"
    return f"{without}: {becomes.get(str(how.undefined), f'counts as {how.undefined}')}"
