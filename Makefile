# `make demo` and `make test` are all the set-up there is: both create the environment first.
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export UV_PYTHON_DOWNLOADS := never
CORES ?= 2

.PHONY: demo test test-audit test-cluster lint speed lock clean

$(VENV)/installed: requirements.lock envs/bootstrap.lock pyproject.toml
	python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r envs/bootstrap.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	touch $@

demo: $(VENV)/installed
	groundeval demo --cores $(CORES)

test: $(VENV)/installed
	python -m pytest

test-audit: $(VENV)/installed
	python -m pytest tests/audit

test-cluster: $(VENV)/installed
	python -m pytest tests/cluster

lint: $(VENV)/installed
	ruff check . && ruff format --check .
	mypy --strict
	snakefmt --check Snakefile scripts/rules
	snakemake --lint

speed: $(VENV)/installed
	python -m tests.speed

lock:
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -o requirements.lock

clean:
	rm -rf .snakemake results/* data/raw data/settings data/splits data/truth data/predictions
