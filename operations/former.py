"""After this device took a new id: which notes of the former one the disk lacks, or holds differently."""

from typing import Any

from ..store import Store
from ..store.rekey import COMPARE_WITH
from ..store.sent import cursor

_NAMED = 5
"""Notes that a notice names."""
# A deleted note has a row here too: somebody took it away knowingly.
_LACKING = (
    "SELECT f.path FROM notes f WHERE f.device = ? AND f.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM notes o"
    " WHERE o.agent_id = f.agent_id AND o.path = f.path AND o.device = ?) ORDER BY f.path"
)
_DIFFERING = (
    "SELECT f.path FROM notes f JOIN notes o ON o.agent_id = f.agent_id AND o.path = f.path AND o.device = ?"
    " WHERE f.device = ? AND f.deleted_at IS NULL AND o.chunks <> f.chunks ORDER BY f.path"
)


def missing_of_former(store: Store) -> list[str]:
    """Sentences for a person, once: after the former log was folded and the disk compared; else nothing yet."""
    former = store.meta(COMPARE_WITH)
    if not former or not cursor(store, former).idx:
        return []
    lacking = [str(row[0]) for row in store.execute(_LACKING, (former, store.device))]
    differing = [str(row[0]) for row in store.execute(_DIFFERING, (store.device, former))]
    with store.transaction() as tx:
        tx.set_meta(COMPARE_WITH, "")
    found: list[str] = []
    if lacking:
        hint = f"To bring them back: memoryd restore --from {former} --copy --merge."
        found.append(f"This disk lacks {_listed(lacking)} of the former device {former}. {hint}")
    if differing:
        found.append(f"This disk holds {_listed(differing)} differently than the former device {former}.")
    return found


def _listed(paths: list[Any]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f"{len(paths)} notes ({', '.join(paths[:_NAMED])}{more})"
