"""Frames by protocol: whatever speaks Arrow is read once, and frames beside the first one become its kind."""

from __future__ import annotations

import narwhals as nw
import pytest

import recframe

pl = pytest.importorskip("polars")

FRAME = pl.DataFrame(
    {"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "relevant": [0, 1, 1, 0], "score": [0.9, 0.1, 0.8, 0.3]}
)
TRUTH = pl.DataFrame({"user": [1, 2], "item": [2, 1]})


class Stream:
    """A frame of a library that nobody knows. It has its rows once, as a stream of batches does."""

    def __init__(self, frame):
        self._frames = [frame]

    def __arrow_c_stream__(self, requested_schema=None):
        return self._frames.pop().__arrow_c_stream__(requested_schema)


def test_an_unknown_frame_is_read_once():
    rec = recframe.rec(Stream(FRAME))
    assert (rec.mrr(), rec.ndcg(2)) == (FRAME.rec.mrr(), FRAME.rec.ndcg(2))
    assert isinstance(rec.mrr(per="user"), pl.DataFrame)
    bound = recframe.rec(Stream(FRAME.drop("relevant")), truth=Stream(TRUTH))
    assert (bound.mrr(), bound.evaluate("recall@1").item()) == (0.75, 0.5)


def test_streams_beside_other_frames():
    expected = FRAME.rec.recall(1, truth=TRUTH)
    assert FRAME.rec.recall(1, truth=Stream(TRUTH)) == expected
    assert FRAME.lazy().rec.recall(1, truth=Stream(TRUTH)).collect().item() == expected
    assert FRAME.lazy().rec(truth=Stream(TRUTH)).recall(1).collect().item() == expected
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    assert FRAME.to_pandas().rec.recall(1, truth=Stream(TRUTH)) == expected
    assert recframe.rec(FRAME.to_arrow()).recall(1, truth=Stream(TRUTH)) == expected
    reader = TRUTH.to_arrow().to_reader()
    assert FRAME.rec.recall(1, truth=reader) == expected


def test_classes_of_pyarrow_give_tables():
    pa = pytest.importorskip("pyarrow")
    table = FRAME.to_arrow()
    for frame in (table.to_reader(), table.combine_chunks().to_batches()[0]):
        result = recframe.rec(frame).mrr(per="user")
        assert isinstance(result, pa.Table)
        assert result.sort_by("user").column("mrr").to_pylist() == [0.5, 1.0]


def test_frames_of_narwhals_are_those_of_their_library():
    for native in (FRAME, FRAME.lazy()):
        result = recframe.rec(nw.from_native(native)).mrr(per="user")
        assert type(result) is type(native)
    assert recframe.rec(nw.from_native(FRAME)).recall(1, truth=nw.from_native(TRUTH)) == 0.5


def test_columns_are_no_frames():
    with pytest.raises(recframe.OptionTypeError, match="is no frame that recframe knows"):
        recframe.rec(FRAME["user"])
    with pytest.raises(recframe.OptionTypeError, match="truth is"):
        FRAME.rec.recall(truth=FRAME["user"])
