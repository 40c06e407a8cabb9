"""The guard at every door: what was forgotten comes in by no other way than `undo` (docs/memory.md, 5).

Of a forgotten sentence only its id is kept, so each sentence of what comes in is asked for. What a command says is
refused before it runs (`Memory.perform`); files, pages and models leave it out; what other devices wrote, and what
free text said before, is masked when memory settles.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from ..errors import UsageError
from ..foreign import decoded_json
from ..ingest.standing import standing_in
from ..model import MASK_FORGOTTEN, fact_id
from ..store import Store, Tx
from ..store.forget import DUTY_COPIES, DUTY_SNAPSHOT, add_duty
from ..store.thread import StoreThread
from ..store.versions import set_hot_item, set_tree_node
from .change_log import forget_changes

_JSON = msgspec.json.Encoder(order="deterministic")
_JSON_BEGINS = ("{", "[", '"')


class Guard:
    """What was forgotten of one agent at this moment."""

    def __init__(self, store: Store | Tx, agent_id: str) -> None:
        self._agent = agent_id
        rows = store.execute(
            "SELECT fact_id FROM forgotten WHERE agent_id = ? AND version > lifted_version AND moved_to = ''",
            (agent_id,),
        )
        self._gone = {str(row[0]) for row in rows}

    def stops(self, value: Any) -> bool:
        """Whether a text, or JSON with texts in it, names of fields too, says a sentence that was forgotten."""
        return bool(self._gone) and any(map(self._says, _texts(value)))

    def refuse(self, said: Iterable[str]) -> None:
        """Raise `UsageError` if one of the texts says a sentence that was forgotten; JSON is looked into."""
        if self._gone and any(self.stops([text, _decoded(text)]) for text in said):
            raise UsageError("This sentence was forgotten and stays so.", "Leave it out, or say it in other words.")

    def masked(self, value: Any) -> Any:
        """The value with each text that `stops` masked whole, so that the order of tombstones makes no difference."""
        if isinstance(value, str):
            return MASK_FORGOTTEN if self._says(value) else value
        if isinstance(value, Mapping):
            return {self.masked(name): self.masked(each) for name, each in value.items()}
        return [self.masked(each) for each in value] if isinstance(value, list) else value

    def _says(self, text: str) -> bool:
        return any(fact_id(self._agent, each) in self._gone for each in standing_in(text))


def mask_free_text(store: Store, agents: Iterable[str] | None = None) -> None:
    """Mask what hot state and the tree say of forgotten sentences, of all agents or of these.

    Whoever wrote it: a device that had not heard of the tombstone, or somebody before the sentence was forgotten.
    """
    for agent in _bereft(store) if agents is None else sorted(set(agents)):
        guard = Guard(store, agent)
        if found := [*_hot_items(store, agent, guard), *_tree_nodes(store, agent, guard)]:
            with store.transaction() as tx:
                for each in found:
                    _erase(tx, agent, each)
                _erase_blocks(tx, agent, guard)


class FreeText:
    """Sees to it that free text follows the tombstones; `due` when words may have come in past the guard.

    So at the start, after other devices' rows came in, and after something was forgotten.
    """

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread
        self.due = True

    async def follow(self, named: Collection[str]) -> None:
        """Mask what has to be: everywhere if it is due, else what a command wrote for the agents that it named."""
        everywhere, self.due = self.due, False
        if not everywhere and not named:
            return
        try:
            await self._thread.call(lambda store: mask_free_text(store, None if everywhere else named))
        except BaseException:
            self.due |= everywhere
            raise


class _Found(NamedTuple):
    """A row that says something forgotten; `masked` is its text without that, None where its very name says it."""

    table: Literal["hot_items", "tree_nodes"]
    section: str
    key: str
    masked: str | None
    in_own_log: bool


def _hot_items(store: Store, agent: str, guard: Guard) -> Iterator[_Found]:
    rows = store.execute(
        "SELECT section, key, coalesce(value, 'null'), rev > 0 FROM hot_items WHERE agent_id = ?"
        " AND section <> 'settings'",
        (agent,),
    )
    for section, key, value, own in rows:
        content = msgspec.json.decode(str(value))
        if guard.stops(str(key)):
            yield _Found("hot_items", str(section), str(key), None, bool(own))
        elif guard.stops(content):
            masked = _JSON.encode(guard.masked(content)).decode()
            yield _Found("hot_items", str(section), str(key), masked, bool(own))


def _tree_nodes(store: Store, agent: str, guard: Guard) -> Iterator[_Found]:
    rows = store.execute("SELECT path, description, rev > 0 FROM tree_nodes WHERE agent_id = ?", (agent,))
    for path, description, own in rows:
        if guard.stops(str(path)):
            yield _Found("tree_nodes", "", str(path), None, bool(own))
        elif guard.stops(str(description)):
            yield _Found("tree_nodes", "", str(path), MASK_FORGOTTEN, bool(own))


def _erase(tx: Tx, agent: str, found: _Found) -> None:
    """A new version for every device; the words leave this device's log, its undo log and its local snapshots."""
    if found.table == "tree_nodes":
        forget_changes(tx, agent, "tree", found.key)
    else:
        forget_changes(tx, agent, "hot", found.section, found.key)
    if found.masked is None:
        column = "path" if found.table == "tree_nodes" else "key"
        tx.run(f"DELETE FROM {found.table} WHERE agent_id = ? AND {column} = ?", (agent, found.key))
    elif found.table == "tree_nodes":
        set_tree_node(tx, agent, found.key, found.masked)
    else:
        set_hot_item(tx, agent, found.section, found.key, found.masked)
    if found.in_own_log:
        add_duty(tx, DUTY_SNAPSHOT, "")
    add_duty(tx, DUTY_COPIES, "")


def _erase_blocks(tx: Tx, agent: str, guard: Guard) -> None:
    for sha256, body in tx.execute("SELECT sha256, body FROM blocks WHERE agent_id = ?", (agent,)):
        if guard.stops(str(body)):
            tx.run("DELETE FROM blocks WHERE agent_id = ? AND sha256 = ?", (agent, sha256))


def _bereft(store: Store) -> list[str]:
    """The agents of whom something was forgotten."""
    return [str(row[0]) for row in store.execute("SELECT DISTINCT agent_id FROM forgotten ORDER BY agent_id")]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield str(name)
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _decoded(text: str) -> Any:
    """What a text says as JSON; None where it is none: then it is words."""
    try:
        return decoded_json(text) if text.lstrip().startswith(_JSON_BEGINS) else None
    except msgspec.DecodeError:
        return None
