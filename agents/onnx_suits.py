"""Suits in canonical order, as `agents.suits` has them, by operations on tensors: an ONNX file can hold those.

Letters: B batch, D observation, F inputs of the network, A actions.
"""

import itertools
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from agents.suits import LISTS, SEEN, SETS, SHOWN_SUITS, SUIT_RANKS, TABLES
from chicago_env.actions import ANNOUNCE, EXCHANGE, NUM_ACTIONS, PLAY
from chicago_env.layout import AT, CARDS, HAND, OBSERVATION_SIZE, SEATS

Array = np.ndarray[Any, Any]

NAMES = np.array(list(itertools.permutations(range(4))))
"""(24, 4) int64: the new suit of each suit, for every way to name them; the first is that all keep their names."""

_CARDS = np.arange(CARDS)
_PAIRS = tuple(itertools.combinations(range(4), 2))
_BIT_STAGES = 2 + SEATS  # the own hand, cards seen, what is known of each seat
_TABLE_COLUMNS = np.array([at + j for at in TABLES for j in range(SEATS)])
_LIST_COLUMNS = np.array([at + i for at in LISTS for i in range(HAND)])
_SUIT_COLUMNS = np.arange(*SHOWN_SUITS)


def _bit_words() -> tuple[Array, Array]:
    """(N,) int64, the columns of bits that the order looks at, and (N, stages 4) float64, what each adds to the words.

    All words are whole numbers below 2^53: exact, in whatever order they are summed.
    """
    words: dict[int, tuple[int, int, int]] = {}
    for suit in range(4):
        words[AT.led_suit + suit] = 0, suit, 1 << 52
        words |= {AT.void + 4 * j + suit: (2 + j, suit, 1 << 1) for j in range(SEATS)}
    for card in range(CARDS):
        suit, bit = card & 3, 1 << (card & ~3)
        words[AT.hand + card] = 0, suit, 1 << 49 | bit  # from bit 49 on they are counted
        words |= {at + card: (1, suit, bit << i) for i, at in enumerate(SEEN)}
        words |= {AT.known + CARDS * j + card: (2 + j, suit, bit) for j in range(SEATS)}
    table = np.zeros((len(words), _BIT_STAGES, 4))
    for row, (stage, suit, word) in zip(table, words.values(), strict=True):
        row[stage, suit] = word
    return np.array(list(words)), table.reshape(len(words), -1)


class SuitOrder(nn.Module):
    """Which row of `NAMES` names the suits of an observation.

    The order of suits is that of their words: of the first stage, then, of those alike so far, of the second, and so on.
    """

    def __init__(self) -> None:
        super().__init__()
        columns, words = _bit_words()
        self.bit_columns, self.bit_words = torch.from_numpy(columns), torch.from_numpy(words)
        self.table_columns, self.list_columns = torch.from_numpy(_TABLE_COLUMNS), torch.from_numpy(_LIST_COLUMNS)
        self.table_words = torch.zeros(CARDS + 1, 4, dtype=torch.float64)
        self.table_words[_CARDS + 1, _CARDS & 3] = torch.from_numpy((_CARDS >> 2) + 1.0)
        self.list_words = torch.zeros(CARDS + 1, 4, dtype=torch.float64)
        self.list_words[_CARDS + 1, _CARDS & 3] = torch.from_numpy(2.0 ** (_CARDS & ~3))
        self.seats = torch.from_numpy(16.0 ** np.arange(SEATS)[:, None])
        self.first, self.second = torch.tensor(_PAIRS).T
        # the first stage at which two suits differ outweighs all that follow it
        self.stages = torch.from_numpy(2.0 ** np.arange(_BIT_STAGES + len(TABLES) + len(LISTS) + 1)[::-1].copy())
        self.pairs = 1 << torch.arange(len(_PAIRS))
        self.names = torch.zeros(1 << len(_PAIRS), dtype=torch.int64)
        for i, names in enumerate(NAMES):
            self.names[sum(int(names[s] > names[t]) << k for k, (s, t) in enumerate(_PAIRS))] = i

    def forward(self, observation: Tensor) -> Tensor:
        """(B,) int64 for (B, D) uint8."""
        rows = observation.shape[0]
        bits = observation.index_select(1, self.bit_columns).double() @ self.bit_words
        tables = functional.embedding(observation.index_select(1, self.table_columns).long(), self.table_words)
        tables = (tables.reshape(rows, len(TABLES), SEATS, 4) * self.seats).sum(2)
        lists = functional.embedding(observation.index_select(1, self.list_columns).long(), self.list_words)
        lists = lists.reshape(rows, len(LISTS), HAND, 4).sum(2)
        ranks = observation[:, None, SUIT_RANKS : SUIT_RANKS + 4].double()
        words = torch.cat([bits.reshape(rows, _BIT_STAGES, 4), tables, lists, ranks], 1)
        signs = torch.sign(words.index_select(2, self.first) - words.index_select(2, self.second))
        later = (self.stages @ signs) < 0  # suits alike at every stage keep their order
        return self.names.index_select(0, (later.long() * self.pairs).sum(1))


