"""Five simulated devices on a cloud that loses replies end up with one memory, whatever happens when."""

import asyncio
import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memoryd.clock import ManualClock
from memoryd.model import Metadata, fact_id
from memoryd.store.forget import forget_fact, lift
from memoryd.store.notes import delete_note
from memoryd.store.rekey import take_over
from memoryd.store.versions import record_access, set_edit, set_hot_item, set_tree_node, state_fact, withdraw_edit
from memoryd.sync.hrana import CloudError
from memoryd.sync.verify import verify
from memoryd.tiers.derive import derive

from .conftest import AGENT, Peer, SimulatedCloud

LINES = ("The heron fishes", "The ibis came", "今天下雨", "The otter dives")
IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
PATHS = ("memory/2026-02-13.md", "memory/2026-02-14.md")
TABLES = {
    "facts": "agent_id, id, text, first_seen",
    "notes": "agent_id, device, path, size, chunks, mentions, state, first_seen, deleted_at",
    "mentions": "agent_id, device, path, n, fact_id, category, importance, metadata",
    "edits": "agent_id, fact_id, field, value, version",
    "forgotten": "agent_id, fact_id, version, lifted_version, moved_to",
    "access": "agent_id, fact_id, device, days, last_day",
    "hot_items": "agent_id, section, key, value, version, deleted",
    "tree_nodes": "agent_id, path, description, version, deleted",
    "devices": "device, name, succeeds",
}

DEVICES = 5
EXAMPLES = int(os.environ.get("MEMORYD_EXAMPLES", "20"))
"""How many lives are played; 20 for every day, some hundred before a release."""
TODAY = 20_497


class Device:
    """A simulated device: its peer, and what its notes say on disk."""

    def __init__(self, folder: Path, cloud: SimulatedCloud, number: int) -> None:
        self.cloud, self.folder, self.life = cloud, folder / f"d{number}", 0
        self.clock = ManualClock(1_770_976_800_000 + number * 1000)
        self.peer = self.new_peer()
        self.disk: dict[str, str] = {}
        self.others: list[Device] = []

    def new_peer(self) -> Peer:
        """The device with an empty database."""
        path = self.folder / str(self.life) / "memory.db"
        return Peer(path, self.clock, self.cloud)  # type: ignore[arg-type]

    async def rebuild(self) -> None:
        """The database is lost and made anew from the notes; the file beside it names the former id."""
        former = await self.peer.device()
        await self.peer.close()
        self.life += 1
        self.peer = self.new_peer()
        await self.peer.thread.start()
        await self.peer.write(lambda tx: take_over(tx, [former]))
        await self.read_disk()

    async def retire(self, other: "Device") -> None:
        """This device takes over from another one, which may be alive and will notice."""
        if other is not self:
            gone = await other.peer.device()
            known = await self.peer.rows(f"SELECT 1 FROM devices WHERE device = '{gone}'")
            if known:
                await self.peer.write(lambda tx: take_over(tx, [gone]))

    async def act(self, what: str, line: int, path: int, value: int) -> None:
        """One step of a person or agent on this device."""
        self.clock.advance(1)
        text, note = LINES[line], PATHS[path]
        fact = fact_id(AGENT, text)
        peer = self.peer
        if what == "state" and await self.has_forgotten(fact):
            return  # `store` refuses it
        if what == "note":
            self.disk[note] = "".join(f"{LINES[n]}\n" for n in range(len(LINES)) if (value >> n) & 1)
            await peer.note(note, self.disk[note])
        elif what == "delete" and self.disk.pop(note, None) is not None:
            await peer.write(lambda tx: delete_note(tx, AGENT, note))
        elif what == "edit":
            await peer.write(lambda tx: set_edit(tx, AGENT, fact, ("importance", "pin")[path], str(value)))
        elif what == "forget":
            await peer.write(lambda tx: forget_fact(tx, AGENT, fact))
        elif what == "read":
            await peer.write(lambda tx: record_access(tx, AGENT, [fact], 20_000 + value))
        elif what == "lesson":
            await peer.write(lambda tx: set_hot_item(tx, AGENT, "lessons", fact, None, deleted=bool(value % 2)))
        elif what == "project":
            await peer.write(lambda tx: set_hot_item(tx, AGENT, "projects", str(line), f'"{value}"'))
        elif what == "tree":
            await peer.write(lambda tx: set_tree_node(tx, AGENT, f"birds/{line}", str(value)))
        elif what == "skew":
            self.clock.jump((value - 8) * 10_800)  # up to a day, back or forth
        else:
            await self._live_on(what, text, fact, value)

    async def _live_on(self, what: str, text: str, fact: str, value: int) -> None:
        if what == "state":
            await self.peer.write(lambda tx: state_fact(tx, AGENT, text, "birds", 0.5, Metadata()))
        elif what == "lift":
            await self.peer.write(lambda tx: lift(tx, AGENT, fact))
            await self.read_disk()
        elif what == "rebuild":
            await self.rebuild()
        elif what == "retire":
            await self.retire(self.others[value % len(self.others)])
        elif what == "withdraw":
            await self.peer.write(lambda tx: withdraw_edit(tx, AGENT, fact, "importance"))
        elif what in ("exchange", "lost", "refused", "late"):
            self.cloud.fault = "" if what == "exchange" else what
            await self.exchange()

    async def has_forgotten(self, fact: str) -> bool:
        """Whether a tombstone stands here."""
        return bool(
            await self.peer.rows(f"SELECT 1 FROM forgotten WHERE fact_id = '{fact}' AND version > lifted_version")
        )

    async def exchange(self) -> None:
        """One exchange, which may fail."""
        with contextlib.suppress(CloudError):
            await self.peer.sync.exchange()
        self.cloud.fault = ""
        await self.read_disk()

    async def read_disk(self) -> None:
        """Ingest every note again, as after a lifted tombstone; without one this changes nothing."""
        for note, text in self.disk.items():
            await self.peer.note(note, text)


