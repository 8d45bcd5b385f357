"""The demo: what it prints, and how it fails."""

from __future__ import annotations

import ast
import csv
import io
import math
import re
import sys
import textwrap
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("polars")

import recframe.cli  # noqa: E402
from examples.demo.__main__ import main  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"

# The relevance in score order as the metrics page prints it (examples.md).
ORDERS = {
    "random": [int(x) for x in "110001100000001101010010011011"],
    "knn": [int(x) for x in "100111101001111110001000000000"],
}


def dcg(order, k):
    return sum(rel / math.log2(place + 1) for place, rel in enumerate(order[:k], 1))


FORMULAS = {
    "precision": lambda order, k: sum(order[:k]) / k,
    "recall": lambda order, k: sum(order[:k]) / sum(order),
    "map": lambda order, k: (
        sum(sum(order[:place]) / place for place in range(1, k + 1) if order[place - 1]) / min(k, sum(order))
    ),
    "ndcg": lambda order, k: dcg(order, k) / dcg(sorted(order, reverse=True), k),
    "mrr": lambda order, k: 1 / (order.index(1) + 1) if 1 in order[:k] else 0.0,
    "hit_rate": lambda order, k: float(any(order[:k])),
}


def needed(path):
    """Return a shared file, or skip."""
    if not path.is_file():
        pytest.skip("needs ../shared/data next to the checkout")
    return path


def lines_of(text, name):
    """Return the numbers of all table lines of that name."""
    result = re.findall(rf"^ +{re.escape(name)} +(.*)$", text, flags=re.MULTILINE)
    return [[None if cell == "-" else float(cell.rstrip("*")) for cell in line.split()] for line in result]


def timeless(text):
    return re.sub(r"\d+\.\d\d\s+s\b", "TIME", " ".join(text.split()))


def ratings(seed=0, n_users=40, n_items=30):
    rng = np.random.default_rng(seed)
    rows = [
        {"user": user, "item": item, "rating": int(rng.integers(2, 6))}
        for user in range(n_users)
        for item in range(n_items)
        if rng.random() < (0.8 if (user + item) % 3 == 0 else 0.25)
    ]
    return pl.DataFrame(rows)


@pytest.fixture
def run(capsys, tmp_path):
    """Return a function from arguments, and maybe a file's contents, to exit code, output and errors."""

    def call(*arguments, frame=None, name="ratings.csv", content=None):
        if frame is not None or content is not None:
            path = tmp_path / name
            if content is not None:
                path.write_bytes(content)
            elif name.lower().endswith(".csv"):
                frame.write_csv(path)
            else:
                frame.write_parquet(path)
            arguments = (*arguments, "--ratings", str(path))
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


# --- one list ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_example_of_one_list_prints_the_known_values(run):
    """examples.md, metrics page: object 8, random against knn."""
    code, out, err = run("--k", "10", "5", "1")
    assert (code, err) == (0, "")
    first, second = out.split("2. Many lists")
    for model, order in ORDERS.items():
        assert f"  {model:<8}{' '.join(map(str, order))}\n" in first
    for name, formula in FORMULAS.items():
        for k in (1, 5, 10):
            [values] = lines_of(first, f"{name}@{k}")
            assert values == pytest.approx([formula(ORDERS[model], k) for model in ("random", "knn")], abs=5.1e-5)
            random, popular, neighbours = lines_of(second, f"{name}@{k}")[0]
            assert random < popular < neighbours


@pytest.mark.slow
def test_the_tie_policies_are_bounds_and_the_mean(run):
    _, out, _ = run()
    [[as_printed]] = [set(values) for values in lines_of(out, "as printed")]
    assert as_printed == pytest.approx(FORMULAS["ndcg"](ORDERS["knn"], 10), abs=5.1e-5)
    [coarse] = lines_of(out, "one decimal")
    assert coarse == sorted(set(coarse))
    # Of 30 items, 13 are relevant: wherever they may be, each place holds 13/30 of one.
    assert lines_of(out, "all equal") == [[0.0, round(13 / 30, 4), 1.0]]


