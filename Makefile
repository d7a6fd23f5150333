# rpcbench: `make bench` compares the servers, `make test` tests rpcbench.

# rustup installs cargo here; older shells lack it on PATH.
export PATH := $(PATH):$(HOME)/.cargo/bin

CARGO_TARGET_DIR ?= target
# The profile `first` builds in half the time of a release: see Cargo.toml.
RPCBENCH := $(CARGO_TARGET_DIR)/first/rpcbench

.DEFAULT_GOAL := help
.PHONY: help setup bench bench-client resolution build check test test-all lint page generated rpcbench clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  make bench ARGS="go-grpc rust-tonic --precision 2%"   passes arguments to rpcbench run'

setup: ## Install missing build dependencies (apt, as root or with sudo)
	@scripts/setup.sh

bench: ## Build and compare up to twelve servers; ARGS=--all: all servers
	@scripts/setup.sh $(if $(ARGS),all,default)
	$(RPCBENCH) run $(ARGS)

bench-client: setup ## Compare rpcbench's client with h2load, ghz, wrk, oha and the floor (docs/performance.md)
	@scripts/bench-client.sh $(ARGS)

resolution: setup ## Measure the smallest detectable difference on this machine in 45 minutes (docs/evidence.md)
	cargo build --release --locked --package rpcbench --package rpcbench-testkit
	@python3 scripts/bench/resolution.py --programs $(CARGO_TARGET_DIR)/release $(ARGS)

build: setup rpcbench ## Build rpcbench and the servers
	$(RPCBENCH) build $(ARGS)

check: setup rpcbench ## Check that up to twelve servers keep the contract; ARGS=--all: all servers
	$(RPCBENCH) check $(ARGS)

test: ## Test what a change must pass: lints, all tests of rpcbench, changed and representative servers
	@scripts/test.sh

test-all: ## Test everything: every server and client in every variant, the release build, longer fuzzing
	@scripts/test.sh all

lint: ## Check format and lints, the quick part of the tests
	@scripts/setup.sh test
	@scripts/lint.sh

page: ## Build the template of the HTML page from web/
	@cd web && npm ci --silent --no-audit --no-fund && npm run --silent build && cp dist/report.html ../crates/report/assets/

generated: ## Rebuild the template of the HTML page and compare it with the committed one
	@scripts/generated.sh

clean: ## Delete build output, but not results/
	rm -rf target build crates/testkit/*/build

rpcbench:
	cargo build --profile first --locked --package rpcbench
