#!/bin/sh
# applies a resource
set -e
kubectl apply -f - <<EOF
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: scripted
spec:
  distribution:
    name: starter
  networking:
    prot: 1
EOF
echo done