def test_the_example_is_that_of_the_metrics_page():
    from examples.demo import demo

    with needed(DATA / "object8.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    frame = demo._object8()
    assert frame.columns == list(rows[0])
    assert frame.rows() == [tuple(float(value) for value in row.values()) for row in rows]


# --- three recommenders -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_metrics_of_the_comparison_are_those_of_a_plain_loop(run):
    from examples.demo.baselines import generate, hold_out, recommend

    train, held_out = hold_out(generate(3), 3)
    hidden, known = {}, {}
    for frame, into in ((held_out, hidden), (train, known)):
        for user, item in frame.rows():
            into.setdefault(user, set()).add(item)
    assert all(len(hidden[user]) == math.ceil((len(hidden[user]) + len(known[user])) / 5) for user in hidden)

    recommended = recommend(train, held_out, 10, 3, lambda _: None)
    lists = {}
    for _, user, item, _score in recommended.filter(pl.col("model") == "random").sort("score", descending=True).rows():
        lists.setdefault(user, []).append(item)
    values = []
    for user, bought in hidden.items():
        assert not bought & known[user]
        assert not set(lists[user]) & known[user]
        order = [int(item in bought) for item in lists[user]]
        values.append(dcg(order, 10) / dcg([1] * len(bought), 10))
    _, out, _ = run("--seed", "3")
    assert lines_of(out.split("2. Many lists")[1], "ndcg@10")[0][0] == pytest.approx(np.mean(values), abs=5.1e-5)


@pytest.mark.slow
def test_a_seed_gives_the_same_output_and_another_seed_another(run):
    first, again, other = (timeless(run("--seed", seed)[1]) for seed in ("1", "1", "2"))
    assert first == again != other


@pytest.mark.slow
def test_neither_format_nor_row_order_nor_names_matter(run):
    frame = ratings()
    named = frame.with_columns(
        ("u" + pl.col("user").cast(pl.String).str.zfill(3)).alias("user"), pl.col("item").cast(pl.Float64)
    )
    outputs = {
        timeless(run(frame=given, name=name)[1]).replace(name, "FILE").replace("=" * len(name), "")
        for given, name in (
            (frame, "a.csv"),
            (frame.sample(fraction=1, shuffle=True, seed=1), "b.CSV"),
            (frame, "c.parquet"),
            (named.with_columns(pl.col("user").cast(pl.Categorical)), "d.parquet"),
            (named.select("rating", "item", "user", other=1), "e.parquet"),
            (pl.concat([frame, frame.head(0)]), "f[1].csv"),
        )
    }
    assert len({re.sub(r"=+", "", output) for output in outputs}) == 1


def test_a_file_says_what_was_used(run):
    frame = ratings()
    code, out, err = run(frame=frame)
    assert (code, err) == (0, "")
    positive = frame.filter(pl.col("rating") >= 4).height
    assert f"{frame.height} rows: 40 users, 30 items. Positive: the {positive} ratings from 4 on" in out
    assert "neighbours" in out
    assert "1. One list" not in out
    least = frame.filter(pl.col("rating") >= 3).height
    assert f"the {least} ratings from 3 on" in run("--min-rating", "3", frame=frame)[1]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda frame: frame.drop("rating"), "the file has no column 'rating'"),
        (lambda frame: frame.with_columns(rating=1), "all ratings are the same"),
        (lambda frame: frame.with_columns(rating=pl.lit(None, dtype=pl.Int64)), "all ratings are the same"),
    ],
)
def test_every_row_is_positive_where_ratings_do_not_differ(run, change, why):
    code, out, _ = run(frame=change(ratings()), name="ratings.parquet")
    assert code == 0
    assert f"Every row is positive, as {why}." in " ".join(out.split())


