"""The warnings of `status`: what stands against the memory's freshness or safety, each with what to do about it."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime

from ..ingest.names import classify
from ..search.language import AGAIN, LOSS
from ..search.language_worker import JIEBA, SCIKIT
from .extra_notes import extra_line, globs_for
from .memory import RESCAN_S, Memory
from .rebuild import Rebuilt
from .replies import NotesStatus, Problem
from .self_recall import is_low

HARMLESS = frozenset({"unmatched", "new_agent", "new_device", "conflict_copies", "plain_logs", "language"})
"""Warnings that say nothing against the memory's freshness or safety."""
FULL_BYTES = 65_536
"""With less room than this a disk is full: no transaction fits."""
_GLOBS_NAMED = 5
"""Folders of unmatched files that a warning's line names, at most."""


def problems(memory: Memory, notes: NotesStatus) -> list[Problem]:
    """Everything that wants a person's attention now; computed, never stored."""
    return [
        *(Problem(*each) for each in memory.watch.warnings),
        *_of_the_disk(memory),
        *_of_the_database(memory),
        *_of_held_notes(memory),
        *_of_files(memory, notes),
        *_of_freshness(memory),
        *_of_agents(memory),
        *_of_search(memory),
        *_of_sync(memory),
    ]


def _of_the_disk(memory: Memory) -> Iterator[Problem]:
    """A full disk is said before something has to be written: nothing may be for hours."""
    if any(code == "disk_full" for code, _, _ in memory.watch.warnings):
        return
    state = memory.places.state
    try:
        free = shutil.disk_usage(state).free
    except OSError:
        return  # whoever writes there says it better
    if free < FULL_BYTES:
        yield Problem(
            "disk_full",
            f"The disk is full: nothing can be stored in {state}.",
            "Make room; what waits comes in by itself.",
        )


def _of_the_database(memory: Memory) -> Iterator[Problem]:
    if memory.rebuilt is not None and (memory.places.state / memory.rebuilt.kept).exists():
        yield _rebuilt(memory.rebuilt, has_cloud=memory.sync is not None, folder=str(memory.places.state))
    if memory.thread.damage is not None:
        yield Problem("damaged", memory.thread.damage.message, "It is checked and rebuilt; nothing is to be done.")
    if memory.snapshots.problem:
        yield Problem(
            "snapshot", f"The last local snapshot failed: {memory.snapshots.problem}", "It is tried again by itself."
        )


def _of_search(memory: Memory) -> Iterator[Problem]:
    if memory.language.failed:
        yield Problem(
            "language",
            f"The language process does not run: {LOSS[JIEBA]}, and {LOSS[SCIKIT]}.",
            "See: memoryd doctor; it is tried again by itself.",
        )
    for name, why in memory.language.missing.items():
        yield Problem("language", f"{name} cannot be loaded ({why}): {LOSS[name]}.", AGAIN)
    if memory.recall is not None and is_low(memory.recall):
        missed = ", ".join(memory.recall.missed)
        yield Problem(
            "self_recall",
            f"Search finds {memory.recall.rate:.1%} of the memory's own words, not: {missed}.",
            "Look at memory/custom_dict.txt and memory/aliases.txt; a word of your own there may cut others apart.",
        )


def _rebuilt(found: Rebuilt, *, has_cloud: bool, folder: str) -> Problem:
    if found.snapshot:
        base = f"the snapshot of {_moment(found.snapshot)}, then the notes" + (" and the cloud" if has_cloud else "")
        lost = "" if has_cloud else " Not rebuilt: what commands stored, changed or forgot after that snapshot."
    elif has_cloud:
        base, lost = (
            "the notes and the cloud",
            " Not rebuilt: what commands changed and was not sent yet.",
        )
    else:
        base = "the notes alone: there was no sound snapshot and no cloud"
        lost = (
            " Not rebuilt: what commands stored, changed or finished, how often facts were read,"
            " and which sentences were forgotten: they are memory again where notes still say them."
        )
    return Problem(
        "rebuilt",
        f"The database was damaged ({found.reason}) and was rebuilt on {_moment(found.at)} from {base}.{lost}",
        f"The damaged file is kept as {folder}/{found.kept}. Move it away when you have looked at what is there.",
    )


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _of_held_notes(memory: Memory) -> Iterator[Problem]:
    if hold := memory.intake.hold.paths:
        yield Problem(
            "deletions_held",
            f"{len(hold)} notes vanished or became empty at once; their facts are kept for 10 minutes.",
            "If that is right: memoryd rescan --confirm-deletes. If not: put the files back.",
        )


