#!/usr/bin/env bash
# run.sh SECONDS [TARGET...]: fuzzes each target (default: all) for so many seconds, from the files of this repository
# on. A finding ends the run of its target and leaves its input in artifacts/TARGET/.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-600}
shift || true
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    targets=(tree edits session wire check generate convert review oci)
fi
command -v cargo-fuzz >/dev/null || { echo "cargo-fuzz is missing: cargo install cargo-fuzz" >&2; exit 2; }
# The code has no unsafe blocks that a sanitizer would watch; without one, the stable tool chain is enough.
options=(--sanitizer none --release --debug-assertions)
# Whole manifests are long; longer ones find nothing that these do not, and take their time.
limits=(-max_len=8192 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1)
failed=()
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target"
    echo "== $target"
    cargo fuzz run "${options[@]}" "$target" "corpus/$target" ../samples ../server/tests/ide/files ../server/tests/ide/held_out -- \
        "${limits[@]}" -max_total_time="$seconds" -dict=words.dict || failed+=("$target")
done
[ ${#failed[@]} = 0 ] || { echo "findings: ${failed[*]}" >&2; exit 1; }
