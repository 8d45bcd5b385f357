"""The metrics: one record each, one family a file."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NoReturn

from recframe._base.guesses import argument_hint, role_meant
from recframe._base.signatures import checked_call
from recframe.errors import OptionError, OptionTypeError, before_list, closest_of, no_attribute, quoted
from recframe.metrics._beyond_accuracy import BeyondAccuracyMetric, ExposureMetric
from recframe.metrics._record import CutMetric, Metric, summary_of
from recframe.metrics._spelling import plain, split, two_cutoffs, without_cutoff, without_decimals, without_recall
from recframe.metrics.accuracy import Precision, Recall, RPrecision
from recframe.metrics.auc import GAUC, ROCAUC
from recframe.metrics.average_precision import MAP, PRAUC
from recframe.metrics.awrf import AWRF
from recframe.metrics.calibration import Calibration
from recframe.metrics.cascade import ERR, PFound
from recframe.metrics.correlation import OPA, Kendall, Spearman
from recframe.metrics.counts import NumRel, NumRelRet, NumRet
from recframe.metrics.dcg import DCG, NDCG
from recframe.metrics.diversity import CategoryEntropy, Diversity
from recframe.metrics.expected_exposure import EED, EEL, EER
from recframe.metrics.exposure import Coverage, Entropy, Gini, Personalization
from recframe.metrics.f_measure import F1, FBeta
from recframe.metrics.first_hit import MRR, FirstRank, FullRecall, HitRate, LastRank
from recframe.metrics.interpolated import IPrec
from recframe.metrics.judgments import BPref, InfAP, Judged
from recframe.metrics.money import MoneyPrecision, MoneyRecall
from recframe.metrics.novelty import ARP, LongTail, Novelty
from recframe.metrics.partial_auc import PartialAUC
from recframe.metrics.rbp import RBP, RBPResidual
from recframe.metrics.serendipity import Serendipity
from recframe.metrics.subtopics import AlphaNDCG, ErrIA, SubtopicRecall
from recframe.metrics.user_coverage import UserCoverage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [  # noqa: RUF022 - the metrics in the order that tables give them
    "Precision",
    "Recall",
    "F1",
    "FBeta",
    "RPrecision",
    "NumRel",
    "NumRet",
    "NumRelRet",
    "HitRate",
    "FullRecall",
    "MRR",
    "FirstRank",
    "LastRank",
    "MAP",
    "IPrec",
    "BPref",
    "InfAP",
    "Judged",
    "DCG",
    "NDCG",
    "RBP",
    "RBPResidual",
    "EED",
    "EER",
    "EEL",
    "AWRF",
    "ERR",
    "PFound",
    "AlphaNDCG",
    "ErrIA",
    "SubtopicRecall",
    "ROCAUC",
    "PartialAUC",
    "GAUC",
    "PRAUC",
    "MoneyPrecision",
    "MoneyRecall",
    "Spearman",
    "Kendall",
    "OPA",
    "Coverage",
    "UserCoverage",
    "Novelty",
    "ARP",
    "LongTail",
    "Diversity",
    "CategoryEntropy",
    "Personalization",
    "Gini",
    "Entropy",
    "Serendipity",
    "Calibration",
    "METRICS",
    "BeyondAccuracyMetric",
    "CutMetric",
    "ExposureMetric",
    "Metric",
    "parse",
]

METRICS: Mapping[str, type[Metric]] = {
    kind.name: kind for kind in map(globals().get, __all__) if kind is not None and hasattr(kind, "name")
}
"""Every metric of the library by its name."""
for _kind in METRICS.values():
    setattr(_kind, "__init__", checked_call(_kind.__init__))  # noqa: B010 - a method is no variable to type checkers
    _kind.summary = summary_of(_kind)


def names_where(condition: Callable[[Metric], bool]) -> list[str]:
    """Return the names of the metrics for which a condition holds, with a cutoff if it only holds with one."""
    names = []
    for kind in METRICS.values():
        with_cutoff = [kind(k=10)] if issubclass(kind, CutMetric) else []
        name = next((metric.label for metric in [kind(), *with_cutoff] if condition(metric)), None)
        if name is not None:
            names.append(name)
    return names


def _names() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the metrics by their plain names and aliases, with the options that an alias sets."""
    names = {}
    for kind in METRICS.values():
        for alias in (kind.name, *kind.aliases):
            name, options = split(alias)
            names[plain(name)] = (kind.name, options)
    return names


