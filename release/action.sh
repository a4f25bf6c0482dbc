#!/usr/bin/env bash
# What action.yml runs: gets the program, finds the files, checks them once for annotations and once for code scanning.
#
# Its inputs are variables of the environment, so that none of them is ever part of a command: PATHS, CHANGED_ONLY,
# ARGUMENTS, SARIF, VERSION, BINARY, and BASE, the commit to compare with. Ends as `llsd check` does.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=${RUNNER_TEMP:?is set by the runner}
output=${GITHUB_OUTPUT:?is set by the runner}

llsd=${BINARY:-}
if [ -z "$llsd" ]; then
  version=${VERSION:-$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)}
  llsd=$("$root/release/install.sh" "$version" "$work/llsd-bin")
fi

mapfile -t paths < <(sed '/^[[:space:]]*$/d' <<<"${PATHS:-.}")
mapfile -t arguments < <(sed '/^[[:space:]]*$/d' <<<"${ARGUMENTS:-}")

if [ "${CHANGED_ONLY:-false}" = true ]; then
  # A new branch has no commit before, and a shallow clone may not have it: then everything is checked.
  if [ -n "${BASE:-}" ] && git cat-file -e "$BASE^{commit}" 2>/dev/null; then
    mapfile -t -d '' paths < <(git diff -z --name-only --diff-filter=d --relative "$BASE" -- "${paths[@]}" |
      grep -zE '\.(ya?ml|json)$' || true)
    [ ${#paths[@]} -gt 0 ] || { echo "No file that llsd reads was changed."; exit 0; }
  else
    echo "::notice title=llsd::There is no commit to compare with (use fetch-depth: 0 with actions/checkout); all files are checked."
  fi
fi

if [ "${SARIF:-false}" = true ]; then
  # Its exit code is that of the same check below.
  "$llsd" check --format sarif "${arguments[@]}" -- "${paths[@]}" >"$work/llsd.sarif" || [ $? -eq 1 ]
  echo "sarif=$work/llsd.sarif" >>"$output"
fi
"$llsd" check --format github "${arguments[@]}" -- "${paths[@]}"
