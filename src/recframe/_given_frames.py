"""The frames of a call: the user's own, and the side information that its metrics read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recframe._engines.registry import adapter_of, check_side_frame, is_frame
from recframe._engines.side_tables import feature_columns, items_frame
from recframe.errors import OptionError
from recframe.metrics._record import check_k

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recframe._arguments import Roles
    from recframe._plan.sources import Given
    from recframe.metrics import Metric

NEEDED = {
    "train": "train=past, a frame of who had which item",
    "features": "features=genres, a frame of the item and one numeric column a feature",
}


def given_frames(frame: Any, roles: Roles, metrics: Sequence[Metric]) -> Given:
    """Return the frames of a call: the user's own, and the side information that its metrics read."""
    read = {name for metric in metrics for name in (*metric.required_inputs, *metric.optional_inputs)}
    for metric in metrics:
        for name in metric.required_inputs:
            if getattr(roles, name) is None:
                msg = f"{metric.label} needs {name}=, which is not given"
                raise OptionError(msg, NEEDED[name])
    adapter = adapter_of(frame)
    for name in {"train", "features"} & read:
        check_side_frame(name, getattr(roles, name), frame)
    train = adapter.side_frame(roles.train) if "train" in read else None
    features: tuple[Any, list[str]] = (None, [])
    if "features" in read:
        features = feature_columns(adapter, adapter.side_frame(roles.features), roles.item)
    catalog, size = roles.catalog if "catalog" in read else None, None
    if isinstance(catalog, int) and not isinstance(catalog, bool):
        catalog, size = None, check_k(catalog, "catalog")
    elif catalog is not None:
        catalog = adapter.side_frame(catalog) if is_frame(catalog) else items_frame(adapter, roles.item, catalog)
    from recframe._plan.sources import Given

    return Given(frame, roles.truth, train, *features, catalog, size)
