#!/usr/bin/env bash
# Builds the engine for the browser and puts the page together: playground/out/index.html, which needs no other file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=wasm32-unknown-unknown
# Not in rust-toolchain.toml: a machine that never builds the page would have to fetch it, too.
if [ ! -d "$(rustc --print target-libdir --target $target)" ]; then
  command -v rustup >/dev/null || { echo "playground: rustc cannot build for $target, and there is no rustup to add it" >&2; exit 1; }
  rustup target add $target
fi
"${CARGO:-cargo}" build --quiet --locked --package llsd-playground --lib --profile wasm --target $target
tests/setup/npm.sh playground
node playground/build.mjs
