"""The command line: help, version, the list of metrics, and terminals of every kind."""

from __future__ import annotations

import io
import re
import sys

import pytest

pytest.importorskip("numpy")
pytest.importorskip("polars")

import recframe
from recframe.cli import main
from recframe.metrics import METRICS


def test_without_a_command_there_is_help(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert all(word in out for word in ("usage: python -m recframe", "demo", "metrics"))


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"recframe {recframe.__version__}\n"


def test_metrics_lists_every_record(capsys):
    assert main(["metrics"]) == 0
    out = capsys.readouterr().out
    for name, metric in METRICS.items():
        assert re.search(rf"^{name}\b", out, flags=re.MULTILINE)
        assert " ".join(metric.formula.split()) in " ".join(out.split())
    assert "denominator: k | list" in out


@pytest.mark.parametrize("command", ["demo", "metrics"])
def test_lines_fit_a_terminal(command, capsys):
    main([command])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 100


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("command", ["demo", "metrics"])
def test_a_terminal_that_lacks_letters(command, encoding, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    assert main([command]) == 0
    stream.seek(0)
    text = stream.read()
    assert "ndcg@" in text
    assert "?" not in text
