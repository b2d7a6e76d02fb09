"""One test for each numbered rule of docs/rules.md, run on the oracle and on the engine."""
