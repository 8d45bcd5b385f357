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


def test_booleans_of_two_spellings_are_two_ids(run):
    files = {"old": "user,item,score 1,True,3 1,true,2", "truth": "user,item 1,true"}
    assert run("evaluate old.csv --truth truth.csv -m mrr", **files) == [{"mrr": 0.5}]
    rows = run("evaluate new.csv -m mrr --per user", new="user,score,relevant False,3,1 True,3,1")
    assert [row["user"] for row in rows] == [False, True]


@pytest.mark.parametrize("item", ["1e5", "0.50", "12345678901234567890123456789012345678901"])
def test_numbers_that_print_otherwise_are_text(run, item):
    # Among hashes that are text in the other file, 1e5 is one.
    old = f"user,item,score 1,{item},3 1,2.5,4"
    rows = run("evaluate old.csv --truth truth.csv -m mrr", old=old, truth=f"user,item 1,{item} 1,a")
    assert rows == [{"mrr": 0.5}]


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


def test_empty_lines_are_no_rows(run):
    whole, gaps = "user,item,score 1,a,2 1,b,1 ,b,1", "user,item,score 1,a,2 1,b,1  ,b,1  ,, "
    truth = {"truth": "user,item 1,b ,b", "gaps": "user,item  1,b  ,b  "}
    call = "evaluate {}.csv --truth {}.csv -m ndcg -m precision@2 -m coverage@2 --counts"
    rows = run(call.format("old", "truth"), old=whole, new=gaps, **truth)
    assert (rows[0]["lists"], rows[0]["coverage@2"]) == (2, 1)
    assert (
        rows == run(call.format("old", "gaps")) == run(call.format("new", "truth")) == run(call.format("new", "gaps"))
    )


def test_numbers_are_read_as_they_are_written(run):
    # Polars looks at some lines only, and makes no number of spaces around one.
    many = " ".join(f"1,{item},1,0" for item in range(10_001))
    for last in ("1,x,2.5,0.5", "1,x,\t3,\t1"):
        rows = run("evaluate old.csv -m mrr -m num_ret", old=f"user,item,score,relevant {many} {last}")
        assert rows == [{"mrr": 1.0, "num_ret": 10_002.0}]


def test_an_infinite_segment_is_text_in_json(run):
    pl.DataFrame({"user": [1, 2], "price": [2.5, float("inf")], "score": 1, "relevant": 1}).write_parquet("old.parquet")
    result = run("evaluate old.parquet -m mrr --per price --out found.json")
    assert [row["price"] for row in result] == [2.5, "inf"]
    assert "Infinity" not in Path("found.json").read_text()


def test_nan_is_an_id_of_text(run):
    files = {"old": "user,item,score 1,NaN,3 1,a,4", "truth": "user,item 1,NaN"}
    assert run("evaluate old.csv --truth truth.csv -m mrr", **files) == [{"mrr": 0.5}]


@pytest.mark.parametrize("kind", [pl.Duration("us"), pl.Decimal(9, 1)])
def test_ids_without_a_text_stay_what_they_are(capsys, tmp_path, kind):
    # Polars makes no text of a duration, and of a decimal one that is not that of the number.
    old = pl.DataFrame({"user": [1, 2], "item": [1, 2], "score": [2.0, 1.0]}).with_columns(pl.col("item").cast(kind))
    old.write_parquet(tmp_path / "old.parquet")
    pl.DataFrame({"user": [1], "item": ["1"]}).write_parquet(tmp_path / "truth.parquet")
    assert main(["evaluate", f"{tmp_path / 'old.parquet'}", "--truth", f"{tmp_path / 'truth.parquet'}"]) == 2
    assert "but String in truth" in capsys.readouterr().err


def test_whole_numbers_with_and_without_a_sign_stay_two_ids(run):
    # Older polars makes fractions of both, and the same one of these users.
    users = pl.Series([2**60 + 1, 2**60 + 2], dtype=pl.UInt64)
    frame = pl.DataFrame({"user": users, "score": [1, 1], "relevant": [1, 0]})
    frame.write_parquet("new.parquet")
    rows = run("evaluate old.csv new.parquet -m num_rel --counts", old=frame.write_csv().strip().replace("\n", " "))
    assert [row["lists"] for row in rows] == [2, 2]
    frame.with_columns(user=users + 2**63).write_parquet("new.parquet")
    assert main(["evaluate", "old.csv", "new.parquet", "-m", "num_rel"]) == 2


@pytest.mark.parametrize("files", ["old.parquet new.parquet", "all=*.parquet"])
def test_fractions_are_not_stacked_on_text(capsys, tmp_path, monkeypatch, files):
    # Polars makes "1.0" of 1.0, which is not the user "1" of the other file.
    monkeypatch.chdir(tmp_path)
    for name, user in {"old": 1.0, "new": "1"}.items():
        pl.DataFrame({"user": [user], "score": [1], "relevant": [1]}).write_parquet(f"{name}.parquet")
    assert main(["evaluate", *files.split()]) == 2
    assert "user is fractions in one file and text in another" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")
def test_a_pipe_is_not_read_twice(capsys, tmp_path):
    # A look at its start would take the first lines away.
    os.mkfifo(tmp_path / "pipe")
    assert main(["evaluate", str(tmp_path / "pipe")]) == 2
    assert "is a pipe, which can be read only once" in capsys.readouterr().err
