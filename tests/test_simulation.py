"""The tables that ``tools/simulation.py`` prints, in small: how often tests, intervals and sample sizes are right."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("scipy")
pytest.importorskip("polars")

pytestmark = pytest.mark.slow
TOOL = Path(__file__).parent.parent / "tools" / "simulation.py"


@pytest.fixture
def simulation(monkeypatch):
    """Return the tool, whose tables are of 600 draws."""
    spec = importlib.util.spec_from_file_location("simulation", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    monkeypatch.setattr(tool, "DRAWS", 600)
    return tool


def printed(capsys):
    """Return the rows of the tables that were printed, by their first cell."""
    lines = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    return {name: cells for name, *cells in lines if cells and "---" not in name and "%" in "".join(cells)}


def share(cell):
    return float(cell.rstrip("%")) / 100


def test_lists_of_sample_size_find_the_difference_with_the_power(simulation, capsys):
    simulation.sample_sizes()
    rows = printed(capsys)
    assert len(rows) == 4
    for lists, users, power in rows.values():
        assert int(lists.replace(",", "")) >= int(users.replace(",", ""))
        assert share(power) == pytest.approx(0.8, abs=0.07)


def test_groups_of_other_users_are_rejected_at_the_level(simulation, capsys):
    simulation.groups()
    rows = printed(capsys)
    assert len(rows) == 4
    for rejects, contains, ever, always in rows.values():
        assert share(rejects) == pytest.approx(0.05, abs=0.04)
        assert share(rejects) + share(contains) == pytest.approx(1)
        assert share(ever) <= 0.05
        assert share(ever) + share(always) == pytest.approx(1)


def test_verdicts_of_rows_with_unequal_errors_are_false_at_the_level(simulation, capsys):
    simulation.margins_of_unlike_rows()
    rows = printed(capsys)
    assert len(rows) == 6
    assert all(share(false) < 0.065 for (false,) in rows.values())


@pytest.mark.parametrize(
    "part", ["families", "margins", "ranks", "judges", "agreements", "tuning", "shares_of_clusters"]
)
def test_parts_that_other_tests_check_print_their_table(simulation, capsys, monkeypatch, part):
    monkeypatch.setattr(simulation, "DRAWS", 4)
    getattr(simulation, part)()
    assert capsys.readouterr().out.count("\n| ") > 3


def test_intervals_over_strata_have_their_coverage(simulation, capsys, monkeypatch):
    monkeypatch.setattr(simulation, "STRATIFIED", 600)
    simulation.strata()
    rows = printed(capsys)
    assert len(rows) == 4
    for ndcg, skewed, hits, shares in rows.values():
        assert min(map(share, (ndcg, hits, shares))) >= 0.92
        assert 0.86 <= share(skewed) <= 0.97


def test_runs_of_equal_models_are_rejected_at_the_level(simulation, capsys, monkeypatch):
    for part in ("hits_of_runs", "ranks_of_runs"):
        monkeypatch.setattr(simulation, part, lambda _: None)
    monkeypatch.setattr(simulation, "DRAWS", 300)
    simulation.training_runs()
    first, second = capsys.readouterr().out.strip().split("\n\n")
    rows = [line.strip("| ").split(" | ") for line in first.splitlines()[2:]]
    assert len(rows) == 12
    assert all(0.023 < share(cell) < 0.078 for row in rows for cell in row[4:])
    assert share(rows[-1][2]) > 0.5
    # Two runs of models whose runs vary by other amounts are too few.
    assert max(share(cell) for line in second.splitlines()[2:] for cell in line.split(" | ")[2:4]) > 0.09
