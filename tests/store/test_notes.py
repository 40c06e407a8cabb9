"""Notes into rows: idempotent, by content, facts before the note that names them."""

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memoryd.model import Metadata, fact_id
from memoryd.store.notes import apply_note, delete_note, note_body, own_statements
from memoryd.store.versions import set_edit

PATH = "memory/2026-02-13.md"
TABLES = ("facts", "notes", "mentions", "chunks", "chunk_uses", "edits", "forgotten")


def _id(text):
    return fact_id("default", text)


def test_applying_a_note_again_changes_nothing(apply, table, store):
    """The same bytes give the same rows, revisions included."""
    apply(["one", "two", "one"])
    before = {name: table(name) for name in TABLES}

    effect = apply(["one", "two", "one"])

    assert not effect.changed
    assert {name: table(name) for name in TABLES} == before
    assert store.execute("SELECT count(*) FROM facts") == [(2,)]
    assert store.execute("SELECT count(*) FROM mentions") == [(3,)]


def test_a_note_row_comes_after_what_it_names(apply, store):
    """Chunks, facts and mentions have smaller revisions than their note, so a cut log never names what it lacks."""
    apply(["one", "two"])

    ((note,),) = store.execute("SELECT rev FROM notes")
    others = store.execute("SELECT rev FROM facts UNION ALL SELECT rev FROM mentions UNION ALL SELECT rev FROM chunks")
    assert all(0 < rev < note for (rev,) in others)


def test_a_removed_line_leaves_and_the_rest_moves_up(apply, store):
    """Mentions are numbered without gaps; the fact stays as text until it is derived."""
    apply(["one", "two", "three"])
    apply(["one", "three"])

    assert [text for _, text in own_statements(store, "default", PATH)] == ["one", "three"]
    assert store.execute("SELECT n FROM mentions ORDER BY n") == [(0,), (1,)]
    assert store.execute("SELECT mentions FROM notes") == [(2,)]
    assert (_id("two"),) in store.execute("SELECT fact_id FROM dirty")


def test_the_stored_body_is_the_note_and_old_chunks_go(apply, store):
    """The bytes come back exactly; pieces that no note names any more are gone."""
    apply([f"line {n}" for n in range(3000)])
    first = {sha for (sha,) in store.execute("SELECT sha256 FROM chunks")}
    apply([f"line {n}" for n in range(10)])

    assert note_body(store, "default", PATH) == b"".join(b"- line %d\n" % n for n in range(10))
    left = {sha for (sha,) in store.execute("SELECT sha256 FROM chunks")}
    assert len(first) > 1
    assert len(left) <= 2
    assert store.execute("SELECT count(*) FROM chunk_uses") == [(len(left),)]


def test_a_chunk_that_another_note_names_stays(apply, store):
    """Equal notes share their pieces; deleting one does not take the other's."""
    apply(["same"])
    apply(["same"], path="memory/2026-02-14.md")
    apply(["other"], path="memory/2026-02-14.md")

    assert note_body(store, "default", PATH) == b"- same\n"


def test_without_backup_no_body_is_stored(apply, store):
    """`sync.notes = "off"` keeps facts and sends no note."""
    apply(["one"], keep_body=False)

    assert store.execute("SELECT count(*) FROM chunks") == [(0,)]
    assert store.execute("SELECT count(*) FROM facts") == [(1,)]


def test_a_deleted_note_keeps_its_row_and_bytes(apply, store):
    """Its mentions go, its text stays for `restore --deleted`."""
    apply(["one"])
    with store.transaction() as tx:
        delete_note(tx, "default", PATH)

    ((state, deleted_at, mentions),) = store.execute("SELECT state, deleted_at, mentions FROM notes")
    assert (state, deleted_at, mentions) == ("deleted", store.clock.now_ms(), 0)
    assert store.execute("SELECT count(*) FROM mentions") == [(0,)]
    assert note_body(store, "default", PATH) == b"- one\n"


def test_a_note_that_comes_back_is_alive_again(apply, store):
    """Deleted and written again: the same row, no longer deleted."""
    apply(["one"])
    with store.transaction() as tx:
        delete_note(tx, "default", PATH)
    apply(["one"])

    assert store.execute("SELECT state, deleted_at FROM notes") == [("ok", None)]
    assert [text for _, text in own_statements(store, "default", PATH)] == ["one"]


