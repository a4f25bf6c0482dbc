#!/usr/bin/env bash
# Makes everything that a release has. What the workflow of a tag publishes is what this writes, so that it can be made and
# looked at anywhere.
#
# usage: release.sh DIR [TARGET...]
#   DIR     where it goes; it must not exist: archives with checksums, npm/, wheels/, editors' packages, the manifest for
#           Krew, the operator's manifest, chart and bundle for OLM, what the programs are made of, images/ as OCI layouts
#   TARGET  for which machines, by default all that build.sh knows; one of them has to run here. The images are for those
#           with Linux
set -euo pipefail

out=${1:?usage: release.sh DIR [TARGET...]}
shift
[ ! -e "$out" ] || { echo "release.sh: $out is there already" >&2; exit 2; }
mkdir -p "$out"
out=$(realpath "$out")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
targets=("$@")
[ $# -gt 0 ] || targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl x86_64-apple-darwin aarch64-apple-darwin
  x86_64-pc-windows-gnu)
host=$(uname -m)-unknown-linux-musl
if [[ " ${targets[*]} " != *" $host "* ]]; then
  echo "release.sh: nothing of ${targets[*]} runs here, to write manual and schemas" >&2
  exit 2
fi
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

declare -A binaries
for target in "${targets[@]}"; do
  echo "release: llsd for $target" >&2
  binaries[$target]=$(release/build.sh llsd "$target")
done
tests/setup/npm.sh vscode-extension
for target in "${targets[@]}"; do
  release/archive.sh "$target" "${binaries[$target]}" "$out" "${binaries[$host]}" >&2
  case $target in
    x86_64-unknown-linux-musl) platforms=(linux-x64 alpine-x64) ;;
    aarch64-unknown-linux-musl) platforms=(linux-arm64 alpine-arm64) ;;
    x86_64-apple-darwin) platforms=(darwin-x64) ;;
    aarch64-apple-darwin) platforms=(darwin-arm64) ;;
    x86_64-pc-windows-gnu) platforms=(win32-x64) ;;
  esac
  for platform in "${platforms[@]}"; do
    node vscode-extension/package.mjs --target "$platform" --binary "${binaries[$target]}" --host "${binaries[$host]}" \
      --out "$out/llsd-$platform.vsix" >&2
  done
done
node vscode-extension/package.mjs --target web --binary "$(vscode-extension/engine/build.sh)" --out "$out/llsd-web.vsix" >&2
release/verify.sh "$out" >&2
node release/npm.mjs "$out" "$out/npm" >&2
release/wheel.py "$out" "$out/wheels" >&2
release/krew.sh "$out" >"$out/llsd.yaml"
cp release/operator.yaml "$out/operator.yaml"
"$(tests/helm/build.sh)/helm" package operator/chart --destination "$out" >&2
KUBECTL="$(tests/cluster/build.sh)/kubectl" release/bundle.py "$work/bundle"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C "$work/bundle" -c . |
  gzip -n >"$out/llsd-operator-olm-$version.tar.gz"
for program in llsd llsd-operator; do
  release/sbom.sh "$program" >"$out/$program.cdx.json"
done
# Of what is downloaded; images have digests.
(cd "$out" && find . -type f -not -name SHA256SUMS -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum >SHA256SUMS)

mkdir -p "$out/images"
for program in llsd llsd-operator; do
  machines=()
  for target in "${targets[@]}"; do
    case $target in
      x86_64-unknown-linux-musl) machine=amd64 ;;
      aarch64-unknown-linux-musl) machine=arm64 ;;
      *) continue ;;
    esac
    echo "release: $program for the image for $machine" >&2
    machines+=("$machine=$(release/build.sh "$program" "$target")")
  done
  release/image.sh "$out/images/$program" "$version" "${machines[@]}" >"$out/images/$program.digest"
done
