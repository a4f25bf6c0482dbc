#!/usr/bin/env bash
# Makes a cluster ready for the Go operator again: every resource is stored as v1alpha1, and v1alpha2, its conversion and
# the admission webhook are gone. Run it while this operator still runs, because it converts; the script stops it when that
# is done. Then apply the Go operator's manifest. The script can be run again after it was interrupted.
#
# usage: [KUBECTL='kubectl --context …'] go-back.sh [NAMESPACE]
set -euo pipefail

read -ra kubectl <<<"${KUBECTL:-kubectl}"
namespace=${1:-llama-stack-k8s-operator-system}
crd=llamastackdistributions.llamastack.io
versions=$("${kubectl[@]}" get crd "$crd" -o jsonpath='{.spec.versions[*].name}')
case $versions in
'v1alpha1 v1alpha2') ;;
v1alpha1) echo "go-back.sh: $crd has no v1alpha2 any more"; exit ;;
*) echo "go-back.sh: $crd has the versions '$versions', which this script does not know" >&2; exit 1 ;;
esac

# From here on what is written is stored as v1alpha1.
"${kubectl[@]}" patch crd "$crd" --type=json -p '[
  {"op": "replace", "path": "/spec/versions/0/storage", "value": true},
  {"op": "replace", "path": "/spec/versions/1/storage", "value": false}
]'
resources=$("${kubectl[@]}" get "llamastackdistributions.v1alpha1.llamastack.io" --all-namespaces -o name)
if [ -n "$resources" ]; then
  "${kubectl[@]}" get "llamastackdistributions.v1alpha1.llamastack.io" --all-namespaces -o json |
    "${kubectl[@]}" replace -f -
fi
operator=$("${kubectl[@]}" -n "$namespace" get deployment llama-stack-k8s-operator-controller-manager \
  --ignore-not-found -o name)
[ -z "$operator" ] || "${kubectl[@]}" -n "$namespace" scale "$operator" --replicas=0
"${kubectl[@]}" patch crd "$crd" --subresource=status --type=merge -p '{"status": {"storedVersions": ["v1alpha1"]}}'
"${kubectl[@]}" delete validatingwebhookconfiguration --ignore-not-found \
  llama-stack-k8s-operator-validating-webhook-configuration
"${kubectl[@]}" patch crd "$crd" --type=json -p '[
  {"op": "remove", "path": "/spec/versions/1"},
  {"op": "replace", "path": "/spec/conversion", "value": {"strategy": "None"}}
]'
