# Two commands set everything up on a machine with only Python and make:
#   make run     the service with the example fleet
#   make test    the whole test suite
PYTHON ?= python3
PORT ?= 8484
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test check format docs lock clean

run: $(VENV)/.installed-run
	@exec $(BIN)/clawmarshal serve --quickstart .run --port $(PORT)

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.installed-dev
	$(BIN)/python -m clawmarshal.transport.published docs/transport.md

lock:
	requirements/compile.sh

clean:
	rm -rf $(VENV) .run build dist *.egg-info

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo 'clawmarshal needs Python 3.11 or later, and there is no $(PYTHON); name one: make run PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "clawmarshal needs Python 3.11 or later, and $(PYTHON) is %d.%d; name another: make run PYTHON=python3.12" % sys.version_info[:2])'
	@# A virtual environment that could not be finished (Debian: python3-venv is missing) is no target.
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.installed-run: $(BIN)/python requirements/run.txt pyproject.toml
	@echo 'Installing into $(VENV), which takes up to a minute the first time …' >&2
	@$(INSTALL) --require-hashes -r requirements/run.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: $(BIN)/python requirements/dev.txt pyproject.toml
	$(INSTALL) --require-hashes -r requirements/dev.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/.installed-run
