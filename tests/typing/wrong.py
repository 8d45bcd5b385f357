"""What type checkers must refuse; each line says so, and an unneeded remark is an error itself."""

import polars as pl

import recframe

eager = pl.DataFrame()

recframe.rec([1, 2])  # type: ignore[call-overload]
recframe.rec(eager).ndcg("5")  # type: ignore[call-overload]
recframe.rec(eager).ndcg(5, gain="exp")  # type: ignore[call-overload]
recframe.rec(eager).ndcg(5, "object")  # type: ignore[call-overload]
recframe.rec(eager).ndcg(5, scor="knn")  # type: ignore[call-overload]
recframe.rec(eager).r_precision(5)  # type: ignore[call-overload]
recframe.rec(eager).ndcg(5, ties=pl.col("ties"))  # type: ignore[call-overload]
recframe.rec(eager, usr="user_id")  # type: ignore[call-overload]
recframe.Config(truth=eager)  # type: ignore[call-arg]
recframe.Config.set(ties="wurst")  # type: ignore[arg-type]
recframe.require(0.5, "0.3")  # type: ignore[arg-type]
recframe.require(0.5, {"ndcg": "0.3"})  # type: ignore[dict-item]
recframe.expr.ndcg(score="score", relevant="clicked", k=5, ties="item")  # type: ignore[arg-type]
recframe.expr.ndcg("score", "clicked")  # type: ignore[call-arg]
recframe.sql("ndcg", table="recs", dialect="oracle")  # type: ignore[arg-type]
recframe.expr.coverage(score="score")  # type: ignore[attr-defined]
