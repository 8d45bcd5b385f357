"""An evaluator of MLflow: metrics, tables, charts and a baseline in a run.

MLflow finds it by the entry point ``mlflow.model_evaluator``. Nothing of MLflow is imported before it calls.
"""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from recframe._base.roles import EXPLAINED
from recframe._call.evaluate import expand
from recframe._data.arrays import array_of, columns_of_arrays
from recframe.accessor import rec
from recframe.errors import InputError, OptionError, quoted
from recframe.metrics import CutMetric
from recframe.metrics._beyond_accuracy import ExposureMetric
from recframe.profiles import explain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recframe.accessor import EagerRec
    from recframe.profiles._spec import Spec

MODEL_TYPE = "ranker"
DEFINITION = "definition.txt"
BASELINE = "baseline.parquet"
EVALUATOR_OPTIONS = ("metrics", "k", "per", "features", "baseline", "charts", "metric_prefix")
"""What ``evaluator_config`` holds besides the roles and policies of `evaluate`."""
CALL = "evaluator_config={'metrics': ['ndcg', 'map'], 'k': [5, 10], 'by': 'user'}"
ARTIFACTS = {".json": "Json", ".parquet": "Parquet", ".html": "Text", ".txt": "Text", ".png": "Image"}
"""MLflow's name of each kind of file."""


class Evaluator:
    """What ``mlflow.models.evaluate(..., model_type="ranker")`` calls."""

    @classmethod
    def can_evaluate(cls, *, model_type: str | None, **_: Any) -> bool:
        """Return whether the model ranks."""
        return model_type == MODEL_TYPE

    def evaluate(
        self,
        *,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any] | None = None,
        model: Any = None,
        predictions: str | None = None,
        **others: Any,
    ) -> Any:
        """Compute metrics and artifacts, then log all of them to the run, and return them."""
        for name in ("extra_metrics", "custom_artifacts"):
            if others.get(name):
                msg = f"the evaluator 'recframe' computes no {name}="
                raise OptionError(msg, "give a metric of your own as one of evaluator_config={'metrics': [...]}")
        config = dict(evaluator_config or {})
        named = {name: config.pop(name, None) for name in EVALUATOR_OPTIONS}
        if not named["metrics"]:
            msg = "evaluator_config names no metrics"
            raise OptionError(msg, CALL)
        frame = _frame_of(dataset, model, predictions, named["features"], config)
        specs = expand(named["metrics"], named["k"], config.get("like"))
        mlflow = import_module("mlflow")
        with TemporaryDirectory() as folder:
            files = _Files(Path(folder), named["metric_prefix"] or "")
            logged = {artifact.path for artifact in mlflow.MlflowClient().list_artifacts(run_id)}
            if files.path_of(DEFINITION).name in logged:
                msg = f"run {run_id} has results of this evaluator already"
                raise InputError(msg, "evaluator_config={'metric_prefix': 'test_', ...} tells them apart")
            metrics = {files.prefix + name: value for name, value in _write(frame, specs, named, config, files).items()}
            mlflow.log_metrics(metrics, run_id=run_id)
            return import_module("mlflow.models").EvaluationResult(metrics, files.log(run_id), run_id)


class _Files:
    """A folder for what goes into the run, and its tables."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self.folder = folder
        self.prefix = prefix
        self.tables: dict[Path, Any] = {}

    def path_of(self, name: str) -> Path:
        """Return the path of a file, with the prefix of the call in its name."""
        return self.folder / f"{self.prefix}{name}"

    def table(self, name: str, frame: Any) -> None:
        """Write a table, which MLflow's pages show if it is JSON."""
        path = self.path_of(name)
        self.tables[path] = frame
        if path.suffix == ".json":
            frame.to_json(path, orient="split", index=False, date_format="iso")
        else:
            frame.to_parquet(path, index=False)

    def log(self, run_id: str) -> dict[str, Any]:
        """Log all files to the run, and return them as artifacts of MLflow."""
        mlflow = import_module("mlflow")
        kinds = import_module("mlflow.models.evaluation.artifacts")
        root = mlflow.get_run(run_id).info.artifact_uri
        artifacts = {}
        for path in sorted(self.folder.iterdir()):
            if path in self.tables:
                mlflow.log_table(self.tables[path], path.name, run_id=run_id)
            else:
                mlflow.log_artifact(str(path), run_id=run_id)
            artifacts[path.stem] = getattr(kinds, f"{ARTIFACTS[path.suffix]}EvaluationArtifact")(f"{root}/{path.name}")
            artifacts[path.stem]._load(path)  # noqa: SLF001 - otherwise `EvaluationResult.save` has no content
        return artifacts


