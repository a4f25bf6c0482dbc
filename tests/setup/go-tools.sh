#!/usr/bin/env bash
# Prints the folder that holds the tools of a Go module, and builds them there first if they are missing. It lives in the
# cache under a name with the version. They are built beside their place and moved there whole, so an interrupted build
# leaves nothing behind that looks finished.
#
# usage: go-tools.sh FOLDER NAME VERSION [LINKER_FLAGS]
#   FOLDER  the module, whose go.mod names the tools
set -euo pipefail

folder=$(cd "${1:?usage: go-tools.sh FOLDER NAME VERSION [LINKER_FLAGS]}" && pwd)
name=${2:?usage: go-tools.sh FOLDER NAME VERSION [LINKER_FLAGS]}
version=${3:?usage: go-tools.sh FOLDER NAME VERSION [LINKER_FLAGS]}
cache=${LLSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llsd}
target=$cache/$name-$version
if [ ! -d "$target" ]; then
  command -v go >/dev/null || { echo "setup: Go 1.26 or later is needed to build $name: https://go.dev/dl" >&2; exit 1; }
  mkdir -p "$cache"
  exec 9>"$cache/$name.lock"
  flock 9 # several test programs may start at once; the first one builds
  if [ ! -d "$target" ]; then
    echo "setup: building $name $version (once; some minutes)" >&2
    work=$(mktemp -d "$cache/.$name.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    (cd "$folder" && go build -mod=readonly -trimpath -buildvcs=false -o "$work/" -ldflags "-s -w ${4:-}" tool) >&2
    chmod 755 "$work"
    mv -T "$work" "$target"
    trap - EXIT
  fi
fi
echo "$target"