def test_kept_facts_outlive_their_note(apply, store):
    """`on_delete = "keep"` turns what the note said into statements without a note, once each."""
    apply(["one", "two", "one"])
    for _ in range(2):
        with store.transaction() as tx:
            delete_note(tx, "default", PATH, keep_facts=True)

    rows = store.execute("SELECT path, n, fact_id FROM mentions ORDER BY n")
    assert [(path, n) for path, n, _ in rows] == [("", 0), ("", 1)]
    assert {fact for _, _, fact in rows} == {_id("one"), _id("two")}


def test_a_similar_block_carries_on_the_old_one(apply, store):
    """`after` names the wording that was replaced; undo and redo of an edit ends."""
    sixty, seventy = _id("The alpaca weighs 60 kg"), _id("The alpaca weighs 72 kg")
    apply(["The alpaca weighs 60 kg"])
    for _ in range(2):
        apply(["The alpaca weighs 72 kg"], successors=[(seventy, sixty)])
        apply(["The alpaca weighs 60 kg"], successors=[(sixty, seventy)])

    found = store.execute("SELECT fact_id, value FROM edits WHERE field = 'after'")
    assert set(found) == {(sixty, seventy), (seventy, sixty)}


def test_a_wording_that_still_stands_is_nobodys_past(apply, store):
    """No `after` to a fact that the note goes on stating."""
    apply(["one", "two"])
    apply(["one", "uno"], successors=[(_id("uno"), _id("one"))])

    assert store.execute("SELECT count(*) FROM edits") == [(0,)]


def test_an_explicit_change_in_the_note_withdraws_an_older_edit(apply, store, mention):
    """What the note says in plain words later beats what a command said before."""
    marked = Metadata(explicit=["task_state"])
    apply(["Ask Mira"], mentions=[mention("Ask Mira", 1, task_state="open", metadata=marked)])
    with store.transaction() as tx:
        set_edit(tx, "default", _id("Ask Mira"), "done", "true")
    apply(["Ask Mira"], mentions=[mention("Ask Mira", 1, task_state="done", metadata=marked)])

    assert store.execute("SELECT value FROM edits WHERE field = 'done'") == [(None,)]


def test_a_fact_of_another_device_enters_this_log_when_named(apply, store):
    """A log stands alone: a fact that only came from another gets a revision of its own."""
    store.db.run(
        "INSERT INTO facts (agent_id, id, text, first_seen, rev) VALUES ('default', ?, 'one', 7, 0)", (_id("one"),)
    )
    apply(["one"])

    ((rev, seen),) = store.execute("SELECT rev, first_seen FROM facts")
    assert rev > 0
    assert seen == 7


def test_a_path_named_for_the_first_time_wakes_what_other_devices_say_there(apply, store):
    """This device may succeed them: whether their mentions count has to be derived anew."""
    store.db.run("INSERT INTO devices VALUES ('bbbbbbbb', 'old', 'x', 1, '[]', '[]', 0)")
    row = ("default", "bbbbbbbb", PATH, 0, "f" * 16, 1, 1, "", "[]", "general", 0.5, "fact", "", "{}", "", 0)
    store.db.run(f"INSERT INTO mentions VALUES ({', '.join('?' * len(row))})", row)
    apply(["one"])

    assert ("f" * 16,) in store.execute("SELECT fact_id FROM dirty")


TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=6)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(versions=st.lists(TEXTS, min_size=1, max_size=6))
def test_whatever_came_before_the_rows_say_what_the_note_says(store, note_of, versions):
    """After any sequence of versions the mentions are those of the last one."""
    for texts in versions:
        with store.transaction() as tx:
            apply_note(tx, note_of(texts))

    assert [text for _, text in own_statements(store, "default", PATH)] == versions[-1]
    (chunks,) = store.execute("SELECT chunks FROM notes WHERE path = ?", (PATH,))
    assert note_body(store, "default", PATH) == b"".join(f"- {text}\n".encode() for text in versions[-1])
    assert msgspec.json.decode(chunks[0]) or not versions[-1]
