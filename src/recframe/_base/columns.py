"""The plan's frames and their columns: every name, what it holds, and which module adds it.

A frame of the plan starts with columns of the frames before it and adds its own. ``tools/plan_frames.py`` draws
them in ``DEVELOPING.md``. Names of the user's columns appear in the user's own frames and in results only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import narwhals as nw

Frame: TypeAlias = "nw.LazyFrame[Any]"
"""A frame on its way through the plan; an eager engine's frame too, wrapped lazily."""


class Addends(NamedTuple):
    """What the rows of a frame add to the sums of their lists."""

    frame: Frame
    terms: Mapping[str, nw.Expr]
    """The terms by the column of their sum, which is also their name."""
    one_row_each: bool = False
    """Whether each list has only one row, so its terms already are its sums."""
    order: str = ""
    """The column of positions that the rows of each list are sorted by, if their order decides the sums' last bits."""
    upto: Mapping[str, int] = MappingProxyType({})
    """For each term with a cutoff: the last of these positions at which it adds something."""


Kind = Literal["key", "integer", "float"]
"""What a column holds: values of the user's own type, which are only compared; whole numbers; floats."""


@dataclass(frozen=True)
class Column:
    """One column of a plan's frame."""

    name: str
    """Its name. In the name of several columns, ``{}`` stands for a number or another name."""
    kind: Kind
    meaning: str
    added_by: str
    """The module that adds it."""


@dataclass(frozen=True)
class FrameSpec:
    """One of the plan's frames."""

    name: str
    row: str
    """What one row is."""
    made_from: tuple[FrameSpec, ...] = ()
    made_by: str = ""
    """The module that makes the frame, and adds its columns unless they say otherwise."""
    columns: list[Column] = field(default_factory=list)

    def add(self, name: str, kind: Kind, meaning: str, added_by: str = "") -> str:
        """Declare a column and return its name."""
        self.columns.append(Column(name, kind, meaning, added_by or self.made_by))
        return name

    def family(self, name: str, kind: Kind, meaning: str, added_by: str = "") -> Callable[[object], str]:
        """Declare columns whose names differ in one part, and return the function that makes a name."""
        return self.add(name, kind, meaning, added_by).format


def numbered(count: int, column: Callable[[int], str]) -> list[str]:
    """Return the names of the first columns of a kind whose names hold numbers."""
    return [column(number) for number in range(count)]


FRAME = FrameSpec("frame", "a row of the user's frame", made_by="_engines")
key_column = FRAME.family(
    "key{}", "key", "a column of the list's key, or of `per_item`; key0 is 0 where the frame is one list"
)
attribute_column = FRAME.family("attribute{}", "key", "a column of `per` that describes a list and is not in its key")
item_value_column = FRAME.family(
    "item_value_{}", "key", "the value of the row's item in a column of `per_item`", "item_groups"
)
WEIGHT = FRAME.add("list_weight", "float", "the weight of the list in every mean; 0 where missing")
CLUSTER = FRAME.add("cluster", "key", "the cluster of lists that are drawn together, where it is not in the key")
STRATUM = FRAME.add("stratum", "key", "the stratum of the list, where it is not in the key")
MODEL = FRAME.add("model", "key", "the model, in the long format")
ITEM = FRAME.add("item", "key", "the item")
ROW = FRAME.add("row", "integer", "the row's number, where ties break by row order")
score_column = FRAME.family("score{}", "float", "the score or the rank by each model")
RELEVANCE = FRAME.add("relevance", "float", "the relevance; 0 where missing", "_engines, relevance")
VALUE = FRAME.add("value", "float", "the value of an item, such as its price; 0 where missing")
PROPENSITY = FRAME.add("propensity", "float", "the probability that the relevance was observed; 0 where missing")
CANDIDATES = FRAME.add("candidates", "float", "how many rows the list ranks, where the frame omits some")
TIED = FRAME.add("tied", "float", "how many rows share the rank, where the frame omits some")
nan_column = FRAME.family("nan{}", "float", "1 where the score is NaN; for checks only")
missing_key_column = FRAME.family("missing{}", "key", "the key's column with nulls as they are; for checks only")

