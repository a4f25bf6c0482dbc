#!/usr/bin/env bash
# Looks whether archives are what their users expect: the checksum is right, all is in there, the program is for the
# machine that the name tells, and, where it can be run here, it tells its version, judges resources and answers an editor.
# Prints a line for each archive; ends with 1 at the first one that is not as it should be. Runs on Linux, macOS, and in the
# bash of Git for Windows.
#
# usage: verify.sh DIR
#   DIR  has llsd-VERSION-TARGET archives and their .sha256, as archive.sh makes them
#
# On Linux, programs for arm64 and for Windows run under qemu-aarch64-static and wine64, if these are installed. WINEPREFIX is
# Wine's folder, by default a new one. A Wine that is too old for programs in Rust (8.0 is) counts as none.
set -euo pipefail

dir=$(realpath "${1:?usage: verify.sh DIR}")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

refuse() {
  echo "verify.sh: $archive: $1" >&2
  exit 1
}

# Bytes of a file as hexadecimal digits. usage: bytes FILE OFFSET COUNT
bytes() {
  od -An -v -tx1 -j"$2" -N"$3" "$1" | tr -d ' \n'
}

# For which machine a program is, by its header: ELF, Mach-O, PE.
machine() {
  case $(bytes "$1" 0 4) in
    7f454c46) echo "elf $(bytes "$1" 18 2)" ;;
    cffaedfe) echo "macho $(bytes "$1" 4 4)" ;;
    4d5a*) echo "pe $(bytes "$1" "$(($(od -An -tu4 -j60 -N4 "$1") + 4))" 2)" ;;
    *) echo unknown ;;
  esac
}

# What can run the programs of a target here, as the beginning of a command. Debian has wine64 outside of the PATH.
runner() {
  case $(uname -s)-$(uname -m)-$1 in
    Linux-x86_64-x86_64-unknown-linux-musl | Linux-aarch64-aarch64-unknown-linux-musl | Darwin-x86_64-x86_64-apple-darwin | \
      Darwin-arm64-aarch64-apple-darwin | MINGW*-x86_64-pc-windows-gnu) echo env ;;
    Linux-*-aarch64-unknown-linux-musl) command -v qemu-aarch64-static qemu-aarch64 ;;
    Linux-*-x86_64-pc-windows-gnu) PATH=$PATH:/usr/lib/wine windows ;;
  esac | head -n 1 || true
}

# Wine, if it has the source of random numbers that Rust's library asks for.
windows() {
  local wine
  wine=$(command -v wine64 wine | head -n 1) || return
  "$wine" cmd /c 'if not exist C:\windows\system32\bcryptprimitives.dll exit 1' >/dev/null 2>&1 && echo "$wine"
}

# A message as the language server's protocol frames it.
say() {
  printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"
}

# What an editor says. It shuts the server down when the other side has answered; the answers go to a file.
# usage: conversation ANSWERS
conversation() {
  local document='{"uri":"file:///C:/first.yaml","languageId":"yaml","version":1,"text":"apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\n"}'
  say '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}'
  say '{"jsonrpc":"2.0","method":"initialized","params":{}}'
  say "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\",\"params\":{\"textDocument\":$document}}"
  say '{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///C:/first.yaml"},"position":{"line":1,"character":1}}}'
  for ((waited = 0; waited < 600; waited++)); do
    ! grep -q '"id":2' "$1" || break
    sleep 0.1
  done
  say '{"jsonrpc":"2.0","id":3,"method":"shutdown"}'
  say '{"jsonrpc":"2.0","method":"exit"}'
}

# Runs the program as a user would. usage: try VERSION COMMAND...
try() {
  local version=$1 told code=0
  shift
  # Programs for Windows end their lines otherwise.
  told=$("$@" --version | tr -d '\r') || refuse 'the program does not run'
  [ "$told" = "llsd $version" ] || refuse "the program says that it is \"$told\""
  "$@" check "$root/samples/minimal.yaml" >/dev/null || refuse 'it finds something in samples/minimal.yaml'
  "$@" render "$root/samples/minimal.yaml" | grep -q '^version:' || refuse 'it renders nothing of samples/minimal.yaml'
  printf 'apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\n' | "$@" check - >"$work/found" || code=$?
  [ "$code" -eq 1 ] || refuse "it ends with $code for a resource with mistakes"
  : >"$work/answers"
  conversation "$work/answers" | "$@" lsp >"$work/answers" || refuse 'the language server fails'
  grep -q '"contents"' "$work/answers" || refuse 'the language server tells nothing of a field'
}

sum_of() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

megabytes() {
  wc -c <"$1" | awk '{printf "%.1f MB", $1 / 1e6}'
}

# Nothing that runs here finds or leaves anything at home.
export HOME=$work WINEPREFIX=${WINEPREFIX:-$work/wine} WINEDEBUG=-all
shopt -s nullglob
seen=0
for sum in "$dir"/llsd-*.sha256; do
  archive=$(basename "$sum" .sha256)
  [ "$(sum_of "$dir/$archive")" = "$(cut -d' ' -f1 "$sum")" ] || refuse 'is not what its checksum says'
  name=${archive%.tar.gz}
  name=${name%.zip}
  program=llsd
  case $name in
    *-x86_64-unknown-linux-musl) wanted='elf 3e00' ;;
    *-aarch64-unknown-linux-musl) wanted='elf b700' ;;
    *-x86_64-apple-darwin) wanted='macho 07000001' ;;
    *-aarch64-apple-darwin) wanted='macho 0c000001' ;;
    *-x86_64-pc-windows-gnu) wanted='pe 6486' program=llsd.exe ;;
    *) refuse 'is for no machine that is known' ;;
  esac
  case $archive in
    *.zip) unzip -q "$dir/$archive" -d "$work" ;;
    *) tar -xzf "$dir/$archive" -C "$work" ;;
  esac
  for file in "$program" LICENSE README.md completions/llsd.bash completions/_llsd completions/llsd.fish man/llsd.1; do
    [ -s "$work/$name/$file" ] || refuse "has no $file"
  done
  bash -n "$work/$name/completions/llsd.bash" || refuse 'bash cannot read its completions'
  [ "$(machine "$work/$name/$program")" = "$wanted" ] || refuse 'has a program for another machine'

  version=$(sed -E 's/^llsd-([0-9.]+)-.*/\1/' <<<"$name")
  target=${name#"llsd-$version-"}
  runner=$(runner "$target")
  [ -z "$runner" ] || try "$version" "$runner" "$work/$name/$program"
  case $runner in
    '') runs='not run' ;;
    env) runs=run ;;
    *) runs="run under $(basename "$runner")" ;;
  esac
  printf '%s\t%s\t%s, program %s\n' "$target" "$runs" "$(megabytes "$dir/$archive")" "$(megabytes "$work/$name/$program")"
  seen=$((seen + 1))
done
[ "$seen" -gt 0 ] || { echo "verify.sh: $dir has no archive with a checksum" >&2; exit 1; }
