"""Runs, qrels and dicts: what is read, what is written, and what the errors name."""

from __future__ import annotations

import gzip
import os
import sys
from decimal import Decimal

import pytest

import recframe
from recframe._data.files.paths import write_atomically

RUN = "q1 Q0 d2 1 9.5 old\nq1 Q0 d1 2 3 old\nq2 Q0 d1 1 -1e-3 old\n"
RUN_ROWS = [("q1", "d2", 9.5), ("q1", "d1", 3.0), ("q2", "d1", -0.001)]
QRELS = "q1\t0\td1\t2\nq1\t0\td2\t-1\nq2\t0\td1\t0\n"


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    pytest.importorskip(request.param)
    return request.param


@pytest.fixture
def file(tmp_path):
    def make(content, name="old.run"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def rows(frame):
    return frame.rows() if hasattr(frame, "rows") else [tuple(row) for row in frame.itertuples(index=False)]


# --- what is read ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        RUN,
        RUN.replace(" ", "\t"),
        RUN.replace(" ", " \t  "),
        RUN.replace("\n", "\r\n"),
        RUN.replace("\n", " \n\n  "),
        RUN.rstrip(),
        "\ufeff" + RUN,
    ],
    ids=["spaces", "tabs", "both", "Windows", "padded", "no last end", "byte order mark"],
)
def test_a_run_in_any_white_space(file, library, content):
    frame = recframe.read_run(file(content), library=library)
    assert list(frame.columns) == ["user", "item", "score"]
    assert rows(frame) == RUN_ROWS


@pytest.mark.parametrize("name", ["old.run.gz", "old.run"])
def test_gzip_is_known_by_its_content(file, library, name):
    assert rows(recframe.read_run(file(gzip.compress(RUN.encode()), name), library=library)) == RUN_ROWS


def test_a_run_that_starts_as_a_compressed_file_is_refused(file, library):
    # What polars believes is cut off, and has the spaces and ends of one line of a run.
    with pytest.raises(recframe.InputError, match=r"cannot be read as a run file|is not UTF-8"):
        recframe.read_run(file(b"\x28\xb5\x2f\xfd\x04 \x00 \x00 \x00 1 x\n"), library=library)


def test_ids_stay_the_text_that_they_are(file, library):
    text = '007 Q0 NA 1 1 t\nnull Q0 "a 1 2 t\n#7 Q0 ä 1 3 t\n'
    assert rows(recframe.read_run(file(text), library=library)) == [
        ("007", "NA", 1.0),
        ("null", '"a', 2.0),
        ("#7", "ä", 3.0),
    ]


def test_scores_of_any_spelling(file, library):
    text = "q Q0 a 1 1E3 t\nq Q0 b 2 -inf t\nq Q0 c 3 nan t\nq Q0 d 4 .5 t\n"
    result = [score for _, _, score in rows(recframe.read_run(file(text), library=library))]
    assert [result[0], result[1], result[3]] == [1000.0, float("-inf"), 0.5]
    assert result[2] != result[2]


def test_the_score_decides_not_the_rank(file, library):
    text = "q Q0 a 1 0.1 t\nq Q0 b 2 0.9 t\n"
    qrels = recframe.from_dict({"q": {"b": 1}}, relevant="relevant", library=library)
    assert recframe.rec(recframe.read_run(file(text), library=library)).mrr(truth=qrels) == 1.0


def test_qrels_with_negative_grades(file, library):
    frame = recframe.read_qrels(file(QRELS, "test.qrels"), library=library)
    assert list(frame.columns) == ["user", "item", "relevant"]
    assert rows(frame) == [("q1", "d1", 2), ("q1", "d2", -1), ("q2", "d1", 0)]
    assert "int" in str(frame["relevant"].dtype).lower()


def test_qrels_with_fractions(file, library):
    assert rows(recframe.read_qrels(file("q 0 a 0.5\nq 0 b 2\n"), library=library)) == [
        ("q", "a", 0.5),
        ("q", "b", 2.0),
    ]


