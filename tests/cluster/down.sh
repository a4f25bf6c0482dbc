#!/usr/bin/env bash
# Stops what up.sh started in DIR, last started first, and returns when it is gone. usage: down.sh DIR
set -uo pipefail
cd "${1:?usage: down.sh DIR}" 2>/dev/null || exit 0 # gone, and with it all that ran there
for name in controllers apiserver etcd; do
  [ -f "$name.pid" ] || continue
  pid=$(cat "$name.pid")
  # A process that has our folder as its working directory is ours; the number may have been given away since.
  [ "$(readlink "/proc/$pid/cwd")" = "$(pwd -P)" ] || continue
  # The data is thrown away: there is nothing to shut down in order.
  kill -KILL "$pid" 2>/dev/null
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.02
  done
  rm -f "$name.pid"
done
