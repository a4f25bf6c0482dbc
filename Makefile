# The commands of this repository. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo docs build test parity lint advisories coverage bench bench-library bench-server bench-operator crd setup fuzz \
	playground

CARGO ?= cargo

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)$$/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

demo: ## build llsd, then show what it makes of a good resource and what it says of one with mistakes
	@docs/demo/demo.sh

docs: ## build the documentation as a site, in target/book; needs no network once mdBook is there
	"$$(tests/setup/cargo-tool.sh mdbook)" build docs

build: ## build everything
	$(CARGO) build --workspace --all-targets

# The parts of `make setup` and `make test`. Each fetches and builds what it needs, and none waits for one that it does not
# need: what is slow begins at once, beside the rest.
SETUP := setup-packages setup-api-server setup-helm setup-krew setup-olm setup-llama-stack setup-neovim setup-vscode \
	setup-npm setup-docs
TESTS := build-tests build-web build-playground test-crates test-servers test-vscode test-playground
.PHONY: $(SETUP) $(TESTS)
BUILT := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/debug

setup: ## install and build what the tests need (packages, API server, llama-stack, editors); slow only once
	@CARGO='$(CARGO)' tests/parts.sh $(SETUP)

test: ## run every test, against the real servers and editors too
	@CARGO='$(CARGO)' tests/parts.sh $(SETUP) $(TESTS)

setup-packages:
	@tests/part.sh $@ tests/setup/packages.sh

setup-api-server:
	@tests/part.sh $@ tests/cluster/build.sh

setup-helm:
	@tests/part.sh $@ tests/helm/build.sh

setup-krew:
	@tests/part.sh $@ tests/krew/build.sh

setup-olm:
	@tests/part.sh $@ tests/olm/build.sh

build-tests:
	@tests/part.sh $@ $(CARGO) test --workspace --locked --quiet --no-run

setup-llama-stack: setup-packages
	@tests/part.sh $@ bash -c 'tests/server/setup.sh && tests/server/setup.sh 1.5.0'

setup-neovim: setup-packages
	@tests/part.sh $@ tests/editors/setup.sh

setup-npm:
	@tests/part.sh $@ tests/setup/npm.sh

setup-docs:
	@tests/part.sh $@ tests/setup/cargo-tool.sh mdbook

setup-vscode: setup-packages
	@tests/part.sh $@ vscode-extension/test/setup.sh

# The crates by themselves: no API server, no editor.
test-crates: build-tests
	@tests/part.sh $@ $(CARGO) test --workspace --exclude llsd-tests --locked --quiet --no-fail-fast

# Of the whole workspace, though of one crate: built for itself it would have fewer features of its dependencies, and all
# of these would be compiled once more. So would the two programs; they are those that build-tests made.
test-servers: $(filter-out setup-vscode setup-npm,$(SETUP)) build-tests
	@LLSD_BIN='$(BUILT)/llsd' LLSD_OPERATOR_BIN='$(BUILT)/llsd-operator' \
		tests/part.sh --live $@ $(CARGO) test --workspace --test servers --locked --quiet --no-fail-fast

test-vscode: setup-packages setup-api-server setup-vscode setup-npm build-tests build-web
	@tests/part.sh $@ npm --prefix vscode-extension test --silent

# The server as a module, for the extension in a browser: not optimized, which would take longer than the tests with it.
build-web: build-tests
	@CARGO='$(CARGO)' tests/part.sh $@ vscode-extension/engine/build.sh dev

# Behind the other builds: all would take all processors.
build-playground: build-tests build-web
	@CARGO='$(CARGO)' tests/part.sh $@ playground/build.sh

test-playground: setup-packages build-playground
	@tests/part.sh $@ npm --prefix playground test --silent

# Versions of llama-stack and ogx that configs are compared with; folders with more configs: make parity FOLDERS=a:b
VERSIONS := $(basename $(notdir $(wildcard configs/catalog/*.yaml)))
FOLDERS ?=

parity: setup-packages build-tests ## compare what llsd says of configs with the packages of all versions; minutes
	for version in $(VERSIONS); do tests/server/setup.sh "$$version"; done
	LLSD_PARITY_FOLDERS='$(FOLDERS)' $(CARGO) test --workspace --test servers --locked --quiet --no-fail-fast -- \
		--ignored --nocapture --test-threads 1 all_packages of_all_versions

lint: ## formatting, clippy, licences and sources of dependencies, workflows
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	@# The advisory database is not part of this: it needs a network that a closed machine does not have.
	"$$(tests/setup/cargo-tool.sh cargo-deny)" --log-level error check bans licenses sources
	"$$(tests/actionlint/build.sh)/actionlint" .github/workflows/*.yaml
	@if [ -f vscode-extension/package.json ]; then tests/setup/npm.sh; npm --prefix vscode-extension run --silent lint; fi
	@tests/setup/npm.sh playground; npm --prefix playground run --silent lint

advisories: ## what became known about dependencies; needs a network
	"$$(tests/setup/cargo-tool.sh cargo-deny)" --log-level error check advisories
	npm --prefix vscode-extension audit --omit=dev
	npm --prefix playground audit --omit=dev

# Lines that the crate's own tests run, of the modules that say what a resource means.
coverage: ## share of the lines of generator and crd-validator that their own tests run, by file; needs rustup
	rustup component add llvm-tools
	tool=$$(tests/setup/cargo-tool.sh cargo-llvm-cov) && \
		"$$tool" llvm-cov --package llsd-generator --package crd-validator --locked \
			--ignore-filename-regex '/(yaml|tests|examples)/' --summary-only --show-missing-lines

# More files to measure on: make bench FILES='a/*.yaml b/*.yaml'
FILES ?=

# How many resources the operator is measured with, with how many in place it is started, and whether others mean it ill.
RESOURCES ?= 300 1000 ogx:300 start:5000 hostile

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

playground: ## build the page for the browser, playground/out/index.html: one file, no server
	@CARGO='$(CARGO)' playground/build.sh

crd: ## write operator/deploy/crd/ again from the types, and what is made of it: docs/api.md, release/operator.yaml, the chart
	$(CARGO) run --quiet --package llsd-generator --example crd
	$(CARGO) run --quiet --package llsd -- schema --markdown >docs/api.md
	export KUBECTL="$$(tests/cluster/build.sh)/kubectl" && release/operator.sh >release/operator.yaml && release/chart.sh

# How long each target is fuzzed, and which ones: all if none is named.
SECONDS_EACH ?= 600
TARGETS ?=

fuzz: ## feed random texts, edits and whole sessions to the library and the server; needs cargo-fuzz (see fuzz/README.md)
	fuzz/run.sh $(SECONDS_EACH) $(TARGETS)
