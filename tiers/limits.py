"""One agent's limits and scoring: the configuration, overridden by what the agent's own rows say."""

from collections.abc import Mapping
from math import ceil
from typing import Any, TypeVar

import msgspec

from ..config import ColdSettings, HotSettings, ScoringSettings, Settings, TreeSettings, WarmSettings
from ..store import Store

SECTION = "settings"
"""The section of `hot_items` that holds an agent's limits and scoring; its keys are the tables of `config.toml`."""

_DAYS_A_YEAR = 365.25

S = TypeVar("S", HotSettings, WarmSettings, ScoringSettings, TreeSettings, ColdSettings)


class Limits(msgspec.Struct, frozen=True):
    """What one agent's hot state, warm tier, scores, tree and cold memory go by."""

    hot: HotSettings
    warm: WarmSettings
    scoring: ScoringSettings
    tree: TreeSettings
    cold: ColdSettings

    @property
    def expiry_days(self) -> int:
        """So many days after first_seen retracted facts, and stored ones that are frozen, count as expired."""
        return ceil(self.cold.retention_years * _DAYS_A_YEAR)


def agent_limits(store: Store, agent_id: str, settings: Settings | None = None) -> Limits:
    """The limits of one agent; `settings` are this device's (defaults if None), the agent's rows are stronger."""
    base = settings or Settings()
    rows = store.execute(
        "SELECT key, value FROM hot_items WHERE agent_id = ? AND section = ? AND deleted = 0", (agent_id, SECTION)
    )
    own = {str(key): msgspec.json.decode(str(value)) for key, value in rows if value is not None}
    return Limits(
        hot=_overridden(base.hot, own.get("hot")),
        warm=_overridden(base.warm, own.get("warm")),
        scoring=_overridden(base.scoring, own.get("scoring")),
        tree=_overridden(base.tree, own.get("tree")),
        cold=_overridden(base.cold, own.get("cold")),
    )


def _overridden(base: S, own: Any) -> S:
    """`base` with every field of `own` that this version knows and that has the right type."""
    if not isinstance(own, Mapping):
        return base
    values = msgspec.structs.asdict(base)
    for field, value in own.items():
        if field in values and _is_like(values[field], value):
            values[field] = value
    return msgspec.convert(values, type(base))


def _is_like(known: Any, value: Any) -> bool:
    wanted = (int, float) if isinstance(known, float) else int
    return isinstance(value, wanted) and not isinstance(value, bool)
