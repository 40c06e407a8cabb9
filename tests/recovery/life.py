"""One life of a memory, from its first note to a restore, in a process that a test may crash at any point.

    python life.py STORY ROOT [URL TOKEN]     live the story; what was done already is not done twice

Edits by hand are done once, and a command is given again until it was answered, as a person would.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from memoryd.clock import Clock
from memoryd.config import Settings
from memoryd.operations.memory import Memory
from memoryd.operations.table import OPERATIONS
from memoryd.places import Places

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "chaos"))
from compare import dump, soundness

FIRST = "# Friday\n\n- The marmot sleeps\n- The code word is hyrax\n- Decided to keep the old pier\n"
SECOND = FIRST.replace("sleeps", "sleeps until noon") + "- [ ] Oil it\n"
WORDINGS = "# Writing\n" + "".join(
    f"- {words} (importance: 0.8)\n"
    for words in ("Use 150-char abstracts", "Use 150-char abstracts in briefings",
                  "Ship the lantern catalogue", "Ship the lantern catalogue in spring")
)  # fmt: skip
OTHER = "".join(f"- Sighting {n} of the wheatear #birds\n" for n in range(40))


class Life:
    """One workspace and state folder."""

    def __init__(self, root: Path, cloud: tuple[str, str]) -> None:
        self.root, self.cloud = root, cloud
        self.workspace = root / "w"
        (self.workspace / "memory").mkdir(parents=True, exist_ok=True)
        state = root / "state"
        self.places = Places("default", state, state, state / "s", root / "config.toml", self.workspace)

    async def open(self) -> Memory:
        return await Memory.open(self.places, Settings(), Clock(), url=self.cloud[0], token=self.cloud[1])

    async def ask(self, memory: Memory, command: str, **values: Any) -> Any:
        operation = OPERATIONS[command]
        return (await memory.perform(operation, msgspec.convert(values, operation.request))).reply

    def once(self, name: str, edit: Callable[[], object]) -> None:
        """An edit by hand: done once, whatever crashes later."""
        done = self.root / f"done-{name}"
        if not done.exists():
            edit()
            done.touch()

    async def told(self, memory: Memory, command: str, **values: Any) -> None:
        """A command that is given again until it was answered."""
        done = self.root / f"answered-{command}"
        if not done.exists():
            await self.ask(memory, command, **values)
            done.touch()

    def note(self, name: str) -> Path:
        return self.workspace / "memory" / name


async def notes(life: Life) -> None:
    """Notes come, change and go; a block is edited by hand; a fact is stored, another forgotten."""
    for n in range(6):
        life.once(
            f"other {n}", lambda n=n: life.note(f"2026-01-0{n + 1}.md").write_text(OTHER.replace("the", f"no {n}"))
        )
    life.once("first", lambda: life.note("2026-02-13.md").write_text(FIRST))
    memory = await life.open()
    await memory.rescan()
    await life.told(memory, "store", text="The pika gathers hay", category="animals")
    await life.told(memory, "hot", update=["identity", '{"name": "Kestrel"}'])
    await memory.rescan()
    life.once("by hand", lambda: _edit_block(life.workspace / "MEMORY.md"))
    life.once("second", lambda: life.note("2026-02-13.md").write_text(SECOND))
    await memory.rescan()
    life.once("gone", lambda: life.note("2026-01-01.md").unlink())
    await memory.rescan(confirm_deletes=True)
    if life.cloud[0]:
        await life.ask(memory, "sync", wait=True)
    else:
        await memory.snapshots.take()
    await life.told(memory, "forget", text="The code word is hyrax")
    if life.cloud[0]:
        await life.ask(memory, "sync", wait=True)
    await memory.rescan()
    await memory.close()


async def restore(life: Life) -> None:
    """Another machine takes over what the cloud holds."""
    memory = await life.open()
    reply = await life.ask(memory, "restore")
    assert reply.verified
    await life.ask(memory, "sync", wait=True)
    await memory.close()


async def fold(life: Life) -> None:
    """A second machine folds the first one's log, then finds that somebody else writes under its id."""
    memory = await life.open()
    await life.ask(memory, "sync", wait=True)
    life.once("own", lambda: life.note("2026-03-01.md").write_text("- The vole digs\n"))
    await memory.rescan()
    await life.ask(memory, "sync", wait=True)
    await memory.thread.call(lambda store: _forget_receipts(store, life))
    await life.ask(memory, "sync", wait=True)
    await memory.close()