TRUTH = FrameSpec("truth", "an item of a list, once", made_by="_engines, relevance")
TRUE_VALUE = TRUTH.add("true_value", "float", "the value by the ground truth", "relevance")

TRAIN = FrameSpec("train", "a user and an item of the past", made_by="_engines")
FEATURES = FrameSpec("features", "an item of the catalogue, or a pair of items", made_by="_engines")
feature_column = FEATURES.family("feature{}", "float", "a feature as it is")

RANKED_ROWS = FrameSpec("ranked rows", "a row that a model ranks", (FRAME,), "positions")
SCORE = RANKED_ROWS.add(score_column(0), "float", "the score or rank by the model that ranks the rows")

PLACED_ROWS = FrameSpec("placed rows", "a row whose tied block starts within the cutoff", (RANKED_ROWS,), "ranks")
START = PLACED_ROWS.add("start", "integer", "the first position of the tied block, from 1")
SIZE = PLACED_ROWS.add("size", "integer", "how many rows the tied block has")
MOVED = PLACED_ROWS.add("moved", "integer", "the new start, while a tie policy splits the block")
ABSENT = PLACED_ROWS.add("absent", "integer", "how many rows of the tied block the frame omits")

SUBTOPIC = TRUTH.add("subtopic", "key", "a subtopic of the item")
RELATED = TRUTH.add(
    "related", "float", "what the item adds for the subtopic, while an ideal ranking is made", "subtopics"
)
CHOSEN = TRUTH.add("chosen", "float", "1 where the item is in the ideal ranking, else 0", "subtopics")
LAST = TRUTH.add("last", "integer", "the largest of the items with the greatest gain, while it is made", "subtopics")
TOTAL_GAIN = TRUTH.add("total_gain", "float", "the gain of the ideal ranking", "subtopics")

KEPT_ROWS = FrameSpec("kept rows", "a placed row with its relevance", (PLACED_ROWS, TRUTH), "relevance")
HIT = KEPT_ROWS.add("hit", "float", "1 for a relevant row, else 0")
POOLED = KEPT_ROWS.add("pooled", "float", "1 where the relevance of the row is known, also below 0, else 0")
REPEAT = KEPT_ROWS.add("repeat", "integer", "the number of the row among the rows of its item, from 1")

IDEAL = FrameSpec("ideal lists", "a list that has a relevant item", (FRAME, TRUTH), "list_sums")
POSITION = IDEAL.add(
    "position", "integer", "a position from 1: of a row, or in a table of positions", "list_sums, _engines"
)
GAIN = IDEAL.add("gain", "float", "what sorts the ideal ranking instead of the relevance")
ideal_position_column = IDEAL.family("ideal_position{}", "float", "the row's position in the order of such a gain")
RELEVANT = IDEAL.add("relevant_in_list", "float", "R: the relevant items of the list, ranked or not")

