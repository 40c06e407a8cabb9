"""End-to-end encryption: what a server sees, who can read it, and how devices come to share a key."""

import base64

import httpx
import pytest
from memoryd.errors import CloudStoppedError, UsageError
from memoryd.model import fact_id
from memoryd.store.forget import forget_fact
from memoryd.store.rekey import take_over
from memoryd.sync import snapshot
from memoryd.sync.hrana import CloudError
from memoryd.sync.restore_plan import plan_restore
from memoryd.sync.seal import Key, KeyRing, SealError, sealed_with
from memoryd.sync.stewardship import encrypt
from memoryd.sync.verify import verify
from memoryd.sync.wire import chain_hash, pack

from .conftest import AGENT

WORD, PATH = "zyzzyvaword", "memory/2026-02-13-secretname.md"


class Listens(httpx.AsyncBaseTransport):
    """Keeps every request body."""

    def __init__(self):
        self.real = httpx.AsyncHTTPTransport()
        self.bodies = []

    async def handle_async_request(self, request):
        self.bodies.append(request.content)
        return await self.real.handle_async_request(request)

    async def aclose(self):
        await self.real.aclose()


async def listening(one, sqld):
    """What the device sends from now on."""
    heard = Listens()
    before, one.sync.client._http = (
        one.sync.client._http,
        httpx.AsyncClient(transport=heard, headers={"Authorization": f"Bearer {sqld.token()}"}),
    )
    await before.aclose()
    return heard


async def test_the_server_sees_no_word_path_or_id(peer, sqld, unpacked):
    """With a key from the start nothing that was said is in any request or in any file of the cloud."""
    key = Key.new()
    one = await peer("one", keys=KeyRing([key]))
    heard = await listening(one, sqld)
    await one.note(PATH, f"The {WORD} fishes\n{'Another line ' * 50}\n")
    await one.sync.exchange()
    await one.note(PATH, f"The {WORD} fishes\nAnd stays\n")
    await one.sync.exchange()
    needles = [WORD.encode(), b"secretname", fact_id(AGENT, f"The {WORD} fishes").encode(), b"memory/"]
    assert len(heard.bodies) > 3
    for body in heard.bodies:
        for piece in unpacked(body):
            assert [needle for needle in needles if needle in piece] == []
    assert {sealed_with(base64.b64decode(row[0] + "==")) for row in sqld.query("SELECT payload FROM segments")} == {
        key.id
    }
    sqld.stop()
    files = [path.read_bytes() for path in sqld.folder.rglob("*") if path.is_file()]
    assert [needle for needle in needles for data in files if needle in data] == []
    assert one.sync.status.picture_pending == 0


async def test_a_device_with_the_key_shares_everything(peer):
    """It folds, sends, restores and verifies as without encryption."""
    key = Key.new()
    one, two = await peer("one", keys=KeyRing([key])), await peer("two", keys=KeyRing([Key.parse(key.text)]))
    await one.note(PATH, f"The {WORD} fishes\n")
    await one.sync.exchange()
    await two.note("memory/2026-02-14.md", "From two\n")
    await two.sync.exchange()
    await one.sync.exchange()
    for each in (one, two):
        assert await each.texts() == {f"The {WORD} fishes", "From two"}
        assert (await verify(each.sync, deep=True)).differences == []


async def test_without_the_key_or_with_a_wrong_one_nothing_comes(peer, tmp_path):
    """The state is stopped, nothing is folded, a restore writes nothing and says why."""
    one = await peer("one", keys=KeyRing([Key.new()]))
    await one.note(PATH, f"The {WORD} fishes\n")
    await one.sync.exchange()
    for name, keys in (("none", KeyRing()), ("wrong", KeyRing([Key.new()]))):
        other = await peer(name, keys=keys)
        with pytest.raises(CloudStoppedError, match="key"):
            await other.sync.exchange()
        assert other.sync.status.state == "stopped"
        root = tmp_path / f"w-{name}"
        root.mkdir()
        with pytest.raises(CloudStoppedError, match="key"):
            await plan_restore(other.sync, root)
        assert await other.texts() == set()
        assert list(root.iterdir()) == []


async def used_cloud(peer, sqld):
    """Two devices that have shared a plain cloud; the first one has just begun to encrypt it."""
    one, two = await peer("one"), await peer("two")
    for n in range(4):
        await one.note(f"memory/2026-02-0{n + 1}.md", f"The {WORD} number {n}\n")
        await one.sync.exchange()
    await two.note("memory/2026-02-13.md", "From two\n")
    await two.sync.exchange()
    assert sqld.query("SELECT count(*) FROM cold_memories") == [["5"]]
    return one, two, Key.new()


def plain_devices(sqld):
    """Devices with a plain segment."""
    return {row[0] for row in sqld.query("SELECT DISTINCT device FROM segments WHERE substr(payload, 1, 2) <> x'4d31'")}


