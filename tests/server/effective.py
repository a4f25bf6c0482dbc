#!/usr/bin/env python3
"""Compares pairs of servers: what the installed llama-stack reads from a config.yaml in the environment of its pod.

usage: effective.py < PAIRS

PAIRS is a JSON list of {"name", "before": {"config", "env"}, "after": {"config", "env"}}: the text of a config.yaml, and
the container's `env` as in a pod. Writes one JSON object per pair: {"name", "differences": [{"place", "before",
"after"}]}. A place is `providers.inference[vllm].config.base_url`; lists of named things are compared by name.

Variables are expanded as the kubelet does; what comes from a Secret or from elsewhere is a text that names its source.
Substitution, the models of the config and those of each provider's config are llama-stack's own.
"""

import json
import logging
import os
import re
import sys

logging.disable(logging.CRITICAL)

import yaml
from llama_stack.core import datatypes, distribution, stack
from llama_stack.core.utils.dynamic import instantiate_class_type
from llama_stack_api import Api

REGISTRY = distribution.get_provider_registry()
APIS = {api.value: api for api in Api}
NAMES = ["model_id", "shield_id", "toolgroup_id", "vector_store_id", "dataset_id", "scoring_fn_id", "benchmark_id"]
# What the server passes over, and what is no part of its behaviour.
NOTHING = {"version", "image_name", "container_image"}


def expanded(text, env):
    """`$(NAME)` and `$$`, as Kubernetes expands them."""

    def one(found):
        if found.group(0) == "$$":
            return "$"
        return env.get(found.group(1), found.group(0))

    return re.sub(r"\$\$|\$\(([^)]*)\)", one, text)


def environment(listed):
    env = {}
    for one in listed:
        source = one.get("valueFrom")
        if source:
            secret = source.get("secretKeyRef") or {}
            named = secret and not secret.get("optional")
            env[one["name"]] = f"key-{secret['key']}-of-{secret['name']}" if named else json.dumps(source)
        else:
            env[one["name"]] = expanded(one.get("value") or "", env)
    return env


def effective(server):
    """The values of a config by place."""
    os.environ.clear()
    os.environ.update({"HOME": "/root", **environment(server["env"])})
    raw = yaml.safe_load(server["config"])
    try:
        data = stack.replace_env_vars(raw)
        config = datatypes.StackConfig(**stack.cast_image_name_to_string(data))
    except Exception as error:  # the server does not start
        return {"the server": f"{type(error).__name__}: {error}"}
    out = {}
    dumped = config.model_dump(mode="json")
    served = config.apis or list(config.providers)
    for api in served:
        out[f"apis[{api}]"] = "served"
    for api, listed in config.providers.items():
        if api not in served:
            continue
        for one in listed:
            if one.provider_id and one.provider_id != "__disabled__":
                provider(f"providers.{api}[{one.provider_id}]", api, one, out)
    for kind, listed in (dumped.pop("registered_resources", None) or {}).items():
        for one in listed:
            name = next((one[key] for key in NAMES if one.get(key)), None)
            if name:
                for key in [key for key in one if key.startswith("provider_") and one[key] == name]:
                    del one[key]
                flatten(f"registered_resources.{kind}[{name}]", one, out)
    for kind, things in (dumped.pop("storage", None) or {}).items():
        for name, thing in (things or {}).items():
            flatten(f"storage.{kind}[{name}]", thing, out)
    (dumped.get("server") or {}).pop("port", None)
    for key in NOTHING | {"apis", "providers"}:
        dumped.pop(key, None)
    for key, value in dumped.items():
        flatten(key, value, out)
    return out


def provider(place, api, one, out):
    out[f"{place}.provider_type"] = one.provider_type
    if getattr(one, "module", None):
        out[f"{place}.module"] = one.module
    config = one.config
    spec = REGISTRY.get(APIS.get(api), {}).get(one.provider_type)
    if spec is not None:
        try:
            model = instantiate_class_type(spec.config_class)(**config)
            config = {key: reveal(value) for key, value in model.model_dump().items()}
        except ImportError:
            pass  # a library that is not installed here: the config as it is
        except Exception as error:
            out[f"{place}.config"] = f"refused: {error}"
            return
    flatten(f"{place}.config", config, out)


def reveal(value):
    if hasattr(value, "get_secret_value"):
        return value.get_secret_value()
    if isinstance(value, dict):
        return {key: reveal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [reveal(inner) for inner in value]
    return value


def flatten(place, value, out):
    if isinstance(value, dict):
        for key, inner in value.items():
            flatten(f"{place}.{key}", inner, out)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            flatten(f"{place}[{index}]", inner, out)
    elif value is not None:
        out[place] = value if isinstance(value, (bool, int, float)) else str(value)


def main():
    for pair in json.load(sys.stdin):
        before, after = effective(pair["before"]), effective(pair["after"])
        places = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        differences = [{"place": key, "before": before.get(key), "after": after.get(key)} for key in places]
        print(json.dumps({"name": pair["name"], "read": len(after), "differences": differences}))


if __name__ == "__main__":
    main()
