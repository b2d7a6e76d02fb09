"""Puts the games of several stores into one."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack, closing

from eval.plan import MAX_AGENTS
from eval.store.building import fill
from eval.store.file import Store
from eval.store.going_on import differences
from eval.store.schema import StoreError


def merge(out: str | os.PathLike[str], paths: Sequence[str | os.PathLike[str]]) -> None:
    """Writes a new store with the games of all the others; a game that is in several counts once.

    They may differ in seed, number of boards and agents, and in nothing else. An agent of one name must be the same in
    all of them, and so must the result of a game that several have.

    Raises:
        StoreError: there is a file at `out`, a store is damaged, or stores contradict each other; nothing is written.
        OSError: a file cannot be read or written.
    """
    if os.path.lexists(out):
        raise StoreError(out, "is there already")
    with ExitStack() as stack:
        stores = [stack.enter_context(Store.reading(path)) for path in paths]
        first = stores[0]
        connection = stack.enter_context(closing(sqlite3.connect(":memory:", isolation_level=None)))
        agents, runs = list(first.agents), list(first.runs)
        for store in stores[1:]:
            _check_fits(first, store, agents)
            known = {agent["name"] for agent in agents}
            agents += [agent for agent in store.agents if agent["name"] not in known]
            runs += [run for run in store.runs if run not in runs]
        if len(agents) > MAX_AGENTS:
            raise StoreError(out, f"would have {len(agents)} agents; at most {MAX_AGENTS} fit into a store")
        fill(connection, first.frame, agents, runs)
        merged = Store(None, first.frame, agents, runs, connection)
        for store in stores:
            merged.take_rows(store, [merged.names.index(name) for name in store.names])
        merged.save(out)


def _check_fits(first: Store, store: Store, agents: Sequence[dict[str, object]]) -> None:
    differ = differences(first.frame, store.frame, ("there", "here"))
    if len({run["field"] == "tables" for run in (*first.runs, *store.runs)}) > 1:
        differ.append("tables of two agents and tables of many are not scored alike")
    by_name = {agent["name"]: agent for agent in agents}
    differ += [
        f"agent {agent['name']} is another one: another spec or another file"
        for agent in store.agents
        if by_name.get(agent["name"], agent) != agent
    ]
    if differ:
        raise StoreError(store.path, f"does not fit {first.path} ({'; '.join(differ)})")
