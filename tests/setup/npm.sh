#!/usr/bin/env bash
# Installs the npm packages of a folder as its lock file says, unless they are there already.
#
# usage: npm.sh [FOLDER]      (of this repository; that of the extension if none is named)
set -euo pipefail
command -v npm >/dev/null || { echo "setup: Node.js with npm is missing: https://nodejs.org" >&2; exit 1; }
folder=${1:-vscode-extension}
cd "$(dirname "${BASH_SOURCE[0]}")/../../$folder"
# npm writes this file when an installation is complete.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  echo "setup: installing the npm packages of $folder" >&2
  npm ci --silent --no-audit --no-fund >&2 </dev/null
fi
