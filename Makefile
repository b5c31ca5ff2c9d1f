# Paths are relative, so the checkout may lie anywhere, also in a folder with spaces in its name.
SHELL := bash
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/setup-done
# Two workers on two cores; more than four would each compile and load the same engine again.
WORKERS := -n logical --maxprocesses 4 --dist worksteal
PYTEST := $(BIN)/python -m pytest $(WORKERS)
TEST_TIME := about 13 minutes on 2 cores
# Frameworks that `make test` leaves out: each has an extra of its name, .venv-NAME, tests in tests/test_NAME.py, and
# constraints-NAME.txt where it does not fit into constraints.txt.
FRAMEWORKS := rllib supersuit tianshou torchrl

.NOTPARALLEL:
.PHONY: help setup train test test-nojit test-slow test-interop test-versions lint check coverage docs docs-serve bench bench-peers bench-start clean distclean \
    $(FRAMEWORKS:%=test-%)

help:
	@echo "make train        set up, train an agent (about 3 minutes in all), show how it plays"
	@echo "make test         set up, run the tests ($(TEST_TIME))"
	@echo "make setup        only create .venv and install into it (needs Python 3.11+, git, make)"
	@echo "make check        format, lint, types, import rules, tests, some of them with the JIT off"
	@echo "make lint         the same without the tests"
	@echo "make test-nojit   cases and random rounds with the JIT off"
	@echo "make test-slow    the tests that take long"
	@echo "make test-interop $(FRAMEWORKS), each in a virtual environment of its own; one: make test-rllib, ..."
	@echo "make test-versions  sdist and wheel with the oldest and the newest versions of what they need"
	@echo "make coverage     line coverage of scopa_env, measured with the JIT off"
	@echo "make docs         the documentation as a site, in site/"
	@echo "make docs-serve   the same at http://127.0.0.1:8000, built anew after each edit"
	@echo "make bench        decisions a second, every way of playing"
	@echo "make bench-peers  the same beside other environments, alternately in one run"
	@echo "make bench-start  first-use cost: import, first step on a cold and a warm cache"
	@echo "make clean        remove caches and build products; distclean: .venv too"

# Runs again only after an edit of these files; needs no network otherwise.
$(STAMP): pyproject.toml constraints.txt
	@bash tools/setup.sh "$(VENV)"
	@touch "$(STAMP)"

setup: $(STAMP)
	@echo "$(VENV) is ready."

train: $(STAMP)
	$(BIN)/scopa train exit scopa/quick --overwrite

test: $(STAMP)
	@echo "Running the tests: $(TEST_TIME)."
	$(PYTEST)

test-slow: $(STAMP)
	@echo "Running the slow tests: expect an hour or more."
	$(PYTEST) -m slow

test-interop: $(FRAMEWORKS:%=test-%)

.venv-%/setup-done: pyproject.toml $(wildcard constraints*.txt)
	@bash tools/setup.sh ".venv-$*" "$*,test" "$(firstword $(wildcard constraints-$*.txt) constraints.txt)"
	@touch "$@"

$(FRAMEWORKS:%=test-%): test-%: .venv-%/setup-done
	.venv-$*/bin/python -m pytest -m "slow or not slow" "tests/test_$*.py"

test-versions: $(STAMP)
	@echo "Building sdist and wheel, testing them with the oldest and the newest versions: about 15 minutes."
	@bash tools/test_versions.sh

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test test-nojit

test-nojit: $(STAMP)
	@echo "Running the cases, random rounds and small tables with the JIT off: about 1 minute."
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m "nojit and not slow" tests/test_cases.py tests/test_reference.py tests/test_solve.py

coverage: $(STAMP)
	$(BIN)/coverage erase
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest $(WORKERS) -m "nojit and not slow"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# MkDocs' theme prints a notice about MkDocs 2; this variable turns it off.
docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs-serve: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

bench: $(STAMP)
	$(BIN)/scopa bench

bench-peers: $(STAMP)
	@echo "Installing other environments beside ours and measuring both: about 10 minutes."
	$(BIN)/python benchmarks/bench_peers.py

bench-start: $(STAMP)
	$(BIN)/scopa bench start

clean:
	rm -rf build dist htmlcov site .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find scopa_env agents train tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf "$(VENV)" $(FRAMEWORKS:%=.venv-%)
