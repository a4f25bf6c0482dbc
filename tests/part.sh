#!/usr/bin/env bash
# Runs one part of `make test` or `make setup`: says when it begins and how it ends, and records that for parts.sh.
#
# usage: tests/part.sh [--live] NAME COMMAND [ARGUMENT...]
#
#   --live  show what the command writes at once, not when it has ended
set -uo pipefail
live=
if [ "$1" = --live ]; then live=yes; shift; fi
name=$1
shift
[ -n "${LLSD_PARTS:-}" ] || exec 3>&1 # not under parts.sh: `make NAME`

begin=$SECONDS
echo "== $name: begins" >&3
code=0
if [ -n "$live" ]; then
  "$@" >&3 2>&1 3>&- || code=$?
else
  "$@" 3>&- || code=$?
fi
seconds=$((SECONDS - begin))
result=ok
[ "$code" -eq 0 ] || result="FAILED with exit code $code"
echo "== $name: $result after $seconds s" >&3
if [ -n "${LLSD_PARTS:-}" ]; then echo "$seconds $result" >"$LLSD_PARTS/$name"; fi
exit "$code"
