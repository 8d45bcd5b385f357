"""The families of metrics: the pages of the documentation, and the sections of the list that `explain` prints."""

from __future__ import annotations

FAMILIES = {
    "hits": ("Hits in the top k", ["accuracy", "f_measure", "first_hit", "counts", "money"]),
    "average-precision": ("Average precision and judgments", ["average_precision", "interpolated", "judgments"]),
    "gain": ("Graded relevance and cascades", ["dcg", "rbp", "cascade", "subtopics"]),
    "whole-lists": ("Areas and correlations of whole lists", ["auc", "partial_auc", "correlation"]),
    "coverage": ("Coverage and exposure", ["exposure", "user_coverage", "expected_exposure", "awrf"]),
    "novelty": ("Novelty, diversity, calibration", ["novelty", "serendipity", "diversity", "calibration"]),
}
"""The names of their pages, their titles, and the modules here whose metrics they hold."""
