#!/usr/bin/env python3
"""Writes the schema of the server's config (configs/schema/<version>.json) to standard output.

usage: make_schema.py

Takes what the llama-stack or ogx that is installed for this Python says of its class StackConfig, without titles and
descriptions, and without defaults that are sentences: those are its own words, and nothing depends on them. The home
folder in a default is written as "~".
"""

import importlib
import importlib.util
import json
import os
import sys


def bare(schema, names=False):
    """The schema without its words. `names`: whether the keys of this mapping are names, and not keywords."""
    if isinstance(schema, list):
        return [bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if names:
        return {key: bare(value) for key, value in sorted(schema.items())}
    return {
        key: value if key in ("default", "enum", "const") else bare(value, key in ("properties", "$defs"))
        for key, value in sorted(schema.items())
        if key not in ("title", "description") and not (key == "default" and is_sentence(value))
    }


def is_sentence(value):
    return isinstance(value, str) and " " in value


def main():
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    package = "ogx" if importlib.util.find_spec("ogx") else "llama_stack"
    datatypes = importlib.import_module(f"{package}.core.datatypes")
    config = getattr(datatypes, "StackConfig", None) or datatypes.StackRunConfig
    schema = json.dumps(bare(config.model_json_schema()), separators=(",", ":"), ensure_ascii=False)
    sys.stdout.write(schema.replace(os.path.expanduser("~"), "~") + "\n")


if __name__ == "__main__":
    main()
