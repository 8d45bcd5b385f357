"""The frames on which the profiles are compared with the libraries."""

from __future__ import annotations

from random import Random

# Only Random.random is promised to give the same numbers on every version of Python, which recorded values need.


class Draw:
    def __init__(self, seed):
        self._random = Random(seed)

    def below(self, n):
        return int(self._random.random() * n)

    def chance(self, p):
        return self._random.random() < p

    def some(self, items, n):
        """Return n of the items, in random order."""
        return sorted(items, key=lambda _: self._random.random())[:n]


def case(seed, *, tied=False, inside=False, least=1, graded=True, unserved=True):
    """Return rows of recommendations and of truth.

    Parameters
    ----------
    tied
        Scores are eighths, so that many tie; else no two of a list are equal.
    inside
        Whether everything that is relevant was recommended.
    least
        The shortest list.
    graded
        Grades from 0 to 3, else 0 and 1.
    unserved
        Whether there are lists in only one of the frames, and lists where nothing is relevant.
    """
    draw = Draw(seed)
    rows, truth = [], []
    for number in range(40):
        user = f"u{number:02}"
        catalogue = draw.some([f"i{item:02}" for item in range(40)], 24)
        ranked = catalogue[: least + draw.below(14)]
        # No score is 0 or less, which torchmetrics would not call relevant.
        scores = [1 + draw.below(5) for _ in ranked] if tied else [1 + i for i in draw.some(range(60), len(ranked))]
        if not (unserved and number % 10 == 3):
            rows += [{"user": user, "item": i, "score": s / 8} for i, s in zip(ranked, scores, strict=True)]
        judged = draw.some(ranked if inside else catalogue, len(ranked) // 2 if inside else 9)
        grades = [0, 0, 1, 1, 2, 3] if graded else [0, 1]
        if not (unserved and number % 10 == 5):
            none = unserved and number % 10 == 7
            truth += [
                {"user": user, "item": item, "relevant": 0 if none else grades[draw.below(len(grades))]}
                for item in judged
            ]
    return {"rows": rows, "truth": truth}


GRADES = (-2, -1, 0, 0, 1, 1, 2, 3)


def crowd(seed, lists, *, tied=True, inside=False, least=1, grades=GRADES, level=None, lowest=None, blocks=20):
    """Return rows of many lists with every edge that a list can have.

    Some lists are not served, not judged, of one row, of equal scores, without anything relevant, or have nothing else.

    Parameters
    ----------
    tied, inside, least
        As in `case`; with `inside` every list is served.
    grades
        What grades are drawn from.
    level
        From which grade on an item is relevant.
    lowest
        What a list without a positive grade has for its lowest: None: any grade; "zero": 0; "one zero": any, but not in
        every row.
    blocks
        Into how many blocks the lists are divided.
    """
    draw = Draw(seed)
    items = [f"i{item:02}" for item in range(30)]
    rows, truth = [], []
    for number in range(lists):
        key = {"block": number * blocks // lists, "user": f"u{number:05}"}
        edge = EDGES.get(draw.below(25))
        catalogue = draw.some(items, 20)
        ranked = catalogue[: 1 if edge == "one row" and least == 1 else least + draw.below(13)]
        scores = [1 + draw.below(5) for _ in ranked] if tied else [1 + i for i in draw.some(range(60), len(ranked))]
        if edge == "equal scores" and tied and not inside:
            scores = [1 for _ in ranked]
        if edge != "not served" or inside:
            rows += [{**key, "item": i, "score": s / 8} for i, s in zip(ranked, scores, strict=True)]
        judged = (
            ranked
            if edge == "no pair" and not inside
            else draw.some(ranked if inside else catalogue, 1 + draw.below(8))
        )
        own = [grades[draw.below(len(grades))] for _ in judged]
        if edge == "nothing relevant":
            own = [min(grade, type(grade)(0)) for grade in own]
        if edge == "no pair":
            own = [max(grade, type(grade)(level or 1)) for grade in own]
        if max(own) <= 0 and lowest is not None:
            own = [0 if lowest == "zero" or n == 0 else grade for n, grade in enumerate(own)]
        if edge != "not judged":
            truth += [{**key, "item": i, "relevant": grade} for i, grade in zip(judged, own, strict=True)]
    return {"rows": rows, "truth": truth, "level": level}


EDGES = dict(enumerate(("not served", "not judged", "one row", "nothing relevant", "no pair", "equal scores")))

INTEGER_GRADES = (0, 0, 0, 1, 1, 2, 3)
"""The grades of exponential gains."""

OWN_CROWD = {
    "trec_eval": {"lowest": "one zero"},  # on which pytrec_eval writes past its memory
    "sklearn": {"least": 2, "grades": INTEGER_GRADES},  # all that ndcg_score accepts
    "ranx": {},
    "rectools": {"tied": False},
    "recommenders": {"grades": (-1, -1, 0, 0, 1, 1, 2, 3), "lowest": "zero"},  # whose ideal is 0 nowhere
    "spark": {"tied": False, "blocks": 3},  # of which each takes seconds
    "torchmetrics": {"tied": False},
    "recometrics": {"inside": True, "least": 11, "tied": False},
    "lightgbm": {"grades": INTEGER_GRADES},
    "xgboost": {"grades": INTEGER_GRADES},
    "catboost": {"grades": INTEGER_GRADES},
    "ir_measures": {"lowest": "one zero"},
    "recbole": {"inside": True, "least": 11, "tied": False},
    "replay": {},
    "tensorflow_ranking": {"grades": INTEGER_GRADES, "tied": False},
    "lenskit": {"tied": False},
    "mlflow": {"tied": False},
    "llama_index": {"tied": False},
    "sentence_transformers": {},
    "evidently": {"inside": True, "tied": False, "grades": (-1, -1, 0, 0, 1, 1, 2, 3)},  # whose ideal is 0 nowhere
}
"""What differs in the crowd that each library is requested."""


FRACTIONS = (0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0)
OTHER_CROWDS = {
    "sklearn": {"negative": {"grades": GRADES}},
    "tensorflow_ranking": {"of fractions": {"grades": (*FRACTIONS, 1.5, 2.0)}},
    "lightgbm": {"negative": {"grades": GRADES}},
    "catboost": {
        "negative": {"grades": GRADES},
        "of fractions": {"grades": FRACTIONS},
    },
    "recbole": {"unranked": {"inside": False}},
}
"""Further crowds, on which only some metrics of a library are compared."""


def crowds(library, *, seed=20, lists=10_000):
    """Return the cases of many lists for a library, by name."""
    own = OWN_CROWD[library]
    return {
        f"{library}, {lists} lists, level {level}": crowd(seed + (level or 0), lists, level=level, **own)
        for level in (None, 2)
    } | {
        f"{library}, {lists} lists, {name}": crowd(seed, lists, **{**own, **other})
        for name, other in OTHER_CROWDS.get(library, {}).items()
    }


CASES = {
    "graded": case(1),
    "tied": case(2, tied=True),
    "graded, at least two rows": case(3, least=2),
    "tied, at least two rows": case(4, tied=True, least=2),
    "binary": case(5, graded=False),
    "inside": case(6, inside=True, least=11, unserved=False),
}

OF_LIBRARY = {
    "trec_eval": ["graded", "tied", "binary"],
    "sklearn": ["graded, at least two rows", "tied, at least two rows"],  # ndcg_score accepts no list of one row
    "ranx": ["graded", "tied", "binary"],
    "rectools": ["graded", "binary"],  # accepts positions, so nothing ties
    "recommenders": ["graded", "tied", "binary"],
    "spark": ["graded", "binary"],
    "torchmetrics": ["graded", "tied", "binary"],
    "lightgbm": ["graded", "tied", "binary"],
    "xgboost": ["graded", "tied", "binary"],
    "catboost": ["graded", "tied", "binary"],
    "ir_measures": ["graded", "tied", "binary"],
    "recbole": ["inside"],
    "replay": ["graded", "tied", "binary"],
    "tensorflow_ranking": ["graded", "binary"],
    "lenskit": ["graded", "binary", "inside"],
    "mlflow": ["graded", "binary"],
    "llama_index": ["graded", "binary"],
    "sentence_transformers": ["graded", "tied", "binary"],
    "evidently": ["inside"],
    "recometrics": ["inside"],  # scores every item that can be relevant, and more than k of them
}
"""Which cases each library can be requested."""
