"""The command line in jobs: folders, standard input, constant columns, results of many days in one file."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("numpy")
pl = pytest.importorskip("polars")

from recframe.cli import main  # noqa: E402

RECS = {
    "user": [1, 1, 2, 2, 3, 3],
    "item": ["a", "b", "a", "b", "a", "b"],
    "score": [0.9, 0.1, 0.3, 0.6, 0.2, 0.4],
    "relevant": [1, 0, 1, 0, 0, 1],
}


@pytest.fixture
def recs(tmp_path, monkeypatch):
    """Make a file of recommendations, and work in its folder."""
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(RECS)
    frame.write_csv("recs.csv")
    return frame


@pytest.fixture
def run(capsys, recs):
    """Return a function from a line of a terminal to exit code, output and errors."""

    def call(line):
        code = main(shlex.split(line))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def rows_of(answer):
    code, out, err = answer
    assert (code, err) == (0, ""), err
    return json.loads(out)


# --- folders ------------------------------------------------------------------------------------------------------


def parts(recs, folder, write="write_parquet", ending="parquet"):
    """Write a part for each user into a folder of its own."""
    for user in (1, 2, 3):
        part = Path(folder, f"day=2026-11-0{user}", f"hour=0{user}")
        part.mkdir(parents=True)
        getattr(recs.filter(user=user), write)(part / f"part-0.{ending}")


@pytest.mark.parametrize(("write", "ending"), [("write_parquet", "parquet"), ("write_csv", "csv")])
def test_a_folder_is_one_model_with_the_columns_of_its_folders(run, recs, write, ending):
    parts(recs, "hive", write, ending)
    for note in ("_SUCCESS", ".part-0.crc", "day=2026-11-01/_metadata", ".hidden/x.parquet", "README.md"):
        Path("hive", note).parent.mkdir(exist_ok=True)
        Path("hive", note).write_text("no rows")
    whole = rows_of(run("evaluate recs.csv -m mrr --json"))
    assert rows_of(run("evaluate hive -m mrr --json")) == whole
    assert rows_of(run("evaluate hive/ -m mrr --json")) == whole
    result = rows_of(run("evaluate hive -m mrr --per day --json"))
    assert [(row["day"], row["mrr"]) for row in result] == [("2026-11-01", 1.0), ("2026-11-02", 0.5), ("2026-11-03", 1)]
    assert [row["hour"] for row in rows_of(run("evaluate hive -m mrr --per hour --json"))] == ["01", "02", "03"]
    result = rows_of(run("evaluate old=hive recs.csv -m mrr --json"))
    assert [(row["model"], row["mrr"]) for row in result] == [("old", whole[0]["mrr"]), ("recs", whole[0]["mrr"])]


def test_a_pattern_of_folders_that_name_columns_names_no_model(run, recs):
    parts(recs, ".")
    for pattern in ("day=2026-*/*/*.parquet", "day=*/*/part-0.parquet"):
        result = rows_of(run(f"evaluate '{pattern}' -m mrr --per day --json"))
        assert [(row["day"], row["mrr"]) for row in result] == [
            ("2026-11-01", 1),
            ("2026-11-02", 0.5),
            ("2026-11-03", 1),
        ]
    assert rows_of(run("evaluate 'old=day=*/*/*.parquet' -m mrr --json"))[0]["model"] == "old"


def test_parts_may_have_their_columns_in_any_order(run, recs):
    Path("turned").mkdir()
    recs.head(2).write_csv("turned/a.csv")
    recs[2:].select(reversed(recs.columns)).write_csv("turned/b.csv")
    assert rows_of(run("evaluate turned -m mrr --json")) == rows_of(run("evaluate recs.csv -m mrr --json"))


def test_the_truth_may_be_a_folder(run, recs):
    recs.drop("relevant").write_csv("ranked.csv")
    parts(recs.drop("score"), "truth")
    assert rows_of(run("evaluate ranked.csv --truth truth -m mrr --json")) == rows_of(run("evaluate recs.csv -m mrr --json"))  # fmt: skip


def test_folders_without_rows_and_tables_of_other_programs_are_refused(run, recs):
    Path("none").mkdir()
    parts(recs, "delta")
    Path("delta/_delta_log").mkdir()
    parts(recs, "iceberg")
    Path("iceberg/metadata").mkdir()
    Path("iceberg/metadata/v1.metadata.json").touch()
    parts(recs, "mixed")
    recs.write_csv("mixed/more.csv")
    parts(recs, "unlike", "write_csv", "csv")
    Path("unlike/more.csv").write_text("user,item,relevant\n1,a,1\n")
    for folder, message in {
        "none": "the folder 'none' holds no file of rows",
        "delta": "'delta' is a table of Delta, whose files hold deleted rows too",
        "iceberg": "'iceberg' is a table of Iceberg",
        "mixed": r"(?s)'mixed' holds files of several kinds: '.csv', '.parquet'.*Hint: give a pattern",
        "unlike": "the files of one frame do not fit together",
    }.items():
        code, out, err = run(f"evaluate {folder} -m mrr")
        assert (code, out) == (2, "")
        assert re.search(message, err), err


# --- standard input ----------------------------------------------------------------------------------------------------


class Given:
    """Standard input that holds some bytes."""

    def __init__(self, data):
        self.buffer = io.BytesIO(data)


def as_bytes(recs, write):
    file = io.BytesIO()
    getattr(recs, write)(file)
    return file.getvalue()


@pytest.mark.parametrize("write", ["write_csv", "write_parquet"])
def test_a_dash_is_standard_input_of_any_format(run, recs, monkeypatch, write):
    import gzip

    whole = rows_of(run("evaluate recs.csv -m mrr --json"))
    data = as_bytes(recs, write)
    for given in (data, gzip.compress(data)):
        monkeypatch.setattr(sys, "stdin", Given(given))
        assert rows_of(run("evaluate - -m mrr --json")) == whole
    monkeypatch.setattr(sys, "stdin", Given(data))
    result = rows_of(run("evaluate recs.csv - -m mrr --json"))
    assert [row["model"] for row in result] == ["recs", "stdin"]
    monkeypatch.setattr(sys, "stdin", Given(as_bytes(recs.drop("score"), write)))
    recs.drop("relevant").write_csv("ranked.csv")
    assert rows_of(run("evaluate ranked.csv --truth - -m mrr --json")) == whole


def test_standard_input_holds_one_file(run, monkeypatch):
    for line in ("evaluate - --truth - -m mrr", "evaluate old=- new=- -m mrr"):
        monkeypatch.setattr(sys, "stdin", Given(b"user,item\n"))
        code, _, err = run(line)
        assert (code, "standard input, '-', is given twice" in err) == (2, True)
    monkeypatch.setattr(sys, "stdin", Given(b""))
    code, _, err = run("evaluate - -m mrr")
    assert (code, "the format of '-' is not known" in err) == (2, True)
    monkeypatch.setattr(sys, "stdin", Given(b"q1 Q0 d1 1 0.5 run\nq1 Q0 d2 2 0.4 run\n"))
    Path("test.qrels").write_text("q1 0 d2 1\n")
    assert rows_of(run("evaluate - --truth test.qrels -m mrr --json")) == [{"mrr": 0.5}]
    monkeypatch.setattr(sys, "stdin", Given(b"user,item,score,relevant\n1,a,x,1\n"))
    code, _, err = run("evaluate - -m mrr")
    assert (code, "'-': score is 'x' in line 2, which is no number" in err) == (2, True)


def test_a_program_writes_to_it(recs, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "recframe", "evaluate", "-", "-m", "mrr", "--json"],
        input=as_bytes(recs, "write_csv"), cwd=tmp_path, capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == [{"mrr": pytest.approx(5 / 6)}]


# --- what is between values -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sign", "word"), [(";", "';'"), ("|", "'|'"), ("\t", "tab"), ("\t", r"'\t'")])
def test_a_separator_is_that_of_all_csv_files(run, recs, sign, word):
    whole = rows_of(run("evaluate recs.csv -m mrr --json"))
    recs.drop("relevant").write_csv("ranked.csv", separator=sign)
    recs.drop("score").write_csv("truth.csv", separator=sign)
    line = f"evaluate ranked.csv --truth truth.csv -m mrr --json --separator {word}"
    assert rows_of(run(line)) == whole
    Path("ranked.csv").write_text(Path("ranked.csv").read_text().replace("0.9", "high"))
    code, _, err = run(line)
    assert (code, "'ranked.csv': score is 'high' in line 2" in err) == (2, True)


def test_a_separator_that_is_none_is_refused(run):
    for line, message in {
        "--separator ;;": "--separator ;; is not one sign",
        "--separator ''": "--separator  is not one sign",
        "--separator \udcff": "--separator .* is not one sign",
        "--separator ';'": r"(?s)has one column.*but between ','.*Hint: give --separator ','",
    }.items():
        code, _, err = run(f"evaluate recs.csv -m mrr {line}")
        assert code == 2
        assert re.search(message, err), err


def test_what_is_a_digit_and_no_number_is_a_table(run):
    pytest.importorskip("ibis")
    code, out, _ = run("sql -m coverage@2 --table recs --dialect duckdb --catalog ²")
    assert (code, "FROM ²" in out) == (0, True)


# --- cells ------------------------------------------------------------------------------------------------------------


def test_a_bad_cell_is_named_by_its_file_and_line(run):
    Path("q.csv").write_text('user,item,score,relevant\n1,a,0.5,1\n\n1,"b\nx",0.4,0\n1,c,abc,0\n')
    Path("l.csv").write_text('user,item,score,relevant\n1,"a\nx",0.5,1\n1,"b,c",0.4,0\n1,c,0.3,0,7\n')
    Path("l.tsv").write_text("user\titem\tscore\trelevant\n1\ta,b\t0.5\t1\t7\t8\n")
    Path("s.csv").write_text('user,item,score,relevant\n1,"a\nx",0.5,\n\n1,"b,c",0.4,0\n1,"c,d",0.3\n')
    Path("s.tsv").write_text("user\titem\tscore\trelevant\n1\ta\t0.5\t1\n1\tb")
    Path("h.csv").write_text(f"user,item,note,score,relevant\n1,a,{'x' * 200_000},0.5,1\n1,b,y,0.4\n")
    for file, message in {
        "q.csv": "'q.csv': score is 'abc' in line 6, which is no number",
        "l.csv": "'l.csv' cannot be read as csv: line 5 has 5 values, but the header names 4 columns",
        "l.tsv": "'l.tsv' cannot be read as tsv: line 2 has 6 values, but the header names 4 columns",
        "s.csv": "'s.csv': line 6 has 3 values, but the header names 4 columns",
        "s.tsv": "'s.tsv': line 3 has 2 values, but the header names 4 columns",
        "h.csv": "'h.csv': line 3 has 4 values, but the header names 5 columns",
    }.items():
        code, out, err = run(f"evaluate {file} -m mrr")
        assert (code, out) == (2, "")
        assert message in err
        assert "cast" not in err


# --- results of many runs -------------------------------------------------------------------------------------------


def test_the_same_day_twice_replaces_its_file_and_the_folder_has_the_day(run, recs):
    from datetime import date

    line = "evaluate recs.csv -m mrr --out results/nightly/day=2026-11-{}.parquet"
    for day in (21, 22, 23):
        assert run(line.format(day))[0] == 0
    before = pl.read_parquet("results/nightly")
    assert before.rows() == [(date(2026, 11, day), pytest.approx(5 / 6)) for day in (21, 22, 23)]
    assert before.columns == ["day", "mrr"]
    held = {path: path.read_bytes() for path in Path("results").rglob("*.*")}
    assert run(line.format(22))[0] == 0
    assert {path: path.read_bytes() for path in Path("results").rglob("*.*")} == held, "the same run changes nothing"
    recs.with_columns(score=-pl.col("score")).write_csv("recs.csv")
    assert run(line.format(22))[0] == 0
    after = pl.scan_parquet("results/**/*.parquet").collect()
    assert after["day"].to_list() == before["day"].to_list()
    assert after["mrr"].to_list() == [before["mrr"][0], pytest.approx(2 / 3), before["mrr"][2]]


@pytest.mark.parametrize("ending", ["parquet", "csv", "json", "md"])
def test_the_name_of_a_file_adds_a_column_to_it_and_not_to_what_is_printed(run, ending):
    for name, text in (("day=2026-11-23", "2026-11-23"), ("week=048", "048"), ("run=2026-02-30", "2026-02-30")):
        assert rows_of(run(f"evaluate recs.csv -m mrr --json --out {name}.{ending}")) == [{"mrr": pytest.approx(5 / 6)}]
        column = name.partition("=")[0]
        if ending == "parquet":
            frame = pl.read_parquet(f"{name}.parquet", hive_partitioning=False)
            assert frame.columns == [column, "mrr"]
            assert (frame[column].dtype == pl.Date) == (column == "day")
            assert str(frame[column][0]) == text
        else:
            result = Path(f"{name}.{ending}").read_text()
            assert re.search(rf"\b{column}\b", result)
            assert text in result
    assert "mrr" in run(f"evaluate recs.csv -m mrr --out =x.{ending}")[1]


def test_folders_of_results_name_columns_for_their_readers(run):
    for job in "ab":
        assert run(f"evaluate recs.csv -m mrr --out results/job={job}/day=2026-11-23.parquet")[0] == 0
    assert sorted(pl.read_parquet("results")["job"]) == ["a", "b"]


def test_other_commands_write_into_folders_too(run, recs):
    pytest.importorskip("scipy")
    recs.with_columns(score=-pl.col("score")).write_csv("new.csv")
    for command in ("compare recs.csv new.csv -m mrr", "describe recs.csv -m mrr", "check recs.csv"):
        name = command.partition(" ")[0]
        assert run(f"{command} --out {name}/day=2026-11-23.parquet")[0] == 0
        assert pl.read_parquet(name).columns[0] == "day"


@pytest.mark.slow
def test_a_report_makes_its_folder(run):
    pytest.importorskip("vl_convert")
    pytest.importorskip("scipy")
    assert run("report recs.csv -m mrr --out reports/day.html")[0] == 0
    assert Path("reports/day.html").stat().st_size
    code, _, err = run("report recs.csv -m mrr --out recs.csv/day.html")
    assert (code, "is no folder" in err) == (2, True)


def test_a_failed_gate_leaves_the_day_in_the_history(run):
    assert run("evaluate recs.csv -m mrr --fail-under mrr=0.99 --out results/day=2026-11-23.parquet")[0] == 1
    assert pl.read_parquet("results").height == 1


def test_a_name_that_the_result_has_already_is_refused(run):
    code, _, err = run("evaluate recs.csv -m mrr --per user --out user=7.parquet")
    assert code == 2
    assert re.search(r"(?s)--out user=7.parquet: the result has a column 'user' already.*Hint: .*run=7.parquet", err)
    assert not Path("user=7.parquet").exists()


@pytest.mark.parametrize("option", ["--append results.parquet", "--with day=2026-11-23"])
def test_options_that_are_gone_name_what_replaces_them(run, option):
    code, _, err = run(f"evaluate recs.csv -m mrr {option}")
    assert code == 2
    assert re.search(r"No such option --(append|with)\. Write one file for each run: --out results/day=2026-11-23.parquet", err)  # fmt: skip


# --- digits -----------------------------------------------------------------------------------------------------------


def test_digits_are_those_of_tables(run):
    assert "0.8333\n" in run("evaluate recs.csv -m mrr")[1]
    assert "0.83\n" in run("evaluate recs.csv -m mrr --digits 2")[1]
    assert "0.833333333\n" in run("evaluate recs.csv -m mrr --digits 9 --out table.md")[1]
    assert "| 0.833333333 |" in Path("table.md").read_text()
    assert "|   1 |" in run("evaluate recs.csv -m mrr --digits 0 --markdown")[1]
    assert rows_of(run("evaluate recs.csv -m mrr --digits 2 --json")) == [{"mrr": pytest.approx(5 / 6, abs=1e-15)}]
    for digits in (-1, 16):
        code, _, err = run(f"evaluate recs.csv -m mrr --digits {digits}")
        assert (code, f"--digits {digits} is not from 0 to 15" in err) == (2, True)
