"""What a metric is: an immutable record with a row part and a list part."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from recframe._base.docstrings import doc_of
from recframe.metrics._options import bounds, options_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw

    from recframe.metrics._gain import Table
    from recframe.metrics._ideal_row import IdealRow
    from recframe.metrics._row import Row
    from recframe.metrics._sums import Sums

Reads = Literal["hits", "graded", "all"]
"""Which ranked rows a metric must see."""
BestOf = Literal["all", "ranked", "signed"]
"""The rows in the best order."""
LINEAR = (-1e300, 1e300)
"""The least and the greatest relevance whose sums over a list are finite numbers."""
MOST_EXPONENT = 1000
"""The greatest relevance whose powers of 2 have finite sums over a list."""


@dataclass(frozen=True)
class Metric:
    """A number for every list, written once and computed on every engine.

    A subclass says what each ranked row adds to its list (`terms`), what the relevant rows add when they
    are in the best order (`best_terms`, only where a definition needs it), and how the sums of a list become
    its value (`value`). All three are Narwhals expressions, so the metric runs wherever Narwhals does. Rows
    whose scores tie are left to `Row`: it offers expected values over all orders of the tied items.

    Attributes
    ----------
    name : str
        The name in results and strings, such as ``"ndcg"``.
    aliases : tuple of str
        Other names in strings, each with the options that it sets: ``"map_cut(norm=relevant)"``. Names are
        compared without case and underscores.
    summary, formula, reference : str
        One line each for the documentation: what it is, how it is computed, where it comes from.
    range : tuple of float
        The least and the greatest value of a list.
    higher_is_better : bool
        The direction.
    undefined_if, weighs : str
        In words: when a list has no value besides having no relevant item (`defined`), and what weights lists in the
        mean (`weighting`).
    reads_relevance : bool
        Whether it reads the relevance: a frame without one has a value too if no metric of a call does.
    reads_groups : bool
        Whether it reads the groups of items of all lists; `targets`, a table of the share that each should have.
    reads_pairs : bool
        Whether it reads ``features=`` as pairs of items with a similarity, instead of a row for each item.
    reads_greatest : bool
        Whether it reads the largest relevance of all lists, which `row.cascade` hands to its function.
    reads : {"all", "graded", "hits"}
        Which ranked rows `terms` must see: all; those with a relevance other than 0; or the relevant ones. A class
        attribute, or a property where it depends on an option. Terms must be 0 for the rows that are not read.
    lower_grades : str
        In words: what a relevance above 0 but below `min_relevance` still does; empty: nothing.
    best_of : {"all", "ranked", "signed"}
        Which rows `best_terms` orders. ``"all"``: the list's relevant rows, ranked or not. ``"ranked"``: only ranked
        rows. ``"signed"``: ranked rows, also those with a relevance of 0 or below.
    cuts_at_relevant : bool
        True where ``terms`` are 0 past position R, the list's own number of relevant items.
    requires_average_ties : bool
        True where tied rows count together, so that no policy may put them in an order.
    needs_relevant : bool
        False where a list without a relevant item may have a value: `defined` alone says which lists have one.
    of_every_list : bool
        True if lists without any relevance have a value too, so that the plan must not leave them out.
    allows_propensity : bool
        True where each term of a row is about its own relevance, so that ``propensity=`` may count the row as several.
    best_by_relevance : bool
        False where ordering rows by relevance, the highest first, may not give the best value.
    ignores_sampling : bool
        True where lists with a random sample of their irrelevant rows have the expected value of the full lists.
    is_additive : bool
        False if a list's value is not a sum over its rows, so that `contributions` has nothing to show.
    required_inputs, optional_inputs : tuple of str
        The side information that the metric requires, and that which it reads where it is given:
        ``"train"``, ``"features"``, ``"catalog"``.
    undefined_without : str
        What a list without a value lacks, for messages.
    unranked : str
        What happens to a list with relevant items and no ranked row, for `explain`.
    inexact : str
        Why tied rows do not have their exact expected value, and how far off it can be; empty: they have it.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> class TopHeavy(recframe.Metric):
    ...     name = "top_heavy"
    ...
    ...     def terms(self, row):
    ...         return {"hits": row.hit * row.weight(lambda position: position**-2.0, 10)}
    ...
    ...     def value(self, sums):
    ...         return sums["hits"]
    >>> frame = pl.DataFrame({"user": [1, 1], "relevant": [0, 1], "score": [0.9, 0.3]})
    >>> frame.rec.evaluate(TopHeavy()).item()
    0.25
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    summary: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    reference: ClassVar[str] = ""
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    higher_is_better: ClassVar[bool] = True
    undefined_if: ClassVar[str] = ""
    weighs: ClassVar[str] = ""
    allows_propensity: ClassVar[bool] = False
    best_by_relevance: ClassVar[bool] = True
    ignores_sampling: ClassVar[bool] = False
    is_additive: ClassVar[bool] = True
    reads_relevance: ClassVar[bool] = True
    reads_groups: ClassVar[bool] = False
    reads_pairs: ClassVar[bool] = False
    reads_greatest: ClassVar[bool] = False
    targets: ClassVar[Table] = ()
    reads: ClassVar[Reads] = "all"
    lower_grades: ClassVar[str] = ""
    best_of: ClassVar[BestOf] = "all"
    cuts_at_relevant: ClassVar[bool] = False
    requires_average_ties: ClassVar[bool] = False
    needs_relevant: ClassVar[bool] = True
    of_every_list: ClassVar[bool] = False
    required_inputs: ClassVar[tuple[str, ...]] = ()
    optional_inputs: ClassVar[tuple[str, ...]] = ()
    undefined_without: ClassVar[str] = "relevant item"
    unranked: ClassVar[str] = "scores 0"
    inexact: ClassVar[str] = ""

    def undefined_reason(self, count: int | None = None) -> str:
        """Return why lists have no value, as messages say it.

        Errors under ``undefined="raise"`` and the warning that no list has a value use this text. The default reads
        `undefined_without`, so override it only if your metric needs another sentence.

        Parameters
        ----------
        count : int, default None
            How many lists have no value. None: no list of the call has one.

        Returns
        -------
        str
            Such as ``"because no list has a relevant item"``.
        """
        if count is None:
            return f"because no list has a {self.undefined_without}"
        return f"because {'it has' if count == 1 else 'they have'} no {self.undefined_without}"

    def __post_init__(self) -> None:
        # The one place that checks options: a field's type and bounds say what it accepts.
        for option in options_of(type(self)):
            value = getattr(self, option.name)
            checked = option.checked(value)
            if checked is not value:
                object.__setattr__(self, option.name, checked)

    def terms(self, row: Row) -> Mapping[str, nw.Expr]:  # noqa: ARG002
        """Return what one ranked row adds to its list, by name.

        This is the row part of a metric. recframe evaluates the expressions for each ranked row and sums them within
        each list; `value` then reads the sums. The names belong to the metric, so two metrics may use the same name.
        The default is no term.

        Parameters
        ----------
        row : Row
            The expressions of a ranked row, such as ``row.hit`` and ``row.weight(function, k)``. They hold expected
            values over all orders of tied rows.

        Returns
        -------
        mapping of str to narwhals expression
            Such as ``{"hits": row.hit * row.within(self.k)}``.
        """
        return {}

    def best_terms(self, row: IdealRow) -> Mapping[str, nw.Expr]:  # noqa: ARG002
        """Return what one row of positive relevance adds in the ideal ranking, by name.

        Only metrics that divide by the best possible value need it, as NDCG divides by the ideal DCG. The rows are the
        list's relevant items, ranked or not, ordered by relevance, so there are no ties. `value` reads the sums under
        the same names. The default is no term.

        Parameters
        ----------
        row : IdealRow
            The expressions of a row in the ideal ranking: its relevance and its position.

        Returns
        -------
        mapping of str to narwhals expression
            Such as ``{"ideal": row.relevance * row.weight(discount, self.k)}``.
        """
        return {}

    def value(self, sums: Sums) -> nw.Expr:
        """Return the value of a list from the sums of its terms.

        This is the list part of a metric. It is evaluated for lists with a relevant item, or for the lists that
        `defined` names, and must give a finite number for each of them. By default it is ``share(sums, sums)``, so a
        metric defines either `value` or `share`.

        Parameters
        ----------
        sums : Sums
            The sums by name, as in ``sums["hits"]``, and counts such as ``sums.relevant``.

        Returns
        -------
        narwhals expression
            Such as ``sums["hits"] / sums.relevant``.
        """
        return self.share(sums, sums)

    def defined(self, sums: Sums) -> nw.Expr | None:  # noqa: ARG002
        """Return which lists have a value, as a condition on their sums.

        Lists for which the condition is false have no value: the mean leaves them out, or `undefined` decides. A list
        without a relevant item never has a value unless the class sets ``needs_relevant = False``. The default None
        says that every list with a relevant item has a value.

        Parameters
        ----------
        sums : Sums
            The sums by name, and counts such as ``sums.ranked(k)``.

        Returns
        -------
        narwhals expression or None
            Such as ``sums.rows > sums.relevant``: the list has an irrelevant row.
        """
        return None

    def weighting(self, sums: Sums) -> nw.Expr | None:  # noqa: ARG002
        """Return the weight of a list in the mean over lists.

        The mean becomes ``sum of weight · value / sum of weight``. GAUC is an example: it weights each list by its
        number of rows or of relevant rows. A column that the caller names with `weight` multiplies this weight. The
        default None gives every list the same weight.

        Parameters
        ----------
        sums : Sums
            The sums by name, and counts such as ``sums.relevant``.

        Returns
        -------
        narwhals expression or None
            A number above 0 for every list that has a value.
        """
        return None

    def divisor(self, sums: Sums) -> nw.Expr | None:  # noqa: ARG002
        """Return what the value divides by, if ``propensity=`` estimates the divisor too.

        ``estimator="pooled"`` weights each list by this divisor. The mean is then the ratio of two sums over all
        lists, which has less bias than the mean of single ratios. The default None says that the divisor is known,
        such as the cutoff, so nothing needs to be weighted.

        Parameters
        ----------
        sums : Sums
            The sums by name, and counts such as ``sums.relevant``.

        Returns
        -------
        narwhals expression or None
            Such as ``sums.relevant`` for recall.
        """
        return None

    def share(self, row: Sums, sums: Sums) -> nw.Expr:  # noqa: ARG002
        """Return what one row adds to the value of its list, for `contributions` and `changes`.

        The default is the value with the row's terms instead of their sums. That is right if the value is proportional
        to the terms. A metric that divides by a sum of terms reads the divisor from `sums` instead, so that the shares
        of all rows add up to the value of the list.

        Parameters
        ----------
        row : Sums
            The terms of the row alone.
        sums : Sums
            The sums of the whole list.

        Returns
        -------
        narwhals expression
            Such as ``row["gain"] / sums["ideal"]``.
        """
        return self.value(row)

    def share_terms(self, row: Row) -> Mapping[str, nw.Expr]:  # noqa: ARG002
        """Return further terms that only `share` needs, by name.

        `contributions` evaluates them in addition to `terms`, for each ranked row, and `share` reads them from its
        first argument. Means do not evaluate them, so a costly term that only explains a value belongs here. The
        default is no further term.

        Parameters
        ----------
        row : Row
            The expressions of a ranked row, as for `terms`.

        Returns
        -------
        mapping of str to narwhals expression
            The terms. Their names must differ from the names of `terms`.
        """
        return {}

    def unranked_share(self, sums: Sums) -> nw.Expr | None:  # noqa: ARG002
        """Return what a relevant item adds to the value of its list although it was not recommended.

        A few metrics reward or punish such items. In the area under the ROC curve, for example, an item that was not
        recommended ties with all others that were not. `contributions` shows this share in the item's row. The default
        None says that such an item adds nothing.

        Parameters
        ----------
        sums : Sums
            The sums by name, and counts such as ``sums.relevant``.

        Returns
        -------
        narwhals expression or None
            The share of one such item.
        """
        return None

    def of_rank(self, rank: float) -> float | None:  # noqa: ARG002
        """Return the value of a list whose only relevant item has this rank.

        ``sampled=(m, n)`` estimates ranks in the full lists from lists with sampled candidates, and needs this function
        to turn ranks into values. The default None says that the value is not known, so recframe refuses the metric
        together with `sampled`.

        Parameters
        ----------
        rank : float
            The rank, from 1. Estimates may be fractions, such as 12.5.

        Returns
        -------
        float or None
            Such as ``1 / rank`` for MRR, and 0 if the rank is past the cutoff.
        """
        return None

    def explained(self) -> Sequence[str]:
        """Return the formula with the options in force, then a line for each of its parts.

        `recframe.explain` shows these lines. Override it if an option changes the formula, so that readers see the
        formula that was computed. Write plain text rather than LaTeX, and k for the cutoff.

        Returns
        -------
        sequence of str
            The formula first, such as ``"DCG@k / IDCG@k"``, then lines such as ``"gain: 2^relevance - 1"``. The
            default is the attribute `formula`, or the `summary` if there is none.
        """
        return [self.formula or self.summary]

    @cached_property
    def is_builtin(self) -> bool:
        """Whether the metric is one of the library's, which tests hold against oracles."""
        return type(self).__module__.startswith("recframe.metrics.")

    @property
    def needed_inputs(self) -> tuple[str, ...]:
        """The side information that the metric requires with the options that it has.

        The default is the class attribute `required_inputs`. Override it if an option decides whether the metric reads
        a frame: serendipity, for example, needs ``features=`` only with ``unexpected="history"``. If a call lacks one
        of them, recframe raises an error that names the role.

        Returns
        -------
        tuple of str
            Names of roles: ``"train"``, ``"features"`` or ``"catalog"``.
        """
        return self.required_inputs

    @property
    def reads_catalog(self) -> bool:
        """Whether the metric reads `catalog`. For metrics of all lists together, it also decides which items count."""
        return "catalog" in (*self.required_inputs, *self.optional_inputs)

    @property
    def cutoff(self) -> int | None:
        """The last position that the metric reads.

        recframe uses it to rank fewer rows, to name the column of the result, and to say in `check` whether ties cross
        the cutoff. A metric that inherits `CutMetric` has the option `k` and returns it here. Other metrics read the
        whole list, so they return None and refuse a cutoff such as ``"spearman@10"``.

        Returns
        -------
        int or None
            The cutoff. None: the whole list.
        """
        return None

    @property
    def relevances(self) -> tuple[float, float]:
        """The smallest and the largest relevance that the metric can use.

        A relevance outside of these bounds raises an error, because the sums of a list would not be finite numbers or
        would mean something else. NDCG with the gain 2^relevance - 1, for example, refuses a relevance above 1,000.
        The default has no bounds.

        Returns
        -------
        tuple of float
            The smallest and the largest allowed relevance.
        """
        return -math.inf, math.inf

    @property
    def options(self) -> dict[str, Any]:
        """The options that differ from their defaults, without the cutoff.

        They are what the label of the metric shows in parentheses, in the order in which the class declares them.
        Names of columns stay short, since options with their default value are left out.

        Returns
        -------
        dict of str to object
            Such as ``{"gain": "exp2"}`` for ``NDCG(10, gain="exp2")``, and an empty dict for ``NDCG(10)``.
        """
        return {
            option.name: getattr(self, option.name)
            for option in options_of(type(self))
            if option.name != "k" and getattr(self, option.name) != option.default
        }

    @cached_property
    def label(self) -> str:
        """The canonical name of the metric, which also names the column of the result.

        It holds the name, the options that differ from their defaults, and the cutoff. `recframe.metrics.parse` reads
        it back, so you can store a label and evaluate the same metric later. ``str(metric)`` returns it too.

        Returns
        -------
        str
            Such as ``"ndcg(gain=exp2)@10"``. Aliases are replaced: ``"P_5"`` becomes ``"precision@5"``.
        """
        return spelled(self.name, self.options, getattr(self, "k", None))

    @cached_property
    def column(self) -> str:
        """The name of the metric's column in the plan: the label without dots, which Spark reads as fields of structs.

        A dot becomes ``·0``, and the sign ``·`` becomes ``·1``, so that no two labels share a column.
        """
        return self.label.replace("·", "·1").replace(".", "·0")

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class CutMetric(Metric):
    """A metric of the top k of a list: a `Metric` with the option `k`.

    Inherit from this class if your metric reads only the first k positions. Users can then write the cutoff in the
    name, as in ``"halving@10"``, or pass ``k=10`` to a call. Pass ``self.k`` to ``row.within``, ``row.weight`` and
    similar expressions; None stands for the whole list.

    Parameters
    ----------
    k : int, default None
        The cutoff, at least 1. None: the whole list.

    Examples
    --------
    >>> import polars as pl
    >>> import recframe
    >>> class ShareOfHits(recframe.CutMetric):
    ...     name = "share_of_hits"
    ...
    ...     def terms(self, row):
    ...         return {"hits": row.hit * row.within(self.k)}
    ...
    ...     def value(self, sums):
    ...         return sums["hits"] / sums.relevant
    >>> frame = pl.DataFrame({"user": [1, 1, 1], "relevant": [1, 0, 1], "score": [0.9, 0.5, 0.3]})
    >>> frame.rec.evaluate(ShareOfHits(), k=2).item()
    0.5

    See Also
    --------
    Metric : The base class, with all methods and attributes.
    """

    k: int | None = field(default=None, metadata=bounds(least=1))

    @property
    def cutoff(self) -> int | None:
        """The last position that the metric reads: the option `k`.

        recframe uses it to rank fewer rows, to name the column of the result, and to say in `check` whether ties cross
        the cutoff. A call with ``k=10`` sets it for metrics that were named without a cutoff, so one metric object can
        be evaluated at several cutoffs.

        Returns
        -------
        int or None
            The cutoff. None: the whole list.
        """
        return self.k

    def if_within(self, rank: float, value: float) -> float:
        """Return a value up to the cutoff, and 0 past it.

        It is a helper for `of_rank`: compute the value of a list whose only relevant item has this rank as if there
        were no cutoff, and pass both through this method. Reciprocal rank, for example, is
        ``self.if_within(rank, 1 / rank)``.

        Parameters
        ----------
        rank : float
            The rank, from 1. It may be a fraction.
        value : float
            The value without a cutoff.

        Returns
        -------
        float
            The value if the rank is at most `k` or `k` is None, otherwise 0.
        """
        return value if self.k is None or rank <= self.k else 0.0