TERM_ROWS = FrameSpec("term rows", "a kept row with what the metrics' terms read", (KEPT_ROWS, IDEAL), "term_rows")
BLOCK_HITS = TERM_ROWS.add("block_hits", "float", "how many rows of the tied block are relevant", "ranks")
ORDER = TERM_ROWS.add("order", "float", "the start of the tied block if positions that no row has were closed")
HIT_START = TERM_ROWS.add("hit_start", "integer", "the start of the tied block of a relevant row", "ranks")
EQUAL = TERM_ROWS.add("equal", "float", "how many rows of the list have the value that numbers the row", "_engines")
HITS_BEFORE = TERM_ROWS.add("hits_before", "float", "how many relevant rows are ahead of the tied block", "ranks")
RANKED_RELEVANT = TERM_ROWS.add("ranked_relevant", "float", "how many relevant items the list ranks")
NONRELEVANT_BEFORE = TERM_ROWS.add(
    "nonrelevant_before", "float", "how many judged rows that are not relevant are ahead of the tied block", "ranks"
)
BLOCK_NONRELEVANT = TERM_ROWS.add(
    "block_nonrelevant", "float", "how many judged rows of the tied block are not relevant", "ranks"
)
POOLED_BEFORE = TERM_ROWS.add(
    "pooled_before", "float", "how many rows of the pool, relevant or not, are ahead of the tied block", "ranks"
)
BLOCK_POOLED = TERM_ROWS.add("block_pooled", "float", "how many rows of the tied block are in the pool", "ranks")
FLAG = TERM_ROWS.add("flag", "float", "1 for a row that is counted ahead of others, else 0", "ranks")
interpolated_column = TERM_ROWS.family("interpolated{}", "float", "the greatest precision from a recall on")
first_pairs_column = TERM_ROWS.family(
    "first_pairs{}", "float", "how many of the first other rows a hit of the tied block is ahead of", "places"
)
seen_column = TERM_ROWS.family("seen{}", "float", "the attention of users who stop at relevant rows", "seen")
HITS_AHEAD = TERM_ROWS.add("hits_ahead", "float", "how many relevant rows are ahead of any row's tied block", "seen")
HITS_INSIDE = TERM_ROWS.add("hits_inside", "float", "how many relevant rows are in any row's tied block", "seen")
INFERRED = TERM_ROWS.add("inferred", "float", "the precision that is estimated at a hit of the tied block", "places")
LENGTH = TERM_ROWS.add("length", "float", "how many rows the list ranks", "ranks")
GRADE_RANK = TERM_ROWS.add("grade_rank", "float", "the average rank of the relevance in the list", "ranks")
SAME_GRADE = TERM_ROWS.add("same_grade", "float", "how many rows of the list have the same relevance", "ranks")
LEVEL = TERM_ROWS.add("level", "integer", "the relevance's number among the list's relevances, from 0", "ranks")
HIGHER_DIGITS = TERM_ROWS.add("higher_digits", "integer", "the binary digits of the level before one digit", "ranks")
HIGHER_PLACE = TERM_ROWS.add(
    "higher_place", "float", "the position, counted from the last row, among rows with equal higher digits", "ranks"
)
SAME_DIGIT_PLACE = TERM_ROWS.add(
    "same_digit_place", "float", "the same position among rows that also have the same digit", "ranks"
)
CONCORDANCE = TERM_ROWS.add("concordance", "float", "summed over a list: concordant less discordant pairs", "ranks")
COMPARED = frozenset({LENGTH, GRADE_RANK, SAME_GRADE, CONCORDANCE})
"""The columns for which a row is compared with all ranked rows of its list."""
BEFORE = TERM_ROWS.add("before", "integer", "the position before the tied block")
UPTO = TERM_ROWS.add("upto", "integer", "the last position of the tied block")
weight_column = TERM_ROWS.family("weight{}", "float", "a metric's weight of a position, in the table of positions")
before_column = TERM_ROWS.family("before{}", "float", "the sum of a weight over the positions before the tied block")
WITH_BLOCK = " with block"
upto_column = TERM_ROWS.family("before{}" + WITH_BLOCK, "float", "the sum of a weight up to the end of the tied block")
GREATEST = TERM_ROWS.add("greatest", "float", "the largest relevance of the frame", "opened")

