#!/usr/bin/env bash
# Prints the path of cargo-deny, and builds it first if the cache does not have this version (about a minute).
# An unoptimised build is enough: a check of this workspace takes a second with it.
set -euo pipefail

version=0.20.2
cache=${LLSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llsd}
target=$cache/cargo-deny-$version
if [ ! -d "$target" ]; then
  mkdir -p "$cache"
  exec 9>"$cache/cargo-deny.lock"
  flock 9
  if [ ! -d "$target" ]; then
    echo "setup: building cargo-deny $version (once)" >&2
    work=$(mktemp -d "$cache/.cargo-deny.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    # From /, so that neither this workspace's toolchain file nor its lock file takes part.
    (cd / && CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR="$work/target" \
      cargo install --quiet --debug --locked --version "$version" --root "$work/root" cargo-deny) >&2 </dev/null
    chmod 755 "$work/root"
    mv -T "$work/root" "$target"
  fi
fi
echo "$target/bin/cargo-deny"