STEPS = st.tuples(
    st.integers(0, DEVICES - 1),
    st.sampled_from(
        ["note", "note", "delete", "edit", "forget", "lift", "read", "lesson", "project", "tree", "state", "skew"]
        + ["exchange"] * 5
        + ["withdraw", "lost", "refused", "late", "rebuild", "retire"]
    ),
    st.integers(0, len(LINES) - 1),
    st.integers(0, len(PATHS) - 1),
    st.integers(0, 15),
)


@settings(
    max_examples=int(os.environ.get("MEMORYD_EXAMPLES", "20")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(STEPS, max_size=40), st.permutations(range(DEVICES)))
def test_devices_converge_whatever_the_order_and_the_losses(steps, order):
    """After all faults end and everybody has exchanged, every row and every derived value is the same everywhere."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        asyncio.run(simulate(Path(folder), steps, order))


async def simulate(folder: Path, steps: Any, order: Any) -> None:
    """Play the steps, let everybody exchange, compare."""
    cloud = SimulatedCloud()
    devices = [Device(folder, cloud, number) for number in range(DEVICES)]
    for each in devices:
        each.others = devices
        await each.peer.thread.start()
    try:
        for number, what, line, path, value in steps:
            await devices[number].act(what, line, path, value)
        for _ in range(6):
            for number in order:
                await devices[number].exchange()
        await compare(devices)
    finally:
        for each in devices:
            await each.peer.close()
        cloud.db.close()


def derived(store: Any) -> Any:
    """What memory says of every fact."""
    facts = [row[0] for row in store.execute("SELECT id FROM facts WHERE agent_id = ? ORDER BY id", (AGENT,))]
    return derive(store, AGENT, facts, TODAY)


async def compare(devices: list[Device]) -> None:
    """Every table, what was forgotten, and the hash."""
    for table, columns in TABLES.items():
        first, *others = [sorted(await each.peer.rows(f"SELECT {columns} FROM {table}"), key=repr) for each in devices]
        for other in others:
            assert other == first, table
    assert len({each.peer.sync.status.memory_hash for each in devices}) == 1
    first, *others = [await each.peer.call(derived) for each in devices]
    for other in others:
        assert other == first
    for each in devices:
        assert (await verify(each.peer.sync, deep=True)).differences == []
    standing = "SELECT fact_id FROM forgotten WHERE version > lifted_version"
    for each in devices:
        assert await each.peer.rows(f"SELECT text FROM facts WHERE id IN ({standing})") == []
        assert await each.peer.rows(f"SELECT path FROM mentions WHERE fact_id IN ({standing})") == []
