"""What happened to an agent's memory on this device, counted where it happens: the numbers behind `metrics`.

Local only: one row of `meta` an agent. The two `_today` counts begin anew at local midnight.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from ..store import Store, Tx

_JSON = msgspec.json.Encoder()


class Counters(msgspec.Struct, omit_defaults=True):
    """Counts since this device's memory began; `last_consolidation` in epoch seconds, 0 = never.

    `at_n`, `at_rev` and `at_evictions` are the last row, revision and eviction before the last consolidation.
    """

    day: str = ""
    retrievals: int = 0
    evictions: int = 0
    evictions_today: int = 0
    reinforcements_today: int = 0
    consolidations: int = 0
    llm_fallbacks: int = 0
    last_consolidation: float = 0.0
    at_n: int = 0
    at_rev: int = 0
    at_evictions: int = 0


_counters = msgspec.json.Decoder(Counters)


def local_day(now_ms: int) -> str:
    """The day of a time in milliseconds, in this machine's time zone."""
    return datetime.fromtimestamp(now_ms / 1000, UTC).astimezone().date().isoformat()


def read_counters(store: Store, agent_id: str) -> Counters:
    """The counters as they stand today."""
    found = store.meta(_key(agent_id))
    counters = _counters.decode(found) if found else Counters()
    today = local_day(store.clock.now_ms())
    if counters.day != today:
        counters.day, counters.evictions_today, counters.reinforcements_today = today, 0, 0
    return counters


def write_counters(tx: Tx, agent_id: str, counters: Counters) -> None:
    """Keep counters that were read and changed in this transaction."""
    tx.set_meta(_key(agent_id), _JSON.encode(counters).decode())


def count_evictions(tx: Tx, agent_id: str, number: int) -> None:
    """So many facts left the warm tier for cold or frozen."""
    if number:
        counters = read_counters(tx.store, agent_id)
        counters.evictions += number
        counters.evictions_today += number
        write_counters(tx, agent_id, counters)


def count_reads(tx: Tx, agent_id: str, reinforced: int) -> None:
    """So many facts counted as read for the first time on that day."""
    if reinforced:
        counters = read_counters(tx.store, agent_id)
        counters.reinforcements_today += reinforced
        write_counters(tx, agent_id, counters)


def count_llm_fallbacks(tx: Tx, agent_id: str, number: int) -> None:
    """So many times rules answered because a language model did not, or talked nonsense."""
    counters = read_counters(tx.store, agent_id)
    counters.llm_fallbacks += number
    write_counters(tx, agent_id, counters)


def count_retrievals(store: Store, answered: Mapping[str, int]) -> None:
    """Count answered questions by agent."""
    with store.transaction() as tx:
        for agent, number in answered.items():
            counters = read_counters(store, agent)
            counters.retrievals += number
            write_counters(tx, agent, counters)


def _key(agent_id: str) -> str:
    return f"counters/{agent_id}"