PLACES = FrameSpec("places", "a position of a tied block that is read as a whole", (KEPT_ROWS,), "places")
PLACE_COUNT = PLACES.add("place_count", "integer", "how many positions of the tied block to make")
CHANCE = PLACES.add(
    "chance", "float", "the probability that the first hit, or the n-th marked row, is at this position", "ranks"
)
MARKED = PLACES.add("marked", "float", "how many rows of the tied block are of the kind that gets places, such as hits")
NTH = PLACES.add("nth", "float", "the number of the marked row that gets the place, from 1")
PASSED = PLACES.add("passed", "float", "the logarithm of a factor of the probability")
stop_column = PLACES.family("stop{}", "float", "the probability to stop here, once at the tied block", "stops")
go_on_column = PLACES.family(
    "go_on{}", "float", "the logarithm of the probability to pass the tied block, 0 at a certain stop", "stops"
)
end_column = PLACES.family("end{}", "float", "above 0 where every user stops, else 0", "stops")
past_column = PLACES.family("past {}", "float", "the sum of a column over the tied blocks before", "stops")
examined_column = PLACES.family("examined{}", "float", "the probability to get to the tied block", "stops")
survival_column = PLACES.family(
    "survival{}", "float", "the probability to pass the place, once at the tied block", "tied_stops"
)

NODES = FrameSpec("nodes", "a point where the polynomial of a tied block is computed", (PLACES,), "tied_stops")
REACHED = NODES.add("reached", "float", "the last position that is read, counted in the tied block")
BAND = NODES.add("band", "float", "s: the positions from s² to s² + 2s, counted from an end of the block, share points")
BAND_FIRST = NODES.add("band_first", "float", "the first position that shares the point")
BAND_COUNT = NODES.add("band_count", "integer", "how many positions share the point")
TILT = NODES.add("tilt", "float", "u: about which share of the tied block is ahead of these positions")
DEVIATION = NODES.add("deviation", "float", "the standard deviation of how many rows are ahead with that probability")
PERIOD = NODES.add("period", "float", "how many points half the circle has")
NODE = NODES.add("node", "integer", "which point of the circle, from 1")
ANGLE = NODES.add("angle", "float", "the angle of the point x")
SINE = NODES.add("sine", "float", "the sine of half the angle")
COSINE = NODES.add("cosine", "float", "the cosine of half the angle")
REAL = NODES.add("real", "float", "the real part of z = 1 - u + u·q·x")
SQUARE = NODES.add("square", "float", "the square of the absolute value of z")
log_column = NODES.family(
    "log{}", "float", "the logarithm of the absolute value of z, then its sum over the rows of the block"
)
argument_column = NODES.family(
    "argument{}", "float", "the angle of z less u times the angle of x, then its sum over the rows of the block"
)
BASE_LOG = NODES.add("base_log", "float", "the same logarithm for a block where nobody stops")
BASE_ARGUMENT = NODES.add("base_argument", "float", "the same angle for a block where nobody stops")

SIDE = FrameSpec("side tables", "an item, a user or a list of side information", (TRAIN, FEATURES), "side_tables")
EVERYTHING = SIDE.add("everything", "integer", "a constant: all items are one list")
USERS = SIDE.add("users", "float", "how many users of the training data have the item")
POPULAR = SIDE.add("popular", "float", "the item's rank by its users; infinite without any")
POPULAR_LEVEL = SIDE.add(
    "popular_level", "float", "the item's rank by its users, 1 for all of the most popular ones; null without any"
)
FAMILIAR = SIDE.add("familiar", "float", "the mean cosine between the item and the items that the list's user had")
POPULARITY = SIDE.add(
    "popularity", "float", "the item's rank by its users as a share of the items; infinite without any"
)
INTERACTIONS = SIDE.add("interactions", "float", "how many rows of the training data have the item")
TRAIN_ROWS = SIDE.add("train_rows", "float", "how many rows the training data have")
TRAIN_USERS = SIDE.add("train_users", "float", "how many users the training data have")
NORM = SIDE.add("norm", "float", "the length of the feature vector")
FEATURE_SUM = SIDE.add("feature_sum", "float", "the sum of the features")
DESCRIBED = SIDE.add("described", "float", "1 where the item has features, else 0")
UNIT = SIDE.add("unit", "float", "1 where the features are not all 0, else 0")
CATEGORISED = SIDE.add("categorised", "float", "1 where the features have a sum, else 0")
direction_column = SIDE.family("direction{}", "float", "a feature, scaled to vectors of length 1")
share_column = SIDE.family("share{}", "float", "a feature, scaled to a sum of 1")
OTHER = SIDE.add("other_item", "key", "the other item of a pair")
SIMILARITY = SIDE.add("pair_similarity", "float", "how similar the two items of a pair are")
CATALOG_SIZE = SIDE.add("catalog_size", "float", "how many items the catalogue has")

