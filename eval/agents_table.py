"""Writes the table of docs/agents.md: every pair of the built-in agents, `python -m eval.agents_table`.

Points and match equity per deal and match wins with their intervals, under `pagat`, for 2, 3 and 4 players. It takes some
minutes, so that no test runs it; the table says with what it was made.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from chicago_env.cli import told
from chicago_env.docs import FOLDER, filled
from chicago_env.files import replacing
from eval.ranking import Ranking, rank
from eval.tables import equity_text, points_text, wins_text

PAGE = FOLDER / "agents.md"
NAME = "agents"
LADDER = ("random", "heuristic:novice", "heuristic:poker", "heuristic:tricks", "heuristic:expert")
PLAYERS = (2, 3, 4)


def pairs_table(rankings: Sequence[Ranking]) -> str:
    """Every pair of rankings of the same agents, one for each number of players, as a Markdown table."""
    head = ["| agent, against | |", "|---|---|"]
    for ranking in rankings:
        players = ranking.config["players"]
        head[0] += f" {players} players: points a deal | equity a deal, % | match wins, % |"
        head[1] += "---|---|---|"
    lines = []
    for i in range(len(rankings[0].pairs) - 1, -1, -1):
        first, second = rankings[0].pairs[i].first, rankings[0].pairs[i].second
        cells = []
        for ranking in rankings:
            pair = ranking.pair(first, second)
            cells += [points_text(pair.points), equity_text(pair.equity), wins_text(pair.wins)]
        lines.append(f"| `{first}` | `{second}` | " + " | ".join(cells) + " |")
    config = rankings[0].config
    made = (
        f"`{config['rules']}`, {config['boards']:,} boards of single deals and {config['matches']:,} of whole matches for "
        f"each pair, seed {config['seed']}; 95 % intervals over boards."
    )
    return "\n".join([made, "", *head, *lines])


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", nargs="+", default=LADDER, help="agents, weakest first")
    parser.add_argument("--players", nargs="+", type=int, default=PLAYERS, help="numbers of players")
    parser.add_argument("--boards", type=int, default=20_000, help="boards of single deals for each pair")
    parser.add_argument("--matches", type=int, default=1000, help="boards of whole matches for each pair")
    parser.add_argument("--seed", type=int, default=0, help="root of all chance")
    parser.add_argument("--workers", type=int, default=1, help="processes that play")
    parser.add_argument("--page", type=Path, default=PAGE, help="page to write into")
    given = parser.parse_args(arguments)
    # The stronger of a pair first, so that its figures are positive.
    agents = {name: name for name in reversed(given.agents)}
    page = given.page.read_text("utf-8")
    filled(page, NAME, "")  # finds out before anything is played whether the page has a place for it
    rankings = []
    for players in given.players:
        ranking = rank(
            agents,
            players=players,
            boards=given.boards,
            matches=given.matches,
            seed=given.seed,
            workers=given.workers,
        )
        sys.stderr.write(ranking.text() + "\n")
        rankings.append(ranking)
    with replacing(given.page) as file:
        file.write(filled(page, NAME, pairs_table(rankings)).encode())
    return 0


if __name__ == "__main__":
    sys.exit(told(main))
