"""The worked example of the data model, stage by stage, on two real devices."""

import hashlib
import json
import zlib

import pytest

PATH = "memory/2026-02-13.md"
SECRET = "hunter2" + "secret"
LINES = [
    "# Friday",
    "",
    "- 10:40 Decided to use raw JSON-RPC #bsc",
    "  to avoid the dependency",
    "- see [docs](https://a.example/x)",
    f"- password: {SECRET}",
    "- see docs",
    "***",
]
F1 = "Decided to use raw JSON-RPC to avoid the dependency"
F4 = "Decided to use plain JSON-RPC to avoid the dependency"
F3 = f"password: [masked:password:{hashlib.sha256(SECRET.encode()).hexdigest()[:2]}]"


def fact_id(text):
    """The id of a fact of agent `default`, by its definition."""
    return hashlib.sha256(f"1\0default\0{text}".encode()).hexdigest()[:16]


class Example:
    """Device one, its note, and what the cloud holds of its log."""

    def __init__(self, device, sqld):
        self.device, self.sqld, self.lines = device, sqld, list(LINES)
        self.seen = 0

    def save(self):
        """Save the note as it stands now and wait until the cloud has confirmed it."""
        self.device.write("2026-02-13.md", "\n".join(self.lines) + "\n")
        self.device.ask("sync", "--wait", limit_s=90)

    def hit(self, text):
        """The one hit of exactly these words."""
        (found,) = [hit for hit in self.device.hits(text) if hit["text"] == text]
        return found

    def rows(self):
        """All rows of all segments, in order."""
        payloads = self.sqld.query("SELECT hex(payload) FROM segments ORDER BY device, idx")
        return [json.loads(line) for (data,) in payloads for line in zlib.decompress(bytes.fromhex(data)).splitlines()]

    def new_rows(self, kind):
        """The rows of one kind that came since the last call of `mark`."""
        return [row for row in self.rows()[self.seen :] if row[0] == kind]

    def mark(self):
        """Remember how much of the log was there."""
        self.seen = len(self.rows())


@pytest.fixture
def example(machine, sqld):
    """Stage 0: the note is written, taken in and pushed."""
    device = machine("d1", cloud=True).start()
    example = Example(device, sqld)
    example.save()
    return example


def test_the_first_segment_holds_the_note(example):
    """Three facts, four mentions, one chunk and one note go out; the secret does not."""
    mentions = sorted((row for row in example.new_rows("mention") if row[3] == PATH), key=lambda row: row[4])

    assert sorted(row[3] for row in example.new_rows("fact")) == sorted([F1, "see docs", F3])
    assert [row[5] for row in mentions] == [fact_id(text) for text in (F1, "see docs", F3, "see docs")]
    assert [(row[6], row[7]) for row in mentions] == [(3, 4), (5, 5), (6, 6), (7, 7)]
    assert [row[6] for row in example.new_rows("note") if row[3] == PATH] == [4]
    assert SECRET not in json.dumps(example.rows())


def test_hits_say_what_the_note_says(example):
    """Words, category, clock time, lines, links and masks come out as they went in."""
    first, second = example.hit(F1), example.hit("see docs")

    assert first["id"] == fact_id(F1)
    assert first["category"] == "bsc"
    assert first["sources"] == [{"file": PATH, "lines": [3, 4], "date": "2026-02-13T10:40Z"}]
    assert second["metadata"]["urls"] == ["https://a.example/x"]
    assert sorted(source["lines"] for source in second["sources"]) == [[5, 5], [7, 7]]
    assert any(hit["text"] == F3 for hit in example.device.hits("password"))


def test_all_five_stages(example, machine, sqld):
    """Link changed, line reworded, line removed, fact forgotten, device lost and restored."""
    one = example.device
    example.mark()

    example.lines[4] = "- see [docs](https://b.example/x)"
    example.save()
    assert example.new_rows("fact") == []
    assert example.hit("see docs")["metadata"]["urls"] == ["https://b.example/x"]
    assert [row[6] for row in example.new_rows("note") if row[3] == PATH] == [4]

    example.lines[2] = "- 10:40 Decided to use plain JSON-RPC #bsc"
    example.save()
    assert not one.knows(F1)
    chain = one.ask("history", "--id", example.hit(F4)["id"])["chain"]
    assert [each["text"] for each in chain] == [F1, F4]
    assert [each["state"] for each in chain] == ["retracted", "live"]

    example.mark()
    del example.lines[6]
    example.save()
    assert [row[6] for row in example.new_rows("note") if row[3] == PATH] == [3]
    assert [source["lines"] for source in example.hit("see docs")["sources"]] == [[5, 5]]

    reply = one.ask("forget", "--id", fact_id(F4))
    one.ask("sync", "--wait", limit_s=90)
    assert reply["forgotten"] == [fact_id(F4), fact_id(F1)]
    assert [place.split("-4")[0] for place in reply["still_in_notes"]] == [f"{PATH}:3"]
    assert "JSON-RPC" not in json.dumps(example.rows())
    assert sqld.query("SELECT count(*) FROM cold_memories WHERE text LIKE '%JSON-RPC%'") == [["0"]]
    assert one.bytes_of_notes()[PATH].decode().splitlines() == example.lines

    two = machine("d2", cloud=True)
    two.write("2026-02-14.md", "\n".join(example.lines[2:4]) + "\n- The second device has a note\n")
    two.start()
    two.ask("sync", "--wait", limit_s=90)
    assert two.knows("The second device has a note")
    assert not two.knows(F4)

    one.kill()
    two.stop()
    summary = two.ask("restore", limit_s=90)
    restored = two.bytes_of_notes()[PATH].decode()
    assert summary["verified"] is True
    assert summary["masked_lines"] >= 2
    assert len(restored.splitlines()) == len(example.lines)
    assert restored.splitlines()[4] == example.lines[4]
    assert f"- {F3}" in restored
    assert "[forgotten]" in restored
    assert "JSON-RPC" not in restored
    two.start()
    assert {fact_id("see docs"), fact_id(F3)} <= {hit["id"] for hit in two.hits("see docs password")}
    assert not two.knows(F4)
    successors = {each["succeeded_by"] for each in two.ask("devices")["devices"]}
    assert next(each["device"] for each in two.ask("devices")["devices"] if each["this"]) in successors
