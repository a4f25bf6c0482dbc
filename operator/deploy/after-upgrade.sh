#!/usr/bin/env bash
# Removes what very old versions of the Go operator left behind in the whole cluster: ClusterRoleBindings with the label
# app.kubernetes.io/managed-by=llama-stack-operator that grant something to a service account of a namespace. The operator
# has no right to do that itself, because it would be a right to delete every such binding. Run it as an administrator,
# once, after the upgrade; without --yes it only shows what it would delete.
#
# usage: [KUBECTL='kubectl --context …'] after-upgrade.sh [--yes]
set -euo pipefail

case $#${1:-} in
0) dry=yes ;;
1--yes) dry= ;;
*) echo "usage: after-upgrade.sh [--yes]" >&2; exit 2 ;;
esac
read -ra kubectl <<<"${KUBECTL:-kubectl}"

# One line each: the name, then the namespaces of its service accounts.
bindings=$("${kubectl[@]}" get clusterrolebindings -l app.kubernetes.io/managed-by=llama-stack-operator -o \
  jsonpath='{range .items[*]}{.metadata.name}{range .subjects[?(@.kind=="ServiceAccount")]}{" "}{.namespace}{end}{"\n"}{end}')
while read -r name namespaces; do
  [ -n "${namespaces:-}" ] || continue
  if [ -n "$dry" ]; then
    echo "clusterrolebinding/$name: would be deleted; --yes does it"
  else
    "${kubectl[@]}" delete clusterrolebinding "$name"
  fi
done <<<"$bindings"
