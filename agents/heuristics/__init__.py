"""Agents that follow rules of thumb and counted odds: no search, nothing learned at play time."""
