"""Words that stand nowhere are looked for with one letter changed, left out, added or swapped."""

from collections.abc import Sequence
from string import ascii_lowercase

from ..store import Store
from .candidates import Scope, Weighed, quoted, weigh
from .tokens import Term, stems

SHORTEST, LONGEST = 4, 16
"""Letters of a word that is looked at: of a short one every variant is another word, a long one has too many."""
WORDS = 3
"""How many words of a question are looked at; each costs some milliseconds."""
WORTH = 0.8
"""What a near spelling is worth beside the word itself."""
_ROWS = 40
_KEPT = 3


def corrected(store: Store, scope: Scope, terms: Sequence[Weighed]) -> list[Weighed]:
    """`terms`, and for each English word among them that matches nothing the words one letter away that do."""
    found = list(terms)
    missing = [each.term for each in terms if not each.count and SHORTEST <= len(each.term.word) <= LONGEST]
    for term in missing[:WORDS]:
        found += [each for each in weigh(store, scope, _known_variants(store, scope, term)) if each.count]
    return found


def variants(word: str) -> set[str]:
    """Every word one edit away (Damerau's four kinds: one letter dropped, added, replaced, two neighbours swapped)."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = {head + tail[1:] for head, tail in cuts if tail}
    found |= {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    found |= {head + letter + tail[1:] for head, tail in cuts if tail for letter in ascii_lowercase}
    found |= {head + letter + tail for head, tail in cuts for letter in ascii_lowercase}
    return found - {word}


def _known_variants(store: Store, scope: Scope, term: Term) -> list[Term]:
    """The variants that stand in some of the facts that hold any of them."""
    possible = set(stems(sorted(variants(term.word)))) - {term.text}
    asked = " OR ".join(quoted(Term(each, 1.0)) for each in sorted(possible))
    rows = store.execute(
        f"SELECT body, headings, category, extra FROM search_index WHERE search_index MATCH ? LIMIT {_ROWS}",
        (scope.question(asked),),
    )
    present = {token for row in rows for column in row for token in str(column).split()}
    return [Term(text, term.weight * WORTH) for text in sorted(possible & present)[:_KEPT]]
