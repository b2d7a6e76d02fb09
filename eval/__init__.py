"""The arena: boards, matches, tournaments, statistics, ratings, best responses and reports."""

from chicago_env._packages import require_sibling

require_sibling("agents")
