"""A file that a contributor changed runs whole."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from changed import changed_files
from engines import ENGINES

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")


@pytest.fixture
def checkout(tmp_path):
    """Make a branch on which a file is changed and committed, another only changed, and a third new."""
    if shutil.which("git") is None:
        pytest.skip("needs git")

    def git(*command):
        subprocess.run([*GIT, *command], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    (tmp_path / ".gitignore").write_text("*.log\n")
    for name in ("same", "committed", "edited"):
        (tmp_path / f"{name}.py").write_text("1\n")
    git("add", "-A")
    git("commit", "-qm", "first")
    git("checkout", "-qb", "mine")
    (tmp_path / "committed.py").write_text("2\n")
    git("commit", "-qam", "second")
    (tmp_path / "edited.py").write_text("2\n")
    (tmp_path / "neu für mich.py").write_text("1\n")
    (tmp_path / "noise.log").write_text("1\n")
    return tmp_path


def test_changed_are_files_of_the_branch_the_work_tree_and_those_that_git_does_not_know(checkout):
    names = {path.name for path in changed_files(checkout)}
    assert names == {"committed.py", "edited.py", "neu für mich.py"}


def test_what_is_committed_on_main_differs_from_that_of_a_remote(checkout):
    git = [*GIT, "-C", str(checkout)]
    subprocess.run([*git, "update-ref", "refs/remotes/origin/main", "main"], check=True)
    subprocess.run([*git, "branch", "-f", "main", "HEAD"], check=True)
    assert {path.name for path in changed_files(checkout)} == {"committed.py", "edited.py", "neu für mich.py"}


def test_without_a_checkout_nothing_is_changed(tmp_path):
    assert changed_files(tmp_path) == frozenset()


def test_a_changed_file_runs_whole_on_the_first_engine(pytestconfig, checkout, monkeypatch):
    [conftest] = [
        plugin
        for plugin in pytestconfig.pluginmanager.get_plugins()
        if getattr(plugin, "__file__", None) == str(Path(__file__).with_name("conftest.py"))
    ]
    monkeypatch.setattr(conftest, "ROOT", checkout)
    options = {"engines": None, "all": False, "sample": 1, "markexpr": ""}
    config = SimpleNamespace(getoption=options.get, args=[], invocation_params=SimpleNamespace(dir=checkout))
    entry = next(iter(ENGINES.values()))

    def kept(name):
        items = [
            SimpleNamespace(
                callspec=SimpleNamespace(params={"engine": entry.engine, "case": number}),
                path=checkout / f"{name}.py",
                name=f"test_case[{entry.engine.name}-{number}]",
                function=None,
                get_closest_marker=lambda _: "slow",
            )
            for number in range(30)
        ]
        return sum(conftest.in_share(config, item) for item in items), conftest.in_time(config, items[0])

    assert kept("edited") == kept("committed") == (30, True)
    share, slow = kept("same")
    assert share < 30
    assert not slow
    options |= {"all": True, "sample": 3}
    assert 0 < kept("edited")[0] < 30
