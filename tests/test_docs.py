"""All code of the README and the documentation runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import get_args

import pytest

import recframe
from recframe import metrics, profiles
from recframe._base.roles import Like
from recframe._display.plot import Plot

pl = pytest.importorskip("polars")

ROOT = Path(__file__).parent.parent
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.exists()]
FENCE = re.compile(r"^( *)```python\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
BADGES = re.compile(r"(?:^\[!\[.*\n)+\n", re.MULTILINE)
"""The lines that `tools/addresses.py` puts below the title of the README."""
"""A block of code, indented where it is in a tab."""
TAB = re.compile(r'^=== "(.*)"$', re.MULTILINE)
"""The title of a tab."""
EXAMPLES = ROOT / "docs" / "metrics.md"
"""The page with the frames that all pages of metrics use."""
THEIRS = re.compile(r"^( *)```py\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
"""A block of code of another library."""
LINK = re.compile(r"\]\(([^)#:]+)(?:#([^)]+))?\)")


def code(page: Path, *, pandas: bool | None = None, fence: re.Pattern[str] = FENCE) -> str:
    """Return the code of a page; that of its tabs on pandas, or all else: both use the same names for their frames."""
    text = page.read_text(encoding="utf-8")
    blocks = []
    for result in fence.finditer(text):
        on_pandas = bool(result[1]) and TAB.findall(text[: result.start()])[-1] == "pandas"
        on_both = not result[1] and fence is THEIRS
        if pandas is None or pandas == on_pandas or on_both:
            blocks.append(textwrap.dedent(result[2]))
    return "\n".join(blocks)


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix().removeprefix("docs/")


@pytest.mark.parametrize("page", [page for page in PAGES if code(page)], ids=page_name)
def test_examples_print_what_the_page_says(page):
    frames = f"{code(EXAMPLES)}\n" if page.parent.name == "metrics" else ""
    for library in re.findall(r'(?:^>>> import |library=")(\w+)(?:"|\b)', frames + code(page), re.MULTILINE):
        pytest.importorskip(library)
    if page.name == "expressions.md":
        pytest.importorskip("polars", minversion="1.44")
    for call, library in {".compare(": "scipy", ".describe(": "scipy", ".plot.": "altair", '"cls"': "scipy"}.items():
        if call in code(page):
            pytest.importorskip(library)
    for blocks in filter(None, (code(page, pandas=True), code(page, pandas=False))):
        test = doctest.DocTestParser().get_doctest(frames + blocks, {}, page.name, str(page), 0)
        assert test.examples, "a block of python without a prompt is not checked"
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        out: list[str] = []
        runner.run(test, out=out.append)
        assert runner.summarize(verbose=False).failed == 0, "".join(out)


def test_no_page_holds_a_conflict_of_two_versions():
    for page in (*PAGES, ROOT / "CHANGELOG.md"):
        assert not re.search("^(<{7}|>{7}) ", page.read_text(encoding="utf-8"), re.MULTILINE), page_name(page)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page):
    # The site's build checks the anchors of its pages.
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        linked = page.parent / target
        assert linked.exists(), target
        if anchor and page.name == "README.md":
            titles = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}, target


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "contract").glob("*.md")), ids=page_name)
def test_each_section_of_the_contract_numbers_its_rules_and_names_its_tests(page):
    text = page.read_text(encoding="utf-8")
    for section in re.split("^## ", text, flags=re.MULTILINE)[1:]:
        title, *_ = section.splitlines()
        if title == "Engines and versions":
            # A table of exceptions, the last section: its first column names rules of the page.
            cited = [
                rule for cell in re.findall(r"^\| ([A-Z][^|]*) \|", section, re.MULTILINE) for rule in cell.split(", ")
            ]
            assert cited
            assert text.endswith(section)
            assert all(f"**{rule}.** " in text for rule in cited), cited
            continue
        rules = re.findall(r"^\*\*([A-Z]+)(\d+)\.\*\* ", section, re.MULTILINE)
        assert len({letters for letters, _ in rules}) == 1, title
        assert [int(number) for _, number in rules] == [*range(1, len(rules) + 1)], title
        tests = re.search(r"^\*Tests: (.*)\*$", section.rstrip().splitlines()[-1])
        assert tests, title
        for name in re.findall(r"`(tests/\S+)`", tests[1]):
            assert (ROOT / name).is_file(), name


def test_the_gallery_has_small_pictures_with_little_code():
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"```python\n((?:(?!```).)*)```\n\n!\[([^]]+)\]\(([^)]+)\)", page, re.DOTALL)
    assert len(shown) == 14
    for block, words, file in shown:
        assert 1 <= sum(line.startswith((">>>", "...")) for line in block.splitlines()) <= 4, file
        assert len(words) > 20, file
        assert (ROOT / "docs" / file).stat().st_size < 40_000, file


def test_the_first_page_of_the_contract_lists_its_sections_with_their_letters():
    first = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    listed = re.findall(r"\[[^]]*\]\(contract/([\w-]+\.md)#[\w-]+\) ([A-Z]{1,2})\b", first)
    letters = [
        (page.name, section_letters)
        for page in (ROOT / "docs" / "contract").glob("*.md")
        for section_letters in re.findall(r"^\*\*([A-Z]+)1\.\*\* ", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert sorted(listed) == sorted(letters)
    assert len({section_letters for _, section_letters in letters}) == len(letters)


COMING_FROM = ROOT / "docs" / "coming-from.md"
CALLS = {
    block: data.partition(">>> run =")[0]
    for page, source in (
        (COMING_FROM, ROOT / "tests" / "peers" / "calls.md"),
        *((page, page) for page in sorted(COMING_FROM.with_suffix("").glob("*.md"))),
    )
    for data in [next((body for _, body in FENCE.findall(page.read_text(encoding="utf-8")) if ">>> run =" in body), "")]
    for _, block in THEIRS.findall(source.read_text(encoding="utf-8"))
    # ranx compiles for a minute: tests/peers compares with it.
    if "ranx" not in block
}
"""Calls of other libraries, and the data that they read, as the page that has the same number writes it."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the other packages
@pytest.mark.parametrize("block", CALLS, ids=lambda block: re.search(r"(?:import|from) (\w+)", block)[1])
def test_other_libraries_print_what_the_page_says(block):
    for library in re.findall(r"^>>> (?:import|from) (\w+)", block, re.MULTILINE):
        pytest.importorskip(library)
    data = textwrap.dedent(CALLS[block])
    test = doctest.DocTestParser().get_doctest(data + block, {}, "coming-from.md", None, 0)
    out: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test, out=out.append).failed == 0, "".join(out)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the other packages
