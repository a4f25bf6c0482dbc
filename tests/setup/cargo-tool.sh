#!/usr/bin/env bash
# Prints the path of one of cargo's further commands, or of another program from crates.io, and builds it first if the
# cache does not have its version (some minutes). An unoptimised build is enough for what they have to do here.
#
# usage: cargo-tool.sh cargo-cyclonedx|cargo-deny|cargo-llvm-cov|mdbook
set -euo pipefail

tool=${1:?usage: cargo-tool.sh cargo-cyclonedx|cargo-deny|cargo-llvm-cov|mdbook}
features=()
case $tool in
  cargo-cyclonedx) version=0.5.9 ;;
  cargo-deny) version=0.20.2 ;;
  cargo-llvm-cov) version=0.9.1 ;;
  # Without its own web server.
  mdbook) version=0.5.4 features=(--no-default-features --features search) ;;
  *) echo "setup: no version of $tool is chosen here" >&2; exit 2 ;;
esac
cache=${LLSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llsd}
target=$cache/$tool-$version
if [ ! -d "$target" ]; then
  mkdir -p "$cache"
  exec 9>"$cache/$tool.lock"
  flock 9
  if [ ! -d "$target" ]; then
    echo "setup: building $tool $version (once)" >&2
    work=$(mktemp -d "$cache/.$tool.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    # From /, so that neither this workspace's toolchain file nor its lock file takes part.
    (cd / && CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR="$work/target" \
      cargo install --quiet --debug --locked --version "$version" --root "$work/root" \
      "${features[@]}" "$tool") >&2 </dev/null
    chmod 755 "$work/root"
    mv -T "$work/root" "$target"
  fi
fi
echo "$target/bin/$tool"
