# Two commands matter: `make solve` (the main job, end to end) and `make test`.
# Each sets up what it needs by itself, once; a second run needs no network.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: solve test install lint browser bench clean

solve: $(VENV)/.installed
	mkdir -p build
	$(BIN)/n2s solve examples/city.csv --variant lifo --time-limit 15 \
		-o build/route.json -o build/route.csv -o build/route.geojson -o build/route.html -o build/route.png
	$(BIN)/n2s evaluate examples/city.csv build/route.json --variant lifo

test: lint browser
	$(BIN)/python -m pytest

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/hadolint Dockerfile

# Debian's Chromium, for the tests of the pages; without it they are skipped, and say so.
browser:
	@command -v chromium >/dev/null || apt-get install --yes --no-install-recommends chromium >/dev/null 2>&1 \
		|| (apt-get update && apt-get install --yes --no-install-recommends chromium) >/dev/null 2>&1 \
		|| echo "NO BROWSER: chromium cannot be installed, the pages will not be tested" >&2

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/policy_speed.py
	$(BIN)/python benchmarks/search_overhead.py
	$(BIN)/python benchmarks/training_speed.py
	$(BIN)/python benchmarks/service_load.py

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[plot,serve]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build
