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
        shown = catalogue[: least + draw.below(14)]
        # No score is 0 or less, which torchmetrics would not call relevant.
        scores = [1 + draw.below(5) for _ in shown] if tied else [1 + i for i in draw.some(range(60), len(shown))]
        if not (unserved and number % 10 == 3):
            rows += [{"user": user, "item": i, "score": s / 8} for i, s in zip(shown, scores, strict=True)]
        judged = draw.some(shown if inside else catalogue, len(shown) // 2 if inside else 9)
        grades = [0, 0, 1, 1, 2, 3] if graded else [0, 1]
        if not (unserved and number % 10 == 5):
            none = unserved and number % 10 == 7
            truth += [
                {"user": user, "item": item, "relevant": 0 if none else grades[draw.below(len(grades))]}
                for item in judged
            ]
    return {"rows": rows, "truth": truth}


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
    "sklearn": ["graded, at least two rows", "tied, at least two rows"],  # ndcg_score takes no list of one row
    "ranx": ["graded", "tied", "binary"],
    "rectools": ["graded", "binary"],  # takes positions, so nothing ties
    "recommenders": ["graded", "tied", "binary"],
    "spark": ["graded", "binary"],
    "torchmetrics": ["graded", "tied", "binary"],
    "recometrics": ["inside"],  # scores every item that can be relevant, and more than k of them
}
"""Which cases each library can be asked."""
