"""Matrices of labels, scores and ids: a row for each list, and a column for each item."""

from __future__ import annotations

import pytest

import recframe

np = pytest.importorskip("numpy")
pl = pytest.importorskip("polars")

RELEVANT = np.array([[0, 1, 0], [1, 0, 2]])
SCORES = np.array([[0.9, 0.8, 0.1], [0.2, 0.3, 0.4]])
CELLS = [(0, 0, 0, 0.9), (0, 1, 1, 0.8), (0, 2, 0, 0.1), (1, 0, 1, 0.2), (1, 1, 0, 0.3), (1, 2, 2, 0.4)]


class OnlyDLPack:
    """A tensor of a library that exports DLPack and nothing else."""

    def __init__(self, values):
        self._values = values

    def __dlpack__(self, **arguments):
        return self._values.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


@pytest.mark.parametrize("convert", [np.asarray, OnlyDLPack, lambda values: values.tolist(), pl.DataFrame])
def test_each_cell_is_a_row(convert):
    assert recframe.from_arrays(convert(RELEVANT), convert(SCORES)).rows() == CELLS


def test_ids_and_models():
    frame = recframe.from_arrays(
        RELEVANT, {"old": SCORES, "new": -SCORES}, by=["ann", "bob"], item=["tea", "jam", "rye"]
    )
    assert frame.columns == ["user", "item", "relevant", "old", "new"]
    assert frame.rows()[3] == ("bob", "tea", 1, 0.2, -0.2)
    assert frame.rec.evaluate("coverage@1", score=["old", "new"], catalog=3).height == 2


def test_sparse_truth_and_dense_scores():
    sparse = pytest.importorskip("scipy.sparse")
    for kind in (sparse.csr_matrix, sparse.coo_array, sparse.csc_array):
        assert recframe.from_arrays(kind(RELEVANT), SCORES).rows() == CELLS
    some = recframe.from_arrays(RELEVANT, {"all": SCORES, "some": sparse.csr_array(SCORES * (SCORES > 0.25))})
    assert [row[4] for row in some.rows()] == [0.9, 0.8, None, None, 0.3, 0.4]


def test_what_sparse_scores_lack_was_not_recommended():
    sparse = pytest.importorskip("scipy.sparse")
    scores = sparse.coo_array(([0.8, 0.0, 0.4], ([0, 0, 1], [1, 0, 2])), shape=(2, 3))
    frame = recframe.from_arrays(sparse.csr_array(RELEVANT), scores)
    assert frame.rows() == [(0, 0, 0, 0.0), (0, 1, 1, 0.8), (1, 0, 1, None), (1, 2, 2, 0.4)]
    assert frame.rec.recall(2) == 0.75
    # A cell that is there twice counts once, with the sum, as in SciPy.
    twice = sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 3))
    assert recframe.from_arrays(sparse.csr_array((2, 3)), twice).rows() == [(0, 1, 0, 3.0)]


@pytest.mark.parametrize(
    ("message", "given"),
    [
        (r"score has the shape \(2, 2\), but relevant has \(2, 3\)", {"score": SCORES[:, :2]}),
        ("by has 1 ids, but the matrices have 2 rows", {"by": [7]}),
        ("item has 2 ids, but the matrices have 3 columns", {"item": [7, 8]}),
        (r"(?s)relevant has the shape \(2, 3\).*scores of the same shape", {"score": [1, 2]}),
        ("item= names the columns of matrices", {"relevant": [0, 1], "score": [1, 2], "item": [1, 2]}),
        ("the column of items would have the name 'item'", {"score": {"item": SCORES}}),
    ],
)
def test_matrices_that_do_not_fit(message, given):
    with pytest.raises(recframe.RecError, match=message):
        recframe.from_arrays(**{"relevant": RELEVANT, "score": SCORES} | given)


def test_arrays_of_ids_are_lists():
    ids, scores = np.array([[3, 1], [2, 3]]), np.array([[0.9, 0.8], [0.7, 0.6]], dtype="float32")
    result = recframe.from_lists(ids, [[1], [2, 4]])
    assert result.rec.recall(2) == 0.75
    assert recframe.from_lists(ids, scores=scores).columns == ["user", "item", "score"]


def test_factors_without_ids_are_numbered():
    sparse = pytest.importorskip("scipy.sparse")
    users, items = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 1.0]])
    test = sparse.csr_array(np.array([[0, 0, 1], [0, 1, 0]]))
    result = recframe.from_factors(users, items, test=test, k=2)
    named = recframe.from_factors(users, items, users=[0, 1], items=[0, 1, 2], test=test, k=2)
    assert result.rows() == named.rows()
    pytest.importorskip("pandas")
    assert recframe.from_factors(users, items, test=test, k=2, library="pandas").shape == (4, 6)
    with pytest.raises(recframe.OptionError, match="users=None, but no factors say how many users there are"):
        recframe.from_factors(None, None, np.ones(3), k=1)
