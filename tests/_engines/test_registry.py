"""An engine is an adapter and a line of the registry; nothing else knows of it."""

from __future__ import annotations

import sys
from types import ModuleType

import narwhals as nw
import pytest

import recframe

pl = pytest.importorskip("polars")

from recframe._engines import base, registry  # noqa: E402 - needs polars
from recframe._engines.polars.adapter import EagerPolars  # noqa: E402

DATA = {"user": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "score": [0.9, 0.1, 0.8, 0.3], "item": [1, 2, 1, 3]}


class Columns(dict):
    """The frame of a library that nobody knows: a dict of columns."""


class ColumnsAdapter(base.Adapter):
    """Reads dicts of columns by way of polars, and answers with dicts."""

    eager = True
    remedy = "polars.DataFrame(columns)"

    def names(self, frame):
        return list(frame)

    def open_frames(self, sources, *, rows=()):
        frames = {name: source.with_native(pl.DataFrame(dict(source.native))) for name, source in sources.items()}
        session = EagerPolars().open_frames(frames, rows=rows)

        def finish(result, names, sort):
            return Columns(session.finish(result, names, sort).to_dict(as_series=False))

        return base.Session(session.engine, session.frames, finish, session.columns)

    def as_narwhals(self, frame):
        return nw.from_native(pl.DataFrame(dict(frame)))

    def items_frame(self, column, items):
        return Columns({column: items})


@pytest.fixture
def library(monkeypatch):
    """Return the name of a library, which is imported and registered."""
    for name, attribute in (("library", "Columns"), ("recframe._engines.library", "ColumnsAdapter")):
        module = ModuleType(name)
        setattr(module, attribute, globals()[attribute])
        monkeypatch.setitem(sys.modules, name, module)
    kind = registry.Kind("library", "Columns", "library:ColumnsAdapter", "a dict of columns")
    monkeypatch.setattr(registry, "KINDS", (*registry.KINDS, kind))
    return "library"


@pytest.mark.usefixtures("library")
def test_an_adapter_and_a_line_make_an_engine():
    rec = recframe.rec(Columns(DATA))
    assert isinstance(rec, recframe.EagerRec)
    expected = recframe.rec(pl.DataFrame(DATA))
    assert rec.ndcg(2) == expected.ndcg(2)
    assert rec.mrr(per="user") == expected.mrr(per="user").to_dict(as_series=False)
    assert isinstance(rec.evaluate(["ndcg", "map"], k=[1, 2]), Columns)
    truth = {"user": [1, 2], "item": [1, 3]}
    assert rec.recall(1, truth=Columns(truth)) == expected.recall(1, truth=pl.DataFrame(truth))
    assert rec.coverage(1, catalog=[1, 2, 3, 4]) == expected.coverage(1, catalog=[1, 2, 3, 4])
    assert rec.check(2)["finding"] == expected.check(2)["finding"].to_list()


@pytest.mark.usefixtures("library")
def test_calls_that_an_adapter_does_not_support_are_errors():
    rec = recframe.rec(Columns(DATA))
    with pytest.raises(recframe.OptionTypeError, match=r"(?s)accepts frames of polars or pandas.*DataFrame\(columns\)"):
        rec.top(1)
    with pytest.raises(recframe.OptionError, match=r"(?s)partitions=2 is for.*the frame is in memory"):
        rec.ndcg(partitions=2)
    with pytest.raises(recframe.OptionTypeError, match="truth is a polars DataFrame, but the frame is a .*Columns"):
        rec.recall(truth=pl.DataFrame(DATA))
    with pytest.raises(recframe.MissingColumnError, match="(?s)by='usr': the frame has no such column.*'user'"):
        rec.ndcg(by="usr")
    with pytest.raises(recframe.OptionTypeError, match="or a dict of columns"):
        recframe.rec([1])


def test_every_line_of_the_registry_names_a_class():
    for kind in registry.KINDS:
        pytest.importorskip(kind.module)
        assert issubclass(kind.adapter_class, base.Adapter)
        assert kind.frame_class in (getattr(sys.modules[kind.module], kind.name), ())
