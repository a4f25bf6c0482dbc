#!/usr/bin/env bash
# Installs the Debian packages that the tests use and that are not there yet. The servers are started by the tests
# themselves, on ports and folders of their own; the services that Debian would start are kept from starting.
set -euo pipefail

wanted=(build-essential ca-certificates chromium curl docker-registry elpa-eglot elpa-yaml-mode emacs-nox etcd-server git openssl postgresql procps redis-server skopeo util-linux)
# The browser that shows VS Code, where the extension is part of the checkout.
if [ -d "$(dirname "${BASH_SOURCE[0]}")/../../vscode-extension" ]; then wanted+=(chromium); fi
missing=()
for package in "${wanted[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: as root, run: apt-get install --yes --no-install-recommends ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi

echo "setup: installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# 101 is policy-rc.d's answer for "do not start it". A policy that the machine already has stays.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
  trap 'rm -f "$log"; "${as_root[@]}" rm -f "$policy"' EXIT
fi
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --quiet --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}" >>"$log" 2>&1 </dev/null
}
"${as_root[@]}" apt-get update --quiet >>"$log" 2>&1 || true
install || { tail -n 30 "$log" >&2; exit 1; }
