# The few verbs of this project. Only python3 (3.11 or newer, with venv) and make have to be there.

PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes
# For commands that only read the code: nobody's settings, nothing is made or asked.
EXAMPLE := POCKETCHAT_ENV_FILE=/dev/null POCKETCHAT_URL=https://chat.example.org \
	SECRET_KEY=an-example-of-a-key-that-is-long-enough-0123456789-abcdefghijklmnopqrstuvwxyz \
	DATABASE_URL=postgres://pocketchat:secret@db.example.org/pocketchat REDIS_URL=redis://cache.example.org/0
# Compiled is what the processes import; all that is installed would take 70 MB more.
COMPILED := $(EXAMPLE) PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pocketchat.imports
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --no-emit-index-url

.DEFAULT_GOAL := help
.PHONY: help run install test lint check bench bench-recall soak format windows lock upgrade clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r verb what; do printf '  make %-12s %s\n' "$$verb" "$$what"; done

run: .venv/embedded.installed ## Install what is missing and run PocketChat (ARGS="--port 8080")
	@exec $(BIN)/python manage.py up $(ARGS)

install: .venv/dev.installed ## Install everything that development needs

test: .venv/dev.installed ## Run the tests (ARGS="tests/conversations -k window")
	@$(BIN)/python -m pytest $(ARGS)

lint: .venv/dev.installed ## Everything of the gate but the tests
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy pocketchat accounts conversations tests
	$(BIN)/lint-imports
	$(BIN)/djlint templates --lint --quiet
	$(EXAMPLE) $(BIN)/python manage.py check --deploy --fail-level WARNING

check: lint test ## The gate: lint and tests

bench: .venv/dev.installed ## Measure a reply, the choice of a context, and what prompt caches save (ARGS="-k context")
	@$(BIN)/python -m pytest -n0 -p no:randomly -s -o python_files='bench_*.py' -o python_functions='bench_*' tests/bench $(ARGS)

bench-recall: .venv/dev.installed ## Measure how often recall finds what answers a question (DATA=file; README has its form)
	@DATA="$(DATA)" $(BIN)/python -m pytest -n0 -p no:randomly -s -o python_files='bench_recall.py' -o python_functions='bench_*' tests/bench

soak: .venv/dev.installed ## Many restless people and killed workers for 15 minutes (POCKETCHAT_SOAK_MINUTES), then a count
	@$(BIN)/python -m pytest -n0 -p no:randomly -s -o python_files='soak_*.py' -o python_functions='soak_*' tests/soak $(ARGS)

format: .venv/dev.installed ## Let ruff put the code in order
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

windows: .venv/dev.installed ## Write down what the installed price list knows of models' windows, after an upgrade
	@$(BIN)/python -m conversations.providers.price_list

lock: $(BIN)/uv ## Compile requirements/*.txt from pyproject.toml, keeping versions where they still fit
	$(COMPILE) $(ARGS) pyproject.toml --group dev -o requirements/dev.txt
	$(COMPILE) pyproject.toml -c requirements/dev.txt -o requirements/base.txt
	$(COMPILE) pyproject.toml -c requirements/dev.txt --group embedded -o requirements/embedded.txt

upgrade: $(BIN)/uv ## Compile requirements/*.txt with the newest versions that fit
	echo uv | $(COMPILE) --upgrade - -o requirements/uv.txt
	$(MAKE) lock ARGS=--upgrade

clean: ## Remove .venv and caches; var, where the data is, stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './var/*' -prune -exec rm -rf {} +

# A stamp is older than its lock when the lock has changed: then it is installed again.
.venv/embedded.installed: requirements/embedded.txt $(BIN)/uv
	@echo "Installing what PocketChat needs into .venv …"
	@$(INSTALL) -r $< && $(COMPILED) && touch $@

.venv/dev.installed: requirements/dev.txt $(BIN)/uv
	@echo "Installing what development needs into .venv …"
	@$(INSTALL) -r $< && $(COMPILED) && touch $@ .venv/embedded.installed

$(BIN)/uv: requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "PocketChat needs Python 3.11 or newer; name one with make PYTHON=…")'
	@$(PYTHON) -m venv .venv || { echo "python3 cannot make a virtual environment: on Debian, apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@$@ pip uninstall --quiet --python $(BIN)/python pip setuptools && touch $@  # What they are for, uv does.
