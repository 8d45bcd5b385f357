"""Lists of sessions under three models, and their values one by one."""

import random
from typing import Any

MODELS = ["a", "b", "c"]


def rows_of(seed: int = 0, lists: int = 30, length: int = 6) -> list[dict[str, Any]]:
    """Return lists of unequal length, some without a relevant item, in clusters of users."""
    draw = random.Random(seed)
    rows = []
    for number in range(lists):
        weight = draw.randint(1, 5)
        for item in range(draw.randint(1, length)):
            row = {"session": number, "user": f"u{number // 3}", "item": item, "relevant": draw.choice([0, 0, 1, 2])}
            row |= {model: draw.random() for model in MODELS}
            rows.append(row | {"weight": float(weight), "country": "at" if number % 2 else "be"})
    return rows


def values_of(engine: Any, frame: Any, metric: str, model: str, **given: Any) -> dict[int, Any]:
    """Return the values per list, by list."""
    result = engine.ask(frame, "evaluate", metric, by="session", per="session", score=model, **given)
    return {row["session"]: row[metric] for row in result}


def pair_of(
    engine: Any, frame: Any, metric: str, model: str, baseline: str, **given: Any
) -> tuple[list[int], Any, Any]:
    """Return the lists where both models have a value, and the values."""
    ours, theirs = (values_of(engine, frame, metric, name, **given) for name in (model, baseline))
    both = sorted(key for key in ours if ours[key] is not None and theirs.get(key) is not None)
    # NumPy is an extra.
    import numpy as np

    return both, np.array([ours[key] for key in both]), np.array([theirs[key] for key in both])


def only_row(rows: list[dict[str, Any]], **where: Any) -> dict[str, Any]:
    """Return the only row of a result, or the only one with these values."""
    (row,) = [row for row in rows if all(row[name] == value for name, value in where.items())]
    return row
