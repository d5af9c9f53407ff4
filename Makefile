# Two commands matter: `make solve` (the main job, end to end) and `make test`.
# Each sets up what it needs by itself, once; a second run needs no network.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: solve test install lint bench clean

solve: $(VENV)/.installed
	mkdir -p build
	$(BIN)/n2s solve examples/city.csv --variant lifo --time-limit 15 \
		-o build/route.json -o build/route.csv -o build/route.geojson -o build/route.html -o build/route.png
	$(BIN)/n2s evaluate examples/city.csv build/route.json --variant lifo

test: lint
	$(BIN)/python -m pytest

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/policy_speed.py
	$(BIN)/python benchmarks/search_overhead.py
	$(BIN)/python benchmarks/training_speed.py

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[plot]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build
