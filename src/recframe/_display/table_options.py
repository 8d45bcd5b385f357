"""The options of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recframe._display.model_verdicts import ModelVerdicts


@dataclass(frozen=True)
class TableOptions:
    """The options of a table."""

    digits: int
    verdicts: ModelVerdicts
    """The verdicts of a comparison on the models of a table of means."""
    confidence: float | None = None
    """The confidence of intervals, if it is known."""
    interval: str = "range"
    """Whether intervals are a range, plus_minus or none."""
    letters: bool = True
    """Whether models may get letters, which mark the models that another model beats."""
    margins: Mapping[str, str | None] | None = None
    """The margin of each metric of a comparison as text, None without one; None if it is not known."""

    @property
    def shows_letters(self) -> bool:
        """Whether models get letters."""
        return self.letters and self.verdicts.can_use_letters