def _forget_receipts(store: Any, life: Life) -> None:
    """As if another machine had written the last segments under this id."""

    def forget() -> None:
        with store.transaction() as tx:
            tx.run("DELETE FROM receipts WHERE idx > 0")

    life.once("fork", forget)


async def dream(life: Life) -> None:
    """Two lessons stand there in shorter wordings too; a dream joins them."""
    life.once("wordings", lambda: life.note("2026-02-13.md").write_text(WORDINGS))
    memory = await life.open()
    await memory.rescan()
    await life.ask(memory, "dream")
    await memory.close()


async def damage(life: Life) -> None:
    """The file is spoiled once; a snapshot is there."""
    memory = await life.open()
    await memory.rescan()
    await memory.close()


STATEMENTS = (
    "CREATE TABLE more (agent_id TEXT, fact_id TEXT, n INTEGER) STRICT",
    "-- with; a comment\nINSERT INTO more SELECT agent_id, id, n FROM facts",
    "CREATE TRIGGER none AFTER INSERT ON more BEGIN UPDATE more SET n = 0; SELECT ';'; END",
    "UPDATE more SET n = n + 1",
)
"""A further schema, as a later memoryd could have it."""


async def upgrade(life: Life) -> None:
    """A later memoryd, with one migration more, opens the store."""
    from memoryd.store import migrations

    name = f"{len(migrations.MIGRATIONS) + 1:03}_more.sql"
    (life.root / name).write_text(";\n".join(STATEMENTS) + ";\n-- the end\n")
    shipped = migrations.resources.files("memoryd.store")
    migrations.MIGRATIONS += (name,)
    migrations.resources.files = lambda _: _Either(life.root, shipped)
    memory = await life.open()
    await memory.rescan()
    await memory.close()


class _Either:
    """Two folders of resources as one."""

    def __init__(self, first: Path, second: Any) -> None:
        self._first, self._second = first, second

    def joinpath(self, name: str) -> Any:
        own = self._first / name
        return own if own.exists() else self._second.joinpath(name)


def spoil(life: Life) -> None:
    data = bytearray(life.places.database.read_bytes())
    for start in range(4096, len(data), 4096):
        data[start : start + 2000] = b"\xa5" * 2000
    life.places.database.write_bytes(data)


def _edit_block(page: Path) -> None:
    lines = page.read_text("utf-8").splitlines(keepends=True)
    end = next(n for n, line in enumerate(lines) if "memoryd:end" in line)
    at = max(n for n, line in enumerate(lines[:end]) if "Kestrel" in line)
    lines[at] = lines[at].replace("Kestrel", "Merlin")
    page.write_text("".join(lines), "utf-8")


STORIES: dict[str, Callable[[Life], Awaitable[None]]] = {
    "notes": notes, "dream": dream, "restore": restore, "fold": fold, "damage": damage, "upgrade": upgrade,
}  # fmt: skip


def held(root: Path) -> dict[str, Any]:
    """What the memory holds, which files stand there, and what is broken."""
    database = root / "state" / "memory.db"
    rows: dict[str, Any] = {name: sorted(found, key=repr) for name, found in dump(database).items()}
    files = sorted(path for path in (root / "w").rglob("*") if path.is_file())
    rows["rescued"] = [path.read_text("utf-8") for path in files if "-rescued-" in path.name]
    files = [path for path in files if "-rescued-" not in path.name]
    rows["files"] = [[path.relative_to(root).as_posix(), path.read_text("utf-8")] for path in files]
    return rows | {"faults": soundness(database)}


def main(story: str, root: Path, *cloud: str) -> None:
    life = Life(root, (cloud[0], cloud[1]) if cloud else ("", ""))
    if story == "spoil":
        spoil(life)
    else:
        asyncio.run(STORIES[story](life))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