RECOMMENDED = FrameSpec("recommended rows", "a row of the top k, ties broken", (PLACED_ROWS, SIDE), "beyond_accuracy")
PLACE = RECOMMENDED.add("place", "integer", "the row's own position", "ranks")
FIRST = RECOMMENDED.add("first", "float", "1 where the list has the item for the first time, else 0")
LISTED = RECOMMENDED.add("listed", "float", "1 for a first row up to a cutoff, or where another frame has the key")
OTHER_PLACE = RECOMMENDED.add("other_place", "integer", "the position of another item of the list")
SIMILAR_AHEAD = RECOMMENDED.add(
    "similar_ahead", "float", "summed over the different items ahead in the list: how similar the item is to each"
)
distinct_column = RECOMMENDED.family("distinct{}", "float", "how many different items the list has up to a cutoff")

GROUPS = FrameSpec("groups", "a group of items within a list", (TERM_ROWS,), "groups")
GROUP = GROUPS.add("item_group", "key", "the group of the item", "_engines")
ATTENTION = GROUPS.add("attention", "float", "the attention that the group gets in the list")
LIST_ATTENTION = GROUPS.add("list_attention", "float", "the attention of all groups in the list")
GROUP_SHARE = GROUPS.add("group_share", "float", "the group's share of the list's attention")
TARGET = GROUPS.add("target", "float", "the share that the group should get")
target_column = GROUPS.family("target{}", "float", "the number that a table of targets gives a group", "_engines")

EXPOSURES = FrameSpec("exposures", "a group of items", (TERM_ROWS, GROUPS), "exposure")
EXPOSED = {
    name: EXPOSURES.add(f"group {name}", "float", meaning)
    for name, meaning in {
        "items": "how many items of the catalogue the group has",
        "relevance": "the relevance of its relevant items, summed over lists",
        "exposure": "the attention that it gets, summed over lists",
        "gain": "the attention times the relevance of relevant items, summed over lists",
        "target": "its part of the target, as a number",
    }.items()
}
"""The sums of a group, by their column names."""
exposed_column = EXPOSURES.family("group's {}", "float", "a column of the result, by the name that it gets")

LIST_SUMS = FrameSpec("list sums", "a list", (TERM_ROWS, PLACES, IDEAL, RECOMMENDED, GROUPS), "list_sums")
sum_column = LIST_SUMS.family("sum{}", "float", "the sum of a metric's term over the list")
RANKED = LIST_SUMS.add("ranked_in_list", "float", "N: how many rows the list ranks", "row_counts")
ROWS = LIST_SUMS.add("rows_in_list", "float", "how many rows the list has, ranked or not", "row_counts")
vacant_column = LIST_SUMS.family(
    "vacant{}", "float", "how many of the first min(N, k) positions no row has, where ranks are given", "row_counts"
)
IN_TRUTH = LIST_SUMS.add("in_truth", "float", "above 0 where the ground truth has the list")
SERVED = LIST_SUMS.add("served", "float", "above 0 where the list ranks something, judged or not, under condensed=True")
KNOWN = LIST_SUMS.add("known", "float", "above 0 where any model's rows give the list a relevant item")
SUBTOPICS = LIST_SUMS.add("subtopics", "float", "how many subtopics the list has", "subtopics")
greedy_column = LIST_SUMS.family("greedy{}", "float", "the gain of a greedy ideal ranking", "subtopics")
group_distance_column = LIST_SUMS.family(
    "group_distance{}", "float", "the distance of groups from a target, less 1/2", "groups"
)
grouped_column = LIST_SUMS.family("grouped{}", "float", "the attention to items that have a group", "groups")
constant_column = LIST_SUMS.family(
    "constant{}", "float", "the sum of a weight over positions, the same for all lists", "plan"
)

