#!/usr/bin/env python3
"""Says whether the installed server would start with a config.yaml, without starting it.

usage: validate_config.py [--strict] [--allow-unset-env] FILE...

The server is the llama-stack (0.3.5 to 0.7.3) or ogx (1.0 to 1.5) that is installed for this Python.

Writes one JSON object per file: {"file", "ok", "errors": [{"path", "message"}], "warnings": [...]}. An error makes the
server refuse to start; a warning is something that it passes over in silence, such as a key that nobody reads, and
counts as an error with --strict. With --allow-unset-env, variables that the config needs and the environment lacks
get an address as their value, which is a text, too. ogx is taken to be started with --insecure, as its images do.

It uses the server's own substitution, models and registry of providers, and repeats the checks that the server makes
while it builds its providers. It opens no connection and writes no file.

Exit code: 0 all files are fine, 1 some are not, 2 wrong use.
"""

import copy
import importlib
import importlib.metadata
import importlib.util
import json
import logging
import os
import re
import sys
import typing
import warnings

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

import yaml
from pydantic import BaseModel, ValidationError

OGX = importlib.util.find_spec("ogx") is not None
PACKAGE = "ogx" if OGX else "llama_stack"
VERSION = tuple(map(int, re.findall(r"\d+", importlib.metadata.version(PACKAGE))[:3]))

configure = importlib.import_module(f"{PACKAGE}.core.configure")
datatypes = importlib.import_module(f"{PACKAGE}.core.datatypes")
distribution = importlib.import_module(f"{PACKAGE}.core.distribution")
stack = importlib.import_module(f"{PACKAGE}.core.stack")
instantiate_class_type = importlib.import_module(f"{PACKAGE}.core.utils.dynamic").instantiate_class_type

try:
    Api = importlib.import_module(f"{PACKAGE}_api").Api
except ImportError:  # 0.3
    Api = importlib.import_module("llama_stack.apis.datatypes").Api

CONFIG_MODEL = getattr(datatypes, "StackConfig", None) or datatypes.StackRunConfig  # the latter in 0.3
STRING_NAME = getattr(stack, "cast_image_name_to_string", None) or stack.cast_distro_name_to_string
ROUTES = {r.router_api: r.routing_table_api for r in distribution.builtin_automatically_routed_apis()}
INTERNAL = set(distribution.INTERNAL_APIS)
CONNECTORS = hasattr(stack, "ConnectorServiceImpl")  # 0.4.7 has the name of the API, and nothing behind it
DISABLED = "__disabled__"  # what llama-stack makes of a provider_id whose condition does not hold

# The lists of registered_resources, and the API whose providers they name.
RESOURCES = {
    "models": "inference",
    "shields": "safety",
    "vector_stores": "vector_io",
    "datasets": "datasetio",
    "scoring_fns": "scoring",
    "benchmarks": "eval",
    "tool_groups": "tool_runtime",
}


def join(path, part):
    return f"{path}.{part}" if path else str(part)


class Refused(Exception):
    """Nothing behind this point can be checked."""


