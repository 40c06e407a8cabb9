"""Which files are notes: by path alone (docs/memory.md, 1)."""

import pytest
from memoryd.ingest.names import classify


@pytest.mark.parametrize(
    ("path", "kind", "agent", "date"),
    [
        ("MEMORY.md", "page", "default", ""), ("MEMORY-robin.md", "page", "robin", ""),
        ("memory/2026-02-10.md", "note", "default", "2026-02-10"),
        ("memory/2026-02-10-topic.md", "note", "default", "2026-02-10"),
        ("memory/2026-02-10-0219.md", "note", "default", "2026-02-10"),
        ("memory/2026-05-07-09-30.md", "note", "default", "2026-05-07"),
        ("memory/2026-05-07_topic-news.md", "note", "default", "2026-05-07"),
        ("memory/2026-05-07-学习 记录.md", "note", "default", "2026-05-07"),
        ("memory/2026-05-07-connection-refused-by-the-prox.md", "note", "default", "2026-05-07"),
        ("memory/2026-02-10-merge-conflict-fixed.md", "note", "default", "2026-02-10"),
        ("memory/2026-02-10-conf-call.md", "note", "default", "2026-02-10"),
        ("memory/2026-02-30.md", "note", "default", ""),
        ("memory/robin/2026-02-10.md", "note", "robin", "2026-02-10"),
        ("memory/robin/2026-02-10-x.md", "note", "robin", "2026-02-10"),
        ("memory/custom_dict.txt", "text", "", ""), ("memory/aliases.txt", "text", "", ""),
    ],
)  # fmt: skip
def test_what_is_taken(path: str, kind: str, agent: str, date: str) -> None:
    """Notes, pages and the two text files are known by their names."""
    name = classify(path)

    assert (name.kind, name.agent_id, name.date) == (kind, agent, date)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("memory/2026_05_07.md", "unmatched"), ("memory/topic-2026-05-07.md", "unmatched"),
        ("memory/ideas.md", "unmatched"),
        ("memory/robin/ideas.md", "unmatched"), ("memory/robin/deep/2026-02-10.md", "unmatched"),
        ("memory/20260-02-100.md", "unmatched"),
        ("memory/archive/2026-02-10.md", "skipped"), ("memory/_old/2026-02-10.md", "skipped"),
        ("memory/日记/2026-02-10.md", "skipped"), ("MEMORY-a b.md", "skipped"),
        ("memory/archive/ideas.md", "ignored"),
        ("memory/2026-11-29.sync-conflict-20261129-120000-ABC.md", "conflict_copy"),
        ("memory/2026-11-29 (Mira's conflicted copy 2026-11-30).md", "conflict_copy"),
        ("memory/2026_05_07-LAPTOP-AB12.md", "conflict_copy"),
        ("memory/2026-02-10.md~", "ignored"), ("memory/.2026-02-10.md.swp", "ignored"),
        ("memory/.#2026-02-10.md", "ignored"),
        ("memory/.note.swp.tmp", "ignored"), ("memory/2026-02-10.md.tmp", "ignored"),
        ("memory/.hidden/2026-02-10.md", "ignored"),
        ("memory/.restored/x/memory/2026-02-10.md", "ignored"), ("README.md", "ignored"), ("memory/x.png", "ignored"),
        ("other/2026-02-10.md", "ignored"), ("memory/../2026-02-10.md", "ignored"), ("", "ignored"),
        ("memory//x.md", "ignored"),
        ("memory/working/task.json", "ignored"),
    ],
)  # fmt: skip
def test_what_is_not_taken(path: str, kind: str) -> None:
    """Everything else is unmatched, skipped, a conflict copy, or none of ours."""
    assert classify(path).kind == kind


@pytest.mark.parametrize(
    ("path", "extra", "wanted"),
    [
        ("memory/2026_05_07.md", "memory/*.md", ("note", "2026-05-07")),
        ("memory/ideas.md", "memory/*.md", ("note", "")),
        ("journals/2026_05_07.md", "journals/*.md", ("note", "2026-05-07")),
        ("notes/a/b/x.md", "notes/**/*.md", ("note", "")), ("notes/x.md", "notes/**/*.md", ("note", "")),
        ("memory/j/deep/x.md", "memory/j/*.md", ("unmatched", "")),
        ("memory/archive/2026-02-10.md", "memory/archive/*", ("note", "2026-02-10")),
        ("memory/[x].md", "memory/[[]x].md", ("note", "")),
        ("a/b/x.md", "**/*.md", ("note", "")), ("a/node_modules/b/x.md", "**/*.md", ("ignored", "")),
        ("venv/x.md", "*/*.md", ("ignored", "")), ("a/.git/x.md", "**/*.md", ("ignored", "")),
        ("web/node_modules/docs/x.md", "web/node_modules/docs/*.md", ("note", "")), ("venv.md", "*.md", ("note", "")),
    ],
)  # fmt: skip
def test_extra_globs_claim_files_for_the_default_agent(path: str, extra: str, wanted: tuple[str, str]) -> None:
    """`notes.extra` takes further names; a folder that it claims is no agent."""
    name = classify(path, [extra])

    assert (name.kind, name.date) == wanted
    assert name.agent_id == ("default" if wanted[0] == "note" else "")


def test_a_glob_over_all_names_leaves_the_pages_what_they_are() -> None:
    """MEMORY.md is read as a page, whatever notes.extra takes beside it."""
    assert classify("MEMORY.md", ["*.md", "**/*.md"]).kind == "page"


def test_decomposed_names_are_the_same_names() -> None:
    """NFD paths, as macOS hands them out, are classified like NFC ones."""
    assert classify("memory/2026-02-10-cafe\u0301.md") == classify("memory/2026-02-10-caf\u00e9.md")
