#!/usr/bin/env bash
# Prints the folder that holds helm, and builds it there first if it is missing, from the version that go.mod names: some
# minutes on two cores with Go's cache empty.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -n 's/^.*helm\.sh\/helm\/v3 \(v[0-9.]*\).*$/\1/p' "$here/go.mod" | head -n 1)
exec "$here/../setup/go-tools.sh" "$here" helm "$version"
