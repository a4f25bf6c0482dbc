#!/usr/bin/env bash
# Writes the objects of the Helm chart, which are those that kustomize makes of the overlays, and the definition of the
# resource. `make crd` runs it; a test finds drift.
#
# usage: [KUBECTL='kubectl …'] chart.sh [DIR]
#   DIR  where the files go; by default operator/chart/files
set -euo pipefail

read -ra kubectl <<<"${KUBECTL:-kubectl}"
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
mkdir -p "${1:-$root/operator/chart/files}"
out=$(realpath "${1:-$root/operator/chart/files}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
deploy=$(realpath --relative-to="$work" "$root/operator/deploy")

# usage: render NAME KUSTOMIZATION
render() {
  echo "$2" >"$work/kustomization.yaml"
  # kustomize warns of `vars`, which the overlay cert-manager needs.
  "${kubectl[@]}" kustomize --load-restrictor=LoadRestrictionsNone "$work" >"$out/$1.yaml" 2>"$work/warnings" ||
    { cat "$work/warnings" >&2; exit 1; }
}

for overlay in kubernetes cert-manager openshift single-namespace; do
  # Helm makes the namespace. Of the definition only what an overlay adds is kept, the rest is in crd.yaml once for all.
  render "$overlay" "resources: ['$deploy/overlays/$overlay']
patches:
- target: {kind: Namespace}
  patch: '{\$patch: delete, kind: _, metadata: {name: _}}'
- target: {kind: CustomResourceDefinition}
  patch: |-
    - {op: remove, path: /spec/group}
    - {op: remove, path: /spec/names}
    - {op: remove, path: /spec/scope}
    - {op: remove, path: /spec/versions}"
done
render monitoring "components: ['$deploy/components/monitoring']"
render anyuid "resources: ['$deploy/rbac/anyuid']"
# With the webhooks, to which the component adds one.
render ogx "resources: ['$deploy/base/webhooks.yaml']
components: ['$deploy/components/ogx']
patches:
- target: {kind: Service}
  patch: '{\$patch: delete, kind: _, metadata: {name: _}}'"
render ogx-single-namespace "components: ['$deploy/components/ogx-single-namespace']"
cp "$root/operator/deploy/crd/llamastackdistributions.yaml" "$out/crd.yaml"