def _sources(columns: Array) -> Array:
    """(24, F) int64: for each of `NAMES`, where `columns` (F,) of a renamed observation are in what is gathered from:
    the observation, then renamed tables and lists, suits shown, `group` and `hand_suits`.
    """
    sources = np.tile(np.arange(OBSERVATION_SIZE), (len(NAMES), 1))
    sets = (*SETS, *(AT.known + CARDS * j for j in range(SEATS)))
    fours = [at + i for at in sets for i in range(0, CARDS, 4)]
    fours += [AT.led_suit, SUIT_RANKS, *(AT.void + 4 * j for j in range(SEATS))]
    for row, names in zip(sources, NAMES, strict=True):
        for at in fours:
            row[at + names] = at + np.arange(4)
    group, suits = AT.group + np.arange(HAND), AT.hand_suits + np.arange(4 * HAND)
    told = np.concatenate([_TABLE_COLUMNS, _LIST_COLUMNS, _SUIT_COLUMNS, group, suits])
    sources[:, told] = OBSERVATION_SIZE + np.arange(len(told))
    return sources[:, columns]


class CanonicalSuits(nn.Module):
    """Observations with their suits in canonical order, and what becomes of the actions.

    Within it a renamed card is 8 (52 - card), and no card 0, so that lists descend; what is added below 8 is of no account.
    """

    def __init__(self, columns: Array) -> None:
        """`columns` (F,) are those of a renamed observation that are wanted."""
        super().__init__()
        self.order = SuitOrder()
        self.columns = torch.from_numpy(np.concatenate([_TABLE_COLUMNS, _LIST_COLUMNS]))
        self.cards = torch.from_numpy(CARDS - _CARDS)
        under = _CARDS & ~3 | NAMES[:, _CARDS & 3]
        self.renamed = torch.zeros(len(NAMES), 1 + CARDS + 1, dtype=torch.int64)
        self.renamed[:, 1:-1] = torch.from_numpy(8 * (CARDS - under))
        self.suit_columns = torch.from_numpy(_SUIT_COLUMNS)
        self.renamed_suits = torch.zeros(len(NAMES), 1 + 4, dtype=torch.uint8)
        self.renamed_suits[:, 1:] = torch.from_numpy(NAMES + 1)
        self.positions = torch.arange(HAND).flip(0)
        self.entries = torch.tensor([0, *range(CARDS, 0, -1)], dtype=torch.uint8).repeat_interleave(8)
        self.suits = torch.zeros(1 + CARDS, 4, dtype=torch.uint8)
        self.suits[CARDS - _CARDS, _CARDS & 3] = 1
        self.suits = self.suits.repeat_interleave(8, 0)
        self.sources = torch.from_numpy(_sources(columns))
        self.picks = torch.from_numpy(np.arange(1 << HAND) >> np.arange(HAND)[:, None] & 1)
        self.places = 1 << torch.arange(HAND)[:, None]
        self.others = torch.arange(ANNOUNCE, NUM_ACTIONS).repeat(len(NAMES), 1)
        self.others[:, PLAY - ANNOUNCE :] = torch.from_numpy(PLAY + under)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """For (B, D) uint8 the renamed observation, (B, F) uint8, and the renamed action for each of the game's, (B, A) int64."""
        rows = observation.shape[0]
        order = self.order(observation)
        hand = observation[:, AT.hand : AT.hand + CARDS].long() * self.cards
        hand = CARDS + 1 - torch.topk(hand, HAND).values  # card + 1, ascending; beyond that is none
        entries = torch.cat([observation.index_select(1, self.columns).long(), hand], 1)
        renamed = self.renamed.index_select(0, order).gather(1, entries)
        tables, lists = renamed[:, : len(_TABLE_COLUMNS)], renamed[:, len(_TABLE_COLUMNS) :]
        # no two keys of a list are the same, as the order of such would be open
        keys, positions = torch.topk(lists.reshape(rows, -1, HAND) + self.positions, HAND)
        lists, hand, positions = keys[:, :-1].reshape(rows, -1), keys[:, -1], positions[:, -1]
        told = [
            self.entries[torch.cat([tables, lists], 1)],
            self.renamed_suits.index_select(0, order).gather(1, observation.index_select(1, self.suit_columns).long()),
            observation[:, AT.group : AT.group + HAND].gather(1, positions),
            functional.embedding(hand, self.suits).reshape(rows, -1),
        ]
        inputs = torch.cat([observation, *told], 1).gather(1, self.sources.index_select(0, order))
        exchanges = EXCHANGE + (functional.embedding(positions, self.picks) * self.places).sum(1)
        return inputs, torch.cat([exchanges, self.others.index_select(0, order)], 1)
