"""The arena: boards, matches, tournaments, statistics, ratings, best responses and reports.

`from eval import rank` is the whole of it for most uses::

    ranking = rank({"novice": agents.load("heuristic:novice"), "mine": mine}, boards=1000, matches=200, seed=0)
    print(ranking.text())
    ranking.write_report("runs/ranking")
"""

from typing import TYPE_CHECKING, Any

from chicago_env._packages import require_sibling

require_sibling("agents")

if TYPE_CHECKING:
    from eval.ranking import Progress as Progress
    from eval.ranking import Ranking as Ranking
    from eval.ranking import rank as rank

__all__ = ["Progress", "Ranking", "rank"]


def __getattr__(name: str) -> Any:
    """Imports what is asked for only then, so that the command line starts fast."""
    if name in __all__:
        from eval import ranking  # noqa: PLC0415 - as the docstring says

        return getattr(ranking, name)
    raise AttributeError(f"module 'eval' has no attribute {name!r}")
