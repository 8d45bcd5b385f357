"""Draws every chart, table and report for people to look at: ``python tools/gallery.py [folder]``.

The folder is ``build/gallery`` by default. Charts and tables are PNG, the report is HTML, and where Chromium is
installed it is photographed too: 1,280 and 390 pixels wide, light, dark, and as it prints.
"""

from __future__ import annotations

import datetime as dt
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import recframe

if TYPE_CHECKING:
    from collections.abc import Iterator

MODELS = ["old", "deep", "hybrid", "popular"]
NEW, WANTED = 0.35, 2.0
"""The share of new users, and from which taste on an item is relevant."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
VIEWS = {"1280": (1280, []), "390": (390, []), "dark": (1280, ["--blink-settings=preferredColorScheme=0"])}
"""The widths of photographs of the report, with the options of the browser."""
PIXELS = 2


def store(users: int = 240, items: int = 25) -> pl.DataFrame:
    """Return made-up visits: deep is better for regular users and worse for new ones, popular is the same for all."""
    rng = np.random.default_rng(11)
    rows = users * items
    taste = rng.normal(size=rows)
    new = np.repeat(rng.random(users) < NEW, items)
    monday = dt.date(2026, 1, 5)
    weeks = np.repeat(rng.integers(0, 8, users), items).tolist()
    return pl.DataFrame({
        "user": np.repeat(np.arange(users), items),
        "item": np.tile(np.arange(items), users),
        "relevant": (taste + rng.normal(size=rows) > WANTED).astype(int),
        "old": 0.6 * taste + rng.normal(size=rows),
        "deep": np.where(new, 0.1, 1.1) * taste + rng.normal(size=rows),
        "hybrid": 0.85 * taste + rng.normal(size=rows),
        "popular": np.tile(rng.normal(size=items), users),
        "kind": np.where(new, "new user", "regular"),
        "country": np.repeat(rng.choice(["at", "de", "es", "fr", "it"], users), items),
        "week": [monday + dt.timedelta(weeks=week) for week in weeks],
    })  # fmt: skip


def charts(frame: pl.DataFrame) -> Iterator[tuple[str, Any]]:
    """Return each chart with the name of its file."""
    rec = frame.rec(score=MODELS)
    three, two, one = (frame.rec(score=models) for models in (MODELS[:3], ["old", "hybrid"], "old"))
    many = frame.with_columns(**{f"model {n}": pl.col("old") + 0.1 * n * pl.col("hybrid") for n in range(9)})
    names = [f"model {n}" for n in range(9)]
    yield "forest", recframe.forest(rec.compare("ndcg@10", baseline="old"))
    yield "forest-metrics", recframe.forest(rec.compare(["ndcg@10", "recall@5", "dcg@10"], baseline="old"))
    yield "forest-pairs", recframe.forest(three.compare("ndcg@10"))
    yield "forest-segments", recframe.forest(three.compare("ndcg@10", baseline="old", per=["kind", "country"]))
    yield "forest-margin", recframe.forest(rec.compare("ndcg@10", baseline="old", margin="8%", per="kind"))
    yield (
        "forest-long-names",
        recframe.forest(
            frame.rename({name: f"{name}-with-dim=128,rate=0.001,seed=7" for name in MODELS})
            .rec(score=[f"{name}-with-dim=128,rate=0.001,seed=7" for name in MODELS])
            .compare("ndcg@10")
        ),
    )
    yield "curve", three.plot.curve(["ndcg", "recall"])
    yield "curve-one", one.plot.curve("ndcg")
    yield "curve-many", many.rec(score=names).plot.curve("ndcg")
    yield "distribution", three.plot.distribution("ndcg@10")
    yield "distribution-one", one.plot.distribution("ndcg@10")
    yield "differences", two.plot.differences("ndcg@10")
    yield "power", three.plot.power("ndcg@10", difference=0.03)
    yield "ranks-two", two.plot.ranks("ndcg@10")
    yield "ranks-three", three.plot.ranks("ndcg@10")
    yield "ranks-many", many.rec(score=names).plot.ranks("ndcg@10")
    yield "segments", three.plot.segments("ndcg@10", per="country")
    yield "segments-one", one.plot.segments("ndcg@10", per="country")
    yield "trend", three.plot.trend("ndcg@10", per="week")
    yield "trend-text", three.plot.trend("ndcg@10", per="country")
    yield "tradeoff", rec.plot.tradeoff("ndcg", "coverage", 10)
    yield "tradeoff-lists", rec.plot.tradeoff("ndcg", "recall", 10)
    yield "tradeoff-many", many.rec(score=names).plot.tradeoff("ndcg", "recall", 10)


def tables(frame: pl.DataFrame) -> Iterator[tuple[str, Any]]:
    """Return each table with the name of its file."""
    rec = frame.rec(score=MODELS)
    compared = rec.compare("ndcg@10", baseline="old")
    yield "compare", recframe.table(compared)
    yield "compare-metrics", recframe.table(rec.compare(["ndcg@10", "recall@5"], per="kind"), title="Two metrics")
    yield "evaluate", recframe.table(rec.evaluate(["ndcg", "mrr", "coverage"], k=[5, 10]))
    yield "evaluate-compare", recframe.table(rec.evaluate("ndcg@10"), compared=rec.compare("ndcg@10"))
    yield "describe", recframe.table(rec.describe(["ndcg@10", "mrr"]))
    yield "describe-segments", recframe.table(rec.describe("ndcg@10", per="kind"), columns="segment")
    yield "ranks", recframe.table(rec.rank_models("ndcg@10"))


def reports(frame: pl.DataFrame, folder: Path) -> Iterator[Path]:
    """Write the reports and return their paths."""
    rec = frame.rec(score=MODELS)
    calls = {
        "report": lambda path: rec(per="country").report(
            path, ["ndcg", "recall", "coverage"], k=[5, 10], baseline="old", title="Four models of May"
        ),
        "report-one": lambda path: frame.rec(score="old").report(path, ["ndcg", "mrr"], k=10),
        "report-errors": lambda path: (
            frame.with_columns(old=1.0).rec(score=["old", "deep"]).report(path, "ndcg", k=10, per="week")
        ),
    }
    for name, call in calls.items():
        path = folder / f"{name}.html"
        call(path)
        yield path


def photograph(page: Path, view: str, browser: str) -> None:
    """Write what a browser shows of a page, as an image of its whole height."""
    width, options = VIEWS[view]
    target = page.with_name(f"{page.stem}-{view}.png")
    with tempfile.TemporaryDirectory() as profile:
        # Windows are at least 500 pixels wide, so a narrow page is shown in a frame.
        frame = Path(profile) / "frame.html"
        frame.write_text(
            f'<body style="margin:0"><iframe src="{page.resolve().as_uri()}" '
            f'style="border:0;width:{width}px;height:12000px"></iframe>',
            encoding="utf-8",
        )
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *options,
            f"--user-data-dir={profile}", f"--window-size={max(width, 500)},12000", f"--screenshot={target}",
            frame.as_uri(),
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - a browser that is installed


def print_page(page: Path, browser: str) -> None:
    """Write a page as it prints."""
    with tempfile.TemporaryDirectory() as profile:
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
            f"--user-data-dir={profile}", f"--print-to-pdf={page.with_suffix('.pdf')}", page.resolve().as_uri(),
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - a browser that is installed


def main() -> None:
    """Draw everything whose name holds one of the words after the folder, or simply everything."""
    folder, *words = [*sys.argv[1:], "build/gallery"] if len(sys.argv) == 1 else sys.argv[1:]
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", recframe.DataWarning)
    frame = store()

    def wanted(name: str) -> bool:
        return not words or any(word in name for word in words)

    for name, chart in charts(frame):
        if wanted(name):
            chart.configure(background="white", padding=12).save(target / f"{name}.png", scale_factor=PIXELS)
    for name, table in tables(frame):
        if wanted("table"):
            table.save(target / f"table-{name}.png")
            (target / f"table-{name}.md").write_text(table.to_markdown(), encoding="utf-8")
    if wanted("report"):
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        for page in reports(frame, target):
            if browser is not None:
                for view in VIEWS:
                    photograph(page, view, browser)
                print_page(page, browser)


if __name__ == "__main__":
    main()
