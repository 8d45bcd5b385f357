"""Ids of CSV files on the command line: none is lost, and those of several files match."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("numpy")
pl = pytest.importorskip("polars")

from recframe.cli import main  # noqa: E402


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Return a function that writes files, by their names, and returns the rows that a command prints."""
    monkeypatch.chdir(tmp_path)

    def call(command, **files):
        for name, text in files.items():
            Path(f"{name}.csv").write_text(text.replace(" ", "\n"))
        assert main([*command.split(), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


@pytest.mark.parametrize("one", ["007", "7.0"])
def test_ids_that_are_one_number_stay_two(run, one):
    old, truth = f"user,item,score {one},a,3 7,b,2", f"user,item {one},a 7,c"
    rows = run("evaluate old.csv --truth truth.csv -m recall --per user", old=old, truth=truth)
    assert {row["user"]: row["recall"] for row in rows} == {one: 1.0, "7": 0.0}


def test_plain_numbers_stay_numbers(run):
    old = "user,item,score 7,0,3 -8,1,2 ,2,1"
    rows = run("evaluate old.csv --truth truth.csv -m hit_rate@1 --per user", old=old, truth="user,item 7,0 -8,2 ,2")
    assert [(row["user"], row["hit_rate@1"]) for row in rows] == [(-8, 0.0), (7, 1.0), (None, 1.0)]


def test_an_id_of_text_may_come_late(run):
    old = "user,item,score " + " ".join(f"{user},a,1" for user in [*range(10_001), "x1"])
    assert run("evaluate old.csv --truth truth.csv -m num_rel_ret", old=old, truth="user,item x1,a 7,a") == [
        {"num_rel_ret": 2 / 10_002}
    ]


def test_ids_are_text_in_all_files_if_they_are_in_one(run):
    files = {"old": "user,item,score 1,7,3", "new": "user,item,score 1,007,3", "truth": "user,item 1,7"}
    rows = run("evaluate old.csv new.csv --truth truth.csv -m mrr", **files)
    assert {row["model"]: row["mrr"] for row in rows} == {"old": 1.0, "new": 0.0}
    pl.DataFrame({"item": [7, 8]}).write_parquet("catalog.parquet")
    call = "evaluate all=[no]??.csv --truth truth.csv --catalog catalog.parquet -m coverage@2"
    assert run(call)[0]["coverage@2"] == 0.5


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")
def test_a_pipe_is_not_read_twice(capsys, tmp_path):
    # A look at its start would take the first lines away.
    os.mkfifo(tmp_path / "pipe")
    assert main(["evaluate", str(tmp_path / "pipe")]) == 2
    assert "is a pipe, which can be read only once" in capsys.readouterr().err
