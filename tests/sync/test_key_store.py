"""Where recovery keys are kept: a private file, or the keyring."""

import stat
import sys
from types import SimpleNamespace

import pytest
from memoryd.errors import AccessError, ConfigError, UnavailableError
from memoryd.sync.key_store import KeyStore
from memoryd.sync.seal import Key, KeyRing

from .conftest import Peer


class FakeKeyring:
    """A keyring that can be locked."""

    def __init__(self):
        self.errors = SimpleNamespace(KeyringError=type("KeyringError", (Exception,), {}))
        self.held, self.locked = {}, False

    def get_password(self, service, name):
        self._open()
        return self.held.get((service, name))

    def set_password(self, service, name, text):
        self._open()
        self.held[service, name] = text

    def _open(self):
        if self.locked:
            raise self.errors.KeyringError("locked")


@pytest.fixture
def keyring(monkeypatch):
    """The backend that `import keyring` finds."""
    fake = FakeKeyring()
    monkeypatch.setitem(sys.modules, "keyring", fake)
    return fake


def ids(store):
    return [each.id for each in store.load().keys]


def test_the_key_file_is_private(tmp_path):
    """Mode 0600; one that others can read is refused; the newest key stands last."""
    store, old, new = KeyStore(tmp_path), Key.new(), Key.new()
    store.save(KeyRing([old, new]))
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert ids(store) == [old.id, new.id]
    store.path.chmod(0o644)
    with pytest.raises(ConfigError, match="read by others"):
        store.load()
    store.path.chmod(0o600)
    store.path.write_text("nonsense\n")
    with pytest.raises(ConfigError, match="no recovery key"):
        store.load()
    assert ids(KeyStore(tmp_path / "none")) == []


def test_the_keyring_takes_the_place_of_the_file(tmp_path, keyring):
    """Keys of a file are still read, and leave the disk when the keyring has them."""
    old, new = Key.new(), Key.new()
    KeyStore(tmp_path).save(KeyRing([old]))
    store = KeyStore(tmp_path, in_keyring=True)
    assert ids(store) == [old.id]

    store.save(KeyRing([old, new]))

    assert list(tmp_path.iterdir()) == []
    assert ids(store) == [old.id, new.id]
    assert ids(KeyStore(tmp_path / "another", in_keyring=True)) == []


def test_a_locked_keyring_loses_no_key(tmp_path, keyring):
    """Nothing is kept half: the file stays, and reading says that the keyring does not answer now."""
    key = Key.new()
    KeyStore(tmp_path).save(KeyRing([key]))
    store = KeyStore(tmp_path, in_keyring=True)
    keyring.locked = True
    with pytest.raises(AccessError, match="did not take"):
        store.save(KeyRing([key]))
    with pytest.raises(UnavailableError, match="does not answer"):
        store.load()
    assert ids(KeyStore(tmp_path)) == [key.id]


def test_a_keyring_that_forgets_is_not_believed(tmp_path, keyring):
    """What was kept is read back before the file goes."""
    KeyStore(tmp_path).save(KeyRing([Key.new()]))
    keyring.set_password = lambda *_: None
    with pytest.raises(AccessError, match="did not keep"):
        KeyStore(tmp_path, in_keyring=True).save(KeyRing([Key.new()]))
    assert (tmp_path / "recovery.key").exists()


def test_without_the_package_it_says_what_to_install(tmp_path, monkeypatch):
    """The extra is named."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ConfigError) as caught:
        KeyStore(tmp_path, in_keyring=True).load()
    assert "memoryd[keyring]" in caught.value.hint


async def test_a_keyring_that_comes_up_later_is_asked_again(peer, keyring, tmp_path):
    """Started while it is locked, the exchange fails and says so; the next one after it was unlocked succeeds."""
    one = await peer("one")
    key = Key.new()
    store = KeyStore(tmp_path, in_keyring=True)
    store.save(KeyRing([key]))
    one.sync.keys.add(key)
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    await one.sync.exchange()
    keyring.locked = True
    late: Peer = await peer("late", load_keys=store.load)

    with pytest.raises(UnavailableError, match="keyring does not answer"):
        await late.sync.exchange()
    assert late.sync.status.state == "backoff"
    keyring.locked = False
    await late.sync.exchange()

    assert await late.rows("SELECT text FROM facts") == [("The heron fishes",)]
