#!/usr/bin/env python3
"""Writes a provider catalog (configs/catalog/<version>.yaml) to standard output.

usage: make_catalog.py --installed | DUMP.json

Takes what a llama-stack or ogx says about its provider types: the one that is installed for this Python, or a JSON file in
the form of registry.describe(). catalog_words.yaml beside this script adds what the package does not say: summaries,
descriptions, and which key is the endpoint and which the API key. A key or type without words stops the script.
"""

import json
import pathlib
import re
import sys

import yaml

WORDS = yaml.safe_load((pathlib.Path(__file__).parent / "catalog_words.yaml").read_text())
# Key of the dump that holds the version -> what the server is called.
PRODUCTS = {"llama_stack": "llama-stack", "ogx": "ogx"}
# A list or mapping that holds one type, of those that a catalog tells apart.
HELD = re.compile(r"(?:array|map)<(string|integer|number|boolean|array)(?:<.*>)?>")
SIMPLE = {"string", "integer", "number", "boolean", "boolean-or-path", "array", "object", "any"}


def numbers(version):
    return [int(part) for part in version.split(".")]


class Writer:
    """Turns one dump into the catalog's structure, collecting objects that several types share."""

    def __init__(self, dump):
        self.dump = dump
        self.product, self.version = next((name, dump[key]) for key, name in PRODUCTS.items() if key in dump)
        self.shapes = {}  # canonical JSON of an object's keys -> its name
        self.bodies = {}  # name -> keys

    def catalog(self):
        providers = {
            api: {name: self.provider(api, name, spec) for name, spec in types.items()}
            for api, types in self.dump["apis"].items()
        }
        return {
            "version": self.version,
            "names": self.dump["all_api_names"],
            "internal": self.dump["internal_apis"],
            "routing": self.dump["routing_tables"],
            "shapes": self.bodies,
            "providers": providers,
        }

    def provider(self, api, name, spec):
        full = f"{api}/{name}"
        fields = [f for f in spec["fields"] if f["type"] != "null"]
        keys = {f["key"] for f in fields}
        out = {"summary": WORDS["summaries"][full]}
        if spec["deprecated"]:
            out["deprecated"] = WORDS["deprecated"][full]
            out["successor"] = WORDS["successor"][full]
        out["endpoint"], hint = self.endpoint(full, keys)
        if hint:
            out["endpoint_hint"] = hint
        path = WORDS["endpoint_path"].get(full)
        if path and numbers(self.version) >= numbers(path["from"]):
            out["endpoint_path"] = path["path"]
        out["api_key"], hint = self.api_key(full, keys)
        if hint:
            out["api_key_hint"] = hint
        for key, source in (("requires", "api_dependencies"), ("optional", "optional_api_dependencies")):
            if spec[source]:
                out[key] = spec[source]
        if spec["extra_keys"] == "allow":
            out["open"] = True
        config = self.keys(full, "", fields)
        for key in WORDS["required"].get(full, []):
            if key in config:
                config[key]["required"] = True
                config[key].pop("nullable", None)
                config[key].pop("default", None)
        if config:
            out["config"] = config
        return out

    def endpoint(self, full, keys):
        if full in WORDS["endpoint"]["host_port"]:
            return {"host": "host", "port": "port"}, None
        if full in WORDS["endpoint"]["fixed"]:
            return None, WORDS["endpoint"]["fixed"][full]
        found = next((k for k in WORDS["endpoint"]["keys"] if k in keys), None)
        if found is None and "/remote::" in full:
            sys.exit(f"{full} of {self.version}: no endpoint key, and no word why")
        return found, None

    def api_key(self, full, keys):
        none = {**WORDS["api_key"]["none"], **WORDS["api_key"]["none_in"].get(self.version, {})}
        if full in none:
            return None, none[full]
        found = next((k for k in WORDS["api_key"]["keys"] if k in keys), None)
        if found is None and "/remote::" in full:
            sys.exit(f"{full} of {self.version}: no API key, and no word why")
        return found, None

    def keys(self, full, path, fields):
        merged = {}
        for field in fields:
            entry = self.key(full, path + field["key"], field)
            known = merged.setdefault(field["key"], entry)
            if known is not entry and "values" in known:  # one of several forms of an object
                known["values"] += [v for v in entry.get("values", []) if v not in known["values"]]
                known.pop("default", None)
        return merged

    def key(self, full, path, field):
        kind, nested = self.kind(field["type"]), field.get("fields")
        last = path.rsplit(".", 1)[-1]
        out = {"type": kind}
        held = HELD.fullmatch(field["type"])
        if held:
            out["items"] = held[1]
        if field["required"]:
            out["required"] = True
        if field["nullable"]:
            out["nullable"] = True
        if field["secret"] or last in WORDS["secret"]:
            out["secret"] = True
        default = field.get("default")
        if default is not None and not (kind == "object" and nested) and "secret" not in out:
            out["default"] = json.loads(json.dumps(default, sort_keys=True))
        if field.get("enum"):
            out["values"] = list(dict.fromkeys(field["enum"]))
        if field.get("format") in ("HttpUrl", "AnyHttpUrl"):
            out["url"] = True
        if field.get("deprecated"):
            out["deprecated"] = True
        out["description"] = self.description(full, path)
        if nested and kind == "object":
            out["keys"] = self.shape(last, self.keys(full, path + ".", nested))
        return out

    @staticmethod
    def kind(text):
        names = {part.split("<")[0].replace("map", "object") for part in text.split("|")}
        # Truth values and texts together are how pydantic spells "whether, or the path of the certificates".
        name = names.pop() if len(names) == 1 else "boolean-or-path" if names == {"boolean", "string"} else "any"
        if name not in SIMPLE:
            sys.exit(f"no such type: {text}")
        return name

    def shape(self, key, keys):
        same = json.dumps(keys, sort_keys=True)
        if same not in self.shapes:
            name, n = key, 1
            while name in self.bodies:
                n += 1
                name = f"{key}_{n}"
            self.shapes[same] = name
            self.bodies[name] = keys
        return self.shapes[same]

    @staticmethod
    def description(full, path):
        name = full.split("/", 1)[1]
        parts = path.split(".")
        ends = [".".join(parts[i:]) for i in range(len(parts))]
        for candidate in [f"{full}/{path}", f"{name}/{path}", *ends]:
            if candidate in WORDS["keys"]:
                return WORDS["keys"][candidate]
        sys.exit(f"{full}: no words for {path}")