@pytest.mark.parametrize(("name", "pandas"), [("engines", False), ("howto/mlflow", False), ("howto/mlflow", True)])
def test_examples_with_other_packages_print_what_the_page_says(name, pandas):
    # The packages are in the extra `test-howto`.
    page = ROOT / "docs" / f"{name}.md"
    theirs = code(page, pandas=pandas, fence=THEIRS)
    for library in re.findall(r"^>>> (?:import|from) (\w+)", theirs, re.MULTILINE):
        pytest.importorskip(library)
    examples = code(page, pandas=pandas) + "\n" + theirs
    out: list[str] = []
    test = doctest.DocTestParser().get_doctest(examples, {}, f"{name}.md", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test, out=out.append).failed == 0, "".join(out)


REFERENCE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "api").glob("*.md")))


REFERENCE_NAMES = re.findall(r"^::: recframe\.(\S+)\n((?: .*\n)*)", REFERENCE, re.MULTILINE)
"""What the reference describes, and the options of each: the members that are shown."""
LEAST_WORDS = 60


def shown_in_the_reference():
    """Yield each name that the reference shows, with its docstring."""
    for name, options in REFERENCE_NAMES:
        owner, _, attribute = f"recframe.{name}".rpartition(".")
        try:
            value = getattr(importlib.import_module(owner), attribute)
        except ModuleNotFoundError:
            module, _, kind = owner.rpartition(".")
            value = getattr(getattr(importlib.import_module(module), kind), attribute)
        yield name, inspect.getdoc(value) or ""
        members = re.findall(r"^ {8}- (\w+)$", options, re.MULTILINE)
        if inspect.isclass(value) and not options:
            members = [member for member in vars(value) if member[0] != "_" and callable(getattr(value, member))]
        for member in members:
            yield f"{name}.{member}", inspect.getdoc(getattr(value, member)) or ""