def test_columns_get_the_names_that_are_given(file, library):
    frame = recframe.read_run(file(RUN), by="query", item="document", score="bm25", library=library)
    assert list(frame.columns) == ["query", "document", "bm25"]
    qrels = recframe.read_qrels(file(QRELS), by="query", item="document", relevant="grade", library=library)
    assert list(qrels.columns) == ["query", "document", "grade"]


def test_subtopics_of_ndeval(file, library):
    frame = recframe.read_qrels(file("q 1 a 1\nq 2  a 1\nq 1 b 0\n"), subtopic="intent", library=library)
    assert list(frame.columns) == ["user", "item", "relevant", "intent"]
    assert rows(frame) == [("q", "a", 1, "1"), ("q", "a", 1, "2"), ("q", "b", 0, "1")]
    run = recframe.read_run(file("q Q0 b 1 2 x\nq Q0 a 2 1 x\n", "b.run"), library=library)
    assert recframe.rec(run).err_ia(2, truth=frame, subtopic="intent") == 0.25


# --- comments, and the formats of BEIR and MS MARCO -----------------------------------------------------------


@pytest.mark.parametrize("comment", ["# version of 2026", "#\ttuned on dev, 3", "  # pooled to depth 100", "#", "# é"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_are_skipped_wherever_they_stand(file, library, comment, end):
    for read, text, expected in (
        (recframe.read_run, RUN, RUN_ROWS),
        (recframe.read_run, "# tuned on dev, 3 runs\n" + RUN, RUN_ROWS),
        (recframe.read_qrels, QRELS, [("q1", "d1", 2), ("q1", "d2", -1), ("q2", "d1", 0)]),
    ):
        lines = text.splitlines()
        for place in range(len(lines) + 1):
            with_comment = end.join([*lines[:place], comment, *lines[place:]])
            assert rows(read(file(with_comment), library=library)) == expected


def test_a_wrong_line_after_a_comment_has_its_own_number(file, library):
    with pytest.raises(recframe.InputError, match=r"line 4 of .* has the relevance 'x', which is not a number"):
        recframe.read_qrels(file("# a\nq 0 d 1\n# b c d\nq 0 e x\n"), library=library)
    with pytest.raises(recframe.InputError, match="holds no lines"):
        recframe.read_qrels(file("# nothing else\n#"), library=library)


@pytest.mark.parametrize("header", ["query-id\tcorpus-id\tscore", "query_id\tcorpus_id\tScore", "# a\nquery-id corpus-id score"])  # fmt: skip
def test_files_of_beir_have_a_header(file, library, header):
    text = f"{header}\r\nq1\td1\t2\r\n\r\nq1\td2\t0\r\n"
    qrels = recframe.read_qrels(file(text, "test.tsv"), library=library)
    assert list(qrels.columns) == ["user", "item", "relevant"]
    assert rows(qrels) == [("q1", "d1", 2), ("q1", "d2", 0)]
    run = recframe.read_run(file(text.replace("0", "0.5"), "run.tsv"), library=library)
    assert list(run.columns) == ["user", "item", "score"]
    assert rows(run) == [("q1", "d1", 2.0), ("q1", "d2", 0.5)]


def test_files_of_ms_marco_have_none(file, library):
    four = recframe.read_qrels(file("7\t0\t12\t1\n8\t0\t13\t1\n"), library=library)
    two = recframe.read_qrels(file("7\t12\n8\t13\n"), library=library)
    assert list(two.columns) == ["user", "item", "relevant"]
    assert rows(two) == rows(four) == [("7", "12", 1), ("8", "13", 1)]
    assert [str(kind) for kind in two.dtypes] == [str(kind) for kind in four.dtypes]
    run = recframe.read_run(file("7\t11\t1\n7\t12\t2\n8\t13\t1\n"), library=library)
    assert rows(run) == [("7", "11", -1.0), ("7", "12", -2.0), ("8", "13", -1.0)]
    assert recframe.rec(run).mrr(truth=two) == 0.75
    assert rows(recframe.read_run(file("7\t11\t1\n", "one.tsv"), library=library)) == [("7", "11", -1.0)]


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        ("run", "q a 0.9\nq b 0.8\n", "the third of three fields is the rank, but it is not always a whole number"),
        ("run", "q a 3\nq b 2\n", "but the smallest one of query 'q' is 2, not 1"),
        ("run", "q a 0\nq b 1\n", "but the smallest one of query 'q' is 0, not 1"),
        ("run", "q a 1\nr a 1\nr b 1\n", "but query 'r' has 1 twice"),
        ("run", "q a 1\nq b\n", "(?s)line 2 of .* has 2 fields.*this run file has 3 fields: query document rank"),
        ("run", "q a\n", "(?s)line 1 of .* has 2 fields.*a qrels file, for recframe.read_qrels"),
        ("run", "user item score\nq a 2\n", "line 1 of .* has the rank 'score', which is not a number"),
        ("qrels", "q a 1\n", "(?s)line 1 of .* has 3 fields.*a run file, for recframe.read_run"),
        ("qrels", "qid\tpid\n7\t12\n", "(?s)starts with 'qid pid', which looks like a header.*Hint: delete this line"),
        ("qrels", "query-id corpus-id score\nq a 1\nq b\n", "line 3 of .* has 2 fields"),
        ("qrels", "query-id corpus-id score\nq a high\n", "line 2 of .* has the relevance 'high'"),
    ],
)
def test_files_that_fit_no_format_are_refused(file, library, read, content, message):
    with pytest.raises(recframe.InputError, match=message):
        getattr(recframe, f"read_{read}")(file(content), library=library)


