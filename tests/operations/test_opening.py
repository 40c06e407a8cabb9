"""Opening the store of an instance: what stands in its way is one sentence with the command that helps."""

import os

import msgspec
import pytest
from memoryd.errors import AccessError
from memoryd.operations import opening
from memoryd.operations.table import OPERATIONS


@pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
def test_a_file_that_must_not_be_written_is_said_before_it_is_opened(mind, monkeypatch, ending):
    """Neither a read-only database nor a leftover beside it ends in the middle of the first write."""
    path = mind.places.database.with_name(f"memory.db{ending}")
    path.touch()
    path.chmod(0o400)
    allowed = os.access
    # Root may write everything; the answer is that of another user's system call.
    monkeypatch.setattr(os, "access", lambda file, mode: file != path and allowed(file, mode))

    with pytest.raises(AccessError, match="mode 0400") as refused:
        opening.open_store(mind.places, mind.workspace, mind.clock)

    assert refused.value.hint == f"Run: chmod 600 {path}"
    path.chmod(0o600)


def test_a_file_of_another_user_is_said(mind, monkeypatch):
    """A leftover of a run under sudo names the command that takes it over."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "geteuid", lambda: 4321)

    with pytest.raises(AccessError, match="belongs to another user") as refused:
        opening.open_store(mind.places, mind.workspace, mind.clock)

    assert refused.value.hint.startswith("Take it over: sudo chown 4321")


@pytest.mark.parametrize(
    ("command", "given", "only_reads"),
    [
        ("retrieve", {"query": "x"}, True),
        ("retrieve", {"query": "x", "after_write": True}, False),
        ("store", {"text": "x", "category": "y"}, False),
        ("task", {"action": "list"}, True),
        ("task", {"action": "show", "name": "x"}, True),
        ("task", {"action": "start", "name": "x"}, False),
        ("session", {"action": "show"}, True),
        ("session", {"action": "add", "text": "x"}, False),
        ("dream", {}, False),
        ("dream", {"dry_run": True}, True),
        ("dream", {"log": True}, True),
        ("undo", {}, False),
        ("undo", {"list": True}, True),
        ("sync", {"receipts": True}, True),
        ("sync", {"wait": True}, False),
        ("key", {"action": "show"}, True),
        ("key", {"action": "rotate"}, False),
    ],
)
def test_what_only_shows_is_known_as_reading(command, given, only_reads):
    """Such a command never upgrades a store (ST-2)."""
    assert msgspec.convert(given, OPERATIONS[command].request).only_reads is only_reads
