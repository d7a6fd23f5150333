# rpcbench: `make bench` compares the servers, `make test` proves that rpcbench is right.

# rustup puts cargo here, and a shell that is older than it does not know.
export PATH := $(PATH):$(HOME)/.cargo/bin

CARGO_TARGET_DIR ?= target
RPCBENCH := $(CARGO_TARGET_DIR)/release/rpcbench

.DEFAULT_GOAL := help
.PHONY: help setup bench bench-client bench-peers resolution build check test lint page generated rpcbench clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  make bench ARGS="go-grpc rust-tonic --precision 2%"   passes arguments to rpcbench run'

setup: ## Install what building needs and is missing (apt, as root or with sudo)
	@scripts/setup.sh

bench: setup rpcbench ## Build everything and compare all servers that can run here
	$(RPCBENCH) run $(ARGS)

bench-client: setup ## Compare rpcbench's own client with h2load, ghz, wrk and the floor (docs/performance.md)
	@scripts/bench-client.sh $(ARGS)

bench-peers: bench-client

resolution: setup ## Show which differences runs tell on this machine (docs/evidence.md); 20 minutes, and they add up
	cargo build --release --locked --package rpcbench --package rpcbench-testkit --package rpcbench-resolution
	$(CARGO_TARGET_DIR)/release/rpcbench-resolution --programs $(CARGO_TARGET_DIR)/release $(ARGS)

build: setup rpcbench ## Build rpcbench and the servers
	$(RPCBENCH) build $(ARGS)

check: setup rpcbench ## Prove that every server keeps the contract
	$(RPCBENCH) check $(ARGS)

test: ## Format, lints, unit to end-to-end tests, documentation
	@scripts/test.sh

lint: ## The quick part of the tests: format and lints
	@scripts/setup.sh test
	@scripts/lint.sh

page: ## Build the template of the HTML page from web/
	@cd web && npm ci --silent --no-audit --no-fund && npm run --silent build && cp dist/report.html ../crates/report/assets/

generated: ## Build the committed template of the page again and compare
	@scripts/generated.sh

clean: ## Delete what was built; results/ stays
	rm -rf target build crates/testkit/*/build

rpcbench:
	cargo build --release --locked --package rpcbench
