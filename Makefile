# `make help` lists the commands.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := $(VENV)/peers
# With the certificates of the system, as pip has them.
UV := $(BIN)/uv pip install --quiet --system-certs
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url

.DEFAULT_GOAL := help
.PHONY: help setup serve test quick coverage check format doctor bench bench-locomo bench-speed bench-two-processes bench-code bench-code-growth model reference schema lock clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/installed ## Make .venv with everything the server needs.

$(VENV)/installed: requirements/uv.txt requirements/run.txt pyproject.toml hatch_build.py $(wildcard native/*.[ch]) native/build.py
	@echo "Installing scrubjay into $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip --disable-pip-version-check --quiet install --no-compile --require-hashes -r requirements/uv.txt
	@$(UV) --python $(BIN)/python --compile-bytecode --require-hashes -r requirements/run.txt
	@$(UV) --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed requirements/dev.txt
	@echo "Installing what the checks need into $(VENV) …"
	@$(UV) --python $(BIN)/python --require-hashes -r requirements/dev.txt
	@touch $@

serve: setup ## Start the server on 127.0.0.1:4000 with the store in ~/.scrubjay.
	@exec $(BIN)/scrubjay serve

CHECKS := check-format check-lint check-imports check-types check-reference
# Beside each other, each one's output in one piece when it has ended; all of them run, also when one fails.
TOGETHER := $(MAKE) --no-print-directory --jobs --keep-going --output-sync=target

.PHONY: $(CHECKS) suite node
$(CHECKS) suite: $(VENV)/installed-dev

# What the conformance tests run on node.
node:
	@$(PYTHON) -m tests.conformance.packages

check: $(VENV)/installed-dev ## Format, lint, types, imports, generated pages; no tests.
	@$(TOGETHER) $(CHECKS)
	@echo "All checks are met."

test: ## Every check and the whole suite.
	@$(MAKE) --no-print-directory --jobs $(VENV)/installed-dev node
	@$(TOGETHER) suite $(CHECKS)
	@echo "All checks are met and all tests pass."

quick: $(VENV)/installed-dev ## Lint, import rules and the tests of what changed since main; under a minute.
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/lint-imports --no-logo
	@nice $(BIN)/python -m tests.quick $(or $(BASE),main)

# Processes that tests start are measured too; `coverage.xml` is for other tools.
coverage: $(VENV)/installed-dev ## Run the whole suite and report the lines that no test runs.
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --cov --cov-report term:skip-covered --cov-report xml

check-format:
	@$(BIN)/ruff format --check .

check-lint:
	@$(BIN)/ruff check .

check-imports:
	@$(BIN)/lint-imports --no-logo

check-types:
	@nice $(BIN)/pyright

check-reference:
	@$(BIN)/scrubjay reference --check docs/reference

# Three workers keep two cores busy, because one of them is often waiting for a process. A worker takes whole files, so
# that what a file sets up is set up once; in the order that tests/conftest.py makes.
# `+` shows its output at once. Without bytecode, each of its hundreds of processes would compile the program again.
suite:
	+@env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder

format: $(VENV)/installed-dev ## Put the code into its form.
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

doctor: setup ## Try a real server in a temporary home: remember, recall, restart, recall again.
	@exec $(BIN)/scrubjay doctor

bench: $(VENV)/installed-dev ## Measure against the bare SDK, side by side.
	@$(BIN)/python -m benchmarks

$(PEERS)/installed: $(VENV)/installed-dev requirements/bench.txt
	@echo "Installing the peers into $(PEERS) …"
	@$(PYTHON) -m venv $(PEERS)
	@$(UV) --python $(PEERS)/bin/python --require-hashes -r requirements/bench.txt
	@touch $@

bench-locomo: $(VENV)/installed-dev ## Measure recall on LoCoMo; SCRUBJAY_BENCH names its folder.
	@$(BIN)/python -m benchmarks locomo

bench-speed: $(PEERS)/installed ## Measure 10,000 to a million memories beside other stores.
	@$(BIN)/python -m benchmarks speed

$(PEERS)/installed-node: $(PEERS)/installed benchmarks/peers/package.json benchmarks/peers/package-lock.json
	@echo "Installing codegraph and ripgrep into $(PEERS) …"
	@cp benchmarks/peers/package.json benchmarks/peers/package-lock.json $(PEERS)
	@npm ci --prefix $(PEERS) --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

bench-code: $(PEERS)/installed-node ## Measure questions about code; CODE_BENCH_REPOS names the checkouts.
	@$(BIN)/python -m benchmarks code

bench-code-growth: $(VENV)/installed-dev ## Measure code indexes of small and very large repositories.
	@$(BIN)/python -m benchmarks code-growth

bench-two-processes: $(VENV)/installed-dev ## Two servers on one store: what one keeps, the other finds.
	@$(BIN)/python -m benchmarks two-processes

model: $(VENV)/installed-dev ## Make the bundled embedding model again, in the folder WORK.
	@nice -n 19 $(BIN)/python -m models $(or $(WORK),$(error name a folder: make model WORK=…))

reference: setup ## Write the generated pages in docs/reference again.
	@$(BIN)/scrubjay reference docs/reference

schema: setup ## Write the whole schema of the store again, after a new migration.
	@$(BIN)/python -m scrubjay.db.sqlite.schema

lock: $(VENV)/installed-dev ## Pin the newest allowed versions.
	@$(LOCK) --upgrade -o requirements/uv.txt requirements/uv.in
	@$(LOCK) --upgrade -o requirements/run.txt pyproject.toml requirements/build.in
	@$(LOCK) --upgrade -o requirements/dev.txt requirements/dev.in
	@$(LOCK) --upgrade -o requirements/bench.txt requirements/bench.in

clean: ## Remove .venv and caches.
	@rm -rf $(VENV) .coverage* coverage.xml .pytest_cache .ruff_cache .import_linter_cache .hypothesis
