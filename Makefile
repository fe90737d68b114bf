# Two commands set everything up on a machine with only Python and make:
#   make run     the service with the example fleet
#   make test    the whole test suite
PYTHON ?= python3
PORT ?= 8484
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test check format lock clean

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

lock:
	requirements/compile.sh

clean:
	rm -rf $(VENV) .run build dist *.egg-info

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "clawmarshal needs Python 3.11 or later; set PYTHON=…")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-run: $(BIN)/python requirements/run.txt pyproject.toml
	$(INSTALL) --require-hashes -r requirements/run.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: $(BIN)/python requirements/dev.txt pyproject.toml
	$(INSTALL) --require-hashes -r requirements/dev.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/.installed-run
