# The commands of this repository. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo build test lint bench bench-library bench-server bench-operator crd setup fuzz

CARGO ?= cargo

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)$$/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

demo: ## build llsd, then show what it makes of a good resource and what it says of one with mistakes
	@docs/demo/demo.sh

build: ## build everything
	$(CARGO) build --workspace --all-targets

setup: ## install and build what the tests need (packages, API server, llama-stack, editors); slow only once
	@tests/setup/all.sh

test: setup ## run every test, against the real servers and editors too
	@if [ -f vscode-extension/test/run.mjs ]; then \
		$(CARGO) build --quiet --package llsd; \
		npm --prefix vscode-extension test --silent; \
	fi
	$(CARGO) test --workspace --quiet --no-fail-fast

lint: ## formatting, clippy, licences and sources of dependencies
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	@# The advisory database is not part of this: it needs a network that a closed machine does not have.
	"$$(tests/setup/cargo-deny.sh)" --log-level error check bans licenses sources
	@if [ -f vscode-extension/package.json ]; then tests/setup/npm.sh; npm --prefix vscode-extension run --silent lint; fi

# More files to measure on: make bench FILES='a/*.yaml b/*.yaml'
FILES ?=

# How many resources the operator is measured with.
RESOURCES ?= 300 1000

bench: bench-library bench-server bench-operator ## measure everything, beside other tools where there are any

bench-library: ## the part of bench that measures the YAML tree beside other readers, and how it recovers
	LLSD_BENCH_FILES='$(wildcard $(FILES))' $(CARGO) bench --quiet --package llsd-yaml --bench throughput
	$(CARGO) run --quiet --release --package llsd-yaml --example recovery -- samples/*.yaml configs/*/config.yaml $(FILES)

bench-server: ## the part of bench that measures the functions of analysis, and the language server beside others
	$(CARGO) bench --quiet --package llsd --bench analysis
	$(CARGO) build --quiet --release --package llsd --package llsd-bench
	tools=$$(tests/bench/setup.sh) && target/release/llsd-bench '$(CURDIR)/target/release/llsd' "$$tools"

# With CARGO_BUILD_TARGET=x86_64-unknown-linux-musl it is the static binary of the image.
bench-operator: ## the part of bench that measures the operator
	$(CARGO) build --quiet --release --package llsd-operator
	LLSD_OPERATOR_BIN='$(CURDIR)/target/$(CARGO_BUILD_TARGET)/release/llsd-operator' \
		$(CARGO) run --quiet --release --package llsd-tests --example operator_scale -- $(RESOURCES)

crd: ## write operator/deploy/crd/ again from the types
	$(CARGO) run --quiet --package llsd-generator --example crd

# How long each target is fuzzed, and which ones: all if none is named.
SECONDS_EACH ?= 600
TARGETS ?=

fuzz: ## feed random texts, edits and whole sessions to the library and the server; needs cargo-fuzz (see fuzz/README.md)
	fuzz/run.sh $(SECONDS_EACH) $(TARGETS)
