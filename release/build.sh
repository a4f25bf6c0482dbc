#!/usr/bin/env bash
# Builds one of our programs for one machine, on any Linux: zig is the linker and the C compiler for all of them. Prints
# the path of the binary. Those for Linux are static.
#
# usage: build.sh llsd|llsd-operator TARGET
#   TARGET  x86_64-unknown-linux-musl, aarch64-unknown-linux-musl, x86_64-apple-darwin, aarch64-apple-darwin,
#           x86_64-pc-windows-gnu
#
# Variables: LLSD_CACHE, where zig is kept; CARGO_TARGET_DIR, as cargo reads it.
set -euo pipefail

usage='usage: build.sh llsd|llsd-operator TARGET'
program=${1:?$usage}
target=${2:?$usage}
case $program in llsd | llsd-operator) ;; *) echo "$usage" >&2; exit 2 ;; esac
binary=$program
case $target in
  *-unknown-linux-musl | *-apple-darwin) ;;
  *-pc-windows-gnu) binary=$program.exe ;;
  *) echo "build.sh: nothing is built for $target" >&2; exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools=${LLSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llsd}/zig-0.17.1-0.24.1
if [ ! -d "$tools" ]; then
  mkdir -p "$(dirname "$tools")"
  # Moved whole, so that an interrupted installation leaves nothing that looks finished. Scripts in it would name the folder
  # before; what is started of it are a program and a link to Python.
  exec 9>"$tools.lock"
  flock 9
  if [ ! -d "$tools" ]; then
    made=$(mktemp -d "$tools.XXXXXX")
    trap 'rm -rf "$made"' EXIT
    python3 -m venv "$made" >&2
    "$made/bin/pip" install --quiet --disable-pip-version-check cargo-zigbuild==0.24.1 ziglang==0.17.1 >&2
    mv -T "$made" "$tools"
    trap - EXIT
  fi
fi
if [ ! -d "$(rustc --print target-libdir --target "$target")" ]; then
  rustup target add "$target" >&2
fi
# The oldest macOS that Rust's programs for arm64 run on. Without a word zig writes that of its own libraries, which is newer.
export MACOSX_DEPLOYMENT_TARGET=${MACOSX_DEPLOYMENT_TARGET:-11.0}
# cargo-zigbuild looks for the module ziglang of the first python3 on the PATH.
PATH="$tools/bin:$PATH" VIRTUAL_ENV=$tools cargo-zigbuild zigbuild --quiet --locked --release --package "$program" \
  --bin "$program" --target "$target" >&2
echo "${CARGO_TARGET_DIR:-$PWD/target}/$target/release/$binary"