class Check:
    """The findings about one config."""

    def __init__(self, raw):
        self.raw = raw
        self.errors = []
        self.warnings = []

    def error(self, path, message):
        self.errors.append({"path": path, "message": message})

    def warn(self, path, message):
        self.warnings.append({"path": path, "message": message})

    def refuse(self, path, message):
        self.error(path, message)
        raise Refused

    def run(self):
        try:
            self.load()
            self.ignored_keys("", CONFIG_MODEL, self.data)
            self.types()
            self.providers()
            self.apis()
            self.needs()
            self.resources()
            self.storage()
            self.defaults()
        except Refused:
            pass

    # -- reading ----------------------------------------------------------------------------------------------------

    def load(self):
        if not isinstance(self.raw, dict):
            self.refuse("", "not a mapping")
        if OGX:
            self.upgrade()
        try:
            self.data = stack.replace_env_vars(self.raw)
        except stack.EnvVarError as error:
            self.refuse(error.path, str(error))
        for left in sorted(set(re.findall(r"\$\{[^}]*\}?", yaml.safe_dump(self.data)))):
            self.warn("", f"{left} is no placeholder of the server and stays as it is")
        try:
            self.config = CONFIG_MODEL(**STRING_NAME(self.data))
        except ValidationError as error:
            self.invalid("", error)
            raise Refused from None

    def upgrade(self):
        """What ogx changes in a config before it substitutes variables; a change of it that fails is refused."""
        self.raw = copy.deepcopy(self.raw)
        before = copy.deepcopy(self.raw)
        for step in ("_migrate_prompts_kv_to_sql", "_ensure_tenancy_defaults"):
            try:
                getattr(configure, step, lambda _: None)(self.raw)
            except Exception as error:
                self.refuse("server" if "tenancy" in step else "storage", f"{type(error).__name__}: {error}")
        prompts = [((one.get("storage") or {}).get("stores") or {}).get("prompts") for one in (before, self.raw)]
        if prompts[0] != prompts[1]:
            self.warn("storage.stores.prompts", "a key-value reference, which the server reads as a SQL one")
        self.raw["version"] = configure.OGX_RUN_CONFIG_VERSION
        if "apis" in self.raw and self.raw["apis"] is None and VERSION >= (1, 5):
            self.warn("apis", "no value: every API that has a provider is served")

    def types(self):
        own = getattr(self.config, "external_providers_dir", None)
        if OGX and own and not os.path.isdir(os.path.expanduser(str(own))):
            self.warn("external_providers_dir", "not there: the server makes an empty folder")
            self.config.external_providers_dir = None
        try:
            self.registry = distribution.get_provider_registry(self.config)
        except Exception as error:
            self.refuse("", f"no provider registry: {error}")

    def invalid(self, path, error):
        for one in error.errors():
            self.error(".".join([path, *map(str, one["loc"])]).strip("."), one["msg"])

    def ignored_keys(self, path, model, value):
        """Warns of each key in value that model does not have, down through nested models."""
        if not isinstance(value, dict) or model.model_config.get("extra") in ("allow", "forbid"):
            return
        fields = {}
        for name, field in model.model_fields.items():
            alias = field.validation_alias if isinstance(field.validation_alias, str) else field.alias
            fields[alias or name] = field
            if model.model_config.get("populate_by_name") or model.model_config.get("validate_by_name"):
                fields[name] = field
        for key, inner in value.items():
            if key not in fields:
                self.warn(join(path, key), f"nobody reads this key; known: {', '.join(sorted(fields))}")
                continue
            models, in_mapping = nested_models(fields[key].annotation)
            for place, item in leaves(join(path, key), inner, in_mapping):
                chosen = choose(models, item)
                if chosen:
                    self.ignored_keys(place, chosen, item)

    # -- providers and APIs -----------------------------------------------------------------------------------------

    def providers(self):
        """Fills self.ids (API -> provider ids) and self.built ((API, provider, spec, path), in order)."""
        self.ids, self.built = {}, []
        known = {api.value: api for api in Api}
        for name, listed in self.config.providers.items():
            path = f"providers.{name}"
            api = known.get(name)
            if api is None:
                self.error(path, "unknown API")
            elif api in ROUTES.values():
                self.error(path, "the server provides this API itself")
            else:
                for index, provider in enumerate(listed):
                    self.provider(f"{path}[{index}]", api, provider)

    def provider(self, path, api, provider):
        if not provider.provider_id or provider.provider_id == DISABLED:
            return
        ids = self.ids.setdefault(api, set())
        if provider.provider_id in ids:
            self.warn(path, f"provider_id {provider.provider_id} stands twice; the last one wins")
        ids.add(provider.provider_id)
        types = self.registry.get(api)
        if types is None:
            self.error(path, f"API {api.value} takes no providers")
            return
        spec = types.get(provider.provider_type)
        if spec is None:
            self.error(path, f"Provider `{provider.provider_type}` is not available for API `{api.value}`")
            return
        if spec.deprecation_error:
            self.error(path, spec.deprecation_error)
        elif spec.deprecation_warning:
            self.warn(path, spec.deprecation_warning)
        self.built.append((api, provider, spec, path))
        try:
            model = instantiate_class_type(spec.config_class)
        except ImportError as error:
            self.warn(path, f"the config was not checked: {error}")
            return
        try:
            model(**provider.config)
        except ValidationError as error:
            self.invalid(f"{path}.config", error)
        except Exception as error:  # a validator of the model that expects better
            self.error(f"{path}.config", f"{type(error).__name__}: {error}")
        self.ignored_keys(f"{path}.config", model, provider.config)
        key = "base_url" if "base_url" in model.model_fields else "url"
        if provider.provider_type == "remote::vllm" and not provider.config.get(key):
            self.error(f"{path}.config.{key}", "the provider exits without an address")

    def served(self):
        if self.config.apis:
            return set(self.config.apis)
        routed = {api.value for pair in ROUTES.items() for api in pair}
        return routed | set(self.config.providers)

    def apis(self):
        known = {api.value: api for api in Api}
        tables = {table: router for router, table in ROUTES.items()}
        for name in self.config.apis or []:
            api = known.get(name)
            if api is None:
                self.error("apis", f"unknown API {name}")
            elif name == "connectors" and not CONNECTORS:
                self.error("apis", "connectors cannot be served")
            elif api in tables:
                if tables[api].value not in self.config.apis:
                    self.error("apis", f"{name} needs {tables[api].value} beside it")
            elif api in ROUTES:
                if not self.ids.get(api) and not self.conditional(name):
                    self.warn("apis", f"{name} is served without a provider")
            elif api not in INTERNAL and not self.ids.get(api):
                if VERSION >= (1, 5):
                    self.warn("apis", f"{name} has no provider and is not served")
                else:
                    self.error("apis", f"{name} has no provider")
        if VERSION >= (1, 5) and self.config.apis == []:
            self.warn("apis", "an empty list: no API with providers is served")

    def conditional(self, name):
        """Whether the API has a provider that is only switched off: then an empty API is what the author wants."""
        listed = (self.raw.get("providers") or {}).get(name) or []
        return any(":+" in str(one.get("provider_id")) for one in listed if isinstance(one, dict))

    def needs(self):
        """Every API that a provider depends on has to be there."""
        served = self.served()
        there = {api for api in INTERNAL if CONNECTORS or api.value != "connectors"}
        for router, table in ROUTES.items():
            if router.value in served:
                there |= {router, table}
        there |= {api for api, *_ in self.built if api not in ROUTES}
        for api, provider, spec, path in self.built:
            if api in ROUTES and api.value not in served:
                self.warn(path, f"{api.value} is not in apis, so nobody can use this provider")
            for need in spec.api_dependencies:
                if need not in there:
                    self.error(path, f"{provider.provider_type} needs the API {need.value}")

    # -- what providers are used by ---------------------------------------------------------------------------------

    def resources(self):
        known = {api.value: api for api in Api}
        served = self.served()
        registered = self.config.registered_resources
        for field, api in RESOURCES.items():
            if api not in known or not hasattr(registered, field):
                continue  # told as a key that nobody reads
            if OGX and field == "tool_groups":
                if (self.data.get("registered_resources") or {}).get("tool_groups"):
                    self.warn("registered_resources.tool_groups", "dropped: tool groups follow from the providers")
                continue
            ids = self.ids.get(known[api], set())
            for index, item in enumerate(getattr(registered, field, [])):
                path = f"registered_resources.{field}[{index}]"
                if api not in served:
                    self.warn(path, f"{api} is not in apis, so this is passed over")
                elif not item.provider_id or item.provider_id == DISABLED:
                    self.warn(path, "without a provider_id this is passed over")
                elif OGX and item.provider_id == "all" and field == "models":
                    pass  # an alias at the first inference provider
                elif item.provider_id not in ids:
                    self.error(path, f"provider_id {item.provider_id} is none of {', '.join(sorted(ids)) or 'no ids'}")
        self.models(registered.models)

    def models(self, models):
        seen = {}
        for index, model in enumerate(models):
            path = f"registered_resources.models[{index}]"
            kind = getattr(model.model_type, "value", model.model_type)
            if kind == "embedding" and "embedding_dimension" not in (model.metadata or {}):
                self.error(path, "an embedding model needs metadata.embedding_dimension")
            if not model.provider_id or model.provider_id == DISABLED:
                continue
            if OGX:
                name = model.model_id if model.provider_id == "all" else f"{model.provider_id}/{model.model_id}"
                same = (kind, model.metadata, model.provider_model_id or model.model_id)
            else:
                if model.provider_model_id not in (None, model.model_id):
                    self.warn(path, f"clients see {model.provider_model_id}; the name {model.model_id} is not kept")
                name = f"{model.provider_id}/{model.provider_model_id or model.model_id}"
                same = (kind, model.metadata)
            if name in seen and seen[name] != same:
                self.error(path, f"{name} stands twice, with different metadata")
            elif name in seen:
                self.warn(path, f"{name} stands twice")
            seen[name] = same

    def storage(self):
        storage = self.config.storage
        if not OGX and not (self.data.get("storage") or {}).get("backends"):
            self.warn("storage.backends", "the default paths hold a placeholder that nobody replaces")
        needed = ["metadata", "conversations"]
        if "inference" in self.served():
            needed.append("inference")
        needed += [store for store in ("prompts", "connectors") if hasattr(storage.stores, store)]
        for store in needed:
            if getattr(storage.stores, store) is None:
                self.error(f"storage.stores.{store}", "missing")
        self.backends = {"kv": set(), "sql": set()}
        for name, backend in storage.backends.items():
            self.backends[backend.type.value.split("_")[0]].add(name)
        for store in type(storage.stores).model_fields:
            reference = getattr(storage.stores, store)
            if reference is not None:
                self.references(f"storage.stores.{store}", reference.model_dump())
        for _, provider, _, path in self.built:
            self.references(f"{path}.config", provider.config)

    def references(self, path, value):
        """A mapping with a backend and a namespace (key-value) or table_name (SQL) points into storage.backends."""
        if isinstance(value, list):
            value = dict(enumerate(value))
        if not isinstance(value, dict):
            return
        if isinstance(value.get("backend"), str):
            kind = "kv" if "namespace" in value else "sql" if "table_name" in value else None
            if kind and value["backend"] not in self.backends[kind]:
                self.error(join(path, "backend"), f"{value['backend']} is no {kind} backend of storage.backends")
        for key, inner in value.items():
            self.references(join(path, key), inner)

    def defaults(self):
        known = {api.value: api for api in Api}
        stores = self.config.vector_stores
        if stores and stores.default_provider_id:
            if stores.default_provider_id not in self.ids.get(known["vector_io"], set()):
                self.warn("vector_stores.default_provider_id", "no provider of vector_io has this id")
        for field in ("default_embedding_model", "default_reranker_model"):
            model = stores and getattr(stores, field, None)
            if model and model.provider_id not in self.ids.get(known["inference"], set()):
                self.error(f"vector_stores.{field}", f"no inference provider has the id {model.provider_id}")
        safety = getattr(self.config, "safety", None)
        default = safety and safety.default_shield_id
        if default:
            if "safety" not in self.served():
                self.error("safety.default_shield_id", "the API safety is not served")
            shields = {shield.shield_id for shield in self.config.registered_resources.shields}
            if shields and default not in shields:
                self.error("safety.default_shield_id", f"{default} is none of the registered shields")
        if self.config.server.port != 8321 and not (OGX and VERSION >= (1, 1)):
            self.warn("server.port", "the command does not read this; use --port, LLAMA_STACK_PORT or OGX_PORT")


