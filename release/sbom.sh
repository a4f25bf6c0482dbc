#!/usr/bin/env bash
# Prints what a program is made of, as CycloneDX JSON: every crate of the lock file that it is linked with, on any of the
# machines that it is for, with version, licence, source and checksum. Fails if one is missing.
#
# usage: sbom.sh llsd|llsd-operator >sbom.cdx.json
set -euo pipefail

program=${1:-}
case $program in
  llsd) crate=server ;;
  llsd-operator) crate=operator ;;
  *) echo 'usage: sbom.sh llsd|llsd-operator' >&2; exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tool=$(tests/setup/cargo-tool.sh cargo-cyclonedx)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
work=$(mktemp -d)
# It writes beside the manifest of each crate of the workspace.
trap 'rm -rf "$work"; rm -f ./*/llsd-sbom.json generator/*/llsd-sbom.json tests/*/llsd-sbom.json' EXIT
"$tool" cyclonedx --quiet --format json --spec-version 1.5 --target all --override-filename llsd-sbom \
  --manifest-path "$crate/Cargo.toml" >&2
cargo tree --quiet --locked --package "$program" --target all --edges normal --prefix none --format '{p}' >"$work/tree"
# It knows what the whole workspace is built from, tests too; cargo says which of that is the program's.
python3 - "$crate/llsd-sbom.json" "$work/tree" "$program" "$PWD" <<'END'
import json
import sys

path, tree, program, root = sys.argv[1:]
with open(path) as file:
    document = json.loads(file.read().replace(f"file://{root}", "file://."))
with open(tree) as lines:
    linked = {(name, version.removeprefix("v")) for name, version, *_ in map(str.split, filter(str.strip, lines))}
linked = {crate for crate in linked if crate[0] != program}
kept = [one for one in document["components"] if (one["name"], one["version"]) in linked]
missing = linked - {(one["name"], one["version"]) for one in kept}
if missing:
    sys.exit(f"sbom.sh: not in the list of {program}: {sorted(missing)}")
known = {one["bom-ref"] for one in kept} | {document["metadata"]["component"]["bom-ref"]}
edges = [one for one in document["dependencies"] if one["ref"] in known]
for one in edges:
    one["dependsOn"] = [to for to in one.get("dependsOn", []) if to in known]
json.dump({**document, "components": kept, "dependencies": edges}, sys.stdout, indent=1)
print()
END
