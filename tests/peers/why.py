"""What the page "Why recframe" says of other libraries: run by any interpreter that has one of them, without recframe.

``python why.py LIBRARY`` writes facts as JSON. ``why.json`` holds those that the page shows.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

SCORES = {"a": 10.0, "x": 9.0, "b": 8.0, "y": 7.0, "z": 6.0}
GRADES = {"a": 3, "b": 1, "c": 2, "d": 1}
"""A list of five items, and the relevant ones, two of which it lacks."""
TIED = ("abc", "cba")
"""The rows of a list of equal scores, in two orders; ``a`` is relevant."""
TESTS = re.compile("t_test|ttest|wilcoxon|randomization|tukey|bootstrap")
PACKAGES = {
    "ranx": ("ranx", "ranx"),
    "ir_measures": ("ir_measures", "ir-measures"),
    "rectools": ("rectools", "RecTools"),
    "torchmetrics": ("torchmetrics", "torchmetrics"),
    "evidently": ("evidently", "evidently"),
    "lenskit": ("lenskit", "lenskit"),
}
"""The module to import and the distribution that holds it."""


def ranx():
    from ranx import Qrels, Run, evaluate

    def ndcg(truth, run):
        return float(evaluate(Qrels({"q": truth}), Run({"q": run}), "ndcg@10"))

    tied = [ndcg({"a": 1}, dict.fromkeys(order, 0.5)) for order in TIED]
    return {"ndcg": ndcg(GRADES, SCORES), "tied ndcg": tied}


def ir_measures():
    from ir_measures import calc_aggregate, nDCG

    def ndcg(truth, run):
        return float(calc_aggregate([nDCG @ 10], {"q": truth}, {"q": run})[nDCG @ 10])

    tied = [ndcg({"a": 1}, dict.fromkeys(order, 0.5)) for order in TIED]
    # The same list, whose relevant document has another name.
    renamed = [ndcg({name: 1}, dict.fromkeys("abc", 0.5)) for name in "ac"]
    return {"ndcg": ndcg(GRADES, SCORES), "tied ndcg": tied, "tied ndcg, renamed": renamed}


def rectools():
    import pandas as pd
    from rectools.metrics import NDCG

    shown = pd.DataFrame({"user_id": 1, "item_id": list(SCORES), "rank": range(1, 6)})
    truth = pd.DataFrame({"user_id": 1, "item_id": list(GRADES)})
    return {"ndcg": float(NDCG(k=10).calc(shown, truth))}


def torchmetrics():
    import torch
    from torchmetrics.retrieval import RetrievalMRR, RetrievalNormalizedDCG

    def value(metric, scores, grades):
        indexes = torch.zeros(len(scores), dtype=torch.long)
        return float(metric(torch.tensor(scores), torch.tensor(grades), indexes=indexes))

    grades = [GRADES.get(item, 0) for item in SCORES]
    orders = [[int(item == "a") for item in order] for order in TIED]
    return {
        "ndcg": value(RetrievalNormalizedDCG(top_k=10), list(SCORES.values()), grades),
        "tied ndcg": [value(RetrievalNormalizedDCG(top_k=10), [0.5] * 3, order) for order in orders],
        "tied mrr": [value(RetrievalMRR(), [0.5] * 3, order) for order in orders],
    }


def evidently():
    import pandas as pd
    from evidently import DataDefinition, Dataset, Recsys, Report
    from evidently.metrics import MAP, NDCG

    def value(metric, rows):
        frame = pd.DataFrame(rows, columns=["user", "item", "prediction", "target"])
        ranking = Recsys(
            user_id="user", item_id="item", target="target", prediction="prediction", recommendations_type="score"
        )
        data = Dataset.from_pandas(frame, data_definition=DataDefinition(ranking=[ranking]))
        result = Report([metric]).run(data, None).dict()["metrics"][0]["value"]["value"]
        return float(list(result.values())[-1])

    # It needs lists longer than k.
    rows = [("q", item, score, GRADES.get(item, 0)) for item, score in SCORES.items()]
    ordered = [("u", place, -float(place), int(place in (0, 3, 5))) for place in range(6)]
    return {
        "ndcg": value(NDCG(k=4), rows),
        "tied ndcg of twenty relevant items": value(NDCG(k=10), [("u", place, 0.5, 1) for place in range(20)]),
        "map, rows reversed": [value(MAP(k=4), ordered), value(MAP(k=4), ordered[::-1])],
    }


def lenskit():
    from lenskit.data import ItemList
    from lenskit.metrics import NDCG

    shown = ItemList(item_ids=list(SCORES), ordered=True)
    truth = ItemList(item_ids=list(GRADES), rating=[float(grade) for grade in GRADES.values()])
    return {"ndcg": float(NDCG(n=10).measure_list(shown, truth))}


def tests_of(package):
    """Return the modules of a library whose names are those of tests or of the bootstrap."""
    root = Path(find_spec(package).origin).parent
    return sorted({path.stem for path in root.rglob("*.py") if TESTS.search(path.stem)})


def facts(library):
    """Return what is said of a library."""
    package, distribution = PACKAGES[library]
    return {"version": version(distribution), **globals()[library](), "modules of tests": tests_of(package)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write(json.dumps(facts(sys.argv[1])))
