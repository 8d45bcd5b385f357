"""Names that changed before the first release: each error names the new one."""

from __future__ import annotations

import re

import pytest

import recframe
from recframe._base.guesses import RENAMED

pl = pytest.importorskip("polars")

FRAME = pl.DataFrame({"user": [1, 1], "relevant": [1, 0], "score": [0.9, 0.8]})


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: recframe.merge, "Hint: 'merge' is now 'merge_states'"),
        (lambda: FRAME.rec.tune, "Hint: 'tune' is now 'tune_fusion'"),
        (
            lambda: FRAME.rec.estimate,
            "Hint: 'estimate' is now 'estimate_with_judge'; describe gives the interval of each mean",
        ),
        (
            lambda: FRAME.rec.measure,
            "Hint: call the metric's method, as in df.rec.ndcg(10); evaluate also accepts metrics of your own",
        ),
        (
            lambda: pl.col("score").rec.measure,
            "evaluate accepts names, aliases and metrics of your own",
        ),
        (lambda: recframe.expr.measure, "evaluate accepts names, aliases and metrics of your own"),
        (lambda: FRAME.rec.merge, "Hint: did you mean 'recframe.merge_states'?"),
    ],
)
def test_an_old_name_names_the_new_one(call, hint):
    with pytest.raises(AttributeError, match=re.escape(hint) + "$"):
        call()


@pytest.mark.parametrize(
    ("call", "new"),
    [
        (lambda: FRAME.rec.add_popular(FRAME, segment="user"), "per"),
        (lambda: recframe.from_arrays([1, 0], [0.9, 0.8], group=[2]), "by"),
        (lambda: recframe.scorer("mrr", group="qid"), "by"),
    ],
)
def test_an_old_argument_names_the_new_one(call, new):
    pytest.importorskip("numpy")
    with pytest.raises(TypeError, match=f"Hint: did you mean '{new}'\\?"):
        call()


def test_a_metric_that_is_gone_names_others():
    for call in (lambda: FRAME.rec.catalog_accuracy, lambda: FRAME.rec.evaluate("catalog_accuracy@5")):
        with pytest.raises(recframe.RecError, match="Hint: it was close to 1 .*'precision' and 'recall'"):
            call()


def test_an_old_command_names_the_new_one():
    testing = pytest.importorskip("click.testing")
    from recframe._cli.group import application

    result = testing.CliRunner().invoke(application(), ["estimate", "old.csv"])
    assert result.exit_code == 2
    assert "No such command 'estimate'. It is now estimate-with-judge." in result.output


def test_each_new_name_exists_and_the_old_one_does_not():
    for old, new in RENAMED.items():
        homes = [home for home in (recframe, recframe.EagerRec) if hasattr(home, new)]
        assert homes
        assert not any(hasattr(home, old) for home in homes)