NAMES: Mapping[str, tuple[str, Mapping[str, Any]]] = _names()
"""The metrics by each of their plain names, and the options that the name sets."""


def __dir__() -> list[str]:
    return list(__all__)


def __getattr__(name: str) -> NoReturn:
    alias = alias_of(name)
    hint = f"did you mean {METRICS[alias].__name__!r}?" if alias else ""
    raise no_attribute(name, "recframe.metrics has no {!r}", __all__, hint)


AMBIGUOUS = {
    "medianrank": "'first_rank' with `mean='median'` for the call",
    **dict.fromkeys(
        ("amri", "amr", "adjustedmeanrank", "adjustedmeanrankindex"),
        "evaluate first_rank with `chance=True`: its skill is this index, 1 at best and 0 in a random order",
    ),
    "hits": "'hit_rate' is 1 for a list with a relevant item in its top k, 'num_rel_ret' counts these items",
    "ils": "'diversity' is 1 minus the similarity within a list",
    "popularity": "'arp' is the mean popularity of the recommended items",
    "surprisal": "'novelty' is the mean self-information of the recommended items",
    "unexpectedness": "'serendipity' is the share of the top k that is relevant and unexpected",
    "accuracy": "accuracy judges labels, not a ranking: 'precision' and 'hit_rate' judge the top k",
    **dict.fromkeys(
        ("catalogaccuracy", "catalogueaccuracy"),
        "it was close to 1 for every model, so it is gone: 'precision' and 'recall' judge the top k",
    ),
    **dict.fromkeys(
        ("rmse", "mse", "mae", "logloss"),
        "errors of predicted numbers do not judge a ranking: 'ndcg' reads grades, 'roc_auc' the order of 0 and 1",
    ),
}
"""Plain names that mean no metric or several metrics, with a hint for each."""
GEOMETRIC = "gm"
"""The prefix of geometric means in trec_eval."""


def _plain_names(name: str) -> list[str]:
    """Return the plain names that a name may hold: without a cutoff and what other libraries add."""
    words = [plain(text) for text, *_ in ([name], without_cutoff(name) or [name])]
    return [*words, *(word.removeprefix("retrieval").removesuffix("score") for word in words)]


def alias_of(name: str) -> str:
    """Return the metric that a library calls by a name, or nothing."""
    return next((NAMES[word][0] for word in _plain_names(name) if word in NAMES), "")


def metric_hint(name: str, *, exactly: bool = False) -> str:
    """Return a hint with the metric that an alias or a similar name means, or an empty string."""
    word, *others = _plain_names(name)
    ambiguous = next((AMBIGUOUS[each] for each in (word, *others) if each in AMBIGUOUS), "")
    alias = alias_of(name)
    if ambiguous or alias:
        return ambiguous or f"did you mean {alias!r}?"
    if word.startswith(GEOMETRIC) and (metric_name := NAMES.get(word.removeprefix(GEOMETRIC))):
        return f"{metric_name[0]!r}, and `mean='geometric'` for the call"
    metric_name = NAMES.get("" if exactly else closest_of(word, NAMES))
    return f"did you mean {metric_name[0]!r}?" if metric_name else ""


def unknown(names: Sequence[str]) -> OptionError:
    """Return the error for names that no metric has, each with its hint."""
    existing = f"there are {', '.join(METRICS)}"
    if len(names) == 1:
        return OptionError(f"metric {names[0]!r} is unknown", before_list(metric_hint(names[0]), existing))
    hints = [f"{name!r}: {hint}" for name in names if (hint := metric_hint(name))]
    msg = f"the metrics {', '.join(map(repr, names))} are unknown"
    return OptionError(msg, before_list("; ".join(hints), existing))


