#!/usr/bin/env bash
# Prints all that `kubectl apply` needs to install the operator for all namespaces: what kustomize makes of the overlay
# `kubernetes`. `release/operator.yaml` is this, and `make crd` writes it again.
#
# usage: [KUBECTL='kubectl …'] operator.sh >operator.yaml
set -euo pipefail

read -ra kubectl <<<"${KUBECTL:-kubectl}"
cat <<'END'
# The operator, for all namespaces. Made by release/operator.sh; a test keeps it so.
#
#   kubectl apply --server-side -f operator.yaml
#
# Without --server-side kubectl would copy the definition of the resource into an annotation, which is too small for it.
END
exec "${kubectl[@]}" kustomize "$(dirname "${BASH_SOURCE[0]}")/../operator/deploy/overlays/kubernetes"