ITEM_SUMS = FrameSpec("item sums", "an item within a segment", (RECOMMENDED,), "beyond_accuracy")
ALL = ITEM_SUMS.add("all", "integer", "a constant: all lists are one segment")
item_sum_column = ITEM_SUMS.family("item_sum{}", "float", "the sum of a metric's term over the lists that recommend it")
order_column = ITEM_SUMS.family("order {}", "float", "the item's rank by one of its sums, from 1")
segment_sum_column = ITEM_SUMS.family("segment_sum{}", "float", "the sum of a metric's term over a segment's items")

VALUES = FrameSpec("list values", "a list, with a column of each metric's name", (LIST_SUMS,), "plan")
weighting_column = VALUES.family("weighting {}", "float", "the list's weight in the mean of a metric")

TOTALS = FrameSpec("totals", "a segment", (VALUES,), "averages")
total_column = TOTALS.family("total {}", "float", "the weighted sum of a metric over the segment's lists")
total_weight_column = TOTALS.family("total weight {}", "float", "the sum of the weights of lists that have a value")
VALUED = TOTALS.add("lists with values", "integer", "how many lists have a value under every metric")
UNVALUED = TOTALS.add("lists without values", "integer", "how many lists lack one")
PARTLY_VALUED = TOTALS.add("lists with a value", "integer", "how many lists have a value under any metric")

LIST_COUNTS = {VALUED: "lists", UNVALUED: "undefined"}
"""The names of the columns in results that count lists."""

RESULT = FrameSpec("result", "a segment, or a model, with a column of each metric's name", (TOTALS, ITEM_SUMS), "plan")

SHARES = FrameSpec("contributions", "a kept row with what it adds to its list", (TERM_ROWS, VALUES), "contributions")
row_column = SHARES.family("row {}", "float", "what the row adds to a sum")
block_column = SHARES.family("block {}", "float", "what the places of the tied block add to a sum together")
ROW_GRADE = SHARES.add("row_grade", "float", "the relevance of the row whose positions are computed", "stops")
CONTRIBUTION = SHARES.add("contribution", "float", "what the row adds to the value")
LIST_VALUE = SHARES.add("list value", "float", "the value of the list")
LIST_SUM = SHARES.add("list sum", "float", "the sum of what its rows add to a custom metric, of a lazy frame")

SCRATCH = FrameSpec("checks of data", "a list or a tied block", (FRAME,), "all modules")
COUNT = SCRATCH.add("count", "integer", "how many rows there are")
PRESENT = SCRATCH.add("present", "integer", "how many of them are not missing")
ROWS_TO_CUTOFF = SCRATCH.add("rows_to_cutoff", "float", "how many rows up to the cutoff the frame holds")
LEAST = SCRATCH.add("least", "float", "the least value")
MOST = SCRATCH.add("most", "float", "the largest value")
ABSOLUTE = SCRATCH.add("absolute", "float", "the absolute value")

FRAMES = (
    *(FRAME, TRUTH, TRAIN, FEATURES, RANKED_ROWS, PLACED_ROWS, KEPT_ROWS, IDEAL, TERM_ROWS, PLACES, SIDE),
    *(RECOMMENDED, GROUPS, EXPOSURES, LIST_SUMS, ITEM_SUMS, VALUES, TOTALS, RESULT, SHARES, SCRATCH),
)
"""All frames, in the order in which a call makes them."""
