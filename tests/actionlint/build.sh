#!/usr/bin/env bash
# Prints the folder with actionlint, which finds mistakes in workflows; builds it first if the cache does not have it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -n 's/^.*rhysd\/actionlint \(v[0-9.]*\).*$/\1/p' "$here/go.mod" | head -n 1)
exec "$here/../setup/go-tools.sh" "$here" actionlint "$version"
