#!/usr/bin/env bash
# Builds the binary of the image for this machine and runs it in a folder that holds what the Dockerfile puts into the
# image, as the image's user. Needs root for chroot, and rustup's musl target with musl-gcc.
#
# usage: check-image.sh
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
target=$(uname -m)-unknown-linux-musl
cargo build --quiet --locked --release --target "$target" --package llsd-operator
binary=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/$target/release/llsd-operator

# In `$(…)` because ldd fails on a static binary, which is what is wanted.
linked=$(ldd "$binary" 2>&1 || true)
case $linked in
*"statically linked"* | *"not a dynamic executable"*) ;;
*) echo "check-image.sh: $binary is not static: $linked" >&2; exit 1 ;;
esac

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mkdir -p "$root/etc/ssl/certs"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
cp "$binary" "$root/llsd-operator"

user=$(sed -n 's/^USER //p' operator/Dockerfile)
entry=$(sed -n 's/^ENTRYPOINT \["\(.*\)"\]$/\1/p' operator/Dockerfile)
version=$(chroot --userspec="$user" "$root" "$entry" --version)
echo "$version: $(stat -c %s "$binary") bytes, static, runs as $user with nothing else in the image"
