#!/usr/bin/env bash
# Prints the folder with what OLM itself brings to check a bundle; builds it there first if it is missing: operator-verify,
# and definitions, which prints the definition of the ClusterServiceVersion.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -n 's/^.*github\.com\/operator-framework\/api \(v[0-9.]*\).*$/\1/p' "$here/go.mod" | head -n 1)
exec "$here/../setup/go-tools.sh" "$here" olm "$version"
