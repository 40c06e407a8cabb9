"""One pass over a note's lines: what each block says, to whom a line belongs, what a person should look at."""

from collections.abc import Iterator

from ..model import MASK_FORGOTTEN, Finding, LineState, ParsedMention
from .blocks import Block, Blocks, Heading
from .commands import commands_in_fence
from .findings import unclosed
from .front import Front
from .marks import OWN_PROPERTY, is_bare_box
from .mask import mask_text, without_masks
from .mentions import Note, code_words, mention_of, words_of
from .metadata import find_urls, gather, unique
from .original_page import read_original
from .pieces import TooManyBlocksError
from .source import own_output
from .states import Ledger
from .turns import Stretch, cut_turns, is_transcript
from .words import Words, has_words

_CODE_URLS = 20
MOST_BLOCKS = 50_000
"""Blocks of a note that is parsed: over ten times the longest day of a person (IN-5: memory below 300 MB)."""


class Reading:
    """One pass over a note: ledger, mentions and findings grow together."""

    def __init__(self, lines: list[str], front: Front, note: Note) -> None:
        self._lines = lines
        self._front = front
        self._note = note
        self.ledger = Ledger(lines)
        self.mentions: list[ParsedMention] = []
        self.findings: list[Finding] = []
        self.sections: list[tuple[int, str]] = []
        self._seen: set[str] = set()
        self._last = -1
        self._last_block: Block | None = None
        self._headings: list[Heading] = []
        self._blocks = 0

    def read(self, *, is_page: bool) -> None:
        """Read everything; afterwards each line has a state."""
        lines = list(self._lines)
        for number in range(min(self._front.lines, len(lines))):
            self.ledger.put(number, number, "front_matter")
            lines[number] = ""
        if (own := own_output(lines, is_page=is_page)) is not None:
            self.ledger.put(*own, "own_output")
            lines[own[0] : own[1] + 1] = [""] * (own[1] + 1 - own[0])
        if is_page:
            lines, generated = read_original(lines)
            for number in generated:
                self.ledger.put(number, number, "own_output")
        if is_transcript(lines):
            self._transcript(lines)
        else:
            self._stretch(Stretch(0, lines))
        self._left_over()

    def _transcript(self, lines: list[str]) -> None:
        cut = cut_turns(lines)
        for number in cut.meta:
            if lines[number].strip() or self.ledger.state(number) is None:
                self.ledger.put(number, number, "transcript_meta")
        shown = [
            [("" if stretch.start + n in cut.meta else line) for n, line in enumerate(stretch.lines)]
            for stretch in cut.stretches
        ]
        for stretch, kept in zip(cut.stretches, shown, strict=True):
            stretch.lines = kept
            self._stretch(stretch)

    def _stretch(self, stretch: Stretch) -> None:
        self._last = -1
        if stretch.role:
            self._headings = [heading for heading in self._headings if heading.level < 9]
        headings = list(self._headings)
        if stretch.role:
            headings.append(Heading(9, stretch.role, stretch.clock))
        blocks = Blocks(stretch.lines, stretch.start, headings)
        waiting = [block for block in blocks if self._may_go_on()]
        references = blocks.env.get("references", {})
        for block in waiting:
            self._block(block, references, stretch.name)
        self._definitions(blocks, stretch.start)
        if not stretch.role:
            self._headings = blocks.headings

    def _may_go_on(self) -> bool:
        self._blocks += 1
        if self._blocks > MOST_BLOCKS:
            raise TooManyBlocksError
        return True

    def _definitions(self, blocks: Blocks, offset: int) -> None:
        found = [*blocks.env.get("references", {}).values(), *blocks.env.get("duplicate_refs", [])]
        for definition in found:
            first, end = definition["map"]
            for number in range(first + offset, end + offset):
                if number < len(self._lines) and self.ledger.state(number) is None:
                    self.ledger.put(number, number, "link_definition")

    def _block(self, block: Block, references: dict[str, object], speaker: str) -> None:
        kind = block.kind
        if kind == "heading":
            self._heading(block)
        elif kind in ("rule", "html", "table_head", "comment"):
            self.ledger.put(block.first, block.last, kind)
            if not block.closed:
                self.findings.append(unclosed("comment", block.first + 1))
        elif kind == "code":
            self._code(block)
        else:
            for part in self._without_properties(block):
                self._words(part, references, speaker)

    def _heading(self, block: Block) -> None:
        self._last = -1
        state: LineState = "heading"
        if not has_words(without_masks(block.raw).replace(MASK_FORGOTTEN, "")):
            state = self._wordless(block.raw)
        self.ledger.put(block.first, block.last, state)
        self.sections.append((block.first + 1, " ".join(block.raw.split())))

    def _without_properties(self, block: Block) -> Iterator[Block]:
        """The block without an outliner's own properties (`id:: …`), which are no memory."""
        lines = block.raw.split("\n") if block.kind != "row" else []
        own = [n for n, line in enumerate(lines) if "::" in line and OWN_PROPERTY.match(line)]
        if not own:
            yield block
            return
        for number in own:
            self.ledger.put(block.first + number, block.first + number, "front_matter")
        kept = [n for n in range(len(lines)) if n not in own]
        if kept:
            block.raw = "\n".join(lines[n] for n in kept)
            block.first, block.last = block.first + kept[0], block.first + kept[-1]
            yield block

    def _words(self, block: Block, references: dict[str, object], speaker: str) -> None:
        words = words_of(block, references)
        if words.text not in block.raw:  # taking markup away can bare a secret that the bytes hid
            words.text = mask_text(words.text)[0]
        if is_bare_box(block.raw) or not has_words(without_masks(words.text).replace(MASK_FORGOTTEN, "")):
            self._claim(block, self._wordless(words.text if not is_bare_box(block.raw) else ""))
        elif not self._belongs_to_last(block, words):
            self._state(block, mention_of(self._note, block, words, speaker))

    def _wordless(self, text: str) -> LineState:
        if MASK_FORGOTTEN in text:
            return "forgotten"
        return "secret" if text != without_masks(text) else "empty_text"

    def _claim(self, block: Block, state: LineState) -> None:
        """Give the block's lines `state`, except those that say already that they are somebody's property."""
        for number in range(block.first, min(block.last + 1, len(self._lines))):
            if self.ledger.state(number) is None:
                self.ledger.put(number, number, state)

    def _state(self, block: Block, mention: ParsedMention) -> None:
        index = len(self.mentions)
        self.mentions.append(mention)
        self.ledger.put(block.first, block.first, "duplicate" if mention.text in self._seen else "fact", index)
        for number in range(block.first + 1, min(block.last + 1, len(self._lines))):
            if self.ledger.state(number) is None:
                self.ledger.put(number, number, "continuation", index)
        self._seen.add(mention.text)
        self._last, self._last_block = index, block

    def _belongs_to_last(self, block: Block, words: Words) -> bool:
        """A URL or command alone, right below a block or inside its item, is part of what that block says."""
        last = self._last_block
        if self._last < 0 or last is None or words.task_state or words.tags:
            return False
        deeper = (
            block.depth > last.depth
            if block.kind == "item"
            else block.kind == "paragraph" and block.depth >= last.depth
        )
        if not deeper or block.first - last.last > 2:
            return False
        found = gather([words.spoken], words.code, words.links)
        if not _is_bare(words, found.commands) or _is_bare(
            words_of(last, {}), self.mentions[self._last].metadata.commands
        ):
            return False
        metadata = self.mentions[self._last].metadata
        metadata.urls = unique([*metadata.urls, *found.urls])
        metadata.commands = unique([*metadata.commands, *found.commands])
        metadata.paths = unique([*metadata.paths, *found.paths])
        self.ledger.put(block.first, block.last, "continuation", self._last)
        return True

    def _code(self, block: Block) -> None:
        if not block.closed:
            self.findings.append(unclosed("fence", block.first + 1))
        if not block.raw.strip():
            self.ledger.put(block.first, block.last, "code")
            return
        own = self._last < 0 or self.mentions[self._last].kind == "code"
        if own:
            words = code_words(block.raw)
            if has_words(without_masks(words.text).replace(MASK_FORGOTTEN, "")):
                self._state(block, mention_of(self._note, block, words))
            else:
                own = False
        index = self._last if own or self._last >= 0 else -1
        first = block.first + 1 if own else block.first
        self.ledger.put(first, block.last, "code", index)
        self._mark_bare_secrets(block, index)
        if index >= 0:
            self._add_code(self.mentions[index], block)

    def _mark_bare_secrets(self, block: Block, owner: int) -> None:
        for number in range(block.first + 1, min(block.last + 1, len(self._lines))):
            line = self._lines[number]
            if ("[masked:" in line or MASK_FORGOTTEN in line) and not has_words(
                without_masks(line).replace(MASK_FORGOTTEN, "")
            ):
                self.ledger.put(number, number, self._wordless(line), owner)

    def _add_code(self, mention: ParsedMention, block: Block) -> None:
        mention.code = f"{mention.code}\n{block.raw}".strip("\n") if mention.code else block.raw.strip("\n")
        metadata = mention.metadata
        metadata.commands = unique([*metadata.commands, *commands_in_fence(block.raw, block.info)])
        metadata.urls = unique([*metadata.urls, *find_urls(block.raw)[0][:_CODE_URLS]])

    def _left_over(self) -> None:
        """Lines that no block took (nested too deep, say) are read one by one: no word is lost."""
        for number in self.ledger.unclaimed():
            raw = self._lines[number].strip().lstrip(">*+- \t")
            self._last = -1
            self._may_go_on()
            block = Block("paragraph", number, number, raw, list(self._headings))
            if has_words(raw):
                self._words(block, {}, "")
            else:
                self._claim(block, "empty_text")


def _is_bare(words: Words, commands: list[str]) -> bool:
    """Whether a block is nothing but a URL or a command."""
    text = words.spoken.strip()
    if text in commands or (text.startswith("$ ") and text[2:].strip() in commands):
        return True
    urls, rest = find_urls(text)
    return bool(urls) and not has_words(rest)
