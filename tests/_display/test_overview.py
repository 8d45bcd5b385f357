"""The namespace, its calls and its charts say what they are."""

from __future__ import annotations

import inspect
import pydoc
import re

import pytest

import recframe
from recframe import metrics
from recframe._base.roles import CALL_ROLES
from recframe._display import overview
from recframe._display.plot import PLOTS

COLUMNS = {"user": [1, 1, 1, 2, 2], "relevant": [1, 0, 1, 0, 1], "score": [0.9, 0.8, 0.1, 0.6, 0.5]}


@pytest.fixture(params=["polars", "pandas"])
def library(request):
    return pytest.importorskip(request.param)


@pytest.fixture(params=["polars", "polars lazy", "pandas"])
def frame(request):
    name, _, lazy = request.param.partition(" ")
    library = pytest.importorskip(name)
    return (library.LazyFrame if lazy else library.DataFrame)(COLUMNS)


def test_repr_names_every_call_once():
    named = [name for calls in overview.CALL_TEXTS.values() for name in calls]
    assert sorted(named) == sorted({*CALL_ROLES, "plot"})
    assert [*overview.CHART_TEXTS] == [*dict.fromkeys(overview.CHART_TEXTS)]
    assert set(overview.CHART_TEXTS) == set(PLOTS)


def test_repr_tells_which_columns_calls_read(library):
    frame = library.DataFrame({"user": [1, 1, 2], "relevant": [0, 1, 1], "old": [1, 2, 3], "new": [2, 1, 3]})
    text = repr(frame.rec(score=["old", "new"]))
    assert (
        "\nholds    3 rows, 2 lists, 2 models\nreads    by='user', relevant='relevant', score=['old', 'new']\n" in text
    )
    text = repr(frame.rec(score="new", by=None))
    assert "\nholds    3 rows, 1 list\nreads    by=None, relevant='relevant', score='new'\n" in text
    text = repr(frame.rec)
    assert "\nlacks    score='score'\nhint     score= names the column that holds it\n" in text
    with recframe.Config(by=["user", "old"], score="new"):
        assert "\nreads    by=['user', 'old'], relevant='relevant', score='new'\n" in repr(frame.rec)


def test_repr_proposes_columns_that_look_like_the_missing_ones(library):
    frame = library.DataFrame({"userId": [1], "clicked": [1], "score": [1.0]})
    assert "\nhint     df.rec(by='userId', relevant='clicked')\n" in repr(frame.rec)


def test_repr_of_models_in_rows_and_of_a_truth(library):
    frame = library.DataFrame({"model": ["a", "b"], "user": [1, 1], "item": [1, 1], "score": [1.0, 2.0]})
    text = repr(frame.rec(model="model", truth=frame))
    assert (
        "\nholds    2 rows, 1 list, 2 models\nreads    by='user', item='item', score='score', model='model'\n" in text
    )


@pytest.mark.parametrize("roles", [{"score": "a", "rank": "b"}, {"by": 5}, {"score": ["a", "a"]}], ids=str)
def test_repr_never_fails(frame, roles):
    assert repr(frame.rec(**roles)).startswith("<rec on p")
    assert "<table>" in frame.rec(**roles)._repr_html_()


def test_repr_of_keys_that_cannot_be_counted(library):
    frame = library.DataFrame({"user": [[1], [2]], "relevant": [1, 0], "score": [1.0, 2.0]})
    assert "2 rows" in repr(frame.rec)


def test_nothing_of_a_lazy_frame_is_collected_to_show_it():
    pl = pytest.importorskip("polars")

    def fail(_):
        raise AssertionError

    lazy = pl.LazyFrame({"user": [1], "relevant": [1], "score": [1.0]}).map_batches(fail)
    assert "\nreads    by='user', item='item', relevant='relevant', score='score'\n" in repr(lazy.rec)
    assert "holds" not in repr(lazy.rec) and "holds" not in lazy.rec._repr_html_()


def test_notebooks_show_calls_with_their_questions(library):
    frame = library.DataFrame({"user": [1], "relevant": [1], "a<b": [1.0]})
    page = frame.rec(score="a<b")._repr_html_()
    assert "score=&#x27;a&lt;b&#x27;" in page and "a<b" not in page
    assert "<code>compare(&quot;ndcg@10&quot;, baseline=&quot;old&quot;)</code>" in page
    assert page.count("<th") == len(overview.CALL_TEXTS)


def test_dir_of_the_namespace_shows_public_names_only(frame):
    for namespace in (frame.rec, frame.rec(by="user")):
        assert [name for name in dir(namespace) if name.startswith("_")] == []
        assert {"ndcg", "compare", "plot", "evaluate"} <= set(dir(namespace))


def test_charts_say_what_they_show(frame):
    pytest.importorskip("altair")
    text = repr(frame.rec.plot)
    assert len(text.splitlines()) == 9 and max(map(len, text.splitlines())) <= 100
    assert 'plot.curve("ndcg", k=range(1, 21))' in text
    assert dir(frame.rec.plot) == sorted(PLOTS)
    assert frame.rec.plot._repr_html_().count("<tr>") == 8


@pytest.mark.parametrize("name", [*CALL_ROLES, *metrics.METRICS])
def test_a_call_without_brackets_says_in_two_lines_what_it_does(frame, name):
    call = getattr(frame.rec, name)
    first, second = repr(call).splitlines()
    assert first.startswith(f"{name}: ") and second.startswith(f"df.rec.{name}(") and second.endswith("says more")
    assert max(len(first), len(second)) <= 110


def test_a_call_without_brackets_is_as_a_method(frame):
    call, namespace = frame.rec.ndcg, frame.rec
    assert "self" not in inspect.signature(call).parameters and "k" in inspect.signature(call).parameters
    assert call.__name__ == "ndcg" and "cumulative gain" in call.__doc__
    assert "ndcg(k=None, " in pydoc.plain(pydoc.render_doc(call))
    assert namespace.ndcg == namespace.ndcg and namespace.ndcg != namespace.map
    assert len({namespace.ndcg, namespace.ndcg, namespace.map}) == 2
    assert namespace.ndcg != "ndcg"


def test_explain_without_a_metric_lists_all():
    text = recframe.explain()
    names = [line.split()[0].removesuffix("@k") for line in text.splitlines() if re.match("  [a-z]", line)]
    assert sorted(names) == sorted(metrics.METRICS)
    assert max(map(len, text.splitlines())) <= 100
    assert "  ndcg@k  " in recframe.explain(like="ranx") and "bpref" not in recframe.explain(like="ranx")
    assert "ranx calls it r-precision" in recframe.explain(like="ranx")