def refuse_unknown(texts: Sequence[str]) -> None:
    """Raise one error for all strings that name no metric."""
    names = dict.fromkeys(name for name, _ in map(read, texts) if name not in METRICS)
    if names:
        raise unknown(list(names))


def make(name: str, options: Mapping[str, Any], also: Sequence[str] = ()) -> Metric:
    """Return the metric of that name with those options; `also` names what else the caller accepts.

    Raises
    ------
    OptionError
        The metric or an option does not exist, or an option has a value that it cannot have.
    """
    kind = METRICS.get(name)
    if kind is None:
        raise unknown([name])
    accepted = [field.name for field in fields(kind)]
    for option, value in options.items():
        if option not in accepted:
            known_options = f"it accepts {', '.join([*accepted, *also])}" if accepted or also else "it accepts none"
            msg = f"{name} has no option {option!r}"
            role = "" if also else role_meant(option, ["min_relevance", "condensed", "undefined"])
            hint = f"give the call `{role}={quoted(value)}`, for all its metrics" if role else ""
            hint = hint or argument_hint(option, also, accepted) or _owner(option, value)
            raise OptionTypeError(msg, before_list(hint, known_options))
    return kind(**options)


def _owner(option: str, value: object) -> str:
    """Return the hint that names the one metric which has an option, or nothing."""
    owners = [kind.name for kind in METRICS.values() if option in (field.name for field in fields(kind))]
    return f"{owners[0]} has it: '{owners[0]}({option}={value})'" if len(owners) == 1 else ""


def parse(text: str) -> Metric:
    """Return the metric that a string names.

    Parameters
    ----------
    text : str
        A name, options in parentheses where they differ from their defaults, and a cutoff:
        ``"ndcg"``, ``"ndcg@10"``, ``"ndcg(gain=exp2)@10"``. The inverse of ``str(metric)``. Case does not matter, and
        aliases such as ``"P_5"`` or ``"recip_rank"`` name the same metrics.

    Raises
    ------
    OptionError
        The string does not have this form, or names something that does not exist.

    Examples
    --------
    >>> parse("ndcg(gain=exp2)@10")
    NDCG(k=10, gain='exp2', discount='log2', grades='all', ideal='all')
    >>> str(parse("ndcg( gain = exp2 ) @ 10"))
    'ndcg(gain=exp2)@10'
    """
    return make(*read(text))


def read(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name of the metric that a string names, and the options that it spells, k among them."""
    name, options = split(text, NAMES)
    entry = NAMES.get(plain(name))
    cut = without_cutoff(name)
    part = without_decimals(name)
    level = without_recall(name)
    if entry is None and part is not None and NAMES.get(plain(part[0]), ("",))[0] == RBP.name:
        if "p" in options:
            msg = f"{text!r} gives the option 'p' twice"
            raise OptionError(msg, f"write '{RBP.name}(p={part[1]})'")
        return RBP.name, {"p": part[1], **options}
    if entry is None and cut is not None:
        entry = NAMES.get(plain(cut[0]))
        k = cut[1]
        if entry is not None and k is not None:
            if "k" in options:
                raise two_cutoffs(text, entry[0], options["k"])
            options["k"] = k
    if entry is None and level is not None and NAMES.get(plain(level[0]), ("",))[0] == IPrec.name:
        entry = (IPrec.name, {})
        options = {"recall": level[1], **options}
    if entry is not None and entry[0] == IPrec.name and isinstance(options.get("k"), float):
        # What other metrics cut is a position; of this one it is a recall: IPrec@0.1.
        if "recall" in options:
            msg = f"{text!r} names two recalls"
            raise OptionError(msg, f"write 'iprec(recall={options['k']})'")
        options["recall"] = options.pop("k")
    return (name, options) if entry is None else (entry[0], {**entry[1], **options})