def nested_models(annotation):
    """The models inside of a type, and whether they are the values of a mapping."""
    models, open_types, in_mapping = [], [annotation], False
    while open_types:
        one = open_types.pop()
        if isinstance(one, type) and issubclass(one, BaseModel):
            models.append(one)
        else:
            in_mapping = in_mapping or typing.get_origin(one) is dict
            open_types += [inner for inner in typing.get_args(one) if not isinstance(inner, str)]
    return models, in_mapping


def leaves(path, value, in_mapping):
    """The mappings that stand for models: in lists, in the values of a mapping, or value itself."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(f"{path}[{index}]", item, False)
    elif in_mapping and isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(join(path, key), item, False)
    else:
        yield path, value


def choose(models, value):
    """The model that value is read with: the only one, or the one of its type."""
    if len(models) < 2 or not isinstance(value, dict):
        return models[0] if models else None
    for model in models:
        field = model.model_fields.get("type")
        if field and str(getattr(field.default, "value", field.default)) == value.get("type"):
            return model
    return None


def verdict(path, strict, allow_unset):
    before = dict(os.environ)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if allow_unset:
            for name in re.findall(r"\$\{env\.([A-Z0-9_]+)\}", text):
                os.environ.setdefault(name, "http://placeholder:8000/v1")
        check = Check(yaml.safe_load(text))
        check.run()
    finally:
        os.environ.clear()
        os.environ.update(before)
    ok = not check.errors and not (strict and check.warnings)
    return {"file": path, "ok": ok, "errors": check.errors, "warnings": check.warnings}


def main():
    options = {one for one in sys.argv[1:] if one.startswith("--")}
    files = [one for one in sys.argv[1:] if not one.startswith("--")]
    if not files or options - {"--strict", "--allow-unset-env"}:
        print(__doc__, file=sys.stderr)
        return 2
    fine = True
    for path in files:
        try:
            found = verdict(path, "--strict" in options, "--allow-unset-env" in options)
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            found = {"file": path, "ok": False, "errors": [{"path": "", "message": str(error)}], "warnings": []}
        fine = fine and found["ok"]
        print(json.dumps(found))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
