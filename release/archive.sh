#!/usr/bin/env bash
# Packs one binary of llsd as it is downloaded: with completions for bash, zsh and fish, manual pages, licence and README,
# and a checksum beside it. The same input gives the same bytes.
#
# usage: archive.sh TARGET BINARY DIR [HOST_BINARY]
#   TARGET       for whom the binary is, such as x86_64-unknown-linux-musl
#   DIR          where llsd-VERSION-TARGET.tar.gz (.zip for Windows) and its .sha256 go
#   HOST_BINARY  a binary of the same version that runs here, which writes completions and manual; by default BINARY
set -euo pipefail

target=${1:?usage: archive.sh TARGET BINARY DIR [HOST_BINARY]}
binary=$(realpath "${2:?usage: archive.sh TARGET BINARY DIR [HOST_BINARY]}")
mkdir -p "${3:?usage: archive.sh TARGET BINARY DIR [HOST_BINARY]}"
out=$(realpath "$3")
host=$(realpath "${4:-$binary}")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")

version=$("$host" --version)
version=${version#llsd }
name=llsd-$version-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$work/$name
mkdir -p "$folder"/{completions,man}
case $target in
  *windows*) cp "$binary" "$folder/llsd.exe" ;;
  *) cp "$binary" "$folder/llsd" && chmod 755 "$folder/llsd" ;;
esac
"$host" completions bash >"$folder/completions/llsd.bash"
"$host" completions zsh >"$folder/completions/_llsd"
"$host" completions fish >"$folder/completions/llsd.fish"
"$host" man "$folder/man"
cp "$root/LICENSE" "$root/README.md" "$folder"

# Times, owners and order are not the machine's.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
cd "$work"
find "$name" -exec touch --date="@$SOURCE_DATE_EPOCH" {} +
case $target in
  *windows*)
    archive=$name.zip
    find "$name" -type f | LC_ALL=C sort | TZ=UTC zip --quiet -X "$out/$archive" -@
    ;;
  *)
    archive=$name.tar.gz
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -n >"$out/$archive"
    ;;
esac
cd "$out"
sha256sum "$archive" >"$archive.sha256"
echo "$out/$archive"
