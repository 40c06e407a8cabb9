"""`memoryd init`."""

import re
import tomllib
from pathlib import Path

import pytest
from memoryd.cli.setup import prepare, toml_text
from memoryd.config import load_settings
from memoryd.errors import ConfigError
from memoryd.places import find_places


def prepared(root, **options):
    """`init` in `root`."""
    return prepare(root, find_places(str(root)), **options)


def files_below(root):
    """All files with their bytes."""
    return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_new_folder_becomes_a_workspace(tmp_path):
    """`memory/` and the configuration are made, no note is, and the configuration loads."""
    root = tmp_path / "新 notes"

    reply = prepared(root)

    config = Path(reply.config)
    assert reply.created == [str(root / "memory"), str(config)]
    assert files_below(root) == {}
    assert tomllib.loads(config.read_text("utf-8"))["workspace"] == str(root)
    assert config.stat().st_mode & 0o777 == 0o600
    assert load_settings(find_places()).workspace == str(root)


def test_running_it_again_changes_nothing(tmp_path):
    """The second run creates nothing and leaves every byte."""
    root = tmp_path / "notes"
    prepared(root)
    (root / "memory" / "2026-02-13.md").write_text("- A note\n")
    before = files_below(tmp_path)

    again = prepared(root)

    assert again.created == []
    assert again.notes == 1
    assert files_below(tmp_path) == before


def test_unmatched_files_are_listed_with_the_line_that_takes_them(tmp_path):
    """The line is offered; with the flag it stands in the new configuration and works."""
    root = tmp_path / "notes"
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "ideas.md").write_text("- An idea\n")

    reply = prepared(root, take_unmatched=True)

    assert reply.unmatched == ["memory/ideas.md"]
    assert reply.notes_extra == 'extra = ["memory/*.md"]'
    assert load_settings(find_places()).notes.extra == ["memory/*.md"]
    assert prepared(root).unmatched == []


def test_without_the_flag_the_line_is_only_a_comment(tmp_path):
    """Nothing is taken in that nobody asked for."""
    root = tmp_path / "notes"
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "ideas.md").write_text("- An idea\n")

    reply = prepared(root)

    assert f"# {reply.notes_extra}\n" in Path(reply.config).read_text("utf-8")
    assert load_settings(find_places()).notes.extra == []


def test_a_configuration_for_another_workspace_is_kept(tmp_path):
    """The refusal names both workspaces, and nothing is made."""
    prepared(tmp_path / "first")

    with pytest.raises(ConfigError) as refused:
        prepared(tmp_path / "second")

    assert str(tmp_path / "first") in refused.value.message
    assert str(tmp_path / "second") in refused.value.message
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize("text", ["plain", 'quo"te', "back\\slash", "tab\t", "del\x7f", "新", "line\nbreak", "🦉"])
def test_any_text_survives_as_toml(text):
    """What is written is what a TOML reader reads."""
    assert tomllib.loads(f"x = {toml_text(text)}") == {"x": text}


@pytest.mark.parametrize("glob", ["/home/*.md", "../other/*.md", "./notes/*.md", "notes//*.md"])
def test_a_glob_that_leaves_the_workspace_is_refused(tmp_path, monkeypatch, glob):
    """Notes lie inside the workspace; the sentence names the glob."""
    config = tmp_path / "config.toml"
    config.write_text(f"[notes]\nextra = [{glob!r}]\n")
    monkeypatch.setenv("MEMORYD_CONFIG", str(config))

    with pytest.raises(ConfigError, match=re.escape(repr(glob))):
        load_settings(find_places(str(tmp_path)))
