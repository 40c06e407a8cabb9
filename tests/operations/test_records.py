"""What is known of the files, summed up as it changes."""

import random

from memoryd.model import Finding
from memoryd.operations.records import Records
from memoryd.store.files import FileRecord


def _record(chance, path):
    state = chance.choice(["ok", "ok", "findings", "unreadable", "too_large"])
    findings = [Finding("utf16", 1, "odd bytes", "save it as UTF-8")] * chance.randint(0, 2)
    agent = chance.choice(["", "default", "otter", "heron"])
    return FileRecord(
        path, agent, 1, 1, 1, 1, "", 1, state, f"reason {path}", findings=findings, masked=chance.randint(0, 3)
    )


def test_the_sums_are_those_of_the_records_whatever_came_and_went():
    """After any order of puts, replacements and removals each sum is what a walk over all records gives."""
    chance = random.Random(4)
    records = Records()
    for _ in range(600):
        path = f"memory/{chance.randint(1, 12)}.md"
        if chance.random() < 0.35:
            records.pop(path, None)
        else:
            records[path] = _record(chance, path)

        every = list(records.values())
        notes = [each for each in every if each.agent_id]
        assert records.agents == {each.agent_id for each in notes}
        assert (records.notes, records.masked) == (len(notes), sum(each.masked for each in every))
        assert records.with_findings == sum(bool(each.findings) for each in notes)
        assert records.unreadable == {each.path: each.reason for each in every if each.state == "unreadable"}
        assert records.too_large == {each.path: each.reason for each in every if each.state == "too_large"}


async def test_status_and_questions_walk_no_list_of_files(mind, monkeypatch):
    """However many files are known, neither `status` nor a question goes through all of them."""
    await mind.note("memory/2026-02-13.md", "- The heron stands in the ferry port.\n")

    def walked(self):
        raise AssertionError("every record was looked at")

    monkeypatch.setattr(Records, "__iter__", walked)

    assert (await mind.ask("status"))["notes"]["known"] == 1
    assert [each["text"] for each in await mind.ask("retrieve", query="heron")] == [
        "The heron stands in the ferry port."
    ]
    assert (await mind.ask("retrieve", query="heron", envelope=True))["stale"] is False
