"""What people see of the memory model's commands."""

import io

import pytest
from memoryd.cli.people import show_reply
from rich.console import Console

HOT = {
    "identity": {"agent_name": "Robin"},
    "owner_profile": {},
    "active_context": {
        "projects": [{"name": "EvoClaw", "status": "Active"}],
        "events": [{"text": "Hackathon", "timestamp": 1_707_350_400}],
        "tasks": [{"text": "Deploy", "status": "pending", "timestamp": 1}],
    },
    "critical_lessons": [{"text": "Measure twice", "category": "craft", "importance": 0.9, "timestamp": 1}],
}
NODE = {"path": "ops/kestrel", "description": "The port", "warm_count": 3, "cold_count": 1200, "children": []}
TASK = {"name": "port", "status": "active", "updated_at": 1_707_350_400, "goal": "Move it"}
SESSION = {"name": "talk", "last_at": 1, "ended": True, "turns": 2, "size_bytes": 1024, "expires_at": 1_707_350_400}
ROW = {"text": "A fact", "category": "x", "tier": "cold", "created_at": 1_707_350_400, "answered_by": "local",
       "reason": "No cloud is configured."}  # fmt: skip
COUNTS = {
    "ingested": 3, "balanced": True, "counts": {"warm": 2, "cold": 1, "hot": 0},
    "sizes": {"hot_bytes": {"is": 9, "limit": 5120}},
}  # fmt: skip


def shown(command, reply):
    """The text without colours."""
    out = io.StringIO()
    show_reply(command, reply, Console(file=out, width=100, highlight=False))
    return out.getvalue()


@pytest.mark.parametrize(
    ("command", "reply", "words"),
    [
        ("hot", HOT, ["agent_name: Robin", "EvoClaw · Active", "2024-02-08  Hackathon", "Measure twice (craft)"]),
        ("hot", {"done": "abc"}, ["done: abc"]),
        ("task", {"tasks": [TASK], "damaged": [{"path": "x", "reason": "x.json is no task"}]},
         ["port", "active", "Move it", "x.json is no task"]),
        ("task", {"name": "port", "file": "memory/working/port.json", "size_bytes": 99, "max_bytes": 10240, "facts": [],
                  "masked": 1, "removed": False, "task": {"status": "active", "goal": "Move it", "checkpoint": [1],
                  "notes": ["by hand", {"at": "odd", "text": "no time"}, {"at": 1, "text": "copied"},
                            {"at": 1e300, "text": "no such day"}]}},
         ["port  active  Move it", "by hand", "no time", "?  no such day", "copied", "checkpoint: [1]", "99 of 10,240",
          "1 secrets"]),
        ("dream", {"log": [{"at": 1, "step": "merge", "fact_id": "ab", "before": {"merged_into": None},
                            "after": {"merged_into": "cd"}, "change": 7, "undone": False}]},
         ["merge", "ab", "cd", "7"]),
        ("dream", {"steps": [{"step": "merge", "text": "Fuller", "parts": [{"text": "Full"}], "change": 7}],
                   "merged": 1, "consolidated": 0, "superseded": 0, "archived": 2, "faded": 0,
                   "layers": {"long_term": 1200}, "dry_run": True},
         ["merge: Fuller  (undo 7)", "    Full", "Would be: 1 merged, 2 archived. 1,200 long-term"]),
        ("session", {"sessions": [SESSION]}, ["talk", "1,024"]),
        ("session",
         {"session": SESSION, "turns": [{"at": 1, "role": "user", "text": "Which port?"}], "max_bytes": 2048},
         ["talk (ended)", "user: Which port?", "1,024 of 2,048 bytes"]),
        ("tree", {"nodes": [NODE], "size_bytes": 20, "max_size_bytes": 2048, "max_nodes": 50},
         ["kestrel", "The port", "3 warm, 1,200 cold", "1/50 nodes, 20/2,048 bytes"]),
        ("tree", {"pruned": 1, "paths": ["old"]}, ["pruned: 1", "old"]),
        ("context", {"context": "# Me\n[bold]", "size_bytes": 9, "max_bytes": 1000, "left_out": 2, "hits": []},
         ["# Me", "[bold]", "9 of 1,000 bytes, 2 lines did not fit"]),
        ("audit", {"ok": True, "found": 0, "agents": {"default": COUNTS}, "problems": []},
         ["default: 3 ingested = 2 warm, 1 cold, balanced", "hot_bytes 9/5,120", "in exactly one place"]),
        ("audit", {"ok": False, "found": 2, "agents": {}, "problems": [{"agent_id": "a", "what": "lost",
          "where": "f1"}]},
         ["a f1: lost", "and 1 more"]),
        ("undo", {"changes": [{"n": 4, "at": 0, "what": "hot --done", "undone": True}]}, ["4", "hot --done", "undone"]),
        ("undo", {"undone": 4, "what": "hot --done", "rows": 1, "lifted": []}, ["Undone: hot --done"]),
        ("cold", [ROW], ["A fact", "x · cold · 2024-02-08", "No cloud is configured. This is what is known here."]),
        ("cold", [], ["Nothing found."]),
        ("cold", {"initialized": True}, ["tables are there"]),
        ("search-url", {"query": "x", "results_count": 0, "results": []}, ["Nothing found."]),
    ],
)  # fmt: skip
def test_a_reply_is_readable(command, reply, words):
    """The words that matter stand there, also those that look like markup."""
    text = shown(command, reply)

    for word in words:
        assert word in text
