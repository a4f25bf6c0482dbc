#!/usr/bin/env bash
# Prints the folder that holds kube-apiserver, kube-controller-manager and kubectl, and builds them there first if they
# are missing: 8 minutes on two cores with Go's cache empty, half a minute with it warm; 270 MB.
#
# A folder named by KUBEBUILDER_ASSETS that has the API server (setup-envtest makes such folders) is used as it is.
# Otherwise the programs live in the cache, under the version that go.mod names. They are built beside their place and
# moved there whole, so an interrupted build leaves nothing behind that looks finished.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ -n "${KUBEBUILDER_ASSETS:-}" ] && [ -x "$KUBEBUILDER_ASSETS/kube-apiserver" ]; then
  cd "$KUBEBUILDER_ASSETS" && pwd
  exit
fi

version=$(sed -n 's/^.*k8s\.io\/kubernetes \(v[0-9.]*\).*$/\1/p' "$here/go.mod" | head -n 1)
cache=${LLSD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llsd}
target=$cache/kubernetes-$version
if [ ! -d "$target" ]; then
  command -v go >/dev/null || { echo "tests/cluster: Go 1.26 or later is needed to build the API server: https://go.dev/dl" >&2; exit 1; }
  mkdir -p "$cache"
  exec 9>"$cache/kubernetes.lock"
  flock 9 # several test programs may start at once; the first one builds
  if [ ! -d "$target" ]; then
    echo "tests/cluster: building Kubernetes $version (once; some minutes)" >&2
    work=$(mktemp -d "$cache/.kubernetes.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    IFS=. read -r major minor _ <<<"${version#v}"
    stamp=k8s.io/component-base/version
    (cd "$here" && go build -mod=readonly -trimpath -buildvcs=false -o "$work/" \
      -ldflags "-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=$major -X $stamp.gitMinor=$minor" tool) >&2
    chmod 755 "$work"
    mv -T "$work" "$target"
    trap - EXIT
  fi
fi
echo "$target"