def test_missing_ids_and_repeated_rows_are_left_out_and_counted(run):
    frame = ratings().with_columns(pl.col("user").cast(pl.Float64))
    odd = pl.DataFrame({"user": [None, math.nan, 1.0], "item": [1, 1, None], "rating": [5, 5, 5]}, schema=frame.schema)
    code, out, _ = run(frame=pl.concat([frame, odd, frame.head(2)]), name="ratings.parquet")
    assert code == 0
    assert f"{frame.height} rows" in out
    assert "Left out: 5 rows" in " ".join(out.split())


def test_a_missing_rating_is_not_positive(run):
    frame = ratings().with_columns(pl.col("rating").cast(pl.Float64))
    positive = frame.filter(pl.col("rating") >= 4).height
    more = pl.DataFrame({"user": [900, 901], "item": [1, 1], "rating": [math.nan, None]}, schema=frame.schema)
    assert f"the {positive} ratings from 4 on" in run(frame=pl.concat([frame, more]), name="r.parquet")[1]


def test_a_model_that_knows_nothing_has_no_number(run):
    """Users without a common item: no item has a neighbour but the user's own."""
    frame = pl.DataFrame([{"user": user, "item": f"{user}-{item}"} for user in range(5) for item in range(5)])
    code, out, _ = run(frame=frame)
    assert code == 0
    assert lines_of(out, "ndcg@10") == [[0.0, 0.0, None]]
    assert not re.search(r"\d\*", out)


@pytest.mark.slow
def test_movielens_100k(run):
    code, out, err = run("--ratings", str(needed(DATA / "ml-100k" / "ratings.parquet")))
    assert (code, err) == (0, "")
    assert "100,000 rows: 943 users, 1,682 items. Positive: the 55,375 ratings from 4 on" in out
    for name in FORMULAS:
        for k in (5, 10):
            random, popular, neighbours = lines_of(out, f"{name}@{k}")[0]
            assert random < popular < neighbours


@pytest.mark.slow
def test_the_documentation_shows_the_real_output(run):
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    _, out, _ = run()
    shown = page.partition("## The demo")[2].partition("```text\n")[2].partition("```")[0]
    assert shown and shown in out


@pytest.mark.slow
def test_its_code_can_be_copied(run, capsys):
    _, out, _ = run()
    code = out[out.index("  import polars as pl") : out.index("Or from files")]
    exec(compile(textwrap.dedent(code), "the demo", "exec"), {})  # noqa: S102
    assert "ndcg@1" in capsys.readouterr().out
    metrics = re.findall(r"^  metrics = (.*)$", out, re.MULTILINE)
    assert [list(FORMULAS)] * 2 == [sorted(ast.literal_eval(names), key=list(FORMULAS).index) for names in metrics]


@pytest.mark.slow
def test_the_commands_that_it_names_exist(run, capsys):
    pytest.importorskip("click")
    _, out, _ = run()
    [options] = re.findall(r"^  python -m examples.demo (.*)$", out, re.MULTILINE)
    with pytest.raises(SystemExit, match="^0$"):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(option in text for option in re.findall(r" (--?[a-z]+)", f" {options}"))
    commands = re.findall(r"^ +recframe (\w+)(.*)$", out, re.MULTILINE)
    assert commands
    for command, options in commands:
        assert recframe.cli.main([command, "--help"]) == 0
        text = capsys.readouterr().out
        assert all(option in text for option in re.findall(r" (--?[a-z]+)", options))


def test_columns_of_other_names(run):
    _, expected, _ = run(frame=ratings())
    names = {"user": "userId", "item": "movieId", "rating": "stars"}
    given = ("--by", "userId", "--item", "movieId", "--relevant", "stars")
    code, out, err = run(*given, frame=ratings().rename(names))
    assert (code, err) == (0, "")
    assert timeless(out) == timeless(expected)
    code, _, err = run("--relevant", "star", frame=ratings().rename(names))
    assert (code, "no column 'user'" in err, "did you mean 'userId'" in err) == (2, True, True)
    assert "--by without --ratings" in run("--by", "userId")[2]


