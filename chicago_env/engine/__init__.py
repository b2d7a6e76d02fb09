"""The rules engine: numba kernels over records of `chicago_env.state.STATE`, one source for single games and batches."""
