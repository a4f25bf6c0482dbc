#!/usr/bin/env bash
# Installs the extension's npm packages as its lock file says, unless they are there already.
set -euo pipefail
command -v npm >/dev/null || { echo "setup: Node.js with npm is missing: https://nodejs.org" >&2; exit 1; }
cd "$(dirname "${BASH_SOURCE[0]}")/../../vscode-extension"
# npm writes this file when an installation is complete.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  echo "setup: installing the extension's npm packages" >&2
  npm ci --silent --no-audit --no-fund >&2 </dev/null
fi
