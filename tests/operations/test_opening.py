"""Opening the store of an instance: what stands in its way is one sentence with the command that helps."""

import os

import pytest
from memoryd.errors import AccessError
from memoryd.operations import opening


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
