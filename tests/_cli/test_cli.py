"""The command line: help, files in, tables out, gates, exit codes, and terminals of every kind."""

from __future__ import annotations

import ast
import gzip
import io
import json
import os
import pickle
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

click = pytest.importorskip("click")
pytest.importorskip("numpy")
pl = pytest.importorskip("polars")

import recframe  # noqa: E402
from recframe._base.docstrings import entries_of  # noqa: E402
from recframe._base.roles import ALL_ROLES, Roles  # noqa: E402
from recframe._cli import definitions, options, terminal, texts  # noqa: E402
from recframe._cli.tables import aligned  # noqa: E402
from recframe._display.colours import VERDICTS, painted  # noqa: E402
from recframe.cli import main  # noqa: E402
from recframe.metrics import METRICS  # noqa: E402
from recframe.profiles import PROFILES  # noqa: E402

COMMANDS = (
    "evaluate",
    "compare",
    "changes",
    "describe",
    "report",
    "check",
    "explain",
    "metrics",
    "sample-size",
    "rank-models",
    "bounds",
    "estimate-with-judge",
    "sql",
    "completion",
)
COMPARED = "compare yesterday=old.csv tomorrow=new.csv --truth test.csv -m ndcg@10"
OLD = {"user": [1, 1, 1, 2, 2, 3, 3], "item": [1, 2, 3, 1, 2, 1, 2], "score": [0.9, 0.8, 0.1, 0.2, 0.6, 0.5, 0.4]}
NEW = {**OLD, "score": [0.5, 0.1, 0.9, 0.2, 0.6, 0.1, 0.3]}
TEST = {"user": [1, 2, 3, 3], "item": [3, 2, 2, 9], "relevant": [1, 1, 2, 1]}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Make the files that examples and tests name, and work in their folder."""
    monkeypatch.chdir(tmp_path)
    old, new, test = (pl.DataFrame(columns) for columns in (OLD, NEW, TEST))
    old.write_csv("old.csv")
    new.write_csv("new.csv")
    test.write_csv("test.csv")
    test.filter(pl.col("user") < 3).write_csv("human.csv")
    for name, frame in (("llm", test), ("large", new), ("recs", old)):
        frame.write_csv(f"{name}.csv")
    labelled = old.join(test, on=["user", "item"], how="left")
    labelled.write_parquet("recs.parquet")
    recframe.write_run(old, "results.test")
    Path("qrels.test").write_text("".join(f"{user}\t0\t{item}\t{grade}\n" for user, item, grade in test.rows()))
    return labelled


@pytest.fixture
def run(capsys, files):
    """Return a function from a line of a terminal to exit code, output and errors."""

    def call(line):
        code = main(shlex.split(line.removeprefix("recframe ")))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def values(out):
    """Return the numbers of a table by the first column."""
    rows = [line.split() for line in out.splitlines() if re.search(r"\d$", line)]
    return {name: [float(cell) for cell in cells] for name, *cells in rows}


def test_counts_of_lists(run):
    code, out, err = run("evaluate old.csv new.csv --truth test.csv -m ndcg@2 --counts")
    assert (code, err) == (0, "")
    header, _, *rows = (line.split() for line in out.splitlines() if line.strip())
    assert header == ["model", "ndcg@2", "lists", "undefined"]
    assert [row[2:] for row in rows] == [["3", "0"], ["3", "0"]]
    _, out, _ = run("evaluate old.csv --truth test.csv -m ndcg@2 --counts --json")
    assert {name: json.loads(out)[0][name] for name in ("lists", "undefined")} == {"lists": 3, "undefined": 0}


def test_the_line_below_the_header_is_as_wide_as_the_table():
    header, line, row, _ = aligned(["model", "ndcg@10", "map"], [["new", "0.5000", "0.2500"]]).split("\n")
    assert len(header) == len(line) == len(row)


def test_tables_fit_a_terminal(run, monkeypatch):
    pytest.importorskip("scipy")
    detailed = f"{COMPARED} --details"
    wide = {len(line) for line in run(detailed)[1].splitlines()}
    monkeypatch.setattr(terminal, "width", lambda: 100)
    narrow = run(detailed)[1]
    assert max(wide) > 100 >= max(map(len, narrow.splitlines()))
    header = narrow.split("\n")[0].split()
    assert "ties" not in header
    assert {"metric", "model", "baseline", "difference", "low", "high", "p_adjusted"} <= set(header)
    assert (
        len(json.loads(run(f"{detailed} --json")[1])[0])
        > len(header)
        > len(json.loads(run(f"{COMPARED} --json")[1])[0])
    )
    monkeypatch.setattr(terminal, "width", lambda: 60)
    narrow = run(COMPARED)[1]
    assert max(map(len, narrow.splitlines())) <= 60
    assert {"metric", "model", "difference", "low", "high"} <= set(narrow.split("\n")[0].split())


# --- help ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_run(run, command):
    if command in ("compare", "describe", "report", "sample-size", "rank-models", "bounds", "estimate-with-judge"):
        pytest.importorskip("scipy")
    if command == "report":
        pytest.importorskip("vl_convert")
    if command == "sql":
        pytest.importorskip("ibis")
    code, out, _ = run(f"{command} --help")
    assert code == 0
    examples = re.findall(r"^ +(recframe .*)$", out.partition("Examples:")[2], re.MULTILINE)
    assert examples
    for example in examples:
        code, out, err = run(example)
        assert code in (0, 1), (example, err)
        assert out, example
        # What falls short in an example is what the example is about.
        assert not err or (code == 1) == ("--fail" in example), (example, err)


@pytest.mark.parametrize("line", ["compare --help", "explain ndcg@5", "metrics"])
def test_help_is_there_where_python_drops_docstrings(line):
    text = [
        subprocess.run(
            [sys.executable, *flags, "-m", "recframe", *line.split()], capture_output=True, text=True, check=True
        )
        for flags in ([], ["-OO"])
    ]
    assert text[0].stdout == text[1].stdout
    assert len(text[0].stdout) > 100


@pytest.mark.parametrize(
    "command",
    [
        "evaluate",
        "compare",
        "changes",
        "describe",
        "report",
        "check",
        "sample-size",
        "rank-models",
        "bounds",
        "estimate-with-judge",
    ],
)
def test_help_speaks_of_files_and_options(run, command):
    _, out, _ = run(f"{command} --help")
    words = re.sub(r"\s+", " ", out)
    assert re.findall(r"\b(?:None|eager|lazy|frames?|DataFrame)\b|df\.|\w=(?=[, ;.])|from_\w+", words) == []
    assert "none: all rows are one list" in words
    assert "--test COLUMN" not in words
    assert "--correction COLUMN" not in words


def test_help_names_every_command(run):
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert all(re.search(rf"^  {command} ", out, re.MULTILINE) for command in COMMANDS)
    assert len(max(out.splitlines(), key=len)) <= 100


def test_every_role_is_an_option_with_its_words(run):
    _, out, _ = run("evaluate --help")
    for name in ALL_ROLES:
        assert (f"--{name.replace('_', '-')} " in out) == (name != "partitions")
    assert re.search(r"--by COLUMN +The list key", out)
    text = " ".join(out.split())
    assert "One of average, best, worst, item, item_desc, first, range. [average]" in text
    assert "trec_eval, sklearn, ranx" in text
    assert re.search(r"--model COLUMN [A-Z]\w+", text)
    assert "`" not in out


def test_help_names_the_tests_that_allow_repeated_looks(run):
    words = " ".join(run("compare --help")[1].split())
    assert "Only anytime and anytime-bounded allow repeated looks" in words.replace('"', "")
    assert "maxt, romano-wolf and dunnett adjust the intervals too" in words.replace('"', "")


@pytest.mark.slow
def test_docstrings_name_the_values_of_an_argument_instead_of_counting_them():
    counted = re.compile(r"\b(first|last|other) (two|three|four|five)\b")
    entries = [
        (path.name, name, entry)
        for path in Path(recframe.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
        for name, entry in entries_of(ast.get_docstring(node) or "").items()
    ]
    assert len(entries) > 500
    assert not [(file, name) for file, name, entry in entries if counted.search(" ".join(entry.split()))]


def test_sampled_lists_are_two_numbers(run, tmp_path):
    (tmp_path / "top.csv").write_text("user,item,relevant,score\n1,a,0,3\n1,b,1,2\n1,c,0,1\n", encoding="utf-8")
    call = f"evaluate {tmp_path / 'top.csv'} -m mrr --estimator rank --sampled"
    code, out, _ = run(f"{call} 2,5")
    assert code == 0
    assert "0.3333" in out
    assert "--sampled 2 is not a pair of numbers" in run(f"{call} 2")[2]
    assert "'x' is not two whole numbers" in run(f"{call} x")[2]


def test_help_starts_without_a_library_of_frames():
    code = "import sys; from recframe.cli import main; main(['--help']); print(sorted({'numpy', 'polars', 'pandas'} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(run, shell):
    code, out, _ = run(f"completion {shell}")
    assert code == 0
    assert "_RECFRAME_COMPLETE" in out


@pytest.mark.parametrize("name", [name for name in texts.COMMANDS if name not in ("completion", "metrics")])
def test_shells_complete_files_and_metrics(name):
    context = click.Context(definitions.command(name))
    expected = {"FILE": [("nd", "file")], "METRIC": [("ndcg", "plain")], "METRIC=X": [("ndcg", "plain")]}
    for parameter in context.command.params:
        items = [(item.value, item.type) for item in parameter.shell_complete(context, "nd")]
        for word in expected.keys() & {*(parameter.metavar or parameter.name.upper()).rstrip(".").split("|")}:
            assert items == expected[word], parameter.name


@pytest.mark.parametrize(
    ("package", "command"), [("click", "evaluate"), ("polars", "evaluate"), ("polars", "compare"), ("polars", "check")]
)
def test_without_a_package_there_is_the_line_that_installs_it(package, command):
    # In a process of its own: another test may have imported what only some commands read.
    program = (
        f"import sys; sys.modules[{package!r}] = None; from recframe.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    line = [sys.executable, "-c", program, command, "old.csv"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, "pip install click polars" in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_the_extra_suffices_which_has_no_numpy(tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("user,item,relevant,score\n1,a,1,0.5\n", encoding="utf-8")
    program = "import sys; sys.modules['numpy'] = None; from recframe.cli import main; sys.exit(main(sys.argv[1:]))"
    for command, code in ((["evaluate", "-m", "mrr"], 0), (["compare", "-m", "mrr"], 2)):
        line = [sys.executable, "-c", program, *command, str(path)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr


# --- files in -----------------------------------------------------------------------------------------------------------


def test_values_are_those_of_the_namespace(run, files):
    code, out, err = run("evaluate recs.parquet -m ndcg -m recall -k 1 2 -m map --json")
    assert (code, err) == (0, "")
    expected = files.rec.evaluate(["ndcg", "recall", "map"], k=[1, 2])
    assert json.loads(out) == expected.to_dicts()


@pytest.mark.parametrize("name", ["x.parquet", "x.csv", "x.csv.gz", "x.tsv", "plain"])
@pytest.mark.parametrize("known", ["by its name", "by --format", "by its content"])
def test_formats(run, files, name, known):
    import gzip

    kind = {"plain": "csv", "gz": "csv"}.get(name.split(".")[-1], name.split(".")[-1])
    content = io.BytesIO()
    if kind == "tsv":
        files.write_csv(content, separator="\t")
    else:
        getattr(files, f"write_{kind}")(content)
    path = Path(name if known == "by its name" else "without ending")
    path.write_bytes(gzip.compress(content.getvalue()) if name.endswith(".gz") else content.getvalue())
    if known == "by --format" and name.endswith(".gz"):
        pytest.skip("compressed files of CSV are known by their names")
    code, out, err = run(f"evaluate '{path}' -m map --json" + (f" --format {kind}" if known == "by --format" else ""))
    assert (code, err) == (0, "")
    assert json.loads(out) == files.rec.evaluate("map").to_dicts()


@pytest.mark.parametrize("name", ["x.ndjson", "x.jsonl", "x.json", "x.arrow", "x.ipc", "x.feather", "folder/x.ndjson", "x"])  # fmt: skip
def test_files_that_polars_converts_in_a_line_are_refused_with_that_line(run, files, name):
    Path("folder").mkdir()
    (files.write_ndjson if "json" in name else files.write_ipc)(name)
    for line in (f"evaluate {name.partition('/')[0]} -m map --json", f"evaluate old.csv --truth {name} -m map --json"):
        code, out, err = run(line)
        assert (code, out) == (2, "")
        assert f"'{name}' is {'NDJSON' if 'json' in name else 'Arrow'}, which the command line does not read" in err
    _, hint = err.strip().split("Hint: ")
    subprocess.run([sys.executable, *shlex.split(hint)[1:]], check=True)
    converted = Path(name).with_suffix(".parquet")
    assert json.loads(run(f"evaluate {converted} -m map --json")[1]) == files.rec.evaluate("map").to_dicts()


def test_files_of_a_directory_may_have_any_ending_where_the_format_is_given(run, files):
    Path("parts").mkdir()
    files[:3].write_csv("parts/0.data")
    files[3:].write_csv("parts/1.data")
    code, out, _ = run("evaluate parts -m map --json --format csv")
    assert (code, json.loads(out)) == (0, files.rec.evaluate("map").to_dicts())
    assert run("evaluate parts -m map")[0] == 2


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_models_in_rows_under_another_name_are_seen_in_a_file(run, ending):
    rows = {"user": [1, 1] * 2, "item": ["a", "b"] * 2, "score": [2.0, 1, 1, 2], "relevant": [0, 1] * 2}
    both = pl.DataFrame(rows | {"algo": ["old", "old", "new", "new"], "note": ["x"] * 4})
    both.write_csv("both.csv") if ending == "csv" else both.write_parquet("both.parquet")
    code, _, err = run(f"evaluate both.{ending} -m mrr")
    assert code == 0
    assert "'algo' tells their rows apart ('old', 'new'). If it names models, --model algo" in err
    assert run(f"evaluate both.{ending} -m mrr --model algo")[2] == ""


def test_a_file_of_a_model_has_no_column_of_models(run, files):
    files.with_columns(model=pl.lit("x")).write_csv("other.csv")
    code, out, err = run("compare recs.parquet other.csv -m map")
    assert (code, out) == (2, "")
    assert "the file of the model 'other' has a column 'model' of its own" in err
    assert "give one file and --model model, or drop the column" in err


def test_files_without_faults_say_so(run):
    # Each user is recommended three of four items; one of these and the fourth are relevant.
    good = [(user, (user + place) % 4, -place) for user in range(8) for place in range(3)]
    truth = [(user, (user + place) % 4) for user in range(8) for place in (user % 3, 3)]
    pl.DataFrame(good, schema=["user", "item", "score"], orient="row").write_csv("good.csv")
    pl.DataFrame(truth, schema=["user", "item"], orient="row").write_csv("truth.csv")
    assert run("check good.csv --truth truth.csv")[:2] == (0, "Nothing found.\n")


def test_a_run_and_qrels_give_the_values_of_trec_eval(run):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    code, out, err = run("recframe evaluate results.test --truth qrels.test --like trec_eval -m map -m ndcg --json")
    assert (code, err) == (0, "")
    scores = recframe.to_dict(recframe.read_run("results.test"))
    qrels = recframe.to_dict(recframe.read_qrels("qrels.test"), relevant="relevant")
    oracle = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg"}).evaluate(scores)
    mean = {name: sum(own[name] for own in oracle.values()) / len(oracle) for name in ("map", "ndcg")}
    assert json.loads(out) == [pytest.approx(mean, abs=1e-9)]


@pytest.mark.parametrize("ending", ["tsv", "tsv.gz", "txt"])
def test_files_of_beir_and_ms_marco_give_the_values_of_trec(run, ending):
    judgments = [line.split() for line in Path("qrels.test").read_text().splitlines()]
    ranked = [line.split() for line in Path("results.test").read_text().splitlines()]
    truths = {
        "beir": ["query-id\tcorpus-id\tscore", *(f"{q}\t{d}\t{grade}" for q, _, d, grade in judgments)],
        "four": ["\t".join(fields) for fields in judgments],
        "two": [f"{q}\t{d}" for q, _, d, _ in judgments],
        "comment": ["# version of 2026", *(" ".join(fields) for fields in judgments)],
    }
    runs = {
        "results": ["\t".join(fields) for fields in ranked],
        "ranks": [f"{q}\t{d}\t{rank}" for q, _, d, rank, _, _ in ranked],
        "scores": ["query-id\tcorpus-id\tscore", *(f"{q}\t{d}\t{score}" for q, _, d, _, score, _ in ranked)],
    }
    for name, lines in {**truths, **runs}.items():
        data = "".join(f"{line}\n" for line in lines).encode()
        Path(f"{name}.{ending}").write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    for truth in truths:
        metrics = "-m map -m mrr" if truth == "two" else "-m map -m ndcg"
        expected = run(f"evaluate results.test --truth qrels.test {metrics} --json")
        assert expected[0] == 0
        for model in runs:
            assert run(f"evaluate {model}.{ending} --truth {truth}.{ending} {metrics} --json") == expected


def test_a_tsv_file_with_a_header_is_a_table(run):
    Path("truth.tsv").write_text("user\titem\n1\t3\n2\t2\n3\t2\n3\t9\n")
    Path("truth.csv").write_text("user,item\n1,3\n2,2\n3,2\n3,9\n")
    line = "evaluate old.csv -m mrr --json --truth"
    assert run(f"{line} truth.tsv") == run(f"{line} truth.csv")
    assert run(f"{line} truth.tsv")[0] == 0


def test_subtopics_of_qrels(run):
    Path("diversity.qrels").write_text("1 1 1 1\n1 2 1 1\n1 2 3 1\n")
    code, out, _ = run("evaluate results.test --truth diversity.qrels --subtopic intent -m err_ia@1")
    assert (code, out.split()[-2:]) == (0, ["err_ia@1", "0.5000"])


def test_names_of_columns(run, files):
    names = {"user": "userId", "item": "movieId", "relevant": "rating", "score": "estimate"}
    files.rename(names).write_csv("ml.csv")
    code, out, _ = run("evaluate ml.csv --by userId --item movieId --relevant rating --score estimate -m ndcg --json")
    assert code == 0
    assert json.loads(out) == files.rec.evaluate("ndcg").to_dicts()
    code, out, _ = run("evaluate ml.csv --by userId --relevant rating --score estimate --per userId -m ndcg --csv")
    assert (code, out.splitlines()[0], len(out.splitlines())) == (0, "userId,ndcg", 4)


@pytest.mark.parametrize("command", ["evaluate", "check", "bounds"])
def test_a_truth_whose_relevance_has_another_name_is_refused(run, command):
    pl.DataFrame(TEST).rename({"relevant": "rating"}).write_csv("rated.csv")
    metric = "" if command == "check" else "-m mrr"
    code, out, err = run(f"{command} old.csv --truth rated.csv {metric}")
    assert code != 0
    assert not out
    assert "truth has no such column" in err
    assert "rating" in err
    assert run(f"{command} old.csv --truth rated.csv {metric} --relevant rating")[0] == 0


@pytest.mark.filterwarnings("ignore::recframe.DataWarning")  # items of several users repeat
def test_all_rows_are_one_list(run, files):
    code, out, _ = run("evaluate recs.parquet --by none -m ndcg --json")
    assert (code, json.loads(out)) == (0, files.rec.evaluate("ndcg", by=None).to_dicts())


def test_several_files_are_models(run):
    expected = {}
    for name, columns in (("old", OLD), ("new", NEW)):
        expected[name] = pl.DataFrame(columns).rec.map(truth=pl.DataFrame(TEST))
    for files in ("old.csv new.csv", "old=old.csv new=new.csv", "'[no]*w.csv' old=old.csv", "old=old.cs? new='new*'"):
        code, out, err = run(f"evaluate {files} --truth test.csv -m map --json")
        assert (code, err) == (0, "")
        assert {row["model"]: row["map"] for row in json.loads(out)} == pytest.approx(expected)


@pytest.mark.parametrize("call", ["evaluate", "compare"])
def test_a_model_without_rows_fails_the_gate_instead_of_vanishing(run, call):
    Path("head.csv").write_text("user,item,score\n")
    gate = "--fail-under ndcg@2=0.1 " if call == "evaluate" else ""
    code, out, err = run(f"{call} new=head.csv old.csv --truth test.csv -m ndcg@2 {gate}")
    assert (code, out) == (2, "")
    assert "the file of the model 'new' has no rows" in err
    assert run("evaluate new=head.csv --truth test.csv -m ndcg@2")[0] == 2
    assert run("evaluate head.csv --truth test.csv -m ndcg@2 --fail-under ndcg@2=0.1")[0] == 1


def test_models_have_the_order_of_the_files(run):
    code, out, _ = run("evaluate old.csv new.csv --truth test.csv -m map")
    assert (code, out.split()[:3]) == (0, ["metric", "old", "new"])
    pytest.importorskip("scipy")
    for files, first in (("old.csv new.csv", "old"), ("new.csv old.csv", "new"), ("z=old.csv a=new.csv", "z")):
        code, out, _ = run(f"compare {files} --truth test.csv -m map --json")
        assert (code, [row["baseline"] for row in json.loads(out)]) == (0, [first])


def test_a_pattern_of_a_named_model_is_its_parts(run, files):
    files.filter(user=1).write_parquet("part-1.parquet")
    files.filter(pl.col("user") > 1).write_parquet("part-2.parquet")
    code, out, _ = run("evaluate mine='part-*.parquet' -m map --json")
    assert code == 0
    assert json.loads(out) == [{"model": "mine", "map": pytest.approx(files.rec.map())}]


def test_ids_of_numbers_match_those_of_qrels(run):
    code, out, err = run("evaluate old.csv --truth qrels.test -m map --json")
    assert (code, err) == (0, "")
    assert json.loads(out)[0]["map"] == pytest.approx(pl.DataFrame(OLD).rec.map(truth=pl.DataFrame(TEST)))
    code, out, _ = run("evaluate results.test --truth test.csv -m map --json")
    assert json.loads(out)[0]["map"] == pytest.approx(pl.DataFrame(OLD).rec.map(truth=pl.DataFrame(TEST)))


def test_side_information(run):
    code, out, err = run(
        "evaluate old.csv --truth test.csv --train old.csv --catalog 10 -m coverage@1 -m novelty@1 --json"
    )
    assert (code, err) == (0, "")
    assert json.loads(out)[0]["coverage@1"] == 0.2


# --- tables out ---------------------------------------------------------------------------------------------------------


def test_a_table_has_a_line_for_each_metric_and_a_column_for_each_model(run):
    code, out, _ = run("evaluate old.csv new.csv --truth test.csv -m map -m mrr -k 1")
    assert code == 0
    assert re.search(r"^ +metric +old +new$", out, re.MULTILINE)
    assert list(values(out)) == ["map@1", "mrr@1"]


@pytest.mark.parametrize("models", [[1, 2], [0.5, 1.5], [False, True], [None, "a"], ["metric", "value"]])
def test_a_table_has_columns_of_any_models(run, models):
    frames = [pl.read_parquet("recs.parquet").with_columns(key=pl.lit(model)) for model in models]
    pl.concat(frames, how="vertical_relaxed").write_parquet("long.parquet")
    code, out, err = run("evaluate long.parquet --model key -m mrr -m map")
    assert (code, err) == (0, "")
    assert {name: len(cells) for name, cells in values(out).items() if name != "metric"} == {"mrr": 2, "map": 2}


def test_a_table_writes_years_and_ids_as_they_are(run):
    Path("long.csv").write_text("user,score,relevant,year\n1234567,1,1,2023\n1234567,2,0,2024\n")
    assert re.search(r"^ +metric +2023 +2024$", run("evaluate long.csv --model year -m mrr")[1], re.MULTILINE)
    assert "| 1234567 |" in run("evaluate long.csv --per user -m mrr --markdown")[1]


NAMES_WITH_MARKS = ("*a*", "_a_", "a<b>", "a|b", "`a`", "a  b")


def test_markdown_is_that_of_table(run, files):
    pl.concat([files.with_columns(model=pl.lit(name)) for name in NAMES_WITH_MARKS]).write_parquet("long.parquet")
    code, out, _ = run("evaluate long.parquet --model model -m map -m hit_rate --markdown")
    result = pl.read_parquet("long.parquet").rec.evaluate(["map", "hit_rate"], model="model")
    assert (code, out.strip()) == (0, recframe.table(result).to_markdown().strip())


def test_markdown_has_text_on_the_left_and_a_dash_for_what_is_missing(run):
    Path("unranked.csv").write_text("user,item,score,relevant\n1,1,1,0\n")
    out = run("evaluate a=unranked.csv b=unranked.csv -m map --markdown")[1]
    assert out.splitlines()[1:] == ["| ----- | --: |", "| a     |   – |", "| b     |   – |"]


def test_markdown(run):
    _, out, _ = run("evaluate old.csv new.csv --truth test.csv -m map --markdown")
    assert [line.count("|") for line in out.splitlines()] == [3, 3, 3, 3]


@pytest.mark.parametrize("ending", [".json", ".csv", ".md", ".parquet"])
def test_out_writes_by_the_ending(run, ending):
    path = Path(f"result{ending}")
    code, out, _ = run(f"evaluate recs.parquet -m map --out {path}")
    assert code == 0
    assert "map" in out
    assert path.stat().st_size
    assert not [result.name for result in Path().iterdir() if result.name.startswith(".")]
    if ending == ".parquet":
        assert pl.read_parquet(path).columns == ["map"]


def test_files_that_cannot_be_written_are_errors_before_any_work(run):
    code, _, err = run("evaluate none.csv --out result.doc")
    assert (code, "the name ends in '.doc', which is no format" in err) == (2, True)
    code, out, err = run("evaluate recs.parquet --out old.csv/result.csv")
    assert (code, out, "cannot be written: " in err, "is no folder" in err) == (2, "", True, True)
    code, _, err = run("evaluate recs.parquet --json --csv")
    assert (code, "exclude each other" in err) == (2, True)


def test_an_interrupted_run_leaves_the_old_file(run, monkeypatch):
    from recframe._data.files import paths

    Path("result.csv").write_text("old")

    def interrupt(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(paths.Path, "replace", interrupt)
    code, _, err = run("evaluate recs.parquet -m map --out result.csv")
    assert (code, "interrupted" in err) == (130, True)
    assert Path("result.csv").read_text() == "old"
    assert not [result.name for result in Path().iterdir() if result.name.startswith(".")]


def test_changes(run):
    both = pl.concat(
        pl.DataFrame(columns).with_columns(model=pl.lit(name)) for name, columns in (("old", OLD), ("new", NEW))
    )
    rec = both.rec(truth=pl.DataFrame(TEST), model="model")
    code, out, err = run("changes old.csv new.csv --truth test.csv -m ndcg -k 2 --most 1 --json")
    assert (code, err, json.loads(out)) == (0, "", rec.changes("ndcg", 2, most=1).to_dicts())
    code, out, err = run("changes old.csv new.csv --truth test.csv --most 0 --lists-only --baseline new --json")
    expected = rec.changes("ndcg@10", most=None, items=False, baseline="new").to_dicts()
    assert (code, err, json.loads(out)) == (0, "", expected)
    assert len(expected) == 3
    assert run("changes one=old.csv two=old.csv --truth test.csv") == (0, "No list changed.\n", "")


@pytest.mark.parametrize("names", [
    "-m ndcg@2 -m map -m 'recall(k=1,capped=True)'", "-m ndcg@2,map,'recall(k=1,capped=True)'",
    "--metrics 'ndcg@2,map,recall(k=1,capped=True)'", "--metrics ndcg@2,map --metric 'recall(k=1,capped=True)'",
])  # fmt: skip
def test_metrics_are_repeated_or_between_commas(run, names):
    code, out, err = run(f"evaluate recs.parquet {names} --json")
    assert (code, err) == (0, "")
    assert [*json.loads(out)[0]] == ["ndcg@2", "map", "recall(capped=True)@1"]


def test_chance(run):
    code, out, err = run("evaluate old.csv new.csv --truth test.csv -m recall@1 --chance --json")
    result = [[*row][1:] for row in json.loads(out)]
    assert (code, err, result) == (0, "", [["recall@1", "recall@1 chance", "recall@1 skill"]] * 2)
    code, out, err = run("evaluate old.csv --truth test.csv -m gini --chance")
    assert (code, out) == (2, "")
    assert "leave gini out" in err


def test_compare_and_describe(run):
    pytest.importorskip("scipy")
    code, out, err = run(
        "compare old.csv new.csv --truth test.csv -m mrr --baseline old --test randomization --seed 3 --json"
    )
    assert (code, err) == (0, "")
    [row] = json.loads(out)
    both = pl.concat(
        pl.DataFrame(columns).with_columns(model=pl.lit(name)) for name, columns in (("old", OLD), ("new", NEW))
    )
    given = {"truth": pl.DataFrame(TEST), "model": "model", "baseline": "old", "test": "randomization", "seed": 3}
    assert row == both.rec.compare("mrr", **given).to_dicts()[0]
    code, out, _ = run("describe recs.parquet -m ndcg@2 --json")
    assert (code, json.loads(out)[0]["lists"]) == (0, 3)


def test_strata_and_their_weights(run, tmp_path):
    pytest.importorskip("scipy")
    users = range(8)
    rows = [
        {"user": u, "item": i, "task": "ab"[u > 4], "relevant": int(i == u % 3), "score": -i}
        for u in users
        for i in range(3)
    ]
    frame = pl.DataFrame(rows)
    frame.write_csv(tmp_path / "tasks.csv")
    how = "--strata task --strata-weights a=1,b=3"
    given = {"strata": "task", "strata_weights": {"a": 1, "b": 3}}
    code, out, _ = run(f"evaluate {tmp_path / 'tasks.csv'} -m mrr {how} --json")
    assert (code, json.loads(out)) == (0, frame.rec.evaluate("mrr", **given).to_dicts())
    code, out, _ = run(f"describe {tmp_path / 'tasks.csv'} -m mrr {how} --json")
    (row,) = frame.rec.describe("mrr", **given).to_dicts()
    assert (code, json.loads(out)) == (0, [pytest.approx(row)])
    code, _, err = run(f"evaluate {tmp_path / 'tasks.csv'} -m mrr {how} --fail-under mrr={row['high'] + 0.01} --sure")
    assert (code, "the upper end of mrr" in err) == (1, True)
    code, _, err = run(f"evaluate {tmp_path / 'tasks.csv'} -m mrr --strata task --strata-weights a=one")
    assert (code, "not a name and a weight" in err) == (2, True)


def test_ranks_bounds_and_estimates(run):
    pytest.importorskip("scipy")
    old, both = (
        pl.DataFrame(OLD),
        pl.concat(
            pl.DataFrame(columns).with_columns(model=pl.lit(name)) for name, columns in (("old", OLD), ("new", NEW))
        ),
    )
    test = pl.DataFrame(TEST)
    human = {"truth": test.filter(pl.col("user") < 3), "judge": test}
    cases = {
        "rank-models old.csv new.csv --truth test.csv -m mrr --resamples 200 --seed 1": both.rec.rank_models(
            "mrr", truth=test, model="model", resamples=200, seed=1
        ),
        "bounds old.csv --truth test.csv -m mrr -m ndcg@2 --grade 3": old.rec.bounds(
            ["mrr", "ndcg@2"], truth=test, grade=3
        ),
        "estimate-with-judge old.csv new.csv --truth human.csv --judge llm.csv -m mrr --confidence 0.9": both.rec.estimate_with_judge(
            "mrr", model="model", confidence=0.9, **human
        ),
    }
    for line, expected in cases.items():
        code, out, err = run(f"{line} --json")
        assert (code, err, json.loads(out)) == (0, "", expected.to_dicts())
        assert run(line)[0] == 0
    for line, message in {
        "bounds old.csv new.csv --truth test.csv -m mrr": "bounds is about one model",
        "estimate-with-judge old.csv --truth human.csv -m mrr": "Missing option '--judge'",
        "estimate-with-judge old.csv --truth human.csv --judge gone.csv -m mrr": "the file 'gone.csv' does not exist",
    }.items():
        code, _, err = run(line)
        assert (code, message in err) == (2, True)


def test_sample_size(run):
    pytest.importorskip("scipy")
    line = "sample-size old.csv new.csv --truth test.csv -m mrr --tests 4 --power 0.9"
    both = pl.concat(
        pl.DataFrame(columns).with_columns(model=pl.lit(name)) for name, columns in (("old", OLD), ("new", NEW))
    )
    given = {"truth": pl.DataFrame(TEST), "model": "model", "tests": 4, "power": 0.9}
    for difference, text in ((0.1, "0.1"), ("10%", "10%")):
        code, out, err = run(f"{line} --difference {text} --json")
        assert code == 0
        assert err.startswith("recframe: warning: the numbers of lists come from only 3 lists")
        assert json.loads(out) == both.rec.sample_size("mrr", difference=difference, **given).to_dicts()
    code, out, _ = run(f"{line} --difference 0.1")
    assert (code, out.split()[:9]) == (
        0, ["metric", "model", "baseline", "difference", "power", "tests", "std", "seen", "lists"],
    )  # fmt: skip
    code, _, err = run(line)
    assert (code, "Missing option '--difference'" in err) == (2, True)


def test_check(run, files):
    code, out, _ = run("check recs.parquet --json")
    assert code == 0
    assert json.loads(out) == files.rec.check().to_dicts()
    assert json.loads(run("check recs.parquet --all --json")[1]) == files.rec.check(all=True).to_dicts()


def test_progress_is_a_line_that_results_replace(run, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, out, err = run("evaluate old.csv new.csv --truth test.csv -m map --csv")
    assert code == 0
    assert out.startswith("model,map\n")
    steps = err.split("\r\x1b[K")
    assert steps == ["", "reading test.csv", "reading old.csv", "reading new.csv", "computing with 14 rows", ""]


def test_check_names_the_model_and_each_meaning_once(run):
    _, out, _ = run("check old.csv new.csv --truth test.csv --per user")
    result = [line.split()[:2] for line in out.splitlines() if re.search(r"\d$", line)]
    assert {model for model, _ in result} == {"old", "new"}
    meanings = [line.partition(":")[0] for line in out.splitlines() if ": " in line]
    assert len(meanings) == len(set(meanings)) > 0


def test_our_warnings_are_lines(run):
    pl.DataFrame(TEST).with_columns(user=pl.col("user") + 100).write_csv("others.csv")
    code, _, err = run("evaluate old.csv --truth others.csv -m map")
    assert code == 0
    assert err.startswith("recframe: warning: the numbers may mean nothing")
    assert ".py" not in err


# --- gates --------------------------------------------------------------------------------------------------------------


def test_fail_under(run):
    code, _, err = run("evaluate old.csv new.csv --truth test.csv -m map --fail-under MAP=0.2")
    assert (code, err) == (0, "")
    code, out, err = run("evaluate old.csv new.csv --truth test.csv -m map --fail-under mrr@1=0.5 --fail-under map=0.1")
    assert code == 1
    assert list(values(out)) == ["map", "mrr@1"]
    with pytest.raises(recframe.ThresholdError) as caught:
        recframe.require(pl.DataFrame({"model": ["old"], "mrr@1": [1 / 3]}), {"mrr@1": 0.5})
    assert err == f"recframe: {caught.value}\n"


def test_a_sure_gate_judges_the_whole_interval(run):
    pytest.importorskip("scipy")
    rows = {"user": [user for user in range(40) for _ in (0, 1)], "item": [1, 2] * 40, "relevant": [1, 0] * 40}
    pl.DataFrame(rows | {"score": [1.0, 0.0] * 30 + [0.0, 1.0] * 10}).write_csv("many.csv")
    described = recframe.rec(pl.read_csv("many.csv")).describe("mrr")
    (mean, high) = described.select("mean", "high").row(0)
    between, above = (mean + high) / 2, (high + 1) / 2
    assert run(f"evaluate many.csv -m mrr --fail-under mrr={between}")[0] == 1
    assert run(f"evaluate many.csv -m mrr --fail-under mrr={between} --sure")[::2] == (0, "")
    code, _, err = run(f"evaluate many.csv -m mrr --fail-under mrr={above} --sure")
    assert code == 1
    assert err.startswith("recframe: the upper end of mrr is ")
    for wrong, text in (
        ("", "--sure without --fail-under"),
        ("--fail-under mrr=0.5 --mean geometric", "--sure judges the interval of an arithmetic mean"),
    ):
        code, _, err = run(f"evaluate many.csv -m mrr --sure {wrong}")
        assert code == 2
        assert text in err


def test_fail_over(run):
    pytest.importorskip("scipy")
    line = "evaluate old.csv new.csv --truth test.csv -m map"
    assert run(f"{line} --fail-over map=1 --fail-under map=0.1")[::2] == (0, "")
    code, out, err = run(f"{line} --fail-over mrr@1=0.5 --fail-under mrr@1=0.1")
    assert code == 1
    assert list(values(out)) == ["map", "mrr@1"]
    assert err == "recframe: mrr@1 of model 'new' is 1, above 0.5\n"
    assert run(f"{line} --fail-over mrr@1=0.5 --sure")[::2] == (0, "")
    code, _, err = run(f"{line} --fail-over map=0.001 --fail-under map=0.999 --sure")
    assert code == 1
    assert "the lower end of map of model 'new' is" in err
    assert run(f"{line} -k 5 --fail-over ndcg=0.3")[2].endswith("Hint: --fail-over ndcg@5=0.3\n")
    assert "--fail-over ndcg does not say METRIC=NUMBER" in run(f"{line} --fail-over ndcg")[2]


def test_no_value_passes_no_gate(run, files):
    files.with_columns(relevant=0).write_csv("zero.csv")
    code, _, err = run("evaluate zero.csv --fail-under map=0")
    assert code == 1
    assert "map has no value (nan), but must be at least 0" in err.splitlines()[-1]


def test_fail_if_worse(run):
    pytest.importorskip("scipy")
    many = range(40)
    for name, better in (("a", 0.0), ("b", 0.5)):
        rows = [
            (user, item, float((user * 7 + item * 5) % 11) / 11 + better * (item == 0))
            for user in many
            for item in range(4)
        ]
        pl.DataFrame(rows, schema=["user", "item", "score"], orient="row").write_csv(f"{name}.csv")
    pl.DataFrame({"user": many, "item": [0] * 40}).write_csv("truth.csv")
    line = "compare a.csv b.csv --truth truth.csv -m mrr"
    for gate in ("--fail-unless-not-worse", "--fail-if-worse"):
        assert run(f"{line} {gate} a")[0] == 0
    line = f"{line} --fail-unless-not-worse"
    code, _, err = run(f"{line} b --margin 0.005")
    assert code == 1
    assert re.fullmatch(
        r"recframe: mrr of model 'a' may be worse than 'b' by more than 0\.005: the verdict is 'worse', the difference "
        r"-0\.\d+, the p-value of a loss of 0\.005 is 1, and 0\.05 or more fails\n",
        err,
    )
    assert run(f"{line} b --margin 1")[0] == 0
    code, out, _ = run(f"{line} b -m ndcg@2 --margin mrr=1,nDCG@2=100% --json --details")
    assert (code, [row["p_margin"] < 0.05 for row in json.loads(out)]) == (0, [True, True])
    assert run(f"{line} b -m ndcg@2 --margin mrr=0.001,ndcg@2=100%")[0] == 1
    # Between the mean difference and the end of the interval: the end decides.
    code, out, _ = run(f"{line} b --margin 1 --json --details")
    [row] = json.loads(out)
    assert (code, row["verdict"]) == (0, "equivalent")
    assert run(f"{line} b --margin {(-row['low'] - row['difference']) / 2}")[0] == 1
    share = -row["low"] / row["baseline_mean"] * 100
    assert [run(f"{line} b --margin {share * factor}%")[0] for factor in (0.8, 1.2)] == [1, 0]


def test_a_saved_baseline_gates_a_later_run(run):
    pytest.importorskip("scipy")
    assert run("evaluate old.csv --truth test.csv -m ndcg@10 --save prod.parquet") == (
        0,
        run("evaluate old.csv --truth test.csv -m ndcg@10")[1],
        "",
    )
    line = "compare new.csv --truth test.csv -m ndcg@10 --baseline prod.parquet"
    code, out, _ = run(f"{line} --json --details")
    [result] = json.loads(out)
    [expected] = json.loads(run("compare old.csv new.csv --truth test.csv -m ndcg@10 --json --details")[1])
    assert (code, result.pop("changed"), result.pop("baseline")) == (0, "nothing", "prod.parquet")
    assert expected.pop("baseline") == "old"
    assert result == expected
    assert "nothing" in run(f"{line} --details")[1]
    assert run(f"{line} --fail-unless-not-worse --margin 0.5")[0] == 0
    code, _, err = run(f"{line} --fail-unless-not-worse")
    assert code == 1
    assert re.fullmatch(
        r"recframe: ndcg@10 of model 'new' may be worse than 'prod\.parquet': .* of no gain is .*\n", err
    )
    pl.read_csv("test.csv").filter(pl.col("user") > 1).write_csv("other.csv")
    line = line.replace("test.csv", "other.csv")
    assert "are left out: truth of 1 list" in run(line)[2]
    [result] = json.loads(run(f"{line} --json --details")[1])
    assert (result["lists"], result["changed"]) == (2, "truth of 1 list")
    code, _, err = run(f"{line} --changed refuse")
    assert code == 2
    assert "Hint: --changed leave_out compares the lists that stayed" in err


def test_a_failed_gate_leaves_the_baseline_as_it_was(run):
    pytest.importorskip("scipy")
    line = "evaluate old.csv --truth test.csv -m ndcg@10 --save prod.parquet"
    for gate in ("--fail-under ndcg@10=0.9", "--fail-on-check note", "--fail-under ndcg@10=1.1 --sure"):
        assert run(f"{line} {gate}")[0] == 1
        assert not Path("prod.parquet").exists()
    code, _, err = run(line.replace("old.csv", "old.csv new.csv"))
    assert (code, "'prod.parquet' keeps the lists of one model, but there are 'old', 'new'" in err) == (2, True)
    assert "--score" not in err
    assert not Path("prod.parquet").exists()
    assert run(f"{line} --fail-under ndcg@10=0.1")[0] == 0
    before = Path("prod.parquet").read_bytes()
    assert run(f"{line.replace('old.csv', 'new.csv')} --fail-under ndcg@10=0.99")[0] == 1
    assert Path("prod.parquet").read_bytes() == before


def test_a_gate_of_a_metric_without_its_cutoff_is_refused_before_any_work(run):
    line = "evaluate old.csv --truth test.csv -m ndcg -k 5 -k 10 --fail-under"
    code, out, err = run(f"{line} ndcg=0.3")
    assert (code, out) == (2, "")
    assert "--fail-under ndcg names no column, as -k gives it cutoffs" in err
    assert "Hint: --fail-under ndcg@5=0.3" in err
    assert run(f"{line} ndcg@5=0 --fail-under num_ret=0")[0] == 2
    assert run(f"{line} ndcg@5=0 --fail-under kendall=-1")[0] == 0


def test_a_single_list_passes_no_comparison(run):
    pytest.importorskip("scipy")
    for name in ("a", "b"):
        pl.DataFrame({"user": [1], "item": [1], "score": [1.0]}).write_csv(f"{name}.csv")
    code, _, err = run("compare a.csv b.csv --truth test.csv -m map --per user --fail-if-worse a --margin 1")
    assert (code, "(nan)" in err) == (1, True)


def test_fail_on_check(run, files):
    assert run("check recs.parquet --fail-on-check")[0] == 0
    pl.concat([files, files]).write_parquet("twice.parquet")
    for line in ("check twice.parquet", "evaluate twice.parquet -m map"):
        assert run(line)[0] == 0
        code, _, err = run(f"{line} --fail-on-check")
        assert code == 1
        assert err.splitlines()[-1] == "recframe: the check found duplicate_rows (7)"


@pytest.fixture
def another_day(files):
    """Write a truth of which most lists are unknown to the frame."""
    pl.DataFrame({"user": [1, 7, 8, 9], "item": [3, 2, 2, 1]}).write_csv("day.csv")


@pytest.mark.parametrize(
    ("gate", "found"),
    [
        ("", ""),
        ("warning", "truth_of_unknown_lists (3), lists_without_relevant (2), lists_without_ranked (3)"),
        ("warning --fail-on-check lists_without_ranked=0.5", "truth_of_unknown_lists (3), lists_without_relevant (2)"),
        ("truth_of_unknown_lists=0.1", "truth_of_unknown_lists (3, a share of 0.75 above 0.1)"),
        ("truth_of_unknown_lists=0.75", ""),
        ("truth_of_unknown_lists=0 --fail-on-check error", "truth_of_unknown_lists (3, a share of 0.75 above 0)"),
    ],
)
@pytest.mark.usefixtures("another_day")
def test_a_limit_of_what_a_check_finds(run, gate, found):
    for command in ("check", "evaluate -m map"):
        # Before the files and after them: a limit is no file, and a file is no limit.
        for line in (
            f"{command} --fail-on-check {gate} old.csv --truth day.csv",
            f"{command} old.csv --truth day.csv --fail-on-check {gate}",
        ):
            code, _, err = run(line)
            judged = [text for text in err.splitlines() if "the check found" in text]
            assert (code, judged) == ((1, [f"recframe: the check found {found}"]) if found else (0, []))


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        (
            "truth_of_unknwn_lists=0.1",
            "(?s)'truth_of_unknwn_lists' is no finding of check.*mean 'truth_of_unknown_lists'",
        ),
        ("warnings=0.1", "(?s)'warnings' is no finding of check.*did you mean 'warning'"),
        ("truth_of_unknown_lists=2", "(?s)does not say FINDING=SHARE, a share from 0 to 1.*truth_of_unknown_lists=0.1"),
        ("truth_of_unknown_lists=nan", "does not say FINDING=SHARE"),
        ("truth_of_unknown_lists", "(?s)does not say FINDING=SHARE.*truth_of_unknown_lists=0.1"),
        ("ties_across_k=0.1", "(?s)ties_across_k=0.1: this check does not look for it.*-k"),
    ],
)
@pytest.mark.usefixtures("another_day")
def test_a_limit_that_says_nothing(run, gate, message):
    code, _, err = run(f"check old.csv --truth day.csv --fail-on-check {gate}")
    assert code == 2
    assert re.search(message, err)


@pytest.mark.usefixtures("files")
def test_a_gate_names_the_model(run):
    pl.concat([pl.read_csv("old.csv")] * 2).write_csv("twice.csv")
    assert run("check new.csv twice.csv --truth test.csv --fail-on-check")[2].splitlines()[-1] == (
        "recframe: the check found duplicate_rows of model 'twice' (7)"
    )


# --- input that cannot be used ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("evaluate none.csv", "the file 'none.csv' does not exist"),
        ("evaluate '*.run'", r"no file matches '\*\.run'"),
        ("evaluate .", "the folder '.' holds files of several kinds: '.csv', '.parquet'"),
        ("evaluate", "Missing argument 'FILE"),
        ("evaluate recs.parquet -m ndgc", "(?s)metric 'ndgc' is unknown.*did you mean 'ndcg'"),
        ("evaluate recs.parquet -k x", "'x' is not a valid integer"),
        ("evaluate recs.parquet -k 0", "-k 0 is less than 1"),
        (
            "evaluate recs.parquet --by users",
            "(?s)--by users: .*it has 'user', 'item', 'score', 'relevant'.*did you mean 'user'",
        ),
        (
            "evaluate recs.parquet -m mrr --item itm",
            "(?s)--item itm: the frame has no such column; it has .*did you mean 'item'",
        ),
        (
            "evaluate recs.parquet -m coverage --by usr --item itm --score scor",
            (
                "(?s)--by usr, --item itm, --score scor: the frame has no such columns;"
                " it has .*Hint: --by user --item item --score score$"
            ),
        ),
        ("evaluate recs.parquet --weight wait", "--weight wait: the frame has no such column; it has .*'extra'"),
        ("compare recs.parquet --score score,extra", "(?s)Hint: --score score --score extra"),
        ("compare recs.parquet", "(?s)Hint: old.csv new.csv; in one file, --score old --score new"),
        ("evaluate old.csv -m ndcg map", "(?s)the file 'map' does not exist.*Hint: a metric .*: -m map"),
        ("metrics ndcg", "Did you mean recframe explain METRIC"),
        ("evaluate lengths.parquet --model length --csv", "(?s)cannot be written as CSV.*Hint: --json"),
        ("evaluate cut", "'cut' cannot be read as csv"),
        ("evaluate old.csv --format ndjson", "'ndjson' is not one of 'parquet', 'csv', 'tsv', 'trec'"),
        ("evaluate latin.csv", "(?s)'latin.csv' cannot be read as csv.*Hint: save it as UTF-8"),
        ("evaluate recs.parquet -m mrr --propensity extra", "(?s)Hint: leave --propensity out"),
        ("evaluate recs.parquet --by user --by item --ties best --ties worst", "--ties is given 2 times.*one value"),
        ("check recs.parquet -k 5 10", "--k is given 2 times, but it takes one value"),
        ("evaluate recs.parquet -m mrr --sampled 9", "(?s)--sampled 9 is not a pair.*such as --sampled 99,10000"),
        ("evaluate recs.parquet -m mrr --rank extra", "(?s)Hint: for scores, higher is better, use --score$"),
        ("evaluate recs.parquet --user user", r"No such option '?--user'?.*--by"),
        ("evaluate recs.parquet --ascending", "No such option --ascending. The largest score comes first; --rank rank"),
        ("compare recs.parquet --alpha 0.05", r"--alpha\. .* accept --confidence 0\.95, which is 1 - alpha"),
        ("evaluate recs.parquet --ties wrong", "'wrong' is not one of"),
        ("evaluate recs.parquet --undefined none", "--undefined none"),
        ("evaluate recs.parquet --truth none.csv", "the file 'none.csv' does not exist"),
        ("sql --table recs --dialect duckdb --type clicked", "--type clicked does not say COLUMN=TYPE"),
        ("sql --table recs --dialect duckdb --type a=text --type a=float", "--type a=float names a again"),
        ("evaluate recs.parquet --fail-under ndcg", "--fail-under ndcg does not say METRIC=NUMBER"),
        ("evaluate recs.parquet --fail-under ndcg=nan", "does not say METRIC=NUMBER"),
        ("evaluate recs.parquet --fail-under P@1=1 --fail-under precision@1=0", "precision@1 has the bound 1 already"),
        ("compare old.csv new.csv --truth test.csv -m mrr --seed -1", "(?s)--seed -1 is less.*Hint: --seed 0"),
        ("evaluate recs.parquet --fail-under ndgc=1", "did you mean 'ndcg'"),
        ("evaluate old.csv a/old.csv", "does not exist|several files"),
        ("evaluate a=old.csv a=new.csv", "several files to the model 'a'"),
        ("evaluate old.csv new.csv --model system", "--model system with several files"),
        ("evaluate old.csv recs.parquet", "differ in the columns 'relevant'"),
        ("evaluate recs.parquet --format csv", "'recs.parquet' cannot be read as csv"),
        ("evaluate results.test --format parquet", "'results.test' cannot be read as parquet"),
        ("evaluate old.csv --format trec", "(?s)line 1 of 'old.csv' has 1 field.*looks like CSV"),
        ("evaluate empty.csv", "'empty.csv' cannot be read as csv: it is empty"),
        ("evaluate empty", "the format of 'empty' is not known"),
        ("evaluate old.csv --truth test.csv --save prod.csv", "--save prod.csv does not end in .parquet"),
        ("compare old.csv new.csv --truth test.csv --fail-if-worse", "--fail-unless-not-worse names no model"),
        ("compare new.csv --truth test.csv --baseline recs.parquet", "'recs.parquet' is not a baseline"),
        ("compare new.csv --truth test.csv --baseline old.csv", "'old.csv' is no Parquet file"),
        (
            "compare old.csv new.csv --truth test.csv --changed refuse",
            "--changed refuse is about the file of a baseline",
        ),
        ("compare old.csv new.csv --truth test.csv --margin -1", "--margin -1.*is not 0 or more"),
        ("compare old.csv new.csv --truth test.csv --margin 1x", "--margin 1x is neither a number nor a percentage"),
        ("compare old.csv new.csv --truth test.csv --fail-if-worse old --baseline new", "name two baselines"),
        ("explain", "Missing argument 'METRIC'"),
        ("explain ndgc", "did you mean 'ndcg'"),
        ("completion tcsh", "'tcsh' is not one of"),
        ("nonsense", "No such command"),
        ("evalute old.csv", "No such command 'evalute'. Did you mean evaluate[?]"),
        ("old.csv", "No such command 'old.csv'. Did you mean recframe evaluate old.csv[?]"),
        (
            "evaluate old.csv --out result.txt",
            "(?s)ends in '.txt', which is no format.*one of .json, .csv, .md, .parquet",
        ),
        ("evaluate old.csv --truth test.csv --relevant grade --json", "(?s)--relevant grade"),
    ],
)
def test_bad_input_prints_a_line_and_a_hint(run, line, message):
    if line.startswith("compare"):
        pytest.importorskip("scipy")
    Path("empty.csv").touch()
    Path("empty").touch()
    recs = pl.read_parquet("recs.parquet").with_columns(extra=0.5)
    recs.write_parquet("recs.parquet")
    recs.with_columns(length=pl.duration(days="user")).write_parquet("lengths.parquet")
    Path("latin.csv").write_bytes("user,item,score\né,1,1\n".encode("latin-1"))
    Path("cut").write_bytes(gzip.compress(recs.write_csv().encode())[:60])
    code, out, err = run(line)
    assert (code, out) == (2, "")
    assert re.search(message, err), err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("file", "data", "message"),
    [
        ("empty.parquet", "", "'empty.parquet' cannot be read as parquet: it is empty"),
        ("utf16.csv", "user,item,score\n1,1,1\n", "invalid utf-8.*Hint: save it as UTF-8, or give --format parquet"),
        ("recs.csv", None, "'recs.csv' cannot be read as csv: .*or give --format parquet"),
        (
            "recs.run",
            None,
            "line 1 of 'recs.run' is not UTF-8.*Hint: save it as UTF-8; run files are text, not Parquet",
        ),
    ],
)
def test_a_file_that_is_empty_or_of_another_kind_is_named(run, file, data, message):
    Path(file).write_bytes(
        Path("recs.parquet").read_bytes() if data is None else data.encode("utf-16") if data else b""
    )
    code, out, err = run(f"evaluate {file}")
    assert (code, out) == (2, "")
    assert re.search(f"(?s){message}", err), err


def test_columns_of_csv_without_values_need_no_type(run):
    Path("header.csv").write_text("user,item,score,relevant\n")
    Path("unranked.csv").write_text("user,item,score,relevant\n1,1,,1\n")
    code, out, _ = run("evaluate header.csv -m mrr")
    assert (code, out.split()[-2:]) == (0, ["mrr", "-"])
    code, out, _ = run("evaluate unranked.csv -m mrr")
    assert (code, out.split()[-2:]) == (0, ["mrr", "0.0000"])


# --- the rest -----------------------------------------------------------------------------------------------------------


def test_without_a_command_there_is_help(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert all(word in out for word in ("Usage: recframe", "evaluate", "metrics"))


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"recframe {recframe.__version__}\n"


def test_metrics_lists_every_record(capsys):
    assert main(["metrics"]) == 0
    out = capsys.readouterr().out
    for name, metric in METRICS.items():
        assert re.search(rf"^{name}\b", out, flags=re.MULTILINE)
        assert " ".join(metric.formula.split()) in " ".join(out.split())
    assert "denominator: k | list" in out
    assert "capped: False | True" in out


def test_help_lists_options_by_what_they_are_for(run):
    parts = re.split(r"^(\S.*):$", run("compare --help")[1], flags=re.MULTILINE)
    named = {
        title: set(re.findall(r"^  --([a-z-]+)", part, re.MULTILINE))
        for title, part in zip(parts[1::2], parts[2::2], strict=True)
    }
    assert {"cluster", "seed", "format"} <= named["Options"]
    assert {"by", "score", "model"} <= named["Columns"]
    assert {"truth", "catalog"} <= named["More files"]
    assert {"ties", "like"} <= named["Policies"]
    assert {"fail-unless-not-worse"} <= named["Gates"]
    assert {"json", "out", "digits"} <= named["Output"]


def test_lines_fit_a_terminal(capsys):
    main(["metrics"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 100


@pytest.mark.parametrize("line", ["metrics", "explain ndcg@10"])
def test_long_lines_continue_below_their_start_on_a_narrow_terminal(run, line, monkeypatch):
    whole = run(line)[1]
    monkeypatch.setattr(terminal, "width", lambda: 60)
    narrow = run(line)[1]
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, whole.splitlines()))
    assert narrow.split() == whole.split()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("command", ["metrics", "explain ndcg@10"])
def test_a_terminal_that_lacks_letters(command, encoding, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(command.split()) == 0
    stream.seek(0)
    text = stream.read()
    assert "ndcg@" in text
    assert "?" not in text


def test_help_imports_nothing_that_computes():
    code = (
        "import sys; from recframe.cli import main; main(['--help']); "
        "print(sorted(name for name in sys.modules if name in ('narwhals', 'recframe.metrics', 'recframe.accessor')))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_each_command_has_a_line_in_the_list():
    assert {*COMMANDS} == {*texts.COMMANDS}
    assert {*definitions.PARAMETERS} <= {part for text in texts.COMMANDS.values() for part in text.parameters}


def test_help_does_not_speak_of_python():
    helps = [
        option.help or ""
        for name in texts.COMMANDS
        for option in definitions.command(name).params
        if hasattr(option, "help")
    ]
    assert len(helps) > 100
    assert not [text for text in helps if re.search(r"`|\bNone\b|\bframes?\b|=\"", text)]


@pytest.mark.parametrize(
    ("message", "python", "shell"),
    [
        ("`by='user'` and `seed=10_000`, or `margin='1%'`.", "by='user' and seed=10_000, or margin='1%'.",
         "--by user and --seed 10000, or --margin 1%."),
        ("`score=['old', 'new model']`, or leave `rank=` out", "score=['old', 'new model'], or leave rank= out",
         "--score old --score 'new model', or leave --rank out"),
        ("what: `sampled=(99, 10_000)` says\nso, not `like=`", "what: sampled=(99, 10_000) says\nso, not like=",
         "what: --sampled 99,10000 says\nso, not --like"),
        ("`metrics=['ndcg@10', 'map']`; `condensed=True`, `judge=llm`, `k=5`, `by=None`, `power=nan`",
         "metrics=['ndcg@10', 'map']; condensed=True, judge=llm, k=5, by=None, power=nan",
         "-m ndcg@10 -m map; --condensed, --judge llm, -k 5, --by none, --power nan"),
        ("`df.rec(by=['userId', 'day'], item='a, b=1', score=\"it's\")`; `truth=`",
         "df.rec(by=['userId', 'day'], item='a, b=1', score=\"it's\"); truth=",
         "--by userId --by day --item 'a, b=1' --score 'it'\"'\"'s'; --truth"),
        ("by='user', 'ndcg(grades=relevant)', `by` and `by=\"a`b's\"`, `sampled=0`",
         "by='user', 'ndcg(grades=relevant)', `by` and by=\"a`b's\", sampled=0",
         "by='user', 'ndcg(grades=relevant)', `by` and --by 'a`b'\"'\"'s', --sampled 0"),
    ],
)  # fmt: skip
def test_errors_and_warnings_carry_their_arguments(message, python, shell):
    for carrier in (recframe.OptionError(message), recframe.OptionError("x", message), recframe.DataWarning(message)):
        assert str(carrier).removeprefix("x\n\nHint: ") == python
        assert terminal.with_options(carrier.parts).removeprefix("x\n\nHint: ") == shell
        assert str(pickle.loads(pickle.dumps(carrier))) == str(carrier)


def test_an_error_says_which_argument_has_which_value():
    with pytest.raises(recframe.OptionError) as caught:
        pl.DataFrame(OLD).rec.sample_size("ndcg", difference=0.0, truth=pl.DataFrame(TEST), score=["score", "item"])
    assert ("difference", "0.0") in caught.value.parts


BAD_OPTIONS = {
    "": [
        "--by gone", "--item gone", "--score gone", "--rank gone", "--rank score", "--rank negative", "--score text",
        "--score item --rank score", "--score score --score score", "--model gone", "--like nope", "--like sklearn",
        "--catalog 0", "--catalog x.csv", "--truth x.csv", "--train truth.csv", "--features x.csv", "--min-relevance x",
        "--sampled x", "--candidates item", "--tied item", "--subtopic gone", "--groupby x", "--alternative greater",
        "--threshold 2", "--n-boot 9", "--digits 99", "--out x.doc", "--json --csv", "--format csv", "--separator ;;",
    ],
    "evaluate compare describe rank-models sample-size bounds estimate-with-judge": [
        "-m ndgc", "-m nope", "-m 'ndcg(gian=1)'", "-m 'ndcg(gain=x)'", "-m ndcg@0", "-m novelty@2", "-m diversity@2",
        "-m 'recall(k=2)@3'", "-m ild@2", "-m rmse", "-m ''", "-m revenue@2", "-m gini@2", "-m user_coverage@2", "-k 0",
        "-k x", "-m ndcg -m NDCG", "--per gone", "--per item", "--per text --per text", "--weight negative",
        "--weight text", "--weight gone", "--mean x", "--mean geometric", "--undefined x", "--undefined nan",
        "--undefined raise", "--ties x", "--lists x", "--estimator x", "--estimator rank", "--estimator pooled",
        "--sampled 1,2", "--sampled 0,5 --estimator rank", "--group text", "--condensed --candidates item",
        "--by none --by user", "--by item --weight score", "--min-relevance nan", "--chance", "--counts", "--save x",
    ],
    "evaluate": [
        "--fail-under ndcg", "--fail-under nope=1", "--fail-under ndcg=0.5 --sure --mean geometric", "--sure",
        "--fail-on-check nope", "--fail-on-check duplicate_rows=2", "--save x.csv", "--save x.parquet", "--confidence 1",
        "--per-item gone", "--per-item user", "--value text -m revenue@2", "--value negative -m revenue@2",
        "--propensity negative", "--propensity text -m recall", "--chance -m gini@2", "--chance --mean geometric",
        "--cluster user", "--baseline old",
    ],
    "compare rank-models sample-size describe": [
        "--cluster gone", "--cluster item", "--cluster text", "--confidence 2", "--confidence 0.2", "--confidence nan",
        "--correction x", "--test x", "--resamples 3", "--seed -1",
    ],
    "compare": [
        "--test anytime-bounded --cluster user", "--test anytime-bounded --margin 1%", "--test wilcoxon --margin 0.1",
        "--test anytime --correction maxt", "--correction maxt --test wilcoxon", "--interval bca", "--planned 0",
        "--relative --test wilcoxon", "--relative --correction maxt", "--changed refuse", "--baseline gone",
        "--baseline truth.csv", "--baseline plain.parquet", "--margin -1", "--margin x", "--margin nan",
        "--correction dunnett", "--baseline old --fail-if-worse new", "--fail-if-worse", "--test anytime --cluster text",
        "--test anytime-bounded -m dcg",
    ],
    "sample-size": ["--difference 0", "--difference x", "--difference 0.1 --power 2", "--difference 0.1 --tests 0"],
    "bounds": ["--grade 0", "--grade 1000000", "--min-relevance 0"],
    "changes": ["--most -1", "--baseline gone", "-m nope", "-m 'ndcg(gian=1)'", "-k 0", "-m gini"],
    "check": ["-k 0", "--fail-on-check nope", "--per gone", "--fail-on-check high_chance=2"],
    "report": ["--margin x", "--title ''", "--confidence 3", "-m nope", "--baseline gone", "--out x.doc", "--cluster gone"],
    "estimate-with-judge": ["--judge x.csv", "--confidence 2"],
    "explain": ["--like nope", "--undefined x", "--ties x", "--min-relevance nan", "--gain exp2", "--truth x"],
    "sql": [
        "--dialect x", "--ties first", "--undefined raise", "--features t", "--type x=y", "--type x", "--train t",
        "-m nope", "--catalog 0", "-m novelty@2",
    ],
}  # fmt: skip
LINES = {
    "evaluate": ("{both} -m ndcg@2", "{one} -m ndcg@2", "{long} -m mrr"),
    "compare": ("{both} -m ndcg@2", "{one} -m mrr", "{long} -m mrr"),
    "changes": ("{both}", "{one}"),
    "describe": ("{both} -m mrr", "{one} -m mrr"),
    "check": ("{both}", "{one}"),
    "rank-models": ("{both} -m mrr", "{one} -m mrr"),
    "sample-size": ("{both} -m mrr --difference 0.1", "{one} --difference 0.1"),
    "bounds": ("old.csv --truth truth.csv -m ndcg@2", "{one} -m mrr"),
    "estimate-with-judge": ("old.csv --truth human.csv --judge truth.csv -m mrr", "old.csv --judge truth.csv"),
    "report": ("{both} -m mrr",),
    "explain": ("ndcg@10",),
    "sql": ("-m ndcg@10 --table recs --dialect duckdb",),
}
INPUTS = {"both": "old.csv new.csv --truth truth.csv", "one": "plain.parquet", "long": "long.parquet --model model"}
PYTHON_NAMES = sorted(
    {*ALL_ROLES, "metrics", "k", "judge", "save", "counts", "chance", "truth", "table", "types", "title", "strict"}
    | {name for call in ("compare", "describe", "sample_size", "rank_models", "bounds", "report") for name in options.non_role_arguments(call)}
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("command", [*LINES])
@pytest.mark.filterwarnings("ignore")
def test_no_command_speaks_python(run, files, command):
    pytest.importorskip("scipy")
    pytest.importorskip("ibis")
    pytest.importorskip("altair")
    Path("truth.csv").write_text(Path("test.csv").read_text())
    plain = files.with_columns(text=pl.lit("x"), negative=pl.lit(-1.0))
    plain.write_parquet("plain.parquet")
    pl.concat(plain.with_columns(model=pl.lit(name)) for name in "ab").write_parquet("long.parquet")
    call = re.compile(r"\b[a-z_]\w*\(")
    argument = re.compile(rf"(?<![\w@-])({'|'.join(PYTHON_NAMES)})=")
    of_metric = re.compile(rf"\b({'|'.join(METRICS)})\([^()]*\)")
    refused, python = 0, []
    for commands, bad in BAD_OPTIONS.items():
        if commands and command not in commands.split():
            continue
        for line in (f"{command} {line.format(**INPUTS)} {option}" for line in LINES[command] for option in bad):
            code, _, err = run(line)
            refused += code == 2
            text = of_metric.sub("", err)
            if call.search(text) or argument.search(text) or "`" in text or "Traceback" in text:
                python.append((line, err))
    assert not python
    assert refused > 10


def test_check_explains_its_findings_by_options(run, files):
    files.with_columns(user=pl.col("item"), other=pl.col("user")).write_parquet("keys.parquet")
    out = run("check keys.parquet --by user --by other --per item")[1]
    assert "dependent_lists: a column of the key repeats: compare and describe may want --cluster\n" in out
    assert "`" not in out
    meanings = pl.read_parquet("keys.parquet").rec.check(by=["user", "other"], per="item")["meaning"]
    assert not [meaning for meaning in meanings if "`" in meaning.replace("`per`", "")]


def test_refusals_of_profiles_name_options():
    argument = re.compile(rf"(?<![\w@(,-])({'|'.join(ALL_ROLES)})=")
    of_metric = re.compile(rf"\b({'|'.join(METRICS)})\([^()]*\)")
    refusals = [text for profile in PROFILES.values() for text in profile.refused.values()]
    texts = [terminal.with_options(recframe.OptionError(text).parts) for text in refusals]
    assert any("--by none" in text for text in texts)
    assert not [text for text in texts if argument.search(of_metric.sub("", text)) or "`" in text]


def test_help_in_its_own_words_is_of_roles_and_not_that_of_their_docstring():
    documented = options.argument_texts(Roles.__doc__)
    assert not [name for name, text in options.HELP.items() if documented[name] == text]


def test_a_csv_file_with_a_name_twice_is_refused_if_the_column_is_read(run):
    Path("twice.csv").write_text("user,item,score,relevant,score,note,note\n1,a,2,1,1,x,y\n1,b,1,0,2,x,y\n")
    code, _, err = run("evaluate twice.csv -m mrr")
    assert code == 2
    assert "'twice.csv' has 2 columns of the name 'score'" in err
    Path("note.csv").write_text("user,item,score,relevant,note,note\n1,a,2,1,x,y\n1,b,1,0,x,y\n")
    assert run("evaluate note.csv -m mrr")[0] == 0, "nothing reads the column"


@pytest.mark.parametrize("word", ["nan", "NaN", "NAN"])
def test_nan_in_a_column_of_numbers_of_csv_is_missing(run, word):
    Path("nan.csv").write_text(f"user,item,score,relevant\n1,nan,{word},1\n1,b,2,0\n1,c,1.5,1\n1,d,1,{word}\n")
    code, out, err = run("evaluate nan.csv -m mrr -m num_ret -m num_rel --json")
    assert code == 0, err
    assert '"mrr": 0.5' in out and '"num_ret": 3.0' in out and '"num_rel": 2.0' in out


# --- terminals and streams that are no files ----------------------------------------------------------------------------

SHELL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the streams of Linux")


def in_shell(line):
    environment = {**os.environ, "PYTHONPATH": str(Path(recframe.__file__).parent.parent)}
    line = f"{shlex.quote(sys.executable)} -m recframe {line}"
    return subprocess.run(["/bin/sh", "-c", line], env=environment, capture_output=True, text=True, check=False)


@SHELL
@pytest.mark.parametrize("stream", ["> /dev/full", ">&-"])
@pytest.mark.parametrize(
    "line", ["evaluate old.csv --truth test.csv -m ndcg", "evaluate old.csv --truth test.csv --json"]
)
def test_an_output_that_cannot_be_written_is_one_line_and_code_2(files, line, stream):
    result = in_shell(f"{line} {stream}")
    assert (result.returncode, result.stdout) == (2, "")
    assert re.fullmatch(r"python -m recframe: the output cannot be read or written: .+\n", result.stderr)


@pytest.mark.slow
@SHELL
def test_closed_errors_leave_the_answer(files):
    line = "evaluate old.csv --truth test.csv -m ndcg"
    assert in_shell(f"{line} 2>&-").stdout == in_shell(line).stdout != ""


NAMES = 'user,item,score,model,relevant\n1,1,1,"\x1b]0;a\x07|\nb",1\n1,2,0,"\x1b]0;a\x07|\nb",0\n1,1,1,=1+1,1\n1,2,0,=1+1,0\n'


def test_control_characters_of_data_reach_no_terminal(run, monkeypatch):
    Path("names.csv").write_text(NAMES)
    line = "evaluate names.csv --model model -m ndcg"
    _, table, _ = run(line)
    assert "␛]0;a␇|␊b" in table
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True, raising=False)
    for kind in ("", "--json", "--csv", "--markdown"):
        _, out, _ = run(f"{line} {kind}")
        assert not re.search("[\x07\x1b]", re.sub("\r\x1b\\[K", "", out)), kind


def test_a_terminal_shows_verdicts_in_their_colours_unless_its_user_wants_none(run, monkeypatch):
    rows = [f"{user},{item},{int(item == 'a')}," for user in range(30) for item in "abc"]
    scores = {"a": "1,3,1", "b": "2,1,2", "c": "3,2,3"}
    text = "\n".join(row + scores[row.split(",")[1]] for row in rows)
    Path("three.csv").write_text(f"user,item,relevant,old,new,not worse\n{text}\n")
    line = "compare three.csv --score old --score new --score 'not worse' -m mrr --baseline old"
    _, plain, _ = run(line)
    assert "\x1b" not in plain and "verdict" in plain and plain.count("better") == 1
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = run(line)
    out = out.replace("\r\x1b[K", "")
    assert "\x1b[1;36mbetter\x1b[0m" in out and "\x1b[2mopen\x1b[0m" in out
    assert re.sub(r"\x1b\[[\d;]*m", "", out).split() == plain.split(), "colours change nothing else"
    assert out.count("\x1b[0m") == 2, "a model that is called like a verdict is not coloured"
    for kind in ("--json", "--csv", "--markdown"):
        assert "\x1b[0m" not in run(f"{line} {kind}")[1]
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as context:
            context.setenv(name, value)
            assert "\x1b[0m" not in run(line)[1]


def test_each_verdict_has_its_colour_wherever_its_column_is():
    for verdict, colour in VERDICTS.items():
        wide = max(len(verdict), len("verdict"))
        coloured = f"\x1b[{colour.terminal}m{verdict}\x1b[0m"
        for align in (str.rjust, str.ljust):
            header, row = (f"  old   {align(word, wide)}   p" for word in ("verdict", verdict))
            assert painted(f"{header}\n{row}") == f"{header}\n{row.replace(verdict, coloured)}"
    assert painted("metric  old\nopen  open") == "metric  old\nopen  open"


def test_a_line_break_in_a_value_is_no_row_of_markdown(run):
    Path("names.csv").write_text(NAMES)
    _, out, _ = run("evaluate names.csv --model model -m ndcg --markdown")
    assert {line.replace("\\|", "").count("|") for line in out.strip().splitlines()} == {3}


def test_csv_holds_values_as_they_are(run):
    Path("names.csv").write_text(NAMES)
    _, out, _ = run("evaluate names.csv --model model -m ndcg --csv")
    assert set(pl.read_csv(out.encode())["model"]) == {"\x1b]0;a\x07|\nb", "=1+1"}


def test_unreadable_files_are_named(run, monkeypatch):
    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    Path("odd.name").write_text("user,item,score\n")
    monkeypatch.setattr(Path, "open", refuse)
    code, _, err = run("evaluate odd.name -m ndcg")
    assert (code, err) == (2, "recframe: 'odd.name' cannot be read or written: Permission denied\n")


# --- files as others write them -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_folders_name_columns(run, ending):
    days = {"2024-01-01": OLD, "2024-01-02": NEW, "__HIVE_DEFAULT_PARTITION__": OLD}
    for day, rows in days.items():
        folder = Path("hive", f"day={day}", "hour=07")
        folder.mkdir(parents=True)
        getattr(pl.DataFrame(rows), f"write_{ending}")(folder / f"part-0.{ending}")
        truth = Path("truth", f"day={day}")
        truth.mkdir(parents=True)
        pl.DataFrame(TEST).write_csv(truth / "part-0.csv")
    line = f"evaluate 'hive/*/*/*.{ending}' --truth 'truth/*/*.csv' --by day --by user -m ndcg@10 --json"
    code, out, err = run(f"{line} --per day")
    assert (code, err) == (0, "")
    by_day = {row["day"]: row["ndcg@10"] for row in json.loads(out)}
    alone = {
        name: json.loads(run(f"evaluate {name}.csv --truth test.csv -m ndcg@10 --json")[1])[0]
        for name in ("old", "new")
    }
    assert by_day == {
        day: pytest.approx(alone["new" if day == "2024-01-02" else "old"]["ndcg@10"])
        for day in ("2024-01-01", "2024-01-02", None)
    }
    # One model, whatever the number of files; what is no role is no column.
    assert [*json.loads(run(line)[1])[0]] == ["ndcg@10"]
    code, out, _ = run(f"{line} --per hour")
    assert (code, [row["hour"] for row in json.loads(out)]) == (0, ["07"])


@pytest.mark.parametrize(
    ("name", "sign", "hint"),
    [("a.csv", ";", "--separator ';'"), ("a.csv", "\t", "--format tsv"), ("a.tsv", ",", "--format csv")],
)
def test_another_separator_is_named(run, name, sign, hint):
    text = Path("old.csv").read_text().replace(",", sign)
    # With commas for points, rows have more commas than the header.
    for each in (text, text.replace(".", ",")) if sign == ";" else (text,):
        Path(name).write_text(each)
        code, out, err = run(f"evaluate {name} --truth test.csv -m ndcg")
        assert (code, out) == (2, "")
        assert f"'{name}' has one column" in err
        assert f"but between {sign!r}" in err
        assert hint in err


@pytest.mark.parametrize("rows", [3, 12_000], ids=["seen by the look at types", "after it"])
@pytest.mark.parametrize(
    ("role", "column"),
    [("", "score"), ("--score old", "old"), ("--rank place", "place")],
)
def test_text_in_a_column_of_numbers_is_named_with_its_line(run, rows, role, column):
    lines = [f"{row},1,1,{row}.5" for row in range(rows)]
    lines[-1] = f"{rows},1,1,abc"
    Path("bad.csv").write_text("\n".join([f"user,item,relevant,{column}", *lines]))
    code, out, err = run(f"evaluate bad.csv {role} -m mrr")
    assert (code, out) == (2, "")
    assert f"'bad.csv': {column} is 'abc' in line {rows + 1:,}, which is no number" in err
    assert "cast" not in err
