# mypy: disable-error-code="assert-type"
"""What type checkers must see of pandas' frames; to mypy without pandas-stubs, these are Any. Never run."""

from typing import assert_type

import pandas as pd

import recframe

frame = pd.DataFrame()

assert_type(recframe.rec(frame).ndcg(5), float)
assert_type(recframe.rec(frame).ndcg(5, per="object"), pd.DataFrame)
assert_type(frame.pipe(recframe.rec).ndcg(5), float)
assert_type(frame.pipe(recframe.rec, by="object").ndcg(5), float)
assert_type(recframe.rec(frame, by="object").evaluate(["ndcg", "map"], k=5), pd.DataFrame)