def test_subtopics_need_the_second_of_four_fields(file, library):
    with pytest.raises(recframe.OptionError, match="subtopic='intent': '.*' has no subtopics"):
        recframe.read_qrels(file("7 12\n"), subtopic="intent", library=library)


# --- several systems ------------------------------------------------------------------------------------------


def test_several_systems(file, library, tmp_path):
    old, new = file(RUN, "old.run"), file(RUN.replace("9.5", "7"), "new.run.gz")
    for given in ([old, new], {"old": old, "new": str(new)}, iter([old, new])):
        frame = recframe.read_run(given, library=library)
        assert list(frame.columns) == ["model", "user", "item", "score"]
        assert rows(frame) == [("old", *row) for row in RUN_ROWS] + [("new", "q1", "d2", 7.0)] + [
            ("new", *row) for row in RUN_ROWS[1:]
        ]
    frame = recframe.read_run(f"{tmp_path}{os.sep}*.run*", model="system", library=library)
    assert [row[0] for row in rows(frame)] == ["new"] * 3 + ["old"] * 3
    assert next(iter(frame.columns)) == "system"
    frame = recframe.read_run([old], library=library)
    assert rows(frame)[0] == ("old", "q1", "d2", 9.5)


def test_a_file_whose_name_looks_like_a_pattern(file, library):
    assert rows(recframe.read_run(file(RUN, "a[1].run"), library=library)) == RUN_ROWS


def test_a_run_has_one_query_in_a_line(tmp_path):
    frame = pytest.importorskip("polars").DataFrame({"user": [1], "day": [2], "item": [3], "score": [0.5]})
    with pytest.raises(
        recframe.OptionError, match=r"(?s)by=\['user', 'day'\] names 2 columns.*one column made of several"
    ):
        recframe.write_run(frame, tmp_path / "x.run", by=["user", "day"])
    assert not [*tmp_path.iterdir()]


def test_models_have_names_of_text(file):
    with pytest.raises(recframe.OptionTypeError, match="(?s)1 is not the name of a model.*give text"):
        recframe.read_run({1: file("q1 Q0 d1 1 0.5 x")})


def test_two_files_of_one_name_need_a_mapping(file):
    paths = [file(RUN, "a/x.run"), file(RUN, "b/x.run")]
    with pytest.raises(recframe.OptionError, match="(?s)would both be the model 'x'.*Hint: name the models"):
        recframe.read_run(paths)


