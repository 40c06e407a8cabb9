"""Session-hook transcripts are read by turn; their metadata is no memory."""

TRANSCRIPT = """# Session: 2026-05-07 11:02:45 UTC

- **Session Key**: agent:main:chat:channel:123
- **Session ID**: 63f1a2b4-1111-4222-8333-444455556666
- **Source**: chat

## Conversation Summary

assistant: I fixed
the pump
user: Conversation info (untrusted metadata):
```json
{"message_id": "77", "is_group_chat": true}
```

Sender (untrusted metadata):
```json
{not valid json
```

Please water the plants
user: [Chat channel id:12 +10m 2026-05-07 08:31 UTC] Mira: hello all
[message_id: 12]
user: /new
assistant: NO_REPLY
system: restarted
assistant: - one
- two
"""


def test_metadata_blocks_are_stated_and_never_facts(parse) -> None:
    """Headers, untrusted blocks, message ids, commands and control replies are `transcript_meta`."""
    note = parse(TRANSCRIPT)

    assert note.totals["transcript_meta"] == 3 + 4 + 4 + 1 + 1 + 1 + 1
    assert [mention.text for mention in note.mentions] == [
        "I fixed the pump", "Please water the plants", "hello all", "one", "two",
    ]  # fmt: skip


def test_each_turn_knows_its_speaker_and_time(parse) -> None:
    """The speaker is context, the channel's name a person, its time the mention's."""
    mentions = parse(TRANSCRIPT).mentions

    assert [mention.headings[-1] for mention in mentions] == ["assistant", "user", "user", "assistant", "assistant"]
    assert (mentions[2].metadata.people, mentions[2].date) == (["Mira"], "2026-02-13T08:31Z")


def test_speaker_lines_in_a_plain_note_are_words(parse) -> None:
    """Without a session head, `user:` is what somebody wrote."""
    assert [mention.text for mention in parse("user: likes tea\n").mentions] == ["user: likes tea"]
