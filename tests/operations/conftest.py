"""A whole memory in this process: workspace, store and every operation, without a daemon."""

import asyncio

import msgspec
import pytest
from memoryd.clock import ManualClock
from memoryd.config import Settings
from memoryd.operations.memory import Memory
from memoryd.operations.table import OPERATIONS
from memoryd.places import Places


class Mind:
    """One workspace with its memory; `ask` performs an operation as the socket does."""

    def __init__(self, root, settings=None):
        self.root = root
        self.workspace = root / "notes"
        (self.workspace / "memory").mkdir(parents=True)
        self.clock = ManualClock()
        self.settings = settings or Settings()
        state = root / "state"
        self.places = Places("default", state, state, state / "s", root / "config.toml", self.workspace)
        self.memory = None

    async def open(self, url="", token=""):
        self.memory = await Memory.open(self.places, self.settings, self.clock, url=url, token=token)
        return self

    async def close(self):
        await self.memory.close()

    async def outcome(self, command, /, **fields):
        operation = OPERATIONS[command]
        given = {name.rstrip("_"): value for name, value in fields.items()}
        return await self.memory.perform(operation, msgspec.convert(given, operation.request))

    async def ask(self, command, /, **fields):
        """The reply as JSON has it."""
        reply = (await self.outcome(command, **fields)).reply
        return msgspec.json.decode(msgspec.json.encode(reply))

    async def hits(self, query, **fields):
        found = await self.ask("retrieve", query=query, limit=50, **fields)
        await self.rest()
        return [each["text"] for each in found]

    async def rest(self):
        """Let what goes on after a reply come to its end, without closing."""
        while self.memory._later:
            await asyncio.wait(self.memory._later)
            await asyncio.sleep(0)  # a task that is done leaves the set only when the loop turns

    async def note(self, path, text):
        """Save a note and take it in."""
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        await self.memory.rescan()
        return file

    async def sql(self, sql, *parameters):
        return await self.memory.thread.call(lambda store: store.execute(sql, parameters))

    async def facts(self, agent="default"):
        """Text to (state, tier) of every fact."""
        rows = await self.sql(
            "SELECT f.text, d.state, d.tier FROM facts f JOIN derived d ON d.n = f.n WHERE f.agent_id = ?", agent
        )
        return {text: (state, tier) for text, state, tier in rows}

    async def states(self):
        """Text to state of every fact."""
        return {text: state for text, (state, _) in (await self.facts()).items()}

    async def undo_settled(self):
        """Take back what the newest consolidation decided of contradictions."""
        (newest, *_) = (await self.ask("undo", list=True))["changes"]
        assert newest["what"] == "upkeep: contradictions"
        await self.ask("undo", n=newest["n"])

    def bytes_of_notes(self):
        return {
            path.relative_to(self.workspace).as_posix(): path.read_bytes()
            for path in sorted(self.workspace.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
async def new_mind(tmp_path_factory):
    """Makes memories, with or without a cloud."""
    made = []

    async def make(settings=None, url="", token=""):
        mind = await Mind(tmp_path_factory.mktemp("mind"), settings).open(url, token)
        made.append(mind)
        return mind

    yield make
    for mind in made:
        await mind.close()


@pytest.fixture
async def mind(new_mind):
    """A memory without a cloud."""
    return await new_mind()
