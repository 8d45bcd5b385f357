"""The documentation of the methods that are metrics, from the docstrings and the formulas of their records."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TYPE_CHECKING

from recframe._base.signatures import roles_doc
from recframe.metrics._beyond_accuracy import ExposureMetric

if TYPE_CHECKING:
    from collections.abc import Collection

    from recframe.metrics import Metric

MATHS = re.compile(r"^\.\. math::.*?(?=\n\S|\Z)", re.DOTALL | re.MULTILINE)
"""The formula of a record in LaTeX, which the site's pages show and a terminal cannot."""
RETURNS = """Returns
-------
float or frame
    {value}; nan if no list has one. A frame if `per` is given or the frame is lazy.

See Also
--------
evaluate : Many metrics and models in one call.
compare : Which models are better.

Notes
-----
"""


def documentation(kind: type[Metric], roles: Collection[str], side_information: Collection[str]) -> str:
    """Return the docstring of a metric's method: the plain formula, what it returns, and its roles."""
    text = MATHS.sub(lambda _: f"``{kind.formula}``\n", cleandoc(kind.__doc__ or ""))
    value = "The value of all lists together" if issubclass(kind, ExposureMetric) else "The mean over lists"
    text = text.replace("Notes\n-----\n", RETURNS.format(value=value), 1)
    return f"{text}\n{roles_doc(roles, options=side_information)}"