# --- what is wrong --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q Q0 a 1 0.5 t\n\nq Q0 b 2 high t\n", r"line 3 of '.*old\.run' has the score 'high', which is not a number"),
        ("q Q0 a 1 0.5 t\nq Q0 b 2 0.4\n", r"line 2 of '.*old\.run' has 5 fields: 'q Q0 b 2 0\.4'"),
        ("q Q0 a 1 0.5\nq Q0 b 2 0.4 t t\n", "line 1 of .* has 5 fields"),
        ("q Q0 a 1 0.5 t t\n", "line 1 of .* has 7 fields"),
        ("q Q0 a 1 0.5 t\nq\n", "line 2 of .* has 1 field: 'q'"),
        ("q Q0 a 1 1_0 t\n", "the score '1_0'"),
        ("q 0 a 1\n", "(?s)line 1 of .* has 4 fields.*this looks like a qrels file, for recframe.read_qrels"),
        ("q,a,0.5\n", "(?s)line 1 of .* has 1 field.*looks like CSV"),
        ("", "'.*' holds no lines"),
        (" \n\t\n", "'.*' holds no lines"),
        ("q Q0 a\u00a0b 1 1 t\nq Q0 b 2 \u0663 t\n", "line 2 of .* has the score '\u0663', which is not a number"),
        (b"q Q0 a 1 1 t\nq Q0 \xe4 1 2 t\n", "line 2 of .* is not UTF-8"),
        (b"\x1f\x8bno", "cannot be read: .*Hint|cannot be read"),
    ],
)
def test_an_error_names_the_file_and_the_line(file, library, content, message):
    with pytest.raises(recframe.InputError, match=message) as caught:
        recframe.read_run(file(content), library=library)
    assert "Hint: " in str(caught.value)


def test_wrong_qrels(file, library):
    with pytest.raises(recframe.InputError, match="line 2 of .* has the relevance 'yes', which is not a number"):
        recframe.read_qrels(file("q 0 a 1\nq 0 b yes\n"), library=library)
    with pytest.raises(recframe.InputError, match="(?s)line 1 of .* 6 fields.*a run file, for recframe.read_run"):
        recframe.read_qrels(file(RUN), library=library)


def test_files_that_are_not_there(tmp_path):
    for given, message in (
        (tmp_path / "none.run", "the file '.*none.run' does not exist"),
        (tmp_path, "is a directory"),
        (str(tmp_path / "*.run"), r"no file matches '.*\*\.run'"),
        ([], "names no file"),
        ([tmp_path / "none.run"], "does not exist"),
        ("x" * 5000, "does not exist"),
    ):
        with pytest.raises(recframe.RecError, match=message):
            recframe.read_run(given)


def test_names_that_are_given_twice(file):
    with pytest.raises(recframe.OptionError, match="by='item' and item='item' name the column 'item' twice"):
        recframe.read_run(file(RUN), by="item")
    assert list(recframe.read_run(file(RUN), by="model").columns) == ["model", "item", "score"]


