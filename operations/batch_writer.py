"""A batch of prepared notes into the store, in one transaction, with what is derived of them."""

from collections.abc import Callable, Sequence
from datetime import date

from ..crash import crash_point
from ..ingest.similar import successors
from ..model import fact_id
from ..store import Store, Tx
from ..store.files import write_file
from ..store.notes import StatedNote, apply_note, own_statements
from .prepare import Prepared
from .settle import Settler
from .words import Words


class BatchWriter:
    """Writes notes and what was compared of their files.

    `may_become_empty` tells of a path whether a note may retract everything it said; `settler` None leaves all
    that is derived for later; without `keep_bodies` the text of notes is not kept.
    """

    def __init__(self, *, settler: Settler | None, keep_bodies: bool, may_become_empty: Callable[[str], bool]) -> None:
        self._settler, self._keep_bodies, self._may_become_empty = settler, keep_bodies, may_become_empty

    def write(self, store: Store, batch: Sequence[Prepared], today: date) -> tuple[int, set[str], set[str]]:
        """Returns how many notes were taken in, those that wait as they became empty, and whose facts were derived."""
        applied = 0
        emptied: set[str] = set()
        with store.transaction() as tx:
            for each in batch:
                if each.parsed is not None and not self._note(tx, each):
                    emptied.add(each.path)
                    continue
                write_file(tx, each.record)
                applied += each.parsed is not None
            crash_point("note written")
            derived = self._settler.derive_within(tx, today, _words(batch)) if self._settler is not None else set()
        crash_point("note committed")
        return applied, emptied, derived

    def _note(self, tx: Tx, each: Prepared) -> bool:
        """Apply one note; False when it would retract everything it said, which waits like a deletion."""
        if each.parsed is None:
            return True
        old = own_statements(tx.store, each.name.agent_id, each.path)
        if old and not each.parsed.mentions and not self._may_become_empty(each.path):
            return False
        new = [(fact_id(each.name.agent_id, said.text), said.text) for said in each.parsed.mentions] if old else []
        note = StatedNote(
            agent_id=each.name.agent_id,
            path=each.path,
            size=each.record.size,
            parsed=each.parsed,
            successors=successors(old, new) if old else (),
            keep_body=self._keep_bodies,
        )
        apply_note(tx, note)
        return True


def _words(batch: Sequence[Prepared]) -> dict[str, Words]:
    return {
        mention.text: words
        for each in batch
        if each.parsed is not None
        for mention, words in zip(each.parsed.mentions, each.words, strict=True)
    }
