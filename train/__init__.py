"""Self-play training, opponent pools and the command line."""

from chicago_env._packages import require_sibling

require_sibling("agents")
require_sibling("eval")