class Dumper(yaml.SafeDumper):
    """Keys in order, one config key per line."""


def render(catalog, product):
    def flow(value):
        text = yaml.dump(value, Dumper=Dumper, default_flow_style=True, width=10**6, sort_keys=False, allow_unicode=True)
        return text.removesuffix("...\n").strip()

    lines = [
        f"# Provider types of {product} {catalog['version']}: the keys each one reads, and what they mean.",
        "# Written by tests/python/make_catalog.py; the words are those of tests/python/catalog_words.yaml.",
    ]
    for key in ("version", "names", "internal", "routing"):
        lines.append(f"{key}: {flow(catalog[key])}")
    lines.append("shapes:")
    for name, keys in catalog["shapes"].items():
        lines.append(f"  {name}:")
        lines += [f"    {key}: {flow(entry)}" for key, entry in keys.items()]
    lines.append("providers:")
    for api, types in catalog["providers"].items():
        lines.append(f"  {api}:" if types else f"  {api}: {{}}")
        for name, provider in types.items():
            lines.append(f"    {flow(name)}:")
            for key, value in provider.items():
                if key == "config":
                    lines.append("      config:")
                    lines += [f"        {k}: {flow(v)}" for k, v in value.items()]
                else:
                    lines.append(f"      {key}: {flow(value)}")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--installed":
        import registry

        dump = registry.describe()
    else:
        dump = json.loads(pathlib.Path(sys.argv[1]).read_text())
    writer = Writer(dump)
    catalog = writer.catalog()
    text = render(catalog, writer.product)
    if yaml.safe_load(text) != catalog:
        sys.exit("the written catalog does not read back as it was")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
