# `make demo` and `make test` need Python 3.11 or newer, make and git; everything else goes into .venv here.

# 3.11 first: constraints.txt is tested there. A name may be a shim that runs nothing, so each is tried.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	"$$p" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo "$$p" && break; \
	done)

VENV := .venv
BIN := $(VENV)/bin
# Written last, so that an installation that was broken off is made anew. It holds this folder's path: an environment
# does not survive being moved or copied.
STAMP := $(VENV)/.complete
# pytest workers: one per core.
WORKERS ?= auto
# Further arguments for the command that a target runs: make test ARGS="-k hands".
ARGS ?=

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONUNBUFFERED := 1

ifneq ($(shell test "$$(cat $(STAMP) 2>/dev/null)" = "$$(pwd -P)" && $(BIN)/python -c '' 2>/dev/null && echo complete),complete)
STALE := remake
endif

.PHONY: help demo test lint format bench docs docs-check clean remake

help: ## Say what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

demo: $(STAMP) ## Train an agent for two minutes and rank it against the first agents
	$(BIN)/chicago demo $(ARGS)

test: $(STAMP) ## Run all tests
	$(BIN)/python -m pytest -n $(WORKERS) $(ARGS)

lint: $(STAMP) ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP) ## Lay the code out and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP) ## Measure this machine
	$(BIN)/chicago bench $(ARGS)

docs: $(STAMP) ## Write the generated tables of docs/ anew
	$(BIN)/python -m chicago_env.docs

docs-check: $(STAMP) ## Fail if a generated table of docs/ is out of date
	$(BIN)/python -m chicago_env.docs --check

clean: ## Remove the environment, caches and build output
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find agents chicago_env eval tests train -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml constraints.txt $(STALE)
	@test -n "$(PYTHON)" || { echo "make: no Python 3.11 or newer with venv and pip was found; install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "make: $(PYTHON) is not Python 3.11 or newer with venv and pip" >&2; exit 1; }
	@echo "Installing into $(VENV) (once; PyTorch is large) ..."
	@test -e $(STAMP) && test -z "$(STALE)" || rm -rf $(VENV)
	@rm -f $(STAMP)
	@test -d $(VENV) || "$(PYTHON)" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt setuptools
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable '.[all,dev]'
	@pwd -P > $(STAMP)
