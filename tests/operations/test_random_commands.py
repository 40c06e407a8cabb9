"""TR-2: whatever is commanded, a note stays as its owner left it."""

import json
import random

import pytest
from memoryd.errors import MemorydError
from memoryd.operations.table import OPERATIONS

MODES = ("quick", "daily", "monthly", "full")
DAYS = range(10, 14)


def fields_of(mind, chance):
    """For each command some ways to ask it; what is not named here is asked without fields."""
    day = chance.choice(DAYS)
    note = str(mind.workspace / f"memory/2026-02-{day}.md")
    return {
        "store": [{"text": f"Fact {day}", "category": "x"}, {"text": f"Day {day} was windy", "category": "y"}],
        "retrieve": [{"query": "windy fence"}, {"query": "fence", "after_write": True, "all_agents": True}],
        "extract-metadata": [{"file": note}],
        "forget": [{"text": f"Day {day} was windy"}, {"text": f"Day {day} was windy", "prove": True}],
        "history": [{"text": f"Day {day} was windy"}],
        "hot": [
            {"rebuild": True}, {"update": ["task", json.dumps({"text": f"Task {day}"})]},
            {"done": f"Mend the fence {day}"},
            {"remove": f"Mend the fence {day}"}, {"update": ["lesson", json.dumps({"text": f"Day {day} was windy"})]},
        ],
        "tree": [{"prune": True}, {"add": ["wind/days", "Windy days"]}, {"remove": "wind/days"}],
        "consolidate": [{"mode": chance.choice(MODES)}],
        "ingest-daily": [{"days": 90}, {"days": 90, "dry_run": True}],
        "distill": [{"file": note}],
        "context": [{"query": "fence"}],
        "search-url": [{"all": True}],
        "cold": [{"query": "fence"}],
        "export": [{}, {"output": str(mind.root / "out")}],
        "import": [{"file": str(mind.root / "out/memory.json")}],
        "restore": [{"deleted": True}],
        "rescan": [{}, {"confirm_deletes": True}],
        "ledger": [{"file": note}],
        "why": [{"file": note, "line": 1}],
        "why-not": [{"sentence": "The fence is mended"}],
        "validate": [{"all": True}, {"file": note}],
        "undo": [{}, {"list": True}],
        "key": [{"action": "show"}],
        "task": [
            {"action": "start", "name": "fence", "goal": "Mend the fence"}, {"action": "list"},
            {"action": "finish", "name": "fence", "outcome": "The fence is mended"},
        ],
        "session": [{"action": "list"}],
    }  # fmt: skip


@pytest.mark.parametrize("seed", [7, 2026])
async def test_tr2_random_commands_write_no_note(mind, seed):
    """A hundred commands out of the whole table: names and bytes of all notes, one of them an agent's, are equal."""
    chance = random.Random(seed)

    for day in DAYS:
        await mind.note(f"memory/2026-02-{day}.md", f"- Day {day} was windy\n- [ ] Mend the fence {day}\n")
    await mind.note("memory/robin/2026-02-13.md", "- Robin saw the fence\r\n")
    before = {name: data for name, data in mind.bytes_of_notes().items() if name.startswith("memory/")}
    commands = [name for name in OPERATIONS if name != "doctor"]  # which only looks, and starts processes
    asked = set()

    for _ in range(100):
        command = chance.choice(commands)
        fields = chance.choice(fields_of(mind, chance).get(command, [{}]))
        asked.add(command)
        try:
            await mind.ask(command, **fields)
        except (MemorydError, ValueError):  # refused, or a command without the fields that it needs
            continue

    after = {name: data for name, data in mind.bytes_of_notes().items() if name.startswith("memory/")}
    assert {name: data for name, data in after.items() if name.endswith(".md")} == before
    assert len(asked) > 25