# --- what is written ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["new.run", "new.run.gz", f"{'読' * 83}.run"])
def test_a_run_comes_back_as_it_was_written(tmp_path, library, name):
    run = recframe.from_dict({"q1": {"d1": 0.1, "d2": 1 / 3}, "q2": {"d1": -2.5, "d9": None}}, library=library)
    recframe.write_run(run, tmp_path / name)
    assert rows(recframe.read_run(tmp_path / name, library=library)) == [
        ("q1", "d2", 1 / 3),
        ("q1", "d1", 0.1),
        ("q2", "d1", -2.5),
    ]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_scores_are_written_as_numbers_of_any_type(tmp_path):
    pd = pytest.importorskip("pandas")
    scores = pd.Series([Decimal("1.50"), Decimal("2.5")], dtype=object)
    recframe.write_run(pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": scores}), tmp_path / "x.run")
    assert (tmp_path / "x.run").read_text() == "1 Q0 2 1 2.5 recframe\n1 Q0 1 2 1.50 recframe\n"


def test_ranks_are_written_as_scores_of_the_same_order(tmp_path, library):
    frame = recframe.from_lists({"u": ["a", "b"]}, library=library)
    recframe.write_run(frame, tmp_path / "x.run", tag="me", rank="rank")
    assert (tmp_path / "x.run").read_text() == "u Q0 a 1 -1 me\nu Q0 b 2 -2 me\n"


def test_what_cannot_be_written_leaves_the_old_file(tmp_path, library):
    path = tmp_path / "x.run"
    path.write_text("old")
    frame = recframe.from_dict({"q 1": {"a": 1.0}}, library=library)
    with pytest.raises(recframe.InputError, match="user holds 'q 1', which cannot be a field"):
        recframe.write_run(frame, path)
    with pytest.raises(recframe.OptionTypeError, match="tag"):
        recframe.write_run(frame, path, tag=None)
    with pytest.raises(recframe.InputError, match="cannot be written"):
        recframe.write_run(recframe.from_dict({"q": {"a": 1.0}}), tmp_path / "none" / "x.run")
    assert path.read_text() == "old"
    assert [result.name for result in tmp_path.iterdir()] == ["x.run"]


def test_a_column_of_two_roles_is_not_written(tmp_path, library):
    frame = recframe.from_dict({"q": {"a": 1.0}}, library=library)
    for roles in ({"item": "user"}, {"by": "item"}):
        with pytest.raises(recframe.OptionError, match="name the column '(user|item)' twice"):
            recframe.write_run(frame, tmp_path / "x.run", **roles)
    assert not list(tmp_path.iterdir())


# --- dicts ----------------------------------------------------------------------------------------------------


def test_dicts_and_back(library):
    run = {"q1": {"d1": 0.5, "d2": 0.25}, "q2": {"d1": 1.0}}
    frame = recframe.from_dict(run, library=library)
    assert rows(frame) == [("q1", "d1", 0.5), ("q1", "d2", 0.25), ("q2", "d1", 1.0)]
    assert recframe.to_dict(frame) == run
    qrels = {1: {10: 2, 11: -1}}
    frame = recframe.from_dict(qrels, by="query", item="document", relevant="grade", library=library)
    assert list(frame.columns) == ["query", "document", "grade"]
    assert recframe.to_dict(frame, by="query", item="document", relevant="grade") == qrels
    models = {"old": run, "new": {"q1": {"d2": 3.0}}}
    frame = recframe.from_dict(models, model="model", library=library)
    assert recframe.to_dict(frame, model="model") == models


@pytest.mark.parametrize("dtype", ["float64", "Int64", "object"])
def test_rows_without_a_number_are_no_entries_of_dicts(dtype):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": pd.Series([1, None], dtype=dtype)})
    assert recframe.to_dict(frame) == {1: {1: 1}}


def test_dicts_of_another_shape(library):
    for given, message in (
        ([1], "lists is .*, not a mapping"),
        ({"q": [1]}, "the list of 'q' is .*, not a mapping"),
        ({"q": {"d": "high"}}, "the score of 'd' in the list of 'q' is 'high', not a number"),
        ({"m": {"q": {"d": 1}}}, "(?s)not a number.*several models need model='model'"),
    ):
        with pytest.raises(recframe.OptionTypeError, match=message):
            recframe.from_dict(given, library=library)
    with pytest.raises(recframe.OptionError, match="exclude each other"):
        recframe.from_dict({}, score="a", relevant="b", library=library)
    with pytest.raises(recframe.OptionTypeError, match=r"(?s)too many.*from_dict\(lists, by="):
        recframe.from_dict({"q": {"d": 1.0}}, {"q": {"d": 1}}, library=library)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recframe.from_dict({}, query="q"), r"(?s)from_dict: .*'query'.*Hint: did you mean 'by'\?"),
        (lambda: recframe.to_dict(None, "user"), r"(?s)to_dict: too many.*Hint: to_dict\(frame, by="),
        (lambda: recframe.read_run("x", "user"), r"(?s)read_run: too many.*Hint: read_run\(path, by="),
        (lambda: recframe.read_qrels("x", "user"), r"(?s)read_qrels: too many.*Hint: read_qrels\(path, by="),
        (lambda: recframe.write_run(None, "x", "bm25"), r"(?s)write_run: too many.*Hint: write_run\(frame, path, tag="),
    ],
)
def test_arguments_that_files_do_not_have(call, message):
    with pytest.raises(recframe.OptionTypeError, match=message):
        call()


