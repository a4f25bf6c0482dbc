#!/usr/bin/env bash
# Prints the folder with the tools to compare with, and puts them into the cache first if they are not there:
# yaml-language-server (npm) and check-jsonschema (Python package index), about 100 MB.
set -euo pipefail
yamlls=2.0.0
checker=0.39.0
cache=${LLSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llsd}
target=$cache/bench-$yamlls-$checker
if [ ! -d "$target" ]; then
  mkdir -p "$cache"
  exec 9>"$cache/bench.lock"
  flock 9
  if [ ! -d "$target" ]; then
    echo "tests/bench: fetching yaml-language-server $yamlls and check-jsonschema $checker (once)" >&2
    work=$(mktemp -d "$cache/.bench.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && npm install --silent --no-audit --no-fund "yaml-language-server@$yamlls") >&2 </dev/null
    python3 -m pip install --quiet --disable-pip-version-check --target "$work/python" "check-jsonschema==$checker" >&2 </dev/null
    chmod 755 "$work"
    mv -T "$work" "$target"
    trap - EXIT
  fi
fi
echo "$target"
