"""What `doctor` answers: checks with a fix each, the settings in force, and a block of text to paste."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec

CheckState: TypeAlias = Literal["ok", "warn", "fail"]


class Check(msgspec.Struct):
    """One check: what was found and, unless it is `ok`, what to do about it. Holds no secret and no words of a note."""

    name: str
    state: CheckState
    message: str
    fix: str = ""


class SettingInForce(msgspec.Struct):
    """A setting by its dotted name, its value, and who says it: `default` or a file's path."""

    name: str
    value: Any
    source: str


class DoctorReply(msgspec.Struct):
    """All checks; `ok` when none failed. `probed_by` says whose eyes looked: `daemon`, or `command` without one."""

    ok: bool
    probed_by: str
    checks: list[Check]
    settings: list[SettingInForce]
    block: str = ""


def looked(name: str, look: Callable[[], Check]) -> Check:
    """What a look finds; a system that forbids the look itself is a finding too, never the end of the others."""
    try:
        return look()
    except OSError as error:
        return forbidden(name, error)


def forbidden(name: str, error: OSError) -> Check:
    """A check that the system did not let happen."""
    where = f" {error.filename}" if error.filename else ""
    return failed(name, f"The system forbids to look:{where} {error.strerror}.", "Check owner and mode.")


def good(name: str, message: str) -> Check:
    """A check that found nothing wrong."""
    return Check(name, "ok", message)


def warned(name: str, message: str, fix: str) -> Check:
    """A check that found something to look at."""
    return Check(name, "warn", message, fix)


def failed(name: str, message: str, fix: str) -> Check:
    """A check that found what does not work."""
    return Check(name, "fail", message, fix)
