#!/usr/bin/env bash
# Builds the server as a module for the extension in a browser. Prints its path.
#
# usage: build.sh [PROFILE]      (of Cargo: `wasm`, which is small, if none is named; `dev` is built sooner)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
profile=${1:-wasm}
target=wasm32-wasip1
# Not in rust-toolchain.toml: a machine that never builds the module would have to fetch it, too.
if [ ! -d "$(rustc --print target-libdir --target $target)" ]; then
  command -v rustup >/dev/null || { echo "engine: rustc cannot build for $target, and there is no rustup to add it" >&2; exit 1; }
  rustup target add $target >&2
fi
"${CARGO:-cargo}" build --quiet --locked --package llsd-web --lib --profile "$profile" --target $target >&2
[ "$profile" != dev ] || profile=debug
echo "${CARGO_TARGET_DIR:-$PWD/target}/$target/$profile/llsd_web.wasm"
