#!/usr/bin/env python3
"""Says what the installed server reads of configs: the value at each place, once variables are put in.

usage: parsed.py FILE...

Writes one JSON object per file: {"file", "places": {place: value}}. A place is written as in validate_config.py, such as
`providers.inference[0].config.base_url`; null values are left out. Variables have their defaults, those without one a
placeholder. A file that the server cannot read has {"file", "error"}.
"""

import json
import os
import re
import sys

import yaml
from pydantic import BaseModel
from validate_config import Api, Check, distribution, instantiate_class_type


def plain(value):
    """A value of a model, secrets as their text."""
    if hasattr(value, "get_secret_value"):
        return value.get_secret_value()
    if isinstance(value, BaseModel):
        return {field.alias or name: plain(getattr(value, name)) for name, field in type(value).model_fields.items()}
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(inner) for inner in value]
    value = getattr(value, "value", value)
    return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)


def flatten(place, value, out):
    if isinstance(value, dict):
        for key, inner in value.items():
            flatten(f"{place}.{key}" if place else str(key), inner, out)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            flatten(f"{place}[{index}]", inner, out)
    elif value is not None:
        out[place] = value


def places(raw):
    check = Check(raw)
    check.load()
    if check.errors:
        raise ValueError(check.errors)
    config = check.config
    registry = distribution.get_provider_registry(config)
    read = plain(config)
    apis = {api.value: api for api in Api}
    for api, listed in config.providers.items():
        for index, provider in enumerate(listed):
            spec = registry.get(apis.get(api), {}).get(provider.provider_type)
            if spec is None:
                continue
            try:
                model = instantiate_class_type(spec.config_class)
                read["providers"][api][index]["config"] = plain(model(**provider.config))
            except Exception:  # it needs a library that is not installed, or refuses the config
                read["providers"][api][index]["config"] = None
    out = {}
    flatten("", read, out)
    return out


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for path in sys.argv[1:]:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for name in re.findall(r"\$\{env\.([A-Z0-9_]+)\}", text):
                os.environ.setdefault(name, "http://placeholder:8000/v1")
            print(json.dumps({"file": path, "places": places(yaml.safe_load(text))}))
        except Exception as error:
            print(json.dumps({"file": path, "error": f"{type(error).__name__}: {error}"}))


if __name__ == "__main__":
    main()
