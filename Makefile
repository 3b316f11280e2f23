# Every target sets up what it needs in .venv; nothing else on the machine is touched.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo picture docs test lint bench fuzz audit package clean

help:
	@echo "make demo     the point in four steps, measured in two minutes: demo/index.html"
	@echo "make test     all tests (those on the real data need UNCHURN_DATA)"
	@echo "make lint     ruff, mypy, and the layers of the rooms"
	@echo "make bench    docs/benchmarks.md: beside other libraries (hours; UNCHURN_DATA)"
	@echo "make fuzz     docs/reliability.md: 200,000 spoiled files (hours; goes on where it stopped)"
	@echo "make audit    a bill of what constraints.txt pins, and what is known against it (network)"
	@echo "make package  dist/: wheel and sdist, every verb tried in empty environments (index, minutes)"
	@echo "make docs     the documentation as a site: site/index.html, offline, no broken link"
	@echo "make picture  the README's pictures (some minutes)"
	@echo "make clean    remove .venv, caches, the demo's output and the site"

demo: .venv/installed
	$(BIN)/unchurn demo

picture: .venv/installed
	$(BIN)/python docs/pictures.py

docs: .venv/installed
	rm -rf site
	$(BIN)/python -m sphinx -E -W --keep-going -q -d build/doctrees docs site

bench: .venv/installed
	$(BIN)/pip install --quiet --constraint constraints.txt skorch lightning
	$(BIN)/python benchmarks/knn.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/compare.py

fuzz: .venv/installed
	$(BIN)/python benchmarks/fuzz.py

audit: .venv/installed
	$(BIN)/python benchmarks/audit.py

package:
	$(PYTHON) benchmarks/package/environments.py

test: .venv/installed
	$(BIN)/pytest -n auto --dist loadgroup

lint: .venv/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis demo dist site
