"""Parsers of what comes from strangers, thrown at with bytes: by hypothesis in the tests, by atheris in `tests.fuzz.run`."""
