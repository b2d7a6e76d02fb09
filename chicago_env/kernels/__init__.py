"""Compiled entry points: engine and observation together, for single games and for batches."""
