# make talk: sets up everything, models included, and starts a conversation.   make help: the rest.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
JOBS ?= 2

ifeq ($(OS),Windows_NT)
BIN := Scripts
MARKS := not devices and not browser
else ifeq ($(shell uname -s),Linux)
BIN := bin
MARKS :=
else
BIN := bin
MARKS := not devices and not browser
endif
# The virtual microphone and loudspeaker are PulseAudio's, and Chromium is Debian's: only Linux has the tests marked
# `devices` and `browser`.
QUICK := not slow$(if $(MARKS), and $(MARKS))

PY := $(VENV)/$(BIN)/python
# The tests run against the wheel: the checkout's package must be out of reach, also of the processes that tests start.
# What pytest has made of the test files is kept, also where Python is told to write no bytecode: they are read often.
TESTS := DISCUSSION_HELPER_FROM_WHEEL=1 PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE= \
	$(VENV)-wheel/$(BIN)/python scripts/run_tests.py -n $(JOBS)

# Ctrl-C is a way to leave a conversation, and no error of make's.
LEAVABLE := leavable() { "$$@" || [ $$? -eq 130 ]; }; leavable

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help talk test test-all test-setup check bench setup runtime models wheel clean python system system-tests

help:
	@echo "make talk        set up everything, models included, and start a conversation"
	@echo "make test        set up everything, run the checks, and the tests against the built wheel"
	@echo "make test-all    the same, with the slow tests"
	@echo "make check       ruff and mypy"
	@echo "make bench       measure the delays of a conversation"
	@echo "make setup       the virtual environment in $(VENV), installed from this checkout, with the tools of tests and bench"
	@echo "make models      fetch the default models to the cache folder, or to $$DISCUSSION_HELPER_MODELS"
	@echo "make clean       remove what was built and installed here; the models stay"
	@echo
	@echo "ARGS passes arguments: make talk ARGS=\"--no-barge-in\", make test ARGS=\"-k echo\"."
	@echo "JOBS is the number of tests that run side by side, 2 unless it is given: make test JOBS=4."
	@echo "PYTHON and VENV choose another Python and another folder: make setup PYTHON=python3.13 VENV=.venv313."

talk: runtime models
	@$(LEAVABLE) $(VENV)/$(BIN)/discussion-helper talk $(ARGS)

bench: setup models
	$(VENV)/$(BIN)/discussion-helper bench $(ARGS)

test: test-setup
	$(TESTS) -m "$(QUICK)" $(ARGS)

test-all: test-setup
	$(PY) -m discussion_helper models pull hey_jarvis
	$(TESTS) -m "$(MARKS)" $(ARGS)

check: setup
	$(PY) -m ruff check .
	$(PY) -m mypy

test-setup: python system-tests check models wheel
	$(PY) -m discussion_helper models pull base okay_nabu

# What a conversation needs, and, as a second step, what the work on the project needs.
runtime: python system $(VENV)/.installed

$(VENV)/.installed: pyproject.toml scripts/install.py
	@$(PYTHON) scripts/install.py $(VENV)

setup: runtime $(VENV)/.installed-tools

$(VENV)/.installed-tools: $(VENV)/.installed
	@$(PYTHON) scripts/install.py --tools $(VENV)

models: runtime
	@$(PY) -m discussion_helper models pull

wheel: setup
	$(PY) scripts/wheel.py $(VENV)-wheel

python:
	@command -v "$(PYTHON)" >/dev/null || { echo "$(PYTHON) is not installed. Install Python 3.11 or newer, or name it: make $(MAKECMDGOALS) PYTHON=..." >&2; exit 1; }
	@"$(PYTHON)" -c "import sys; sys.exit(sys.version_info < (3, 11) and '$(PYTHON) is Python %d.%d, and 3.11 or newer is needed. Name one: make $(MAKECMDGOALS) PYTHON=python3.13' % sys.version_info[:2])"

system: python
	@"$(PYTHON)" scripts/system_packages.py

system-tests: python
	@"$(PYTHON)" scripts/system_packages.py --tests

clean:
	rm -rf "$(VENV)" "$(VENV)-wheel" build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
