"""The script of all checks runs the README's commands, or ends where it does not find them."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / ".ci" / "run"
BASH = shutil.which("bash")
pytestmark = [
    pytest.mark.skipif(not SCRIPT.exists(), reason="the checks are not part of a source distribution"),
    pytest.mark.skipif(BASH is None, reason="the checks are a script of bash"),
]


def command_behind(mark, folder):
    """Run the part of the script that reads the README of a folder, as the script does, and return how it ended."""
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    start = lines.index(next(line for line in lines if line.startswith("readme()")))
    reader = lines[start : lines.index("}", start) + 1]
    script = "\n".join(["set -euo pipefail", *reader, f"readme {mark}", 'printf "%s" "$command"'])
    return subprocess.run([BASH, "-c", script], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("mark", ["main", "test"])
def test_commands_of_the_readme_are_found(mark):
    done = command_behind(mark, ROOT)
    assert done.returncode == 0
    assert done.stdout.startswith("python3 -m venv")
    assert f"\n{done.stdout}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"readme {mark}\n" in SCRIPT.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "readme",
    [
        "",
        "<!-- tests -->\n```sh\npython3 -m pytest\n```\n",
        "<!-- test command -->\n```sh\npip install .\n```\n",
        "<!-- test command -->\nIt is below.\n",
    ],
)
def test_a_command_that_is_not_found_ends_the_checks(readme, tmp_path):
    (tmp_path / "README.md").write_text(readme, encoding="utf-8")
    done = command_behind("test", tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "no command behind the mark 'test command'" in done.stderr


def test_every_group_has_a_name_and_a_function():
    listed = subprocess.run([BASH, str(SCRIPT), "list"], capture_output=True, text=True, check=True).stdout.split()
    text = SCRIPT.read_text(encoding="utf-8")
    functions = re.findall(r"^group_(\w+)\(\)", text, re.MULTILINE)
    assert sorted(re.sub(r"\W", "_", name) for name in listed) == sorted(functions)


def test_an_unknown_group_is_refused_with_the_names_of_all():
    done = subprocess.run([BASH, str(SCRIPT), "lnit"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no group 'lnit'; the groups are: spark" in done.stderr


def test_workflows_run_the_groups_of_the_script():
    workflows = ROOT / ".github" / "workflows"
    text = (workflows / "ci.yml").read_text(encoding="utf-8")
    assert "bash .ci/run list" in text and "bash .ci/run ${{ matrix.group }}" in text
    text = (workflows / "newest.yml").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {extra for named in re.findall(r'extra: "?([\w,-]+)', text) for extra in named.strip(",").split(",")}
    assert extras <= {*project["optional-dependencies"]}
