"""The ranks of models that were trained several times."""

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("polars")
import polars as pl

from recframe import DataWarning, OptionError
from recframe._inference.ranks.runs import means_of_runs
from recframe._inference.statistics.crossed import CrossedSums, Runs
from recframe._inference.statistics.student import Sums

ASKED = {"model": "model", "runs": "seed"}


def rows_of(counts, lists=40, gap=0.0, chance=0.1):
    """Return rows whose dcg@1 is a number of the list, of the run and of both."""
    random = np.random.default_rng(4)
    of_lists = random.random(lists)
    return pl.DataFrame([
        {"user": user, "model": model, "seed": seed, "score": 1.0, "relevant": 2 + value}
        for number, (model, runs) in enumerate(counts.items()) for seed in range(runs)
        for user, value in enumerate(of_lists + number * gap + random.normal(0, chance) + random.normal(0, 0.2, lists))
    ])  # fmt: skip


def test_variances_are_those_of_compare():
    random = np.random.default_rng(1)
    tables = [random.random((30, count)) + random.normal(0, 0.1, count) for count in (1, 3, 4)]
    means = means_of_runs(tables)
    degrees = []
    for one in range(3):
        for other in range(one):
            lists = Sums.of(tables[one].mean(axis=1) - tables[other].mean(axis=1), np.ones(30))
            sums = CrossedSums.with_runs(lists, [Runs.of(tables[one]), Runs.of(tables[other])], (1.0, 1.0))
            assert means.variances[one, other] == pytest.approx(sums.standard_error.item() ** 2)
            degrees.append(sums.degrees.item())
    assert means.degrees == pytest.approx(min(degrees))
    np.testing.assert_allclose(means.means, [table.mean() for table in tables])


def test_luck_of_single_runs_decides_no_rank():
    frame = rows_of({"a": 3, "b": 3, "c": 3}, chance=0.3)
    first = frame.filter(seed=0).rec.rank_models("dcg@1", model="model")
    assert first.filter("tied_with_best").height == 1
    result = frame.rec.rank_models("dcg@1", **ASKED)
    assert result["tied_with_best"].all()
    apart = rows_of({"a": 3, "b": 3, "c": 3}, gap=3.0, chance=0.1).rec.rank_models("dcg@1", **ASKED)
    assert apart["rank_low"].to_list() == apart["rank_high"].to_list() == [3, 2, 1]
    lazy = frame.lazy().rec.rank_models("dcg@1", details=True, **ASKED).collect()
    assert lazy.equals(frame.rec.rank_models("dcg@1", details=True, **ASKED))


def test_single_runs_are_ranked_as_ever():
    frame = rows_of({"a": 1, "b": 1})
    with pytest.warns(DataWarning, match="each model has one run"):
        result = frame.rec.rank_models("dcg@1", **ASKED)
    assert result.equals(frame.rec.rank_models("dcg@1", model="model"))


def test_what_ranks_of_runs_refuse():
    frame = rows_of({"a": 3, "b": 3}, lists=4)
    with pytest.raises(OptionError, match="does not go with cluster='user'"):
        frame.rec.rank_models("dcg@1", cluster="user", **ASKED)
    with pytest.raises(OptionError, match="there is no model="):
        frame.rec.rank_models("dcg@1", runs="seed")
    with pytest.raises(OptionError, match="rank_models needs two models"):
        frame.filter(model="a").rec.rank_models("dcg@1", **ASKED)
