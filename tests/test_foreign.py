"""What others wrote is read without hanging and without the stack's end."""

import os

import msgspec
import pytest
from memoryd.foreign import MAX_DEPTH, decoded_json, read_regular


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def test_json_down_to_the_limit_is_read():
    """Lists and objects count alike; width does not count."""
    assert decoded_json(nested(MAX_DEPTH)) == msgspec.json.decode(nested(MAX_DEPTH))
    assert len(decoded_json("[" + "{}," * 10_000 + "{}]")) == 10_001


@pytest.mark.parametrize("text", [nested(MAX_DEPTH + 1), nested(900), nested(100_000), '{"a":' * 500 + "1" + "}" * 500])
def test_json_beyond_the_limit_is_an_error_like_any_other(text):
    """Also where the parser's own stack would end."""
    with pytest.raises(msgspec.DecodeError, match="deeper than"):
        decoded_json(text)


@pytest.mark.parametrize("text", ["", "{", b"\xff", '"\ud800"'])
def test_what_is_no_json_raises_one_error(text):
    """Bytes that are no UTF-8 and lone surrogates too."""
    with pytest.raises(msgspec.DecodeError):
        decoded_json(text)


def test_only_regular_files_are_opened(tmp_path):
    """A pipe without a writer would hold its thread for ever."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"words")

    assert read_regular(tmp_path / "file") == b"words"
    for other, said in (("pipe", "no regular file"), ("", "Is a directory"), ("missing", "No such file")):
        with pytest.raises(OSError, match=said):
            read_regular(tmp_path / other)