def test_a_document_twice_has_no_dict(library):
    frame = recframe.from_dict({"a": {"q": {"d": 1.0}}, "b": {"q": {"d": 2.0}}}, model="model", library=library)
    with pytest.raises(recframe.InputError, match="item 'd' is repeated in the list of 'q'"):
        recframe.to_dict(frame)
    with pytest.raises(recframe.MissingColumnError, match="score='x'"):
        recframe.to_dict(frame, score="x")


# --- the reference --------------------------------------------------------------------------------------------


def test_files_give_the_values_of_trec_eval(file, library):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run = {f"q{q}": {f"d{d}": float((d * 7 + q * 3) % 11) for d in range(30)} for q in range(5)}
    # Not of negative grades alone, on which pytrec_eval writes past its memory and may never return.
    qrels = {f"q{q}": {f"d{d}": (d // 2 + q) % 4 - 1 for d in range(0, 30, 2)} for q in range(5)}
    lines = [f"{q}\tQ0\t{d}\t0\t{s}\tx" for q, own in run.items() for d, s in own.items()]
    judged = [f"{q} 0 {d}  {r}" for q, own in qrels.items() for d, r in own.items()]
    frame = recframe.read_run(file("\n".join(lines)), library=library)
    truth = recframe.read_qrels(file("\n".join(judged), "qrels"), library=library)
    result = recframe.rec(frame).evaluate(["map", "ndcg"], truth=truth, like="trec_eval")
    oracle = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg"}).evaluate(run)
    for name in ("map", "ndcg"):
        expected = sum(own[name] for own in oracle.values()) / len(oracle)
        assert result[name].to_list()[0] == pytest.approx(expected, abs=1e-9)


def test_a_disk_without_room_leaves_the_old_file_and_no_other(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "mine.run"
    path.write_text("old")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))
    try:
        with pytest.raises(recframe.InputError, match=r"(?s)mine.run' cannot be written.*that has room"):
            write_atomically(path, b"x" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path):
    frame = recframe.from_dict({"1": {"2": 0.5}})
    (tmp_path / "kept").mkdir()
    for number, there in enumerate((True, False)):
        target, link = tmp_path / "kept" / f"{number}.run", tmp_path / f"{number}.run"
        target.write_text("old") if there else None
        link.symlink_to(target)
        recframe.write_run(frame, link)
        assert link.is_symlink()
        assert target.read_text() == "1 Q0 2 1 0.5 recframe\n"
    assert len([*(tmp_path / "kept").iterdir()]) == 2
    circle = tmp_path / "circle.run"
    circle.symlink_to(circle)
    if sys.version_info < (3, 13):
        with pytest.raises(recframe.InputError, match=r"circle.run' cannot be written"):
            recframe.write_run(frame, circle)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_what_is_no_regular_file_is_written_to_and_stays(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    # Opened for both, so that nothing waits for the other end where the pipe is lost.
    end = os.open(path, os.O_RDWR)
    recframe.write_run(recframe.from_dict({"1": {"2": 0.5}}), path)
    assert path.is_fifo()
    assert os.read(end, 100) == b"1 Q0 2 1 0.5 recframe\n"
    os.close(end)


@pytest.mark.parametrize("number", [10**400, -(2**200), 2**128])
def test_numbers_that_polars_would_lose_are_errors(number):
    pl = pytest.importorskip("polars")
    for values in ({"d": number}, {"d": 1, "e": number}):
        held = pl.Series(list(values.values()), strict=False)
        if held.dtype == pl.Float64:  # older polars rounds it, as scores are
            assert recframe.from_dict({"q": values}, library="polars")["score"].to_list() == held.to_list()
            continue
        with pytest.raises(recframe.InputError, match="'score' holds .* too large for polars"):
            recframe.from_dict({"q": values}, library="polars")
    assert recframe.from_dict({"q": {"d": 2**70, "e": None}}, library="polars")["score"].to_list() == [2**70, None]
