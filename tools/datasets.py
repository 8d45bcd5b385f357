"""Writes the files of ``recframe.datasets``: ``python tools/datasets.py``.

``--check`` writes nothing, and fails if a file does not hold what this script would write. The data are invented. They
are made of uniform numbers by additions and comparisons only, so every machine makes the same files.
"""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parent.parent / "src" / "recframe" / "datasets"
SEED = 7
USERS, SHOWN, BOOKS = 200, 30, 90
"""The users, the books that each of them was shown, and the books of the shop."""
GENRES = ("crime", "fantasy", "history", "romance", "science", "travel")
COUNTRIES = ("de",) * 7 + ("fr",) * 6 + ("it",) * 4 + ("es",) * 3
"""The countries, each as often as twentieths of the users live there."""
FIRST_WEEK, WEEKS = date(2026, 3, 2), 8
QUERIES, CORPUS, CANDIDATES, DEPTH, JUDGED = 30, 400, 60, 20, 10
"""The queries, all documents, and for each query: those it could find, those a run returns, and how many
of the best of `bm25` and `dense` were judged."""
GRADES = (0.7, 1.5)
"""How useful a document must be for the grades 1 and 2."""


def normal(random: Random) -> float:
    """Return a number that is about normally distributed: twelve uniform numbers, added up."""
    return sum(random.random() for _ in range(12)) - 6


def distinct(scores: Sequence[float]) -> list[int]:
    """Return scores between 0 and 1 in thousandths, where equal scores are moved apart."""
    drawn: dict[int, None] = {}
    for score in scores:
        thousandths = min(max(round(1000 * score), 1), 900)
        while thousandths in drawn:
            thousandths += 1
        drawn[thousandths] = None
    return [*drawn]


@dataclass(frozen=True)
class Book:
    """A book of the shop."""

    name: str
    genre: str
    price: int
    appeal: float
    """How much everybody likes it."""
    popular: int
    """The score of the model `popular`, which is the same for every user."""


def books(random: Random) -> list[Book]:
    """Return the books of the shop."""
    appeals = [normal(random) for _ in range(BOOKS)]
    # Some of what sold well was advertised rather than liked.
    sold = distinct([0.45 + 0.12 * (0.6 * appeal + 0.8 * normal(random)) for appeal in appeals])
    books = []
    for number, appeal in enumerate(appeals):
        kind = number % len(GENRES)
        price = 100 * round(7 + 12 * random.random() + 2 * kind) - 1
        books.append(Book(f"book{number + 1:02}", GENRES[kind], price, appeal, sold[number]))
    return books


def visits() -> str:
    """Return the table of visits: the books, the users, and a value of each column for each pair of them.

    Prices are in hundredths and scores in thousandths, because whole numbers are short.
    """
    random = Random(SEED)  # noqa: S311 - nothing is secret here
    shop = books(random)
    users: dict[str, list[str]] = {"country": [], "week": []}
    pairs: dict[str, list[int]] = {name: [] for name in ("item", "relevant", "old", "new", "deep")}
    for user in range(USERS):
        country = COUNTRIES[int(random.random() * len(COUNTRIES))]
        users["country"].append(country)
        users["week"].append(f"{FIRST_WEEK + timedelta(weeks=user * WEEKS // USERS)}")
        tastes = {genre: normal(random) for genre in GENRES}
        shown = random.sample(range(BOOKS), SHOWN)
        likes = [0.5 * shop[book].appeal + tastes[shop[book].genre] + 0.8 * normal(random) for book in shown]
        bought = sorted(range(SHOWN), key=lambda row: -likes[row])[: 1 + int(4 * random.random())]
        pairs["item"] += shown
        pairs["relevant"] += [int(row in bought) for row in range(SHOWN)]
        # The deep model learned from visits in France.
        for model, noise in {"old": 1.4, "new": 1.15, "deep": 1.05 if country == "fr" else 1.6}.items():
            pairs[model] += distinct([0.45 + 0.1 * (like + noise * normal(random)) for like in likes])
    return json.dumps({"items": columns_of(shop), "users": users, "pairs": pairs}, separators=(",", ":"))


def columns_of(shop: Sequence[Book]) -> dict[str, list[Any]]:
    """Return the books, a list for each of their columns."""
    return {name: [getattr(book, name) for book in shop] for name in ("name", "genre", "price", "popular")}


def trec() -> dict[str, str]:
    """Return the texts of the judgments and of three runs: words, vectors, and both together."""
    random = Random(SEED)  # noqa: S311 - nothing is secret here
    runs: dict[str, list[str]] = {"bm25": [], "dense": [], "hybrid": []}
    judged = []
    for number in range(1, QUERIES + 1):
        query = f"q{number:02}"
        documents = [f"d{number:03}" for number in sorted(random.sample(range(1, CORPUS + 1), CANDIDATES))]
        use = [normal(random) for _ in documents]
        words = [value + 1.3 * normal(random) for value in use]
        vectors = [value + 1.3 * normal(random) for value in use]
        scores = {
            "bm25": words,
            "dense": vectors,
            "hybrid": [sum(pair) / 2 for pair in zip(words, vectors, strict=True)],
        }
        pool = set()
        for system, values in scores.items():
            order = sorted(range(CANDIDATES), key=lambda row: -values[row])[:DEPTH]
            if system != "hybrid":
                pool.update(order[:JUDGED])
            shown = sorted(distinct([0.5 + 0.1 * values[row] for row in order]), reverse=True)
            runs[system] += [
                f"{query} Q0 {documents[row]} {rank + 1} {shown[rank] / 1000:g} {system}"
                for rank, row in enumerate(order)
            ]
        for row in sorted(pool):
            grade = sum(use[row] > limit for limit in GRADES)
            judged.append(f"{query} 0 {documents[row]} {grade}")
    return {"test.qrels": lines(judged), **{f"{system}.run": lines(rows) for system, rows in runs.items()}}


def lines(rows: Sequence[str]) -> str:
    """Return rows as the text of a file."""
    return "".join(f"{row}\n" for row in rows)


def files() -> dict[Path, str]:
    """Return the texts of all files."""
    return {FOLDER / "visits.json.gz": visits(), **{FOLDER / "trec" / name: text for name, text in trec().items()}}


def main() -> int:
    """Write the files, or with --check compare them."""
    outdated = []
    for path, text in files().items():
        if "--check" not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            write(path, text)
        elif not path.exists() or read(path) != text:
            outdated.append(path.name)
    if outdated:
        sys.stderr.write(f"out of date: {', '.join(outdated)}\n\nHint: python tools/datasets.py\n")
    return 1 if outdated else 0


def write(path: Path, text: str) -> None:
    """Write a text, compressed if the name says so."""
    data = text.encode()
    # Without a time and a name, the same text gives the same file.
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def read(path: Path) -> str:
    """Return the text of a file: compressed files may differ in their bytes from one version of zlib to the next."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


if __name__ == "__main__":
    sys.exit(main())
