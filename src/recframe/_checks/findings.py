"""The kinds of findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from recframe.errors import python_text

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""How severe findings are, the most severe first."""

ROWS, LISTS = "rows", "lists"
SAME_DAY = "Does the truth belong to these lists, and to the same days?"
HAS_ITEM, HAS_GRADES, HAS_MODEL = "has item", "has relevance", "has model"
"""The columns that are above 0 if the frame has the column of this role."""


@dataclass(frozen=True)
class Finding:
    """One kind of finding."""

    name: str
    severity: Severity
    of: str
    """What is counted, rows or lists; rows of the truth if the finding is about the truth."""
    brief: str
    """What it means, in as many letters as polars prints of a text."""
    meaning: str
    """What it means, and what to do."""
    needs: str = ""
    """The column that this check needs, if the frame may lack it."""
    warning: str = ""
    """The warning of eager calls, if a sample of their data shows the finding."""


FINDINGS = (
    Finding("duplicate_rows", "error", ROWS, "the item is twice in its list",
        "the same item again in its list", HAS_ITEM,
        "items are repeated in {lists}: `item={item!r}`. {remedy}"),
    Finding("nan_scores", "error", ROWS, "NaN score: row is not ranked",
        "a score that is NaN, not missing: the row is not ranked",
        warning="`{role}={column!r}` is NaN in {rows} of {all_rows} rows, which are not ranked. Find out why; "
        "rows that are not recommended on purpose have a missing {role}"),
    Finding("impossible_ranks", "error", ROWS, "rank below 1, or a fraction", "a rank below 1, or a fraction"),
    Finding("overlapping_ranks", "error", LISTS, "rank within the tie above it",
        "a rank within the tied block before it, as dense ranks give"),
    Finding("unused_model", "error", ROWS, "models are ranked together",
        "the column 'model' has several values and no role: all models are ranked together", HAS_MODEL,
        "the column 'model' has several values and no role: the rows of all models are ranked together. "
        "To rank each model by itself, pass `model='model'`; if the column means something else, rename it"),
    Finding("segments_within_lists", "error", LISTS, "list in several segments",
        "several values of a column of `per=`: calls refuse it"),
    Finding("no_list_in_truth", "error", ROWS, "no list of the truth matches",
        "no list of the truth has a row in the frame: ids that never match",
        warning="no list of {which} is in truth: {values}. Make the ids the same"),
    Finding("no_item_in_truth", "error", ROWS, "no item of the truth matches",
        "no item of the truth has a row in the frame: ids that never match",
        warning="no item of {which} is in truth: {values}. Make the ids the same"),
    Finding("nothing_ranked", "error", LISTS, "every score is missing",
        "no list has a ranked row: every score is missing",
        warning="nothing is ranked: `{role}={column!r}` is missing in every row"),
    Finding("nothing_ordered", "error", LISTS, "all scores tie: only chance",
        "every list of several ranked rows ties throughout: values are chance",
        warning="`{role}={column!r}` is the same in all rows of each list: nothing is ordered, values are chance"),
    Finding("missing_keys", "warning", ROWS, "row without a list key", "no list key: these rows form one list"),
    Finding("already_seen", "warning", ROWS, "ranked, but already in train",
        "a ranked item that the user has in train: drop it, or leave it out by `seen=` of candidates or label"),
    Finding("duplicate_truth_rows", "warning", ROWS, "repeated: counts once",
        "the same item again in its list: counts once"),
    Finding("assumed_relevance", "warning", ROWS, "counts as relevant, despite 0",
        "relevant, but 0 in a column without a role: if it holds the relevance, pass it as `relevant=`",
        warning="{which} has no column {relevant!r}, so each of its rows is relevant, but {columns} is 0 in some rows. "
        "If that says what is relevant, `relevant={first!r}`"),
    Finding("truth_of_unknown_lists", "warning", ROWS, "list has no row: scores 0",
        "the frame has no row of the list: it scores 0",
        warning=f"most lists of truth, {{some}}, have no row of {{which}}: they score 0. {SAME_DAY}"),
    Finding("truth_of_unknown_items", "warning", ROWS, "relevant item in no list",
        "relevant items that no list contains"),
    Finding("lists_without_relevant", "warning", LISTS, "no relevant item: undefined",
        "no relevant item: undefined, left out of means", HAS_GRADES,
        f"most lists of {{which}}, {{some}}, are not in truth: they have no value. {SAME_DAY}"),
    Finding("lists_without_ranked", "warning", LISTS, "nothing ranked: scores 0",
        "nothing is ranked: 0, if an item is relevant"),
    Finding("only_relevant", "warning", LISTS, "every ranked row is relevant",
        "all ranked rows of the list are relevant: every order is perfect", HAS_GRADES,
        "every row that `{role}={column!r}` ranks is relevant, in every list: each order is a perfect one, so no model "
        "can lose. Rank the irrelevant items too, or pass the relevant ones as `truth=`"),
    Finding("constant_lists", "warning", LISTS, "all rows tie: only chance",
        "all ranked rows tie: the values are at the chance level"),
    Finding("ties_across_k", "warning", LISTS, "tie reaches over the cutoff", "a tied block reaches over the cutoff"),
    Finding("grades_below_relevant", "note", ROWS, "graded metrics still count it",
        "above 0, but not relevant: graded metrics count them, ndcg unless `grades='relevant'`", HAS_GRADES),
    Finding("grades_without_zero", "note", ROWS, "lowest grade is relevant too",
        "grades, none of them 0 or less: the lowest is relevant too. For ratings from 1 to 5: `min_relevance=4`",
        HAS_GRADES,
        "`relevant={column!r}` holds grades from {lowest} to {highest} and no 0, so {metric} counts {lowest} as "
        "relevant too. If only high grades are good, `min_relevance={good}`; if all are, `min_relevance={lowest}`"),
    Finding("ideal_of_ranked_only", "note", LISTS, "recall may be too high",
        "every relevant item is ranked: recall may overstate", HAS_GRADES,
        "no list has more than {longest} rows, and all of them are ranked, so nothing was left to find: "
        "recall is 1 by construction. If other items are relevant too, {metrics} too high: pass all relevant items "
        "as `truth=`"),
    Finding("high_chance", "note", LISTS, "random order scores high too",
        "k is half of the ranked rows or more: so is recall@k of a random order. "
        "evaluate with `chance=True` compares", HAS_GRADES),
    Finding("missing_scores", "note", ROWS, "not recommended", "not recommended; if relevant, still to be found"),
    Finding("dependent_lists", "note", LISTS, "may need cluster=",
        "a column of the key repeats: compare and describe may want `cluster=`"),
)  # fmt: skip
"""What a check looks for, the severe first."""
WARNINGS = {finding.name: finding.warning for finding in FINDINGS if finding.warning}


def meaning_of(name: str) -> str:
    """Return what a finding means and what to do, in Python."""
    return next((python_text(finding.meaning) for finding in FINDINGS if finding.name == name), "")


def warning_of(name: str, **values: object) -> str:
    """Return the warning of an eager call about a finding."""
    return WARNINGS[name].format(**values)
