#!/usr/bin/env bash
# Writes the image of one of our programs as an OCI layout, without a daemon: the program, the certificate authorities,
# nothing else, run as a user without a name. The same input gives the same bytes. `skopeo copy --all oci:DIR docker://IMAGE`
# pushes it, `skopeo copy oci:DIR docker-daemon:IMAGE` loads it.
#
# usage: image.sh DIR VERSION ARCH=BINARY...
#   DIR     where the layout goes; it must not exist
#   ARCH    amd64 or arm64
#   BINARY  the program; its name becomes that of the image's entry point. It should be static. With one that is not, the
#           image gets the libraries of this machine that it is linked with, so that a build for tests runs too
#
# Variables: CERTIFICATES, the certificate authorities, by default those of this machine; SOURCE_DATE_EPOCH, the time that
# the image carries, by default that of the last commit.
set -euo pipefail

usage='usage: image.sh DIR VERSION ARCH=BINARY...'
[ $# -ge 3 ] || { echo "$usage" >&2; exit 2; }
out=$1
version=$2
shift 2
[ ! -e "$out" ] || { echo "image.sh: $out is there already" >&2; exit 2; }
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
certificates=${CERTIFICATES:-/etc/ssl/certs/ca-certificates.crt}
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
created=$(date --utc --date="@$epoch" +%Y-%m-%dT%H:%M:%SZ)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/layout/blobs/sha256"

# Moves a file to the blobs and prints its descriptor, up to what follows the size.
# usage: blob FILE MEDIA_TYPE
blob() {
  local sum size
  sum=$(sha256sum "$1" | cut -d' ' -f1)
  size=$(stat -c %s "$1")
  mv "$1" "$work/layout/blobs/sha256/$sum"
  printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%s' "$2" "$sum" "$size"
}

# The architecture of a program, by the field e_machine of its ELF header.
machine() {
  case $(od -An -tx1 -j18 -N2 "$1" | tr -d ' ') in
    3e00) echo amd64 ;;
    b700) echo arm64 ;;
    *) echo 'something else' ;;
  esac
}

manifests=()
entry=
for pair in "$@"; do
  arch=${pair%%=*}
  binary=${pair#*=}
  case $arch in amd64 | arm64) ;; *) echo "$usage" >&2; exit 2 ;; esac
  [ -f "$binary" ] || { echo "image.sh: there is no $binary" >&2; exit 2; }
  found=$(machine "$binary")
  [ "$found" = "$arch" ] || { echo "image.sh: $binary is for $found, not for $arch" >&2; exit 2; }
  name=$(basename "$binary")
  [ -z "$entry" ] || [ "$entry" = "/$name" ] || { echo "image.sh: /$name is another program than $entry" >&2; exit 2; }
  entry=/$name

  files=$work/$arch
  mkdir -p "$files/etc/ssl/certs"
  install -m 755 "$binary" "$files/$name"
  install -m 644 "$certificates" "$files/etc/ssl/certs/ca-certificates.crt"
  # Fails, and prints nothing, for a static program and for one of another architecture.
  for library in $(ldd "$binary" 2>/dev/null | grep -o '/[^ ]*'); do
    install -D -m 755 "$library" "$files/$library"
  done
  find "$files" -type d -exec chmod 755 {} +
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" --format=gnu -C "$files" -cf "$work/layer.tar" .
  unpacked=$(sha256sum "$work/layer.tar" | cut -d' ' -f1)
  gzip -n "$work/layer.tar"
  layer=$(blob "$work/layer.tar.gz" layer.v1.tar+gzip)
  labels='"org.opencontainers.image.source":"https://github.com/llamastack/llsd","org.opencontainers.image.licenses":"Apache-2.0"'
  printf '{"architecture":"%s","os":"linux","created":"%s","config":{"User":"65532:65532","Entrypoint":["%s"],"WorkingDir":"/","Labels":{%s,"org.opencontainers.image.version":"%s"}},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"history":[{"created":"%s","created_by":"release/image.sh"}]}' \
    "$arch" "$created" "$entry" "$labels" "$version" "$unpacked" "$created" >"$work/config"
  config=$(blob "$work/config" config.v1+json)
  printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s},"layers":[%s}]}' \
    "$config" "$layer" >"$work/manifest"
  manifests+=("$(blob "$work/manifest" manifest.v1+json),\"platform\":{\"architecture\":\"$arch\",\"os\":\"linux\"}}")
done

list=$(IFS=,; echo "${manifests[*]}")
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[%s]}' "$list" >"$work/index"
# The layout's own index names the image's, so that the image has one digest for all architectures.
image=$(blob "$work/index" index.v1+json)
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[%s,"annotations":{"org.opencontainers.image.ref.name":"%s"}}]}\n' \
  "$image" "$version" >"$work/layout/index.json"
printf '{"imageLayoutVersion":"1.0.0"}\n' >"$work/layout/oci-layout"
chmod 755 "$work/layout"
mkdir -p "$(dirname "$out")"
mv -T "$work/layout" "$out"
sed -E 's/.*"digest":"([^"]*)".*/\1/' <<<"$image"
