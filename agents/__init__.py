"""Everything that picks actions: baselines, search, networks, checkpoints, external bots, and the registry of them."""
