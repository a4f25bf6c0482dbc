#!/usr/bin/env bash
# Makes everything that the tests need ready on a Debian 12 machine. What is there already is left alone, so a second
# run takes a second. Needs rustup, Go and Node.js; says so if one is missing.
set -euo pipefail
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

need() { # COMMAND WHERE
  command -v "$1" >/dev/null || { echo "setup: $1 is missing: $2" >&2; exit 1; }
}
need cargo https://rustup.rs
need go https://go.dev/dl
need node https://nodejs.org

"$tests/setup/packages.sh"
"$tests/cluster/build.sh" >/dev/null
for part in "$tests/server" "$tests/editors" "$tests/../vscode-extension/test"; do
  # Each part owns its own set-up; the folder decides whether there is one.
  if [ -x "$part/setup.sh" ]; then "$part/setup.sh" >/dev/null; fi
done
if [ -f "$tests/../vscode-extension/package.json" ]; then "$tests/setup/npm.sh"; fi
