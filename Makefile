# Everything a fresh machine needs is Python 3.11 to 3.13, make and a network for pip.
SHELL := /bin/bash
PYTHON ?= $(firstword $(shell for p in python3.12 python3.13 python3.11 python3; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null && echo "$$p"; done))
VENV ?= .venv
BIN := $(VENV)/bin
SCRATCH := .scratch
WORKSPACE ?=
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help run test lint format bench chaos soak saves demo clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: $(VENV)/.runtime ## run the daemon in the foreground on WORKSPACE (default: a scratch copy of examples/workspace)
ifeq ($(WORKSPACE),)
	@mkdir -p $(SCRATCH)/workspace && cp -Rn examples/workspace/. $(SCRATCH)/workspace/ 2>/dev/null || true
	@mkdir -p -m 700 $(SCRATCH)/run
	@printf 'In another terminal: cd %q && XDG_RUNTIME_DIR=%s %s/memoryd retrieve --query "port of kestrel"\n' "$(CURDIR)" $(SCRATCH)/run $(BIN)
	@exec env -u TURSO_DATABASE_URL -u TURSO_URL MEMORYD_STATE_DIR=$(SCRATCH)/state MEMORYD_CONFIG=$(SCRATCH)/config.toml \
		XDG_RUNTIME_DIR=$(SCRATCH)/run $(BIN)/memoryd run --workspace $(SCRATCH)/workspace
else
	@printf 'In another terminal: %q/memoryd retrieve --query "..."\n' "$(CURDIR)/$(BIN)"
	@exec $(BIN)/memoryd run --workspace "$(WORKSPACE)"
endif

test: $(VENV)/.test ## run the tests, on two cores where there are two
	$(BIN)/python -m pytest -q -n auto --maxprocesses 2 --dist loadfile $(PYTEST_ARGS)

lint: $(VENV)/.test ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@mkdir -p .links && ln -sfn .. .links/memoryd
	MYPYPATH=.links $(BIN)/mypy -p memoryd

format: $(VENV)/.test ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.bench ## measure the budgets and print them
	$(BIN)/python benchmarks/run.py

chaos: $(VENV)/.test ## kill the daemon KILLS times (100) under edits and a cloud that comes and goes
	$(BIN)/python tests/chaos/chaos.py --kills $(or $(KILLS),100)

soak: $(VENV)/.test ## edit on two devices for MINUTES minutes (60), their server killed or frozen every 30 s
	$(BIN)/python tests/chaos/two_devices.py --minutes $(or $(MINUTES),60)

saves: $(VENV)/.test ## save SAVES times (10000) over MINUTES (20) while the notes' folder is replaced again and again
	$(BIN)/python tests/chaos/saves.py --saves $(or $(SAVES),10000) --minutes $(or $(MINUTES),20)

demo: $(VENV)/.test ## play two devices and a lost machine against a local sqld
	$(BIN)/python examples/demo.py

clean: ## remove what make made, the scratch workspace included
	rm -rf $(VENV) $(SCRATCH) .links build dist memoryd.egg-info

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "memoryd needs Python 3.11, 3.12 or 3.13; set PYTHON=/path/to/python." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e .
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[test]'
	@touch $@ $(VENV)/.runtime

$(VENV)/.bench: pyproject.toml $(VENV)/.test
	$(BIN)/python -m pip install -q -e '.[test,bench]'
	@touch $@
