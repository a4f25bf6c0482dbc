#!/usr/bin/env bash
# Prints the folder with Krew, the manager of kubectl's plugins, and the check that its index makes of manifests; builds
# them there first if they are missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -n 's/^.*sigs\.k8s\.io\/krew \(v[0-9.]*\).*$/\1/p' "$here/go.mod" | head -n 1)
exec "$here/../setup/go-tools.sh" "$here" krew "$version"
