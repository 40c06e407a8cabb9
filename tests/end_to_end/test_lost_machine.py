"""A machine is lost, and another one brings everything back."""

import json

DAY = "2026-02-13.md"
TEXT = """# Friday

- Decided to open the new catalogue on 2 March
- 决定使用浏览器自动化来操作登录页面

```sh
lantern import --dry-run
```
"""


def lost(machine):
    """A device with two agents and a page whose every change is in the cloud; then its power is cut."""
    one = machine("one", cloud=True)
    one.write(DAY, TEXT)
    one.write("2026-02-14-birds.md", "- The heron stands at dusk\r\n\r\n- caf\u00e9 \ufeff and no newline")
    one.write("robin/2026-02-12.md", "- Robin feeds the gulls\n")
    (one.workspace / "MEMORY.md").write_text("# Mine\n\n- Be kind to herons\n")
    one.start()
    one.ask("store", "--text", "Prefers tea over coffee", "--category", "owner/preferences")
    one.ask("sync", "--wait", limit_s=90)
    one.kill()
    return one


def test_restore_brings_notes_and_facts_back(machine):
    """A read-only token is enough: every byte, every agent, stored facts, and a verification that agrees."""
    one = lost(machine)
    two = machine("two", cloud=True, access="ro")

    summary = two.ask("restore", limit_s=90)

    assert summary["verified"] is True
    assert sorted(summary["agents"]) == ["default", "robin"]
    assert two.bytes_of_notes() == one.bytes_of_notes()
    two.start()
    assert two.knows("Decided to open the new catalogue on 2 March")
    assert two.knows("Prefers tea over coffee")
    assert two.knows("Robin feeds the gulls", "--agent-id", "robin")
    assert two.ask("verify")["equal"] is True


def test_restore_never_writes_over_a_file(machine):
    """A differing local note stops it before the first write, and is named."""
    lost(machine)
    two = machine("two", cloud=True)
    two.write(DAY, "- My own words of that day\n")
    before = two.bytes_of_notes()

    refused = two.run("restore", "--json", limit_s=90)

    assert refused.returncode == 1
    assert (
        f"memory/{DAY}" in json.loads(refused.stderr)["error"]["message"] + json.loads(refused.stderr)["error"]["hint"]
    )
    assert two.bytes_of_notes() == before


def test_restore_merges_when_asked(machine):
    """`--merge` writes what is missing, leaves what differs, and keeps the cloud's copy apart."""
    one = lost(machine)
    two = machine("two", cloud=True)
    mine = two.write(DAY, "- My own words of that day\n")

    two.ask("restore", "--merge", limit_s=90)

    assert mine.read_text() == "- My own words of that day\n"
    assert (two.workspace / "memory/robin/2026-02-12.md").read_bytes() == one.bytes_of_notes()[
        "memory/robin/2026-02-12.md"
    ]
    copies = list((two.workspace / "memory" / ".restored").rglob(DAY))
    assert [copy.read_bytes() for copy in copies] == [TEXT.encode()]


def test_restoring_twice_changes_nothing(machine):
    """The second run finds everything in place and doubles no fact."""
    lost(machine)
    two = machine("two", cloud=True)
    first = two.ask("restore", limit_s=90)
    notes = two.bytes_of_notes()

    again = two.run("restore", "--json", limit_s=90)

    assert again.returncode == 66, again.stderr
    assert two.bytes_of_notes() == notes
    assert sum(two.start().ask("status")["agents"]["default"]["facts"].values()) == first["facts"] - 1
