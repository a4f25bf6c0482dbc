#!/usr/bin/env bash
# The product on a terminal: the config.yaml that a short resource stands for, the findings of one with mistakes, and
# how to have both while typing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cargo build --quiet --package llsd
llsd=${CARGO_TARGET_DIR:-target}/debug/llsd

echo "== llsd render samples/two-providers.yaml: the config.yaml that the server will get"
echo
"$llsd" render samples/two-providers.yaml

echo
echo "== llsd check docs/demo/mistakes.yaml"
echo
# Findings are what this file is for; any other exit code than 1 is a failure of the demo.
code=0
"$llsd" check docs/demo/mistakes.yaml || code=$?
[ "$code" -eq 1 ] || { echo "demo: expected findings (exit code 1), got exit code $code" >&2; exit 1; }

cat <<TEXT

== In an editor: the same findings while you type, completion, hover with the produced config, migration

  Neovim 0.11, in init.lua:

    vim.lsp.config('llsd', { cmd = { '$PWD/$llsd', 'lsp' }, filetypes = { 'yaml' }, root_markers = { '.git' } })
    vim.lsp.enable('llsd')

  Helix, in languages.toml:

    [language-server.llsd]
    command = "$PWD/$llsd"
    args = ["lsp"]

    [[language]]
    name = "yaml"
    language-servers = ["llsd"]

  then open docs/demo/mistakes.yaml.
TEXT