class RankedListMetric(CutMetric):
    """The base of metrics that have a value for every list with a ranked row, even without a relevant row."""

    best_by_relevance: ClassVar[bool] = False
    needs_relevant: ClassVar[bool] = False
    of_every_list: ClassVar[bool] = True
    undefined_if: ClassVar[str] = "without a ranked row"
    undefined_without: ClassVar[str] = "ranked row"
    unranked: ClassVar[str] = "has no value"

    def defined(self, sums: Sums) -> nw.Expr | None:
        return sums.ranked(None) > 0


AnyMetric = TypeVar("AnyMetric", bound=Metric)


def summary_of(kind: type[Metric]) -> str:
    """Return the first line of a metric's docstring, as a line of tables: without its capital and its dot."""
    first = (doc_of(kind) or kind.name).partition("\n")[0].removesuffix(".")
    return first if first[:2].isupper() else first[0].lower() + first[1:]


def check_k(k: Any, name: str = "k") -> int | None:
    """Return the cutoff as an int, or raise for anything that is not a whole number from 1."""
    cutoff: int | None = replace(_CUTOFF, name=name).checked(k)
    return cutoff


def spelled(name: str, options: Mapping[str, Any], k: int | None) -> str:
    """Return how a metric with these options is written."""
    inside = ",".join(f"{option}={_spelled(value)}" for option, value in options.items())
    cut = "" if k is None else f"@{k}"
    return f"{name}({inside}){cut}" if inside else f"{name}{cut}"


def _spelled(value: object) -> str:
    """Return an option's value as a metric string spells it."""
    if isinstance(value, tuple):
        return "{" + ",".join(f"{_key(grade)}:{spelled_number(chance)}" for grade, chance in value) + "}"
    return str(getattr(value, "__name__", value))


def _key(value: Any) -> str:
    """Return a key of a table as a metric string spells it: a relevance, or the name of a group."""
    return spelled_number(value) if isinstance(value, float) else repr(value)


def spelled_number(value: float) -> str:
    """Return a number as short as it can be read back."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value).removesuffix(".0")


_CUTOFF = options_of(CutMetric)[0]
"""The values that the option k of every metric accepts."""
