#!/usr/bin/env bash
# Prints what the operator's program is made of, as CycloneDX JSON: every crate of the lock file that ends up in it, for
# both architectures of the image, with version, licence, source and checksum. The program itself carries the same list
# (cargo-auditable), so that scanners find it in an image without this file. cargo-cyclonedx is installed first if it is
# not there.
#
# usage: sbom.sh >sbom.cdx.json
set -euo pipefail

version=0.5.9
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"; rm -f ./*/llsd-sbom.json generator/*/llsd-sbom.json tests/*/llsd-sbom.json' EXIT
command -v cargo-cyclonedx >/dev/null ||
  (cd / && cargo install --quiet --locked --version "$version" --root "$work" cargo-cyclonedx) >&2
PATH=$work/bin:$PATH cargo cyclonedx --quiet --format json --spec-version 1.5 --target all --override-filename llsd-sbom \
  --manifest-path operator/Cargo.toml >&2
cat operator/llsd-sbom.json
