"""A real store in which tests state facts, and the step that derives them."""

from datetime import timedelta

import msgspec
import pytest
from memoryd.clock import ManualClock, day_number
from memoryd.config import Settings
from memoryd.model import Metadata, fact_id
from memoryd.store import Store
from memoryd.tiers.derive import derive
from memoryd.tiers.tiering import own_tier, retier

MENTION = "INSERT OR REPLACE INTO mentions VALUES (?, ?, ?, ?, ?, ?, ?, ?, '[]', ?, ?, ?, ?, ?, '', 1)"
DERIVED = (
    "n", "agent_id", "fact_id", "state", "tier", "score", "category", "importance", "kind", "task_state", "created_at",
    "latest_day", "on_page", "access_days", "last_read", "distilled", "summary",
)  # fmt: skip
# Not OR REPLACE, which fires no trigger for the row that it takes away.
UPSERT = f"""INSERT INTO derived ({", ".join(DERIVED)}) VALUES ({", ".join("?" * 16)}, '')
    ON CONFLICT (n) DO UPDATE SET {", ".join(f"{each} = excluded.{each}" for each in DERIVED[3:])}"""


class World:
    """One store with its clock; facts are stated by rows, as notes and folds do it."""

    def __init__(self, path, agent="default"):
        self.clock = ManualClock()
        self.store = Store.open(path, self.clock)
        self.store.execute("PRAGMA synchronous=OFF")  # no test here is about power cuts
        self.agent = agent
        self.settings = Settings()
        self._n = 0

    @property
    def today(self):
        return day_number(self.clock.today())

    def day(self, ago=0):
        """The date `ago` days before today."""
        return (self.clock.today() - timedelta(days=ago)).isoformat()

    def id(self, text):
        return fact_id(self.agent, text)

    def fact(self, text, first_seen=None):
        fact = self.id(text)
        with self.store.transaction() as tx:
            tx.run(
                "INSERT OR IGNORE INTO facts (agent_id, id, text, first_seen, rev) VALUES (?, ?, ?, ?, 1)",
                (self.agent, fact, text, self.clock.now_ms() if first_seen is None else first_seen),
            )
            tx.touch(self.agent, fact)
        return fact

    def say(self, text, *, date=None, path=None, device=None, line=1, category="general", importance=0.5,
            kind="fact", task_state="", first_seen=None):  # fmt: skip
        """One mention; `path` defaults to the daily note of `date`, `date` to today."""
        date = self.day() if date is None else date
        path = f"memory/{date[:10]}.md" if path is None else path
        fact = self.fact(text, first_seen)
        self._n += 1
        with self.store.transaction() as tx:
            tx.run(MENTION, (self.agent, device or self.store.device, path, self._n, fact, line, line, date, category,
                             importance, kind, task_state, msgspec.json.encode(Metadata()).decode()))  # fmt: skip
        return fact

    def unsay(self, text):
        with self.store.transaction() as tx:
            tx.run("DELETE FROM mentions WHERE agent_id = ? AND fact_id = ?", (self.agent, self.id(text)))
            tx.touch(self.agent, self.id(text))

    def note(self, path, device):
        """A note row of a device."""
        with self.store.transaction() as tx:
            tx.run("INSERT INTO notes VALUES (?, ?, ?, 1, '[]', 0, 'ok', 1, NULL, 0)", (self.agent, device, path))

    def device(self, device, succeeds=()):
        with self.store.transaction() as tx:
            tx.run(
                "INSERT INTO devices VALUES (?, ?, 'linux', 1, '[]', ?, 0)",
                (device, device, msgspec.json.encode(list(succeeds)).decode()),
            )

    def derive(self, *texts):
        """The derived values of facts by their text, in that order."""
        return derive(self.store, self.agent, [self.id(text) for text in texts], self.today)

    def settle(self):
        """Derive what waits and place it: what operations does after every change."""
        rows = self.store.execute("SELECT fact_id FROM dirty WHERE agent_id = ?", (self.agent,))
        facts = [row[0] for row in rows]
        numbers = dict(self.store.execute("SELECT id, n FROM facts WHERE agent_id = ?", (self.agent,)))
        texts = dict(self.store.execute("SELECT id, text FROM facts WHERE agent_id = ?", (self.agent,)))
        with self.store.transaction() as tx:
            for each in derive(self.store, self.agent, facts, self.today):
                score, tier = own_tier(each, self.today, self.settings.scoring)
                tx.run(
                    UPSERT,
                    (numbers[each.fact_id], each.agent_id, each.fact_id, each.state, tier, score, each.category,
                     float(each.importance), each.kind, each.task_state, each.created_at, each.latest_day,
                     int(each.on_page), each.access_days, each.last_read, texts[each.fact_id][:100]),
                )  # fmt: skip
            tx.run("DELETE FROM dirty WHERE agent_id = ?", (self.agent,))
            while retier(tx, self.agent, self.today, self.settings):
                continue

    def tiers(self):
        """Text → tier of every live fact."""
        return dict(
            self.store.execute(
                "SELECT f.text, d.tier FROM derived d JOIN facts f ON f.n = d.n"
                " WHERE d.agent_id = ? AND d.state = 'live'",
                (self.agent,),
            )
        )

    def close(self):
        self.store.close()


@pytest.fixture
def world(tmp_path):
    """A fresh store."""
    one = World(tmp_path / "memory.db")
    yield one
    one.close()


@pytest.fixture
def new_world(tmp_path_factory):
    """Makes fresh stores; for property tests, which need one an example."""
    made = []

    def make(**more):
        made.append(World(tmp_path_factory.mktemp("world") / "memory.db", **more))
        return made[-1]

    yield make
    for each in made:
        each.close()
