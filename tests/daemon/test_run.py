"""The daemon's life: opened anew when its database is damaged, and patient while it is opened."""

import asyncio
import signal
from types import SimpleNamespace
from typing import ClassVar

import pytest
from memoryd.daemon import run as run_module
from memoryd.errors import StoreDamagedError


class FakeDaemon:
    """Tells of damage as often as `lives` says, then waits for a signal."""

    lives: ClassVar[list[str]] = []
    stops: ClassVar[list[bool]] = []

    def __init__(self, memory, places, clock, notifier, damaged, lost, notes=None) -> None:
        self._damaged = damaged

    async def start(self) -> None:
        if FakeDaemon.lives.pop(0) == "damaged":
            self._damaged()
        else:
            signal.raise_signal(signal.SIGTERM)

    async def stop(self, *, for_good: bool) -> None:
        FakeDaemon.stops.append(for_good)


@pytest.fixture
def opened(monkeypatch) -> list[int]:
    """How often the memory was opened."""
    opened: list[int] = []

    async def open_memory(*_, **__):
        opened.append(1)
        return SimpleNamespace()

    monkeypatch.setattr(run_module, "Daemon", FakeDaemon)
    monkeypatch.setattr(run_module.Memory, "open", open_memory)
    FakeDaemon.stops = []
    return opened


class Manager:
    """What the service manager hears."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def still_starting(self, more_s: float) -> None:
        self.asked.append(more_s)


async def test_a_damaged_database_is_opened_anew_in_the_same_process(opened):
    """The service goes on: closed without a last push, opened again, and ended by its signal only."""
    FakeDaemon.lives = ["damaged", "damaged", "sound"]
    assert await run_module._serve(None, None, "", "", Manager()) == 0
    assert len(opened) == 3
    assert FakeDaemon.stops == [False, False, True]


async def test_damage_again_and_again_is_left_to_a_person(opened):
    """A disk that spoils every database ends the process with an error instead of a loop."""
    FakeDaemon.lives = ["damaged"] * 9
    with pytest.raises(StoreDamagedError, match="again and again"):
        await run_module._serve(None, None, "", "", Manager())
    assert len(opened) == run_module.DAMAGES + 1


async def test_a_long_opening_asks_the_service_manager_for_time(monkeypatch):
    """A migration or rebuild extends the start limit every step, and asks no more when it is done."""
    monkeypatch.setattr(run_module, "PATIENCE_STEP_S", 0.01)
    manager = Manager()

    async with run_module._patience(manager):
        await asyncio.sleep(0.1)
    asked = len(manager.asked)
    await asyncio.sleep(0.05)

    assert asked >= 2
    assert len(manager.asked) == asked
    assert manager.asked[0] == pytest.approx(0.03)
