"""Whether the games of a store are games of a plan, so that they are gone on with."""

from typing import Any

from eval.plan import Plan
from eval.store.reading import Contents
from eval.store.schema import StoreError


def check_continues(store: Contents, plan: Plan) -> None:
    """Makes sure that the games of the store are games of `plan`, none too many.

    Raises:
        StoreError: they are not; it says what differs.
    """
    differ = differences(store.frame, plan.frame())
    if len(store.runs) > 1:
        differ.append("it was merged from several events, which are not gone on with")
    else:
        run, asked = store.runs[0], plan.run()
        differ += differences({k: run[k] for k in ("seed", "field")}, {k: asked[k] for k in ("seed", "field")})
        differ += [
            f"{k}: {run[k]} in the store, {asked[k]} asked for" for k in ("boards", "matches") if run[k] > asked[k]
        ]
        given = [entrant.to_dict() for entrant in plan.entrants]
        if run != asked and store.faults():
            differ.append("agents failed in it, and what they forfeit hangs on the order of games: it is not extended")
        fixed = len(given) if plan.field == "tables" else len(store.agents)
        if store.names != [agent["name"] for agent in given[:fixed]]:
            differ.append(f"agents: {', '.join(store.names)} in the store, {', '.join(plan.names)} asked for")
        else:
            differ += [
                f"agent {mine['name']} is not the one of the store: another spec or another file"
                for mine, theirs in zip(store.agents, given, strict=False)
                if mine != theirs
            ]
    if differ:
        raise StoreError(store.path, f"holds something else than what is asked for ({'; '.join(differ)})")


def differences(
    there: dict[str, Any], asked: dict[str, Any], sides: tuple[str, str] = ("in the store", "asked for")
) -> list[str]:
    """What differs between two frames, in words; `sides` says what they are."""
    found = []
    for key in dict.fromkeys([*there, *asked]):
        mine, theirs = there.get(key), asked.get(key)
        if mine == theirs or key == "rules_fields":
            continue
        if isinstance(mine, dict) and isinstance(theirs, dict):
            found += [f"{key}: {words}" for words in differences(mine, theirs, sides)]
        else:
            one, other = ("none" if value is None else value for value in (mine, theirs))
            found.append(f"{key}: {one} {sides[0]}, {other} {sides[1]}")
    return found
