"""Warnings of `status` that nothing had to fail for."""

import shutil
from types import SimpleNamespace

import pytest
from memoryd.operations.problems import FULL_BYTES


@pytest.mark.parametrize(("free", "told"), [(FULL_BYTES - 1, ["disk_full"]), (FULL_BYTES, [])])
async def test_a_full_disk_is_said_before_anything_has_to_be_written(mind, monkeypatch, free, told):
    """Notes may rest for hours; the day they do not, it is too late to hear of it."""
    await mind.ask("rescan")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))

    status = await mind.ask("status")

    assert [each["code"] for each in status["warnings"]] == told


async def test_a_full_disk_that_stopped_a_note_is_said_once(mind, monkeypatch):
    """What the daemon met itself stands there already, with the same code."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    mind.memory.watch.warnings = [("disk_full", "The disk is full.", "Make room.")]

    assert [each["message"] for each in (await mind.ask("status"))["warnings"]] == ["The disk is full."]