def test_no_id_of_a_file_is_lost(tmp_path):
    from examples.demo.ratings import read_ratings

    path = tmp_path / "ratings.csv"
    path.write_text("user,item\n" + "".join(f"{user},{item}\n" for user in ("07", 7) for item in range(5)))
    assert read_ratings(path, None, {}).n_users == 2


# --- errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("ratings.txt", b"", "the name ends in '.txt', but a ratings file is one of .parquet, .csv"),
        ("ratings", b"", "the name has no ending"),
        ("empty.csv", b"", "'empty.csv' is empty"),
        ("head.csv", b"user,item,rating\n", "'head.csv' has no rows"),
        ("empty.parquet", b"", "'empty.parquet' cannot be read as Parquet"),
        ("bad.parquet", b"this is no parquet file, whatever its name", "'bad.parquet' cannot be read as Parquet"),
        ("latin.csv", b"user,item\nJ\xe4,2\n", "'latin.csv' cannot be read as CSV"),
        ("names.csv", b"userId,movie,rating\n1,2,3\n", "no column 'user'; it has 'userId', 'movie', 'rating'"),
        ("names.csv", b"userId,item\n1,2\n", "Hint: did you mean 'userId'?"),
        ("names.csv", b"user;item\n1;2\n", "no column 'user'; it has 'user;item'"),
        ("text.csv", b"user,item,rating\n1,2,good\n", "'rating' has the type String, but a rating is a number"),
        ("keys.csv", b"user,item\n,2\n,3\n", "no row with a user and an item (2 rows in all)"),
        ("low.csv", b"user,item,rating\n1,2,1\n1,3,2\n", "reaches 4: they go from 1.0 to 2.0"),
        ("few.csv", b"user,item\n1,2\n1,3\n2,1\n", "has 5 positive items, which a test needs; the most are 2"),
        ("one.csv", b"user,item\n1,1\n1,2\n1,3\n1,4\n1,5\n", "the models have nothing to recommend"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(run, name, content, message):
    code, _, err = run(name=name, content=content)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_a_nested_column_is_refused(run):
    frame = pl.DataFrame({"user": [[1]], "item": [1]})
    code, _, err = run(frame=frame, name="nested.parquet")
    assert (code, "'user' has the type List(Int64)" in err) == (2, True)


def test_a_missing_file_and_a_directory(run, tmp_path):
    code, out, err = run("--ratings", str(tmp_path / "none.csv"))
    assert (code, out) == (2, "")
    assert "does not exist" in err
    (tmp_path / "folder.csv").mkdir()
    assert "is a directory" in run("--ratings", str(tmp_path / "folder.csv"))[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", "0"], "k=0 is less than 1"),
        (["--k", "5", "-1"], "k=-1 is less than 1"),
        (["--min-rating", "3"], "--min-rating 3 without --ratings"),
    ],
)
def test_bad_options(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_a_least_rating_needs_ratings(run):
    code, _, err = run("--min-rating", "3", frame=ratings().drop("rating"))
    assert (code, "--min-rating 3: the file has no column 'rating'" in err) == (2, True)


@pytest.mark.parametrize(
    "arguments",
    [["--k", "five"], ["--seed", "-1"], ["--seed", "x"], ["unknown"], ["--nonsense"]],
)
def test_arguments_that_are_none(arguments, capsys):
    with pytest.raises(SystemExit, match="^2$"):
        main(arguments)
    assert "usage: python -m examples.demo" in capsys.readouterr().err


# --- progress ---------------------------------------------------------------------------------------------


def test_progress_shows_only_where_somebody_watches(run, monkeypatch, tmp_path):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    watched = Terminal()
    monkeypatch.setattr(sys, "stderr", watched)
    assert run(frame=ratings())[0] == 0
    printed = watched.getvalue()
    assert "recommending: user" in printed
    assert printed.endswith("\r\x1b[K")
