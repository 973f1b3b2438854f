# Everything a newcomer needs; `make help` lists it.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Some tests wait for processes and connections. Each worker costs some seconds: it collects all tests.
WORKERS ?= 4
# Each has a control plane of its own and mostly waits; on a cluster of yours one test runs at a time.
E2E_WORKERS ?= $(if $(KUBECONFIG_E2E)$(KUBECONFIG),0,2)
ARGS ?=
# Else each process that a test starts would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):[^#]*## */\1\t/' | awk -F'\t' '{printf "  %-14s %s\n", $$1, $$2}'

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "queueing needs Python 3.11 or newer; run make with PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing queueing and its tools into $(VENV) (once; takes about a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	@touch $@

.PHONY: setup
setup: $(VENV)/.ready ## Create the virtual environment with all tools

.PHONY: demo
demo: setup ## Show forty Jobs of three teams queueing, in a minute and without a cluster
	@$(BIN)/queueing demo $(ARGS)

.PHONY: dev
dev: setup ## Run the embedded API server with queueing and simulated nodes; kubectl works on it
	@$(BIN)/queueing dev $(ARGS)

.PHONY: test
test: setup ## Run the fast tests (about two minutes)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m 'not slow' tests $(ARGS)

.PHONY: sizes
sizes: setup ## Count the lines of each capability, words and pages, beside their bars
	@$(BIN)/python -m tests.sizes

.PHONY: properties
properties: setup ## Run the long property, history and fault tests (about ten minutes)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m slow \
		--hypothesis-profile others tests $(ARGS)

.PHONY: e2e
e2e: setup ## Build the real control plane (once) and run the end-to-end tests on it
	$(BIN)/python -m e2e.controlplane.build
	$(BIN)/python -m pytest -q -n $(E2E_WORKERS) --dist loadfile --no-loadscope-reorder \
		-o cache_dir=.cache/pytest-e2e -o faulthandler_timeout=600 e2e $(ARGS)

.PHONY: bench
bench: setup ## Measure admissions on the real API server beside their floor, and the core alone
	$(BIN)/python -m bench $(ARGS)

.PHONY: bench-virtual
bench-virtual: setup ## Run loads with priorities in virtual time, in both modes, and count evictions
	$(BIN)/python -m bench.virtual $(ARGS)

.PHONY: bench-eta
bench-eta: setup ## Replay loads in virtual time, and say how often estimates of waits hold
	$(BIN)/python -m bench.eta $(ARGS)

.PHONY: bench-credits
bench-credits: setup ## Simulate what credits do, and write table and picture of docs/credits-simulated.md
	$(BIN)/python -m bench.credits_page $(ARGS)

.PHONY: demo-picture
demo-picture: setup ## Run the demo, and draw docs/demo.svg from what it prints
	$(BIN)/python -m bench.demo_picture

.PHONY: check
check: setup ## Format, lint, types, import rules, and that generated files are fresh
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy queueing api/queueing_api api/queueing_checkpoint examples tests e2e bench
	$(BIN)/lint-imports
	$(BIN)/python -m queueing_api.crd --check config/crd
	$(BIN)/python -m queueing.cli.roles --check config/rbac/jobs.yaml
	$(BIN)/python -m queueing.cli.reference --check docs/reference
	$(BIN)/python -m queueing.observe.monitoring.files --check

.PHONY: fix
fix: setup ## Format the code and apply the linter's safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: generate
generate: setup ## Write the CRDs, dashboards, alerts and reference pages anew
	$(BIN)/python -m queueing_api.crd --write config/crd
	$(BIN)/python -m queueing.cli.roles --write config/rbac/jobs.yaml
	$(BIN)/python -m queueing.cli.reference --write docs/reference
	$(BIN)/python -m queueing.observe.monitoring.files --write

.PHONY: chart
chart: ## Assemble the Helm chart in dist/chart from charts/ and config/
	rm -rf dist/chart
	mkdir -p dist
	cp -r charts/queueing dist/chart
	mkdir -p dist/chart/files/always dist/chart/files/dashboards
	cp config/crd/webhook/*.x-k8s.io_*.yaml config/crd/webhook/queueing.dev_*.yaml dist/chart/files/always/
	cp config/rbac/manager.yaml config/rbac/kinds.yaml config/rbac/jobs.yaml config/webhook/webhooks.yaml config/visibility/apiservices.yaml dist/chart/files/always/
	cp config/flowcontrol/flowcontrol.yaml dist/chart/files/
	cp config/exec/role.yaml dist/chart/files/exec.yaml
	cp config/observability/prometheusrule.yaml dist/chart/files/
	cp config/observability/dashboards/*.json dist/chart/files/dashboards/
	@echo "dist/chart is ready: helm install kueue dist/chart --namespace kueue-system --create-namespace"

.PHONY: clean
clean: ## Remove the virtual environment and all caches
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
