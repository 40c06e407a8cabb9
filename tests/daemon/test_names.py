"""Which events can concern memory."""

import pytest
from memoryd.daemon.names import Extra, is_folder_hint, is_hint, relative_path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("MEMORY.md", True),
        ("MEMORY-robin.md", True),
        ("README.md", False),
        ("memory/2026-02-13.md", True),
        ("memory/robin/2026-02-13.md", True),
        ("memory/学习 记录.md", True),
        ("memory/custom_dict.txt", True),
        ("memory/aliases.txt", True),
        ("memory/other.txt", False),
        ("memory/.2026-02-13.md.swp", False),
        ("memory/2026-02-13.md~", False),
        ("memory/2026-02-13.md.tmp", False),
        ("memory/.#2026-02-13.md", False),
        ("memory/.obsidian/2026-02-13.md", False),
        ("memory/health.json", False),
        ("node_modules/x/2026-02-13.md", False),
        ("journals/2026_02_13.md", True),
        ("journals/deep/2026_02_13.md", False),
        ("journals/deep/log.md", True),
        ("projects/.git/log.md", False),
        ("projects/node_modules/log.md", False),
        ("journalsother/2026_02_13.md", False),
    ],
)
def test_only_names_that_can_be_notes_pass(path, expected):
    """Temporary, hidden and foreign files never reach the loop."""
    assert is_hint(path, Extra.of(["journals/*.md", "**/log.md"])) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("memory", True),
        ("memory/robin", True),
        ("memory/.git", False),
        ("src", False),
        ("journals", True),
        ("journals/old", True),
        ("journals/node_modules", False),
    ],
)
def test_only_folders_that_can_hold_notes_pass(path, expected):
    """A folder that came or went matters only where notes are."""
    assert is_folder_hint(path, Extra.of(["journals/*.md"])) is expected


@pytest.mark.parametrize(
    ("globs", "folders", "everything"),
    [
        (["journals/*.md", "journals/old/*.md"], ("journals",), False),
        (["**/x.md"], (), True),
        (["*/log.md"], (), True),
        (["memory/logs/*.md"], (), False),
        (["notes/20??/*.md"], ("notes",), False),
        (["diary.md", "*.md"], (), False),
    ],
)
def test_extra_globs_name_the_folders_to_watch(globs, folders, everything):
    """The leading parts without a wildcard are watched, or the whole workspace; memory/ is watched anyway."""
    assert Extra.of(globs) == Extra(tuple(globs), folders, everything)


@pytest.mark.parametrize(
    ("path", "root", "prefix", "expected"),
    [
        ("/w/memory/a.md", "/w/memory", "memory", "memory/a.md"),
        ("/w/memory", "/w/memory", "memory", "memory"),
        ("/w/MEMORY.md", "/w", "", "MEMORY.md"),
        ("/elsewhere/a.md", "/w", "", None),
        ("/w2/a.md", "/w", "", None),
        ("/vault/b/a.md", "/vault", "memory", "memory/b/a.md"),
    ],
)
def test_paths_are_made_relative_to_the_workspace(path, root, prefix, expected):
    """Wherever a watched folder really lies, its files keep their name inside the workspace."""
    assert relative_path(path, root, prefix) == expected
