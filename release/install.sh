#!/bin/sh
# Installs a released llsd: the archive for this machine is downloaded, its checksum compared, the program copied.
#
# usage: install.sh VERSION [DIR]
#   VERSION  such as 0.1.0
#   DIR      where the program goes, by default ~/.local/bin
#
# LLSD_RELEASES is where the archives are, for mirrors: an address, or a folder as file:///FOLDER.
set -eu

version=${1:?usage: install.sh VERSION [DIR]}
version=${version#v}
folder=${2:-$HOME/.local/bin}
case $version in
  *[!0-9A-Za-z.+-]*) echo "install.sh: $version is not a version" >&2; exit 2 ;;
esac
releases=${LLSD_RELEASES:-https://github.com/llamastack/llsd/releases/download/v$version}

case $(uname -s)-$(uname -m) in
  Linux-x86_64) target=x86_64-unknown-linux-musl ;;
  Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
  Darwin-x86_64) target=x86_64-apple-darwin ;;
  Darwin-arm64) target=aarch64-apple-darwin ;;
  *)
    echo "install.sh: there is no binary for $(uname -s) on $(uname -m); build it: cargo install --path server" >&2
    exit 1
    ;;
esac

archive=llsd-$version-$target.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "$archive" "$archive.sha256"; do
  curl --fail --silent --show-error --location --proto '=https,file' --max-time 300 --output "$work/$file" "$releases/$file"
done
cd "$work"
if command -v sha256sum >/dev/null; then sha256sum --check --status "$archive.sha256"; else shasum -a 256 --check --status "$archive.sha256"; fi || {
  echo "install.sh: $archive is not what its checksum says; nothing is installed" >&2
  exit 1
}
tar -xzf "$archive"
mkdir -p "$folder"
# Beside it first: a program that runs cannot be written over.
cp "llsd-$version-$target/llsd" "$folder/.llsd.new"
mv "$folder/.llsd.new" "$folder/llsd"
echo "$folder/llsd"