def _of_files(memory: Memory, notes: NotesStatus) -> Iterator[Problem]:
    walk = memory.intake.last_walk
    if notes.unreadable:
        first = notes.unreadable[0]
        yield Problem(
            "unreadable",
            f"{len(notes.unreadable)} files cannot be read, first {first['path']}: {first['reason']}",
            "Check their owner and mode; nothing of them was taken for deleted.",
        )
    if large := memory.intake.records.too_large:
        yield Problem(
            "too_large",
            f"{len(large)} notes are not in memory, first {min(large)}: {large[min(large)]}",
            "Split them into smaller ones; the files stay as they are.",
        )
    for path, reason in sorted(memory.pages.problems.items()):
        yield Problem("page", f"{path} cannot be kept up to date: {reason}.", "Check its owner, mode and the disk.")
    for path, reason in sorted(walk.skipped.items()):
        if path not in memory.pages.problems and classify(path, []).kind == "page":
            yield Problem("page", f"{path} is neither read nor kept up to date: {reason}.", "Put a plain file there.")
    if walk.conflicts:
        yield Problem(
            "conflict_copies",
            f"{len(walk.conflicts)} copies were left by a file synchroniser, first {min(walk.conflicts)}.",
            "Merge them into their notes by hand, then delete them; they are not taken in.",
        )
    if walk.twins:
        yield Problem(
            "name_clash",
            f"{len(walk.twins)} notes are not taken in, first {min(walk.twins)}: {walk.twins[min(walk.twins)]}.",
            "Rename them; nothing was deleted.",
        )
    if walk.unmatched:
        folders = globs_for(walk.unmatched)
        yield Problem(
            "unmatched",
            f"{len(walk.unmatched)} Markdown files match no note name, first {min(walk.unmatched)}.",
            "To take them in, set below [notes] in config.toml: "
            + extra_line([*memory.settings.notes.extra, *folders[:_GLOBS_NAMED]]),
        )


def _of_freshness(memory: Memory) -> Iterator[Problem]:
    if not memory.is_fresh and memory.last_scan is not None:
        yield Problem(
            "stale", f"The last comparison with the disk is older than {2 * RESCAN_S:.0f} s.", "memoryd rescan"
        )


def _of_agents(memory: Memory) -> Iterator[Problem]:
    for agent in memory.intake.new_agents:
        yield Problem(
            "new_agent", f"The folder of agent {agent!r} was found.", f"memoryd retrieve --agent-id {agent} --query …"
        )


_SYNC_FIXES = {
    "auth_required": "Put a valid token into TURSO_AUTH_TOKEN and restart: memoryd service start.",
    "read_only": "Use a token that may write; restoring and reading go on.",
    "stopped": "Look at the cloud first: memoryd verify; docs/sync.md says how to go on.",
}


def _of_sync(memory: Memory) -> Iterator[Problem]:
    if memory.sync is None:
        return
    status = memory.sync.status
    if fix := _SYNC_FIXES.get(status.state):
        yield Problem(f"sync_{status.state}", status.last_error or f"Sync is {status.state}.", fix)
    for device, fault in sorted(status.faults.items()):
        yield Problem(
            "log_damaged", f"The log of device {device} cannot be read further: {fault}", "See: memoryd verify --deep"
        )
    if status.last_drill is not None and status.last_drill.differences:
        yield Problem(
            "restore_unproven",
            f"The last restore drill failed: {status.last_drill.differences[0]}",
            "See: memoryd verify --deep; then memoryd drill",
        )
    if status.plain_logs:
        yield Problem(
            "plain_logs",
            f"{len(status.plain_logs)} logs are not encrypted with the present key: {', '.join(status.plain_logs)}",
            "Give their devices the recovery key (memoryd key init --file FILE), or retire those that are gone.",
        )
    for notice in status.notices:
        yield Problem("new_device", notice, "Nothing is to be done, unless you copied this device's state folder.")
