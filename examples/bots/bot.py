#!/usr/bin/env python3
"""A bot for Chicago (docs/bot-protocol.md): keeps pairs, names what it has, wins tricks cheaply. Standard library only."""

import json
import sys

RANKS = "23456789TJQKA"


def rank(card):
    """Rank of a card, 0 for a two to 12 for an ace."""
    return RANKS.index(card[0])


def worst_cards(view):
    """What to throw away: all that is no part of a pair or better; without one, all but an ace or a king."""
    kept = set(view["group"])
    if view["category"] == "high card":
        kept = {max(view["hand"], key=rank)}
    return [card for card in view["hand"] if card not in kept]


def choose_card(view, cards):
    """The cheapest card that takes the trick from the others, or the lowest; the highest one when leading."""
    best = view["winning_card"]
    if best is None:
        return max(cards, key=rank)
    if view["winning_seat"] is None:
        return min(cards, key=rank)
    winning = [card for card in cards if card[1] == best[1] and rank(card) > rank(best)]
    last_to_play = len(view["tricks"][-1]["cards"]) == len(view["scores"]) - 1
    if winning:
        return min(winning, key=rank) if last_to_play else max(winning, key=rank)
    return min(cards, key=rank)


def decide(view, legal, seat):
    """The id of an action, by what may be done now."""
    texts = {option["text"]: option["id"] for option in legal}
    phase = view["phase"]
    if phase == "exchange":
        out = worst_cards(view)
        return texts.get("discard " + " ".join(out), 0) if out else texts["keep all"]
    if phase == "open_choice":
        return texts["exchange open"]
    if phase == "open_accept":
        held = [rank(card) for card in view["hand"]]
        return texts["accept card" if rank(view["upcard"]) in held else "decline card"]
    if phase == "announce":
        return max(texts.values())  # the hand's category has a higher id than a pass
    if phase == "four":
        others = [score for s, score in enumerate(view["scores"]) if s != seat]
        return texts["four reset" if max(others) >= 8 else "four points"]
    if phase == "chicago":
        # five high cards, or four aces and kings: seldom, and seldom wrong
        return texts["call chicago" if min(map(rank, view["hand"])) >= RANKS.index("Q") else "no chicago"]
    return texts["play " + choose_card(view, [text[5:] for text in texts])]


def main():
    """Answers line by line. Several matches may go on at once; each has its number, `game`."""
    seats = {}
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            answer = {"type": "hello", "protocol": 1, "name": "reference-python", "version": "1"}
        elif kind == "act":
            action = decide(message["view"], message["legal"], seats[message["game"]])
            answer = {"type": "action", "turn": message["turn"], "action": action}
        elif kind == "quit":
            return
        else:
            if kind == "match":
                seats[message["game"]] = message["seat"]
            elif kind == "match_end":
                seats.pop(message["game"], None)
            continue
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