def test_the_reference_holds_everything_public():
    described = {name for name, _ in REFERENCE_NAMES}
    pages = {kind.__name__ for kind in metrics.METRICS.values()}
    # The namespace, and modules with pages of their own.
    rest = {"EagerRec", "LazyRec", "datasets", "expr", "metrics", "plot", "profiles"}
    assert set(recframe.__all__) - rest <= described | {"Metric", "CutMetric"}
    classes = {f"metrics.{name}" for name in metrics.__all__}
    assert classes - {f"metrics.{name}" for name in pages | {"METRICS"}} <= described
    assert {f"profiles.{name}" for name in profiles.__all__} - {"profiles.PROFILES", "profiles.explain"} <= described
    assert {f"datasets.{name}" for name in recframe.datasets.__all__} <= described
    methods = {f"EagerRec.{name}" for name in dir(recframe.EagerRec) if name[0] != "_"}
    methods -= {f"EagerRec.{name}" for name in [*metrics.METRICS, "plot"]}
    assert {name for name in described if name.startswith("EagerRec.")} == methods
    charts = {f"_display.plot.Plot.{name}" for name in dir(Plot) if name[0] != "_"}
    assert {name for name in described if ".Plot." in name} == charts
    assert {path.stem for path in (ROOT / "docs" / "metrics").glob("*.md")} == {*metrics.METRICS}


def test_the_reference_says_enough_of_every_public_name():
    short = {name: len(text.split()) for name, text in shown_in_the_reference() if len(text.split()) < LEAST_WORDS}
    assert not short


def test_the_reference_shows_the_text_of_every_method():
    griffe = pytest.importorskip("griffe")
    spec = importlib.util.spec_from_file_location("site_api", ROOT / "tools" / "site_api.py")
    site_api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site_api)
    package = griffe.load("recframe", search_paths=[ROOT / "src"])
    assert any(function.overloads for function in site_api.functions(package))
    site_api.PublicNames().on_package(pkg=package)
    # The names of type checkers, which overloads have, are not shown.
    assert not any(function.overloads for function in site_api.functions(package))
    for name, text in shown_in_the_reference():
        start = text.partition("\n")[0]
        shown = package[name].docstring
        assert shown is not None and shown.value.startswith(start), name
        assert len(shown.value.split()) >= LEAST_WORDS, name


def test_the_package_lists_no_name_of_type_checkers():
    assert not {"Any", "TYPE_CHECKING", "annotations", "import_module"} & set(dir(recframe))
    assert {*recframe.__all__, "accessor", "errors"} <= set(dir(recframe))


def test_the_page_on_versions_lists_the_public_names():
    page = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    listed = page.partition("## What is public")[2].partition("\nModules that start")[0]
    own, of_errors, rest = re.split(r"^- `recframe\.", listed.partition("- `recframe`:")[2], flags=re.MULTILINE)
    assert set(re.findall(r"`([\w.]+)`", of_errors)) - {"errors", "recframe"} == set(recframe.errors.__all__)
    modules = set(re.findall(r"`recframe\.(\w+)`", f"`recframe.{rest}"))
    names = set(re.findall(r"`(\w+)`", own))
    assert not names & modules
    assert names | modules | set(recframe.errors.__all__) == set(recframe.__all__)


def page_of_an_index(root):
    """Return what an index shows of the README of a folder."""
    declared = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    hook = declared["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    (fragment,) = hook["fragments"]
    page, end, _ = (root / fragment["path"]).read_text(encoding="utf-8").partition(fragment["end-before"])
    assert end and re.search(r"\]\((?!http)", page)
    for change in hook["substitutions"]:
        page = re.sub(change["pattern"], change["replacement"], page)
    return page


def has_addresses():
    """Return whether `tools/addresses.py` was run, on the day of publication."""
    return "urls" in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_page_of_an_index_has_no_link_that_leads_nowhere():
    page = page_of_an_index(ROOT)
    assert not re.search(r"\]\((?!https?://)", page)
    assert "One written contract" in page and ("pictures" in page) == has_addresses()


def test_a_release_names_one_version_everywhere():
    patterns = {
        "pyproject.toml": r'^version = "(.+)"$',
        "CITATION.cff": r"^version: (.+)$",
        "conda/recipe.yaml": r'^  version: "(.+)"$',
    }
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in patterns}
    named = {re.search(pattern, texts[name], re.MULTILINE)[1] for name, pattern in patterns.items()}
    assert named == {recframe.__version__}
    project = tomllib.loads(texts["pyproject.toml"])
    required = {
        re.sub(r"\[.*\]", "", one).replace("_", "-")
        for extra in ("polars", "pandas", "factors", "stats", "tables", "cli")
        for one in project["project"]["optional-dependencies"][extra]
    } | {*project["project"]["dependencies"], *project["build-system"]["requires"]}
    recipe = {line.strip("- ").replace(" ", "") for line in texts["conda/recipe.yaml"].splitlines()}
    assert {one.replace("_", "-") for one in required} <= recipe


