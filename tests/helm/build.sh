#!/usr/bin/env bash
# Prints the folder that holds helm, and builds it there first if it is missing, from the version that go.mod names: some
# minutes on two cores with Go's cache empty. It is built beside its place and moved there whole.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -n 's/^.*helm\.sh\/helm\/v3 \(v[0-9.]*\).*$/\1/p' "$here/go.mod" | head -n 1)
cache=${LLSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llsd}
target=$cache/helm-$version
if [ ! -d "$target" ]; then
  command -v go >/dev/null || { echo "tests/helm: Go 1.26 or later is needed to build helm: https://go.dev/dl" >&2; exit 1; }
  mkdir -p "$cache"
  exec 9>"$cache/helm.lock"
  flock 9 # several test programs may start at once; the first one builds
  if [ ! -d "$target" ]; then
    echo "tests/helm: building helm $version (once; some minutes)" >&2
    work=$(mktemp -d "$cache/.helm.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    (cd "$here" && go build -mod=readonly -trimpath -buildvcs=false -o "$work/" -ldflags "-s -w" tool) >&2
    chmod 755 "$work"
    mv -T "$work" "$target"
    trap - EXIT
  fi
fi
echo "$target"
