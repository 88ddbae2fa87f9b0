# Two commands do everything on a fresh machine with Python 3.11 or later: make demo, make test.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
NEWEST ?= .newest
export PYTHONHASHSEED := 0
export NO_MKDOCS_2_WARNING := 1

.PHONY: demo test check bench slow newest reproduce docs figures lock clean

$(VENV)/base: requirements/base.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later was not found: install it, or set PYTHON=/path/to/python3" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11: set PYTHON=/path/to/python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check --require-hashes -r requirements/base.txt
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check --no-deps -e .
	@touch $@

$(VENV)/%: requirements/%.txt $(VENV)/base
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check --require-hashes -r $<
	@touch $@

demo: $(VENV)/base
	$(BIN)/selectron demo

test: $(VENV)/test $(VENV)/docs
	@bash requirements/debian.sh
	$(BIN)/python -m tests

check: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/bench
	$(BIN)/python -m benchmarks

slow: $(VENV)/test
	$(BIN)/python -m pytest -m slow

# The adapters and the checks of estimators beside the newest versions that there are, in a folder of its own.
newest:
	$(PYTHON) -m venv --clear $(NEWEST)
	$(NEWEST)/bin/pip install --quiet --upgrade --disable-pip-version-check -e '.[activeml,cluster,river,tables]' pandas pytest
	$(NEWEST)/bin/pip list --disable-pip-version-check | grep -iE '^(numba|numpy|ray|river|scikit-activeml|scikit-learn) '
	NUMBA_DISABLE_JIT=1 $(NEWEST)/bin/python -m pytest -m 'not slow' tests/adapters tests/classifier/test_estimator_checks.py tests/engines/test_on_ray.py

# What the data in SELECTRON_DATA allow: out/index.html. QUICK=--quick takes the fewest seeds.
reproduce: $(VENV)/test
	$(BIN)/selectron reproduce --all --report out $(QUICK)

# The commands' page, then the site in site/; a broken link fails.
docs: $(VENV)/docs
	$(BIN)/python -m docs
	$(BIN)/mkdocs build --strict

# Every experiment, its table and its picture; this takes long.
figures: $(VENV)/test
	$(BIN)/python -m docs --figures

lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra label --extra plot --extra tables -o requirements/base.txt pyproject.toml
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra test --extra check -c requirements/base.txt -o requirements/test.txt pyproject.toml
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra bench -c requirements/base.txt -o requirements/bench.txt pyproject.toml
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra docs -c requirements/base.txt -c requirements/test.txt -o requirements/docs.txt pyproject.toml

clean:
	rm -rf $(VENV) $(NEWEST) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache dist site
