"""A note's bytes → masked body, line states, facts with their places, findings. The same bytes always give the same."""

from ..model import ParsedMention, ParsedNote
from .blocks import Block
from .category import normalised
from .dates import first_date
from .encoding import count_lines
from .findings import about_name, about_sentences, about_source, duplicate_sections, secrets
from .front import Front, read_front
from .mask import mask_bytes, mask_text, without_masks
from .mentions import Note, mention_of
from .metadata import unique
from .passing import Reading
from .pieces import TooManyBlocksError
from .source import read_source
from .words import has_words, read_words


def parse_note(
    data: bytes, *, path: str, agent_id: str, date: str, is_page: bool, max_bytes: int,
    tree_paths: frozenset[str] = frozenset(),
) -> ParsedNote:  # fmt: skip
    """Parse one note.

    `date` is the day that its name tells ('' = undated: front matter, then the first heading decide),
    `max_bytes` the size above which it is masked but not parsed, as is one of more than `MOST_BLOCKS`
    blocks; `tree_paths` are the categories in use.
    Raises nothing for any bytes. `agent_id` names the owner; it does not change what is read.
    """
    del agent_id  # facts get their ids from text and agent in the store
    body, masked = mask_bytes(data)
    if len(data) > max_bytes:
        return ParsedNote(body, [], [], [], "too_large", masked, whole=count_lines(body))
    source = read_source(body)
    front = read_front(source.lines)
    reading = Reading(source.lines, front, _note(front, source.lines, date, is_page=is_page, tree_paths=tree_paths))
    try:
        reading.read(is_page=is_page)
    except TooManyBlocksError:
        return ParsedNote(body, [], [], [], "too_large", masked, whole=count_lines(body))
    findings = [*about_name(path, date), *about_source(source, front), *reading.findings]
    if masked:
        findings += secrets(source.lines, read_source(data).lines)
    findings += duplicate_sections(reading.mentions, reading.sections)
    findings += about_sentences(reading.mentions)
    findings.sort(key=lambda finding: finding.line)
    state = reading.ledger.finished()
    return ParsedNote(body, state, reading.mentions, findings, "findings" if findings else "ok", masked)


def parse_statement(text: str, category: str, importance: float | None) -> ParsedMention:
    """What a `store` command says, by the same text rule and masking; `text` is '' if nothing is left.

    `category` '' = by `#tag` or `general`; `importance` None = by what the words say.
    """
    masked, _ = mask_text(text.replace("\0", "\ufffd"))
    words = read_words(masked)
    block = Block("paragraph", 0, 0, masked)
    mention = mention_of(Note(category="", importance=importance), block, words)
    if not has_words(without_masks(words.text)):
        mention.text = ""
    # A command's category is kept whole; the tree shows it at its nearest node (docs/original.md).
    if path := normalised(category, depth=None):
        mention.category = path
        mention.metadata.explicit = unique(["category", *mention.metadata.explicit])
    mention.line_from = mention.line_to = 0
    return mention


def _note(front: Front, lines: list[str], date: str, *, is_page: bool, tree_paths: frozenset[str]) -> Note:
    written = front.text("importance")
    try:
        importance = float(written) if written else None
    except ValueError:
        importance = None
    if not date and not is_page:
        date = first_date(front.text("date") or front.text("created")) or _title_date(lines[front.lines :])
    return Note(
        date=date,
        is_page=is_page,
        category=normalised(front.text("category")),
        importance=importance if importance is not None and 0 <= importance <= 1 else None,
        topics=unique([*front.items("tags"), *front.items("topic"), *front.items("topics")]),
        tree_paths=tree_paths,
    )


def _title_date(lines: list[str]) -> str:
    title = next((line for line in lines if line.strip()), "")
    return first_date(title) if title.startswith("#") else ""
