#!/usr/bin/env bash
# Prints the folder of a Python environment with llama-stack or ogx, and builds it first if it is missing: about a
# minute, 250 to 450 MB. It lives in the cache under a name made of the pinned versions, so a change of the pins builds a
# new one. It is built beside its place and moved there whole.
#
# usage: setup.sh [--path] [VERSION]
#
#   --path   only print the folder; fail if it is not there
#   VERSION  0.4.7, in which servers are started (requirements.txt), or one of versions/*.txt, with what reading configs
#            takes and no more. Without it 0.4.7.
#
# Python 3.12 or newer is needed: $LLSD_PYTHON, or what is found on the PATH, in pyenv or in the usual folders.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
path=
if [ "${1:-}" = --path ]; then path=yes; shift; fi
version=${1:-0.4.7}
pins=("$here/versions/$version.txt")
[ "$version" != 0.4.7 ] || pins=("$here/requirements.txt" "$here/constraints.txt")
if [ $# -gt 1 ] || [ ! -f "${pins[0]}" ]; then
  echo "usage: setup.sh [--path] [VERSION], where VERSION is 0.4.7 or one of tests/server/versions/*.txt" >&2
  exit 2
fi

cache=${LLSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llsd}
key=$(cat "${pins[@]}" | sha256sum | cut -c 1-12)
target=$cache/llama-stack-$key

# An environment is used up when the Python that it was made with has gone.
usable() { { [ -x "$target/bin/llama" ] || [ -x "$target/bin/ogx" ]; } && "$target/bin/python" -c '' 2>/dev/null; }
if usable; then
  echo "$target"
  exit
fi
if [ -n "$path" ]; then
  echo "the server's package $version is not installed for the tests; run tests/server/setup.sh $version" >&2
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
if ! usable; then
  echo "tests/server: installing the server's package $version with $python (once; about a minute)" >&2
  work=$(mktemp -d "$cache/.llama-stack.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  "$python" -m venv "$work" >&2
  "$work/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
    --requirement "${pins[0]}" ${pins[1]:+--constraint "${pins[1]}"} >&2 </dev/null
  # The scripts name the folder that they were installed in.
  grep --recursive --files-with-matches --binary-files=without-match --fixed-strings "$work" "$work/bin" |
    xargs --no-run-if-empty sed -i "s|$work|$target|g"
  chmod 755 "$work"
  rm -rf "$target"
  mv -T "$work" "$target"
  trap - EXIT
fi
echo "$target"
