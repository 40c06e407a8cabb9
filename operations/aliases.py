"""Names that a fact had elsewhere: the random ids of the original skill still lead to it. Local, and without words."""

from ..store import Store, Tx


def set_alias(tx: Tx, agent_id: str, alias: str, fact: str) -> None:
    """Let `alias` name a fact from now on."""
    tx.set_meta(f"alias/{agent_id}/{alias}", fact)


def resolved(store: Store, agent_id: str, name: str) -> str:
    """The fact id that a name stands for; the name itself if it is no alias."""
    return store.meta(f"alias/{agent_id}/{name}") or name
