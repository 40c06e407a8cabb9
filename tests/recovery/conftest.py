"""A memory opened in the test's own process, on a real folder and a real store."""

import msgspec
import pytest
from memoryd.clock import ManualClock
from memoryd.config import Settings
from memoryd.operations.memory import Memory
from memoryd.operations.requests import RetrieveRequest
from memoryd.operations.table import OPERATIONS
from memoryd.places import Places


class House:
    """One workspace and state folder; opens memories in it and closes what is still open."""

    def __init__(self, root, clock: ManualClock) -> None:
        self.root, self.clock = root, clock
        self.workspace = root / "w"
        (self.workspace / "memory").mkdir(parents=True)
        self.settings = Settings()
        state = root / "state"
        self.places = Places("default", state, state, state / "default.sock", root / "config.toml", self.workspace)
        self.opened: list[Memory] = []

    def write(self, name: str, text: str):
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    async def open(self, url: str = "", token: str = "", *, resident: bool = False) -> Memory:
        memory = await Memory.open(
            self.places, msgspec.structs.replace(self.settings), self.clock, url=url, token=token, resident=resident
        )
        self.opened.append(memory)
        return memory

    async def close(self, memory: Memory) -> None:
        self.opened.remove(memory)
        await memory.close()

    async def ask(self, memory: Memory, command: str, **values):
        """The reply of one operation."""
        operation = OPERATIONS[command]
        return (await memory.perform(operation, msgspec.convert(values, operation.request))).reply

    async def finds(self, memory: Memory, text: str, agent: str = "default") -> bool:
        request = RetrieveRequest(query=text, limit=50, agent_id=agent)
        hits = (await memory.perform(OPERATIONS["retrieve"], request)).reply
        return any(hit.text == text for hit in hits)


@pytest.fixture
async def house(tmp_path, clock):
    house = House(tmp_path, clock)
    yield house
    for memory in list(house.opened):
        await house.close(memory)
