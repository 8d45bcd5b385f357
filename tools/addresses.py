"""Writes the public addresses of the project where people look for them, once, on the day of publication.

    python tools/addresses.py --repository https://example.org/team/recframe --site https://recframe.example.org

`project.urls` and the page on a package index, badges in the README, the citation, the conda recipe, and the site's
edit links get them. A second run stops, because the places are filled in.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

URLS = """[project.urls]
Documentation = "{site}"
Repository = "{repository}"
Changelog = "{repository}/blob/main/CHANGELOG.md"
Issues = "{repository}/issues"
"""
BADGES = """# recframe

[![CI]({repository}/actions/workflows/ci.yml/badge.svg)]({repository}/actions/workflows/ci.yml)
[![version](https://img.shields.io/pypi/v/recframe)]({repository}/releases)
[![Python](https://img.shields.io/pypi/pyversions/recframe)]({site})
"""
PLACES = {
    "pyproject.toml": (
        ("# No `project.urls` before the project has a public address.\n", URLS),
        (
            "The project has no address to link to, so relative links become their texts.",
            "Relative links become those of the repository.",
        ),
        (
            r"""{{ pattern = '!\[[^\]]*\]\((?!https?://)[^)]*\)\n\n', replacement = "" }}""",
            r"""{{ pattern = '!\[([^\]]*)\]\((?!https?://)([^)]*)\)', replacement = '![\1]({repository}/raw/main/\2)' }}""",  # noqa: E501
        ),
        (
            r"""{{ pattern = '\[([^\]]*)\]\((?!https?://)[^)]*\)', replacement = '\1' }}""",
            r"""{{ pattern = '\[([^\]]*)\]\((?!https?://)([^)]*)\)', replacement = '[\1]({repository}/blob/main/\2)' }}""",  # noqa: E501
        ),
    ),
    "README.md": (("# recframe\n", BADGES),),
    "CITATION.cff": (("license: MIT\n", "license: MIT\nrepository-code: {repository}\nurl: {site}\n"),),
    "docs/cite.md": (("  license = {{MIT}}\n", "  license = {{MIT}},\n  url     = {{{site}}}\n"),),
    "conda/recipe.yaml": (("  license: MIT\n", "  license: MIT\n  homepage: {site}\n  repository: {repository}\n"),),
    "zensical.toml": (
        (
            'docs_dir = "docs"\n',
            'site_url = "{site}"\nrepo_url = "{repository}"\nedit_uri = "edit/main/docs/"\ndocs_dir = "docs"\n',
        ),
    ),
}
"""What to replace in each file: a text that stands there once, and what takes its place."""


def write_addresses(root: Path, repository: str, site: str) -> None:
    """Write the addresses into all files below a folder that name them; stop if a file has no place for them."""
    addresses = {"repository": repository.rstrip("/"), "site": site.rstrip("/")}
    texts = {name: (root / name).read_text(encoding="utf-8") for name in PLACES}
    for name, places in PLACES.items():
        for old, new in places:
            place = old.format()
            if texts[name].count(place) != 1:
                sys.exit(
                    f"{name} has no place for an address, or several: {place!r}; were the addresses written before?"
                )
            texts[name] = texts[name].replace(place, new.format(**addresses))
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")


def main() -> None:
    """Read the addresses from the command line, and write them."""
    parser = argparse.ArgumentParser(description="Write the public addresses of the project.")
    parser.add_argument(
        "--repository", required=True, help="where the code is, such as https://example.org/team/recframe"
    )
    parser.add_argument("--site", required=True, help="where the documentation is")
    options = parser.parse_args()
    for address in (options.repository, options.site):
        if not address.startswith("https://"):
            sys.exit(f"{address} is no address that begins with https://")
    write_addresses(ROOT, options.repository, options.site)


if __name__ == "__main__":
    main()