async def test_a_used_cloud_is_encrypted_log_by_log(peer, sqld, monkeypatch):
    """The own log and the picture go first; the others are stopped until they get the key, and follow."""
    monkeypatch.setattr(snapshot, "PART_ROWS", 5)
    one, two, key = await used_cloud(peer, sqld)
    await encrypt(one.sync, key)
    await one.sync.exchange()

    assert sqld.query("SELECT count(*) FROM cold_memories") == [["0"]]
    assert sqld.query("SELECT count(*) FROM critical_state") == [["0"]]
    assert plain_devices(sqld) == {await two.device()}
    assert one.sync.status.plain_logs == [await two.device()]
    with pytest.raises(CloudStoppedError):
        await two.sync.exchange()
    two.sync.keys.add(key)
    await two.sync.exchange()
    assert plain_devices(sqld) == set()
    await one.sync.exchange()
    assert one.sync.status.plain_logs == []
    for each in (one, two):
        await each.sync.exchange()
        assert len(await each.texts()) == 5
        assert (await verify(each.sync, deep=True)).differences == []


@pytest.mark.parametrize("cut", [1, 2, 3])
async def test_an_encryption_that_was_cut_off_goes_on(peer, sqld, monkeypatch, cut):
    """Until the last part nothing has changed for the others; the same key finishes it."""
    monkeypatch.setattr(snapshot, "PART_ROWS", 8)
    one, two, key = await used_cloud(peer, sqld)
    await one.sync.exchange()
    real, seen = one.sync.client.transact, []

    async def breaks(statements):
        seen.append(1)
        if len(seen) == cut:
            raise CloudError("The cloud does not answer.")
        return await real(statements)

    one.sync.client.transact = breaks
    with pytest.raises(CloudError):
        await encrypt(one.sync, key)
    one.sync.client.transact = real
    assert sqld.query("SELECT v LIKE '%/plain' FROM meta") == [["1"]]
    await two.sync.exchange()
    await encrypt(one.sync, key)
    await one.sync.exchange()
    assert await one.device() not in plain_devices(sqld)
    two.sync.keys.add(key)
    for each in (two, one, two):
        await each.sync.exchange()
        assert (await verify(each.sync, deep=True)).differences == []


async def test_a_lost_logs_turn_comes_when_it_is_retired(peer, sqld):
    """Its successor encrypts it."""
    one, two, key = await used_cloud(peer, sqld)
    lost = await two.device()
    await one.sync.exchange()
    await encrypt(one.sync, key)
    await one.write(lambda tx: take_over(tx, [lost]))
    await one.sync.exchange()
    await one.sync.exchange()
    assert plain_devices(sqld) == set()
    assert one.sync.status.plain_logs == []
    assert (await verify(one.sync, deep=True)).differences == []


async def test_a_new_key_takes_over_and_forgetting_still_works(peer, sqld):
    """After rotate the log is sealed with the new key alone; a forgotten word leaves it."""
    first, second = Key.new(), Key.new()
    one = await peer("one", keys=KeyRing([first]))
    await one.note(PATH, f"The {WORD} fishes\nStays\n")
    await one.sync.exchange()
    await encrypt(one.sync, second)
    await one.write(lambda tx: forget_fact(tx, AGENT, fact_id(AGENT, f"The {WORD} fishes")))
    await one.sync.exchange()
    late = await peer("late", keys=KeyRing([second]))
    await late.sync.exchange()
    assert await late.texts() == {"Stays"}
    with pytest.raises(CloudStoppedError):
        await (await peer("old", keys=KeyRing([first]))).sync.exchange()


async def test_a_plain_segment_in_an_encrypted_log_is_refused(peer, sqld):
    """Who has no key cannot add to a log, even with a right hash."""
    keys = KeyRing([Key.new()])
    one, two = await peer("one", keys=keys), await peer("two", keys=keys)
    await one.note(PATH, "True\n")
    await one.sync.exchange()
    await two.sync.exchange()
    device = await one.device()
    ((head,),) = sqld.query(f"SELECT sha256 FROM segments WHERE device = '{device}' ORDER BY idx DESC LIMIT 1")
    payload = pack(b'["fact","default","0123456789abcdef","Forged",1]\n')
    sqld.query(
        f"INSERT INTO segments VALUES ('{device}', 2, '{head}', '{chain_hash(head, payload)}', NULL, NULL, NULL, 1, 1,"
        f" x'{payload.hex()}')"
    )
    await two.sync.exchange()
    assert "not encrypted" in two.sync.status.faults[device]
    assert await two.texts() == {"True"}


def test_a_payload_opens_only_at_its_place():
    """Another device, number or predecessor, or one changed bit, and it does not open."""
    ring = KeyRing([Key.new()])
    sealed = ring.seal(ring.newest.id, ("d1", 3, "aa"), b"rows")
    assert ring.open(("d1", 3, "aa"), sealed) == b"rows"
    for place in (("d2", 3, "aa"), ("d1", 4, "aa"), ("d1", 3, "ab")):
        with pytest.raises(SealError):
            ring.open(place, sealed)
    for at in (2, 12, len(sealed) - 1):
        broken = bytearray(sealed)
        broken[at] ^= 1
        with pytest.raises(SealError):
            ring.open(("d1", 3, "aa"), bytes(broken))
    assert ring.seal(ring.newest.id, ("d1", 3, "aa"), b"rows") != sealed


def test_a_recovery_key_survives_being_written_down():
    """Small letters, blanks and missing dashes do not matter; a typing error is noticed; it is never repeated."""
    key = Key.new()
    assert Key.parse(f"  {key.text.lower().replace('-', ' ')}\n") == key
    wrong = ("A" if key.text[0] != "A" else "B") + key.text[1:]
    for text in (wrong, key.text[:-1], "", "not a key"):
        with pytest.raises(UsageError) as caught:
            Key.parse(text)
        assert text[:20] not in caught.value.message or not text