def _write(
    frame: EagerRec[Any], specs: list[Spec], named: Mapping[str, Any], roles: Mapping[str, Any], files: _Files
) -> dict[str, float]:
    """Write all files, and return the metrics."""
    metrics = [spec.as_named for spec in specs]
    by_list = [spec.as_named for spec in specs if not isinstance(spec.metric, ExposureMetric)]
    values = frame.evaluate(metrics, counts=bool(by_list))
    policies = {name: roles[name] for name in ("like", *EXPLAINED) if roles.get(name) is not None}
    texts = [str(explain(metric, **policies)) for metric in metrics]
    files.path_of(DEFINITION).write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    if by_list:
        key = roles.get("by", columns_of_arrays()["by"])
        files.table("intervals.json", frame.describe(by_list, details=True))
        if key is not None:
            files.table("lists.parquet", frame.evaluate(by_list, per=key))
        frame.evaluate(by_list, save=files.path_of(BASELINE))
    if named["per"] is not None:
        files.table("segments.json", frame.evaluate(metrics, per=named["per"]))
    if named["baseline"] is not None:
        with TemporaryDirectory() as folder:
            file = _baseline(named["baseline"], files.path_of(BASELINE).name, folder)
            files.table("comparison.json", frame.compare(by_list, baseline=file, details=True))
    if find_spec("altair") is not None if named["charts"] is None else named["charts"]:
        for name, chart in _charts(frame, specs):
            chart.save(files.path_of(name), scale_factor=2)
        frame.report(files.path_of("report.html"), metrics)
    return {_allowed(str(name)): float(values[name].iloc[0]) for name in values.columns}


def _charts(frame: EagerRec[Any], specs: list[Spec]) -> Iterator[tuple[str, Any]]:
    """Return the charts that MLflow shows by themselves, by the names of their files."""
    by_list = [spec for spec in specs if not isinstance(spec.metric, ExposureMetric)]
    cut = {spec.at(None).name: spec.at(None).as_named for spec in by_list if isinstance(spec.metric, CutMetric)}
    if cut:
        yield "curve.png", frame.plot.curve(list(cut.values()))
    if by_list:
        yield "distribution.png", frame.plot.distribution(by_list[0].as_named)


def _frame_of(dataset: Any, model: Any, predictions: str | None, features: Any, roles: dict[str, Any]) -> EagerRec[Any]:
    """Return the accessor of the rows with their relevance and scores, with the call's roles bound.

    The roles of both columns are added to `roles`.
    """
    frame = dataset.features_data
    if not hasattr(frame, "columns"):
        msg = "the data is an array, which has no column for the key of the lists"
        raise InputError(msg, "give a pandas data frame, or mlflow.data.from_polars(frame, targets=, predictions=)")
    for role, instead in {"score": "predictions=", "rank": "predictions=", "model": "a run for each model"}.items():
        if role in roles:
            msg = f"evaluator_config has {role!r}"
            raise OptionError(msg, f"give {instead}: MLflow evaluates one model in a run")
    names = columns_of_arrays()
    columns: dict[str, Any] = {}
    if dataset.has_targets:
        roles["relevant"] = dataset.targets_name
        columns[dataset.targets_name] = dataset.labels_data
    roles["score"] = dataset.predictions_name or predictions or names["score"]
    if model is None:
        if not dataset.has_predictions:
            msg = "there is neither a model nor a column of scores"
            raise InputError(msg, "predictions='score'")
        columns[roles["score"]] = dataset.predictions_data
    else:
        predicted = model.predict(frame if features is None else frame[list(features)])
        if hasattr(predicted, "columns"):
            if roles["score"] not in predicted.columns:
                msg = f"the model returns the columns {quoted(list(predicted.columns))}"
                raise InputError(msg, "predictions= names the column of scores")
            predicted = predicted[roles["score"]]
        columns[roles["score"]] = array_of("the model's prediction", predicted)
    bound: EagerRec[Any] = rec(frame.assign(**columns), **roles)
    return bound


def _baseline(path_or_run: Any, name: str, folder: str) -> str:
    """Return the path of a baseline, which is a file or is downloaded from a run."""
    text = str(path_or_run)
    if Path(text).suffix:
        return text
    download = import_module("mlflow").artifacts.download_artifacts
    return str(download(run_id=text, artifact_path=name, dst_path=folder))


def _allowed(name: str) -> str:
    """Return the name of a metric in characters that MLflow allows: ``ndcg_at_10``, ``fbeta_beta_2_at_5``."""
    return re.sub(r"[^\w\-. :/]", "_", name.replace("@", "_at_").replace(")", ""))
