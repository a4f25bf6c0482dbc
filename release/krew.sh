#!/usr/bin/env bash
# Prints the manifest with which Krew installs llsd as `kubectl llsd`.
#
# usage: krew.sh ARCHIVES >llsd.yaml
#   ARCHIVES  a folder with llsd-VERSION-TARGET archives and their .sha256, as archive.sh makes them
set -euo pipefail

cd "${1:?usage: krew.sh ARCHIVES}"
shopt -s nullglob
version=
platforms=
for sum in llsd-*.sha256; do
  archive=${sum%.sha256}
  case $archive in
    *-x86_64-unknown-linux-musl.tar.gz) os=linux arch=amd64 program=llsd ;;
    *-aarch64-unknown-linux-musl.tar.gz) os=linux arch=arm64 program=llsd ;;
    *-x86_64-apple-darwin.tar.gz) os=darwin arch=amd64 program=llsd ;;
    *-aarch64-apple-darwin.tar.gz) os=darwin arch=arm64 program=llsd ;;
    *-x86_64-pc-windows-gnu.zip) os=windows arch=amd64 program=llsd.exe ;;
    *) echo "krew.sh: $archive is for no platform that Krew knows" >&2; exit 1 ;;
  esac
  name=${archive%.tar.gz}
  name=${name%.zip}
  version=$(sed -E 's/^llsd-([0-9]+\.[0-9]+\.[0-9]+).*/\1/' <<<"$name")
  platforms+="  - selector:
      matchLabels: {os: $os, arch: $arch}
    uri: https://github.com/llamastack/llsd/releases/download/v$version/$archive
    sha256: $(cut -d' ' -f1 "$sum")
    bin: $program
    files:
    - {from: $name/$program, to: .}
    - {from: $name/LICENSE, to: .}
"
done
[ -n "$platforms" ] || { echo "krew.sh: $1 has no archive with a checksum" >&2; exit 1; }
cat <<END
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: llsd
spec:
  version: v$version
  homepage: https://github.com/llamastack/llsd
  shortDescription: Check and migrate llama-stack and ogx resources
  description: |
    Checks LlamaStackDistribution and OGXServer resources and the configs that they run with before they are applied, shows the
    config that is generated for them, and migrates them to newer versions.
  platforms:
$platforms
END
