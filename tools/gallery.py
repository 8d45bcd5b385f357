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
    from collections.abc import Callable, Iterator

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


def charts(frame: pl.DataFrame) -> dict[str, Callable[[], Any]]:
    """Return what draws each chart, by the name of its file."""
    rec = recframe.rec(frame)
    every, three, two, one_model = (rec(score=models) for models in (MODELS, MODELS[:3], ["old", "hybrid"], "old"))
    names = [f"model {n}" for n in range(9)]
    numbered = frame.with_columns(
        **{name: pl.col("old") + 0.1 * n * pl.col("hybrid") for n, name in enumerate(names)},
    )
    many = recframe.rec(numbered)(score=names)
    long_names = {name: f"{name}-with-dim=128,rate=0.001,seed=7" for name in MODELS}
    long = recframe.rec(frame.rename(long_names))(score=[*long_names.values()])
    details: dict[str, Any] = {"baseline": "old", "details": True}
    segments = ["kind", "country"]
    return {
        "forest": lambda: recframe.forest(every.compare("ndcg@10", **details)),
        "forest-plain": lambda: recframe.forest(every.compare("ndcg@10", baseline="old")),
        "forest-metrics": lambda: recframe.forest(every.compare(["ndcg@10", "recall@5", "dcg@10"], **details)),
        "forest-pairs": lambda: recframe.forest(three.compare("ndcg@10")),
        "forest-segments": lambda: recframe.forest(three.compare("ndcg@10", per=segments, **details)),
        "forest-margin": lambda: recframe.forest(every.compare("ndcg@10", margin="8%", per="kind", **details)),
        "forest-long-names": lambda: recframe.forest(long.compare("ndcg@10")),
        "curve": lambda: three.plot.curve(["ndcg", "recall"]),
        "curve-one": lambda: one_model.plot.curve("ndcg"),
        "curve-many": lambda: many.plot.curve("ndcg"),
        "distribution": lambda: three.plot.distribution("ndcg@10"),
        "distribution-one": lambda: one_model.plot.distribution("ndcg@10"),
        "differences": lambda: two.plot.differences("ndcg@10"),
        "power": lambda: three.plot.power("ndcg@10", difference=0.03),
        "ranks-two": lambda: two.plot.ranks("ndcg@10"),
        "ranks-three": lambda: three.plot.ranks("ndcg@10"),
        "ranks-many": lambda: many.plot.ranks("ndcg@10"),
        "segments": lambda: three.plot.segments("ndcg@10", per="country"),
        "segments-one": lambda: one_model.plot.segments("ndcg@10", per="country"),
        "trend": lambda: three.plot.trend("ndcg@10", per="week"),
        "trend-text": lambda: three.plot.trend("ndcg@10", per="country"),
        "tradeoff": lambda: every.plot.tradeoff("ndcg", "coverage", 10),
        "tradeoff-lists": lambda: every.plot.tradeoff("ndcg", "recall", 10),
        "tradeoff-many": lambda: many.plot.tradeoff("ndcg", "recall", 10),
    }


def tables(frame: pl.DataFrame) -> dict[str, Callable[[], Any]]:
    """Return what makes each table, by the name of its file."""
    rec = recframe.rec(frame)(score=MODELS)
    metrics = ["ndcg@10", "recall@5"]
    return {
        "table-compare": lambda: recframe.table(rec.compare("ndcg@10", baseline="old")),
        "table-details": lambda: recframe.table(rec.compare("ndcg@10", baseline="old", details=True)),
        "table-metrics": lambda: recframe.table(rec.compare(metrics, per="kind"), title="Two metrics"),
        "table-evaluate": lambda: recframe.table(rec.evaluate(["ndcg", "mrr", "coverage"], k=[5, 10])),
        "table-decided": lambda: recframe.table(rec.evaluate("ndcg@10"), compared=rec.compare("ndcg@10")),
        "table-describe": lambda: recframe.table(rec.describe(["ndcg@10", "mrr"])),
        "table-segments": lambda: recframe.table(rec.describe("ndcg@10", per="kind"), columns="segment"),
        "table-check": lambda: recframe.table(recframe.rec(frame.with_columns(old=1.0))(score=MODELS).check(10)),
        "table-ranks": lambda: recframe.table(rec.rank_models("ndcg@10")),
    }


def reports(frame: pl.DataFrame) -> dict[str, Callable[[Path], None]]:
    """Return what writes each report, by the name of its file: of four models, of one, and of data with an error."""
    four, one_model = (recframe.rec(frame)(score=models) for models in (MODELS, "old"))
    constant = recframe.rec(frame.with_columns(old=1.0))(score=["old", "deep"])
    metrics = ["ndcg", "recall", "coverage"]
    title = "Four models of May"
    return {
        "report": lambda path: four.report(path, metrics, k=[5, 10], per="country", baseline="old", title=title),
        "report-segments": lambda path: four.report(path, "ndcg", k=10, per="kind", baseline="old", margin="8%"),
        "report-one": lambda path: one_model.report(path, ["ndcg", "mrr"], k=10),
        "report-errors": lambda path: constant.report(path, "ndcg", k=10, per="week"),
    }


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
    """Draw everything, or the files whose names contain any of the words after the folder."""
    folder, *words = sys.argv[1:] or ["build/gallery"]
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", recframe.DataWarning)
    frame = store()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)

    def wanted(every: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
        """Return what is drawn, with the path of its file without an ending."""
        return ((target / name, make) for name, make in every.items() if not words or any(map(name.count, words)))

    for path, make in wanted(charts(frame)):
        make().configure(background="white", padding=12).save(f"{path}.png", scale_factor=PIXELS)
    for path, make in wanted(tables(frame)):
        made = make()
        made.save(f"{path}.png")
        path.with_suffix(".md").write_text(made.to_markdown(), encoding="utf-8")
    for path, make in wanted(reports(frame)):
        page = path.with_suffix(".html")
        make(page)
        if browser is not None:
            for view in VIEWS:
                photograph(page, view, browser)
            print_page(page, browser)


if __name__ == "__main__":
    main()
