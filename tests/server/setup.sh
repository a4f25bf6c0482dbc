#!/usr/bin/env bash
# Prints the folder of a Python environment with llama-stack, and builds it first if it is missing: about a minute,
# 450 MB. It lives in the cache under a name made of the pinned versions, so a change of requirements.txt builds a new
# one. It is built beside its place and moved there whole.
#
# usage: setup.sh [--path]
#
#   --path  only print the folder; fail if it is not there
#
# Python 3.12 or newer is needed: $LLSD_PYTHON, or what is found on the PATH, in pyenv or in the usual folders.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 0 ] || [ "$*" = --path ] || { echo "usage: setup.sh [--path]" >&2; exit 2; }

cache=${LLSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llsd}
key=$(cat "$here/requirements.txt" "$here/constraints.txt" | sha256sum | cut -c 1-12)
target=$cache/llama-stack-$key

# An environment is used up when the Python that it was made with has gone.
if [ -x "$target/bin/llama" ] && "$target/bin/python" -c '' 2>/dev/null; then
  echo "$target"
  exit
fi
if [ $# -gt 0 ]; then
  echo "llama-stack is not installed for the tests; run tests/server/setup.sh" >&2
  exit 1
fi

python=
shopt -s nullglob
for candidate in ${LLSD_PYTHON:+"$LLSD_PYTHON"} python3.12 python3.13 python3 \
  "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[23]*/bin/python3 /usr/local/bin/python3.1[23] /opt/*/bin/python3.1[23] \
  "${XDG_DATA_HOME:-$HOME/.local/share}"/uv/python/cpython-3.1[23]*/bin/python3; do
  # A pyenv shim exists without working, and a Debian Python may come without venv: ask each one to do something.
  if "$candidate" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "tests/server: Python 3.12 or newer with the module venv is needed for llama-stack. Install it (Debian 12 has" \
    "3.11 only; pyenv install 3.12, uv python install 3.12) or name it in LLSD_PYTHON." >&2
  exit 1
fi

mkdir -p "$cache"
exec 9>"$cache/llama-stack.lock"
flock 9 # several test programs may start at once; the first one builds
if [ ! -x "$target/bin/llama" ] || ! "$target/bin/python" -c '' 2>/dev/null; then
  echo "tests/server: installing llama-stack with $python (once; about a minute)" >&2
  work=$(mktemp -d "$cache/.llama-stack.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  "$python" -m venv "$work" >&2
  "$work/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
    --requirement "$here/requirements.txt" --constraint "$here/constraints.txt" >&2 </dev/null
  # The scripts name the folder that they were installed in.
  grep --recursive --files-with-matches --binary-files=without-match --fixed-strings "$work" "$work/bin" |
    xargs --no-run-if-empty sed -i "s|$work|$target|g"
  chmod 755 "$work"
  rm -rf "$target"
  mv -T "$work" "$target"
  trap - EXIT
fi
echo "$target"
