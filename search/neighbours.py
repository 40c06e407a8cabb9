"""The blocks around a fact in its note: an answer often does not repeat the words of what it follows."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

import msgspec

from ..store import Store

WEIGHTS = {-3: 0.1, -2: 0.2, -1: 0.5, 1: 0.3, 2: 0.2, 3: 0.1}
"""What a word in the block at this distance is worth beside one in the fact itself. The block before matters most."""

_REACH = max(WEIGHTS)
_JSON = msgspec.json.Encoder()
# The latest note of each fact: its index holds device, path and place in order.
_PLACES = """SELECT j.value ->> 0, (SELECT json_array(m.agent_id, m.device, m.path, m.n)
 FROM mentions m INDEXED BY mentions_fact WHERE m.agent_id = j.value ->> 1 AND m.fact_id = j.value ->> 2
 AND m.path <> '' ORDER BY m.device DESC, m.path DESC, m.n DESC LIMIT 1) FROM json_each(?) AS j"""
_BLOCKS = """SELECT j.key, m.n, d.n FROM json_each(?) AS j CROSS JOIN mentions AS m ON m.agent_id = j.value ->> 0
 AND m.device = j.value ->> 1 AND m.path = j.value ->> 2 AND m.n BETWEEN j.value ->> 3 AND j.value ->> 4
 CROSS JOIN derived AS d ON d.agent_id = m.agent_id AND d.fact_id = m.fact_id WHERE d.state = 'live'"""

Place: TypeAlias = tuple[str, int]
"""A note, and which of its blocks, from 0."""


class Surroundings:
    """Which facts stand around which, as far as the notes were looked at."""

    def __init__(self) -> None:
        self._place_of: dict[int, Place] = {}
        self._fact_at: dict[Place, int] = {}

    def put(self, place: Place, n: int) -> None:
        """Fact `n` stands there. A fact that stands at several places is known by the first one put."""
        self._fact_at[place] = n
        self._place_of.setdefault(n, place)

    def around(self, n: int) -> Iterator[tuple[int, int]]:
        """Distance and number of each fact that is known to stand around fact `n`, nearest before first."""
        if (place := self._place_of.get(n)) is not None:
            note, index = place
            for distance in WEIGHTS:
                if (other := self._fact_at.get((note, index + distance))) is not None:
                    yield distance, other

    def numbers(self) -> list[int]:
        """All facts that were seen."""
        return list(self._place_of)


def surroundings(store: Store, facts: Sequence[tuple[int, str, str]]) -> Surroundings:
    """The blocks around facts, given as (number, agent, id), in the latest note of each."""
    rows: list[tuple[Any, ...]] = store.execute(_PLACES, (_JSON.encode(facts).decode(),))
    places = [(n, *msgspec.json.decode(place)) for n, place in rows if place is not None]
    found = Surroundings()
    for n, agent, device, path, index in places:
        found.put((f"{agent}\n{device}\n{path}", index), n)
    ranges = list(_ranges(sorted(place[1:] for place in places)))
    blocks: list[tuple[Any, ...]] = store.execute(_BLOCKS, (_JSON.encode(ranges).decode(),))
    for which, index, n in blocks:
        agent, device, path = ranges[which][:3]
        found.put((f"{agent}\n{device}\n{path}", index), n)
    return found


def _ranges(places: Sequence[tuple[str, str, str, int]]) -> Iterator[tuple[str, str, str, int, int]]:
    """What is to be read of each note, each block once."""
    for (agent, device, path), group in groupby(places, key=itemgetter(0, 1, 2)):
        first = last = -1
        for *_, index in group:
            if last >= 0 and index - _REACH > last + 1:
                yield agent, device, path, first, last
                last = -1
            first, last = (max(index - _REACH, 0) if last < 0 else first), index + _REACH
        yield agent, device, path, first, last
