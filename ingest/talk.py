"""Distilling a conversation by rules: the one fact that is worth keeping, who and what it is about, how it ended.

The seed's stage "raw → distilled". The fact is a proposal that another speaker agreed to, as a decision; else the
first sentence of the weightiest kind (decision, preference, lesson, task, event), else the one with most words.
"""

import re
from itertools import pairwise

import msgspec

from ..model import Metadata
from .blocks import Block, Blocks
from .classify import kind_of
from .commands import commands_in_fence
from .distil import DISTILLED_BYTES, SUMMARY_BYTES, shortened
from .mentions import words_of
from .metadata import extract, find_paths, find_urls, gather, unique
from .pieces import TooManyBlocksError
from .traits import actions, emotion, outcome, people, topics

NO_EMOTION = "neutral"
NO_OUTCOME = "ongoing"
"""What the original says where nothing is said."""

USUAL = 0.7
"""The seed's aggression: one sentence, and the whole room for it."""
_ACTIONS = 3
_ROLES = "user|assistant|agent|human|ai|bot|system|用户|助手|助理"
_LABEL = re.compile(
    rf"(?:^|\n|(?<=[.!?。！？])[ \t]*)[ \t]*(?P<role>(?i:{_ROLES})|(?<![^\n])[A-Z][a-z]{{1,20}})[ \t]*[:：][ \t]*"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_PROPOSAL = re.compile(
    r"(?:(?:ok(?:ay)?|well|so)[,.]?\s+)?(?:let['’]?s|let us|we (?:should|could|can)|shall we|why don['’]t we"
    r"|i (?:suggest|propose)(?: that)?(?: we)?)\s+(?P<what>.+)",
    re.IGNORECASE,
)
_HAN_PROPOSAL = re.compile(r"(?:那)?(?:我们|咱们)(?:应该|可以|还是)?(?P<what>[^，。！？吧]{2,})吧?")
_AGREED = re.compile(
    r"(?:yes|yeah|yep|sure|ok(?:ay)?|agreed|i agree|good (?:idea|plan|call)|great|sounds good|makes sense|fine|deal"
    r"|done|perfect|let['’]?s do (?:it|that))\b|(?:好的?|同意|可以|没问题|好主意|行|就这么办|赞成)(?=[，。！\s]|$)",
    re.IGNORECASE,
)
_RANK = {kind: rank for rank, kind in enumerate(("decision", "preference", "lesson", "task", "event"))}
_ROLE = re.compile(rf"(?:{_ROLES})\Z", re.IGNORECASE)
_URL = re.compile(r"(?<!\S)\S+?://\S+")
_HAN = re.compile(r"[\u3400-\u9fff]")


class Distilled(msgspec.Struct):
    """The structure of the seed's example. `fact` is never empty for a text with words."""

    fact: str
    emotion: str
    people: list[str]
    topics: list[str]
    actions: list[str]
    outcome: str


class Turn(msgspec.Struct):
    """What one speaker says; `name` is '' for roles such as User and for text before any label."""

    name: str
    sentences: list[str]


def distil_talk(text: str, max_bytes: int = DISTILLED_BYTES, aggression: float = USUAL) -> Distilled:
    """Distil a conversation, or any text; the fact has at most `room_for(max_bytes, aggression)` bytes of UTF-8."""
    turns = turns_of(text)
    sentences = [sentence for turn in turns for sentence in turn.sentences]
    said = " ".join(sentences)
    return Distilled(
        fact=_filled(_fact(turns), sentences, room_for(max_bytes, aggression), aggression),
        emotion=emotion(said) or NO_EMOTION,
        people=unique([*(turn.name for turn in turns if turn.name), *people(said)]),
        topics=topics(_URL.sub(" ", said)),
        actions=unique(action for sentence in sentences for action in actions(sentence))[:_ACTIONS],
        outcome=outcome(said) or NO_OUTCOME,
    )


def gather_talk(text: str) -> Metadata:
    """The URLs, commands and paths of a conversation, its code spans and fences read as those of a note.

    A text of more blocks than any note may have is read as words alone.
    """
    lines = text.splitlines()
    spans: list[str] = []
    code: list[Block] = []
    try:
        for block in Blocks(lines, 0, []):
            if block.kind == "code":
                code.append(block)
            else:
                spans += words_of(block, {}).code
    except TooManyBlocksError:
        return extract(text)
    for block in code:
        lines[block.first : block.last + 1] = [""] * (block.last + 1 - block.first)
    found = gather(lines, spans, [])
    for block in code:
        urls, rest = find_urls(block.raw)
        found.urls = unique([*found.urls, *urls])
        found.paths = unique([*found.paths, *find_paths(rest)])
        found.commands = unique([*found.commands, *commands_in_fence(block.raw, block.info)])
    return found


def room_for(max_bytes: int, aggression: float) -> int:
    """The longest a fact may be [bytes]: up to 0.7 all of `max_bytes`, from there down to the 30 of a summary at 1."""
    shrunk = min(1.0, (1.0 - aggression) / (1.0 - USUAL))
    return round(SUMMARY_BYTES + max(0, max_bytes - SUMMARY_BYTES) * shrunk)


def turns_of(text: str) -> list[Turn]:
    """The speakers' turns; labels such as `User:` are cut off wherever a sentence may begin, names at line starts."""
    labels = list(_LABEL.finditer(text))
    starts = [("", text[: labels[0].start()] if labels else text)]
    ends = [*(label.start() for label in labels[1:]), len(text)]
    for label, end in zip(labels, ends, strict=False):
        words = text[label.end() : end]
        starts.append(("" if _ROLE.match(label["role"]) else label["role"], words))
    turns = [Turn(name, _sentences(words)) for name, words in starts]
    return [turn for turn in turns if turn.sentences]


def _sentences(text: str) -> list[str]:
    return [part for each in _SENTENCE.split(text) if (part := " ".join(each.split()).strip(" -*•"))]


def _filled(fact: str, sentences: list[str], room: int, aggression: float) -> str:
    """The fact, and below the usual aggression whole further sentences in a share of the room that it leaves."""
    kept = shortened(fact, room)
    free = round((room - len(kept.encode())) * max(0.0, USUAL - aggression) / USUAL)
    for each in sentences:
        further = f" {each}"
        if fact and each not in fact and len(further.encode()) <= free and not each.endswith(("?", "？")):
            kept, free = kept + further, free - len(further.encode())
    return kept


def _fact(turns: list[Turn]) -> str:
    if agreed := _agreed(turns):
        return agreed
    sentences = [each for turn in turns for each in turn.sentences]
    telling = [each for each in sentences if not each.endswith(("?", "？"))] or sentences
    ranked = [(_RANK.get(kind_of(each, []), len(_RANK)), each) for each in telling]
    best = min((rank for rank, _ in ranked), default=0)
    among = [each for rank, each in ranked if rank == best]
    return (among[0] if best < len(_RANK) else max(among, key=_words)) if among else ""


def _agreed(turns: list[Turn]) -> str:
    """The first proposal that the next turn agrees to, as a decision; '' if there is none."""
    for turn, following in pairwise(turns):
        if not _AGREED.match(following.sentences[0]):
            continue
        for sentence in turn.sentences:
            if match := _PROPOSAL.match(sentence):
                return f"Decided to {match['what'].rstrip(' .!?')}"
            if match := _HAN_PROPOSAL.match(sentence):
                return f"决定{match['what']}"
    return ""


def _words(sentence: str) -> int:
    return len(sentence.split()) + len(_HAN.findall(sentence))