@pytest.mark.skipif(has_addresses(), reason="the addresses are written")
def test_addresses_are_written_in_one_step(tmp_path):
    spec = importlib.util.spec_from_file_location("addresses", ROOT / "tools" / "addresses.py")
    addresses = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(addresses)
    for name in addresses.PLACES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    addresses.write_addresses(tmp_path, "https://example.org/team/recframe/", "https://recframe.example.org")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["urls"]["Issues"] == "https://example.org/team/recframe/issues"
    page = page_of_an_index(tmp_path)
    assert "(https://example.org/team/recframe/raw/main/docs/pictures/forest.svg)" in page
    assert "(https://example.org/team/recframe/blob/main/docs/contract.md)" in page
    assert not re.search(r"\]\((?!https://)", page)
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert BADGES.sub("", readme) == (ROOT / "README.md").read_text(encoding="utf-8")
    site = tomllib.loads((tmp_path / "zensical.toml").read_text(encoding="utf-8"))["project"]
    assert site["repo_url"] + "/" + site["edit_uri"] == "https://example.org/team/recframe/edit/main/docs/"
    with pytest.raises(SystemExit, match="has no place for an address"):
        addresses.write_addresses(tmp_path, "https://example.org/team/recframe", "https://recframe.example.org")


@pytest.mark.slow
def test_every_page_has_a_twin_of_markdown(tmp_path):
    tool = ROOT / "tools" / "llms.py"
    subprocess.run([sys.executable, str(tool), "--site", str(tmp_path)], check=True)
    whole = (tmp_path / "llms-full.txt").read_text(encoding="utf-8")
    for page in navigation():
        twin = (tmp_path / page).read_text(encoding="utf-8")
        assert twin.strip() in whole
        assert not re.search(r"^(:::|--8<--|---$)", twin, re.MULTILINE), page
        # What has no page in Markdown, such as a picture, is on the site.
        links = re.findall(r"\]\((?!https?:|#)([^)#\s]+\.md)[^)]*\)", FENCE.sub("", twin))
        assert (
            not [link for link in links if not (tmp_path / page).parent.joinpath(link).exists()]
            or page == "changelog.md"
        )
    assert "Write the table to a file" in (tmp_path / "api" / "show.md").read_text(encoding="utf-8")
    assert "(llms-full.txt)" in (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")


def test_the_rules_for_assistants_are_whole():
    text = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    assert all(f'"{name}"' in text for name in get_args(Like))
    assert not [line for line in text.splitlines() if line.endswith((",", " or", " and"))]


def test_the_readme_opens_with_at_most_a_dozen_lines_of_code():
    first = FENCE.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert sum(line.startswith((">>>", "...")) for line in first[2].splitlines()) <= 12


def test_the_readme_is_short_and_nothing_of_its_examples_is_cut():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(BADGES.sub("", text).splitlines()) <= 90
    # What an index page shows of a block is about 100 columns wide.
    assert max(len(line) for block in FENCE.findall(text) for line in block[1].splitlines()) <= 96


def navigation():
    """Return the page and the name of each entry of the navigation."""
    site = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    return {page: name for name, page in re.findall(r'"([^"]+)" = "([\w/-]+\.md)"', site)}


def test_every_page_is_in_the_navigation():
    assert {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")} == {*navigation()}


def test_the_navigation_calls_pages_by_their_titles():
    titles = {
        page: re.search(r"^# (.*)$", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE)
        for page in navigation()
    }
    # The changelog is included from another file.
    assert {page: title[1].replace("`", "") for page, title in titles.items() if title} == {
        page: name for page, name in navigation().items() if page != "changelog.md"
    }


def test_no_page_installs_an_extra_by_a_name_that_no_registry_has():
    wrong = re.compile(r"pip install\s+['\"]?recframe\b")
    assert [page_name(page) for page in PAGES if wrong.search(page.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("name", ["start.md", "start-polars.md", "ratings.md"])
def test_the_first_pages_speak_of_ratings_before_the_first_number(name):
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert "`min_relevance=4`" in text[: text.index(".evaluate(")]


def test_no_page_decides_by_an_end_that_is_not_adjusted():
    """A gate reads the verdict: with several rows, an interval may exclude 0 by chance."""
    end = re.compile(r"""\b(low|high)\b["')\]]{0,3} *[<>]=? *-?[\d.]""")
    assert [page_name(page) for page in PAGES if end.search(page.read_text(encoding="utf-8"))] == []


@pytest.fixture
def site():
    pytest.importorskip("zensical")
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "tools" / "site_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_site_shows_code_that_can_be_pasted(site):
    page = "- a list\n\n    ```python\n    >>> x = [\n    ...     1,\n    ... ]  # doctest: +SKIP\n    >>> x\n    [1]\n    <BLANKLINE>\n    >>> y\n    ```\n"
    shown = site.FENCE.sub(site.split, page)
    assert shown == (
        "- a list\n\n    ```python\n    x = [\n        1,\n    ]\n    x\n    ```\n\n"
        "    ``` { .text .output }\n    [1]\n    ```\n\n    ```python\n    y\n    ```\n"
    )
    for path in PAGES:
        shown = site.FENCE.sub(site.split, path.read_text(encoding="utf-8"))
        for block in re.findall(r"^( *)```python\n(.*?)^\1```$", shown, re.DOTALL | re.MULTILINE):
            compile(textwrap.dedent(block[1]), page_name(path), "exec")


def test_rules_of_the_contract_have_anchors(site):
    assert site.with_anchors("**V1.** Each row\n\n**No.** rule") == "**V1.**{ #v1 } Each row\n\n**No.** rule"


def test_each_page_has_a_description_of_its_own(site):
    text = {page_name(path): site.description(path.read_text(encoding="utf-8")) for path in PAGES[1:]}
    assert len({*text.values()}) == len(text)
    assert {name for name, words in text.items() if not 20 <= len(words) <= 400} <= {"changelog.md"}


def test_blocks_are_at_most_80_columns_wide():
    # What the site shows of them, without the prompts.
    wide = []
    for path in PAGES[1:]:
        for block in re.finditer(
            r"^( *)```(?!mermaid)[^\n]*\n(.*?)^\1```$", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        ):
            for line in textwrap.dedent(block[2]).splitlines():
                shown = re.sub(r"^(>>>|\.\.\.) | *# doctest: .*", "", line)
                if len(shown) > 80:
                    wide.append(f"{page_name(path)}: {shown}")
    assert not wide, "python tools/wrap_examples.py wraps code:\n" + "\n".join(wide)


ELSEWHERE = {
    "0.025": "6.5 % of the MRR of a simulation",
    "0.382": "the MRR of a simulation",
    "0.383": "the MRR of a simulation",
    "0.758": "the true value of a simulation",
    "0.18": "the bias of a mean in a simulation",
    "1.29": "the bias of a mean in a simulation",
    "6.5": "the seconds of a query on PostgreSQL",
    "4.7": "a version of LightGBM",
    "60.1": "the share of verdicts in a simulation",
    "79.8": "the share of verdicts in a simulation",
    "80.3": "the share of verdicts in a simulation",
    "2311.01453": "arXiv",
}
"""Numbers of prose that neither code nor a table shows, and what they are."""


def test_numbers_in_prose_are_those_that_code_and_tables_show():
    blocks = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)
    tables = re.findall(r"^\|.*$", "\n".join(path.read_text(encoding="utf-8") for path in PAGES), re.MULTILINE)
    pages = "\n".join(tables)
    wrong = {}
    for path in (
        PAGES[0],
        ROOT / "docs" / "methods.md",
        *sorted((ROOT / "docs" / "howto").glob("*.md")),
    ):
        text = path.read_text(encoding="utf-8")
        shown = "\n".join(result[0] for result in blocks.finditer(text)) + pages
        # README's times are in a sentence that tools/speed.py writes.
        prose = re.sub(
            r"\]\([^)]*\)|`[^`]*`|^\|.*$|at most .*? on 2 cores", "", blocks.sub("", text), flags=re.MULTILINE
        )
        numbers = re.findall(r"(?<![\w.@/:])\d+\.\d+(?![\w.]*\d)", prose)
        known = {number for number in numbers if re.search(rf"(?<![\d.]){re.escape(number)}", shown)}
        wrong[page_name(path)] = {*numbers} - known - {*ELSEWHERE}
    assert not any(wrong.values()), wrong


def test_tabs_of_two_examples_do_not_merge():
    # Tabs without text between them are one set.
    for path in PAGES:
        parts = re.split(r'^=== ".*"$', path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:-1]
        assert all(re.search(r"^\S", text, re.MULTILINE) for text in parts[1::2]), page_name(path)
