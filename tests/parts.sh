#!/usr/bin/env bash
# Makes targets of the Makefile side by side, all that can be made whatever fails, and says at the end how each of them
# went and how long it took. Ends with 1 unless all went well.
#
# usage: tests/parts.sh TARGET...
#
# The recipes of the targets run tests/part.sh, which leaves a record for each. What a part writes is shown when it has
# ended, so that parts do not mix.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset MAKEFLAGS MFLAGS MAKELEVEL # this make shares out work by itself
LLSD_PARTS=$(mktemp -d)
export LLSD_PARTS
trap 'rm -rf "$LLSD_PARTS"' EXIT
exec 3>&1 # for what is to be seen at once

begin=$SECONDS
# Two more than there are processors: some parts download or wait.
make --no-print-directory --keep-going --output-sync=target --jobs=$(($(nproc) + 2)) "$@"

failed=()
printf '\n%-18s %7s  %s\n' part time result
for part; do
  if read -r seconds result <"$LLSD_PARTS/$part"; then
    printf '%-18s %3d:%02d  %s\n' "$part" $((seconds / 60)) $((seconds % 60)) "$result"
  else
    result="not run, because a part that it needs failed"
    printf '%-18s %7s  %s\n' "$part" - "$result"
  fi 2>/dev/null
  [ "$result" = ok ] || failed+=("$part")
done
seconds=$((SECONDS - begin))
printf '%-18s %3d:%02d\n' 'all, side by side' $((seconds / 60)) $((seconds % 60))
if [ ${#failed[@]} -gt 0 ]; then
  echo "FAILED: ${failed[*]}"
  exit 1
fi
