"""Flags made from request structs."""

from pathlib import Path
from typing import Annotated

import click
import msgspec
import pytest
from memoryd.cli.common import common_options
from memoryd.cli.flags import options, payload
from memoryd.errors import UsageError
from memoryd.operations import requests as r
from memoryd.operations.table import OPERATIONS
from msgspec import Meta


def parsed(request: type[r.Request], *arguments: str) -> dict:
    """What click hands to the callback."""
    command = click.Command("x", params=options(request), callback=lambda **values: values)
    return command.main(list(arguments), standalone_mode=False)


class EveryShapeRequest(r.Request):
    """One field of each shape."""

    text: Annotated[str, Meta(description="Text.")]
    number: Annotated[int, Meta(ge=1, le=9)] = 5
    share: float = 0.5
    all_of_it: bool = False
    many: Annotated[list[str], Meta(extra_json_schema={"flags": ["--more"]})] = []  # noqa: RUF012 - msgspec copies it
    pair: tuple[str, str] | None = None
    file: Annotated[str, Meta(extra_json_schema={"path": True})] = ""
    from_: str = ""


def test_every_shape_of_field_becomes_a_flag(monkeypatch, tmp_path):
    """Text, numbers, switches, lists with a second spelling, pairs, files and `from` arrive as JSON."""
    monkeypatch.chdir(tmp_path)
    values = parsed(
        EveryShapeRequest, "--text", "a", "--number", "3", "--share", "0.25", "--all-of-it", "--many", "b",
        "--more", "c", "--pair", "KEY", "{}", "--file", "note.md", "--from", "d1", "--agent-id", "robin",
    )  # fmt: skip

    assert payload(EveryShapeRequest, values) == {
        "text": "a", "number": 3, "share": 0.25, "all_of_it": True, "many": ["b", "c"], "pair": ["KEY", "{}"],
        "file": str(tmp_path / "note.md"), "from": "d1", "agent_id": "robin",
    }  # fmt: skip


def test_only_what_was_given_is_sent():
    """Defaults stay with whoever performs the operation."""
    assert payload(EveryShapeRequest, parsed(EveryShapeRequest, "--text", "a")) == {"text": "a"}


def test_an_empty_text_is_sent_and_not_taken_for_absent():
    """`--text ''` reaches the check that refuses it."""
    with pytest.raises(UsageError, match="--text"):
        payload(r.StoreRequest, parsed(r.StoreRequest, "--text", "", "--category", "a"))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--importance", "5"], "--importance"),
        (["--importance", "nan"], "--importance"),
        (["--agent-id", "../robin"], "--agent-id"),
        (["--text", "broken \udcff byte"], "--text"),
    ],
)
def test_a_wrong_value_is_refused_naming_its_flag(arguments, named):
    """A value out of range, no number, an agent id with a path in it, bytes that are no UTF-8."""
    with pytest.raises(UsageError) as refused:
        payload(r.StoreRequest, parsed(r.StoreRequest, "--text", "a", "--category", "b", *arguments))

    assert refused.value.message.startswith(named)


@pytest.mark.parametrize(
    ("request_", "arguments", "sentence"),
    [
        (r.StoreRequest, ["--text", "", "--category", "b"], "--text is empty."),
        (r.StoreRequest, ["--text", "a", "--category", "b", "--importance", "5"], "--importance has to be at most 1."),
        (r.RetrieveRequest, ["--query", "a", "--limit", "0"], "--limit has to be at least 1."),
        (
            r.ColdRequest,
            ["--query", "a", "--agent-id", "../x"],
            "--agent-id has characters that it must not have, or is too long.",
        ),
        (r.ColdRequest, ["--query", "a" * 10_001], "--query has more than 10000 characters."),
    ],
)
def test_a_refusal_is_a_sentence_for_people(request_, arguments, sentence):
    """Without the names of types."""
    with pytest.raises(UsageError) as refused:
        payload(request_, parsed(request_, *arguments))

    assert refused.value.message == sentence


def test_a_home_folder_is_resolved_before_the_daemon_sees_it(monkeypatch):
    """`~` in a file argument is this user's home."""
    monkeypatch.setenv("HOME", "/home/someone")

    given = payload(r.ExtractMetadataRequest, parsed(r.ExtractMetadataRequest, "--file", "~/a.md"))

    assert given == {"file": str(Path("/home/someone/a.md"))}


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_has_flags_with_help_and_no_clash(name):
    """No field collides with a common flag, and every flag explains itself; arguments stand in the usage line."""
    own = options(OPERATIONS[name].request)
    flags = [flag for option in [*own, *common_options()] for flag in option.opts]

    assert len(flags) == len(set(flags))
    assert all(
        isinstance(option, click.Argument) or (isinstance(option, click.Option) and option.help) for option in own
    )


def test_a_number_shows_its_default():
    """The help of `--limit` says how many results it gives."""
    option = next(each for each in options(r.RetrieveRequest) if each.name == "limit")

    assert "[default: 5]" in option.help
    assert not option.required


def test_defaults_of_a_request_pass_their_own_checks():
    """A request without flags converts wherever no field is required."""
    for operation in OPERATIONS.values():
        if not any(field.required for field in msgspec.structs.fields(operation.request)):
            assert payload(operation.request, {}) == {}


def test_utf_8_arguments_survive_another_locale():
    """Escaped bytes that are UTF-8 together are the text that was typed."""
    escaped = "扫码枪".encode().decode("ascii", "surrogateescape")

    assert payload(r.RetrieveRequest, parsed(r.RetrieveRequest, "--query", escaped)) == {"query": "扫码枪"}
