"""What the installed llama-stack or ogx says about its provider types.

describe() gives, per API and type, the dependencies and the fields of the type's config model. Descriptions are left
out: the catalog has its own.
"""

import enum
import importlib
import importlib.util
import json
import logging
import pathlib
import types
import typing
from importlib.metadata import version

logging.disable(logging.CRITICAL)

from pydantic import BaseModel, SecretStr
from pydantic_core import PydanticUndefined

# The package has one name up to 0.7 and the other from 1.0 on.
PACKAGE = "ogx" if importlib.util.find_spec("ogx") else "llama_stack"
distribution = importlib.import_module(f"{PACKAGE}.core.distribution")

# Deepest nesting of models that is described.
MAX_DEPTH = 6
# Defaults longer than this, or in sentences, are prompts and not worth showing.
LONGEST_DEFAULT = 400


def members(annotation):
    """The types of a union, None among them, Annotated taken off."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return members(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return [one for inner in typing.get_args(annotation) for one in members(inner)]
    return [annotation]


def discriminators(annotation):
    """The keys that tell the members of unions within a type apart."""
    found = {getattr(about, "discriminator", None) for about in getattr(annotation, "__metadata__", ())}
    return found.union(*map(discriminators, typing.get_args(annotation)))


def kind(one):
    """The JSON type of one member."""
    origin = typing.get_origin(one)
    if one is type(None):
        return "null"
    if origin is typing.Literal:
        return "string"
    if origin in (list, set, tuple) or one in (list, set, tuple):
        return holder("array", typing.get_args(one)[:1])
    if origin is dict or one is dict:
        return holder("map", typing.get_args(one)[1:])
    if not isinstance(one, type):
        return "any"
    if issubclass(one, BaseModel):
        return "object"
    order = ((bool, "boolean"), (int, "integer"), (float, "number"))
    for base, name in order:
        if issubclass(one, base) and not issubclass(one, enum.Enum):
            return name
    if issubclass(one, (str, SecretStr, pathlib.PurePath, enum.Enum)) or one.__name__.endswith(("Url", "Dsn")):
        return "string"
    return "any"


def holder(name, inner):
    """The type of a list or mapping, with that of what it holds where there is one: `array<string>`."""
    kinds = {kind(one) for held in inner for one in members(held)}
    return f"{name}<{kinds.pop()}>" if len(kinds) == 1 else name


def values(one):
    if typing.get_origin(one) is typing.Literal:
        return [v.value if isinstance(v, enum.Enum) else v for v in typing.get_args(one)]
    if isinstance(one, type) and issubclass(one, enum.Enum):
        return [member.value for member in one]
    return []


def prose(value):
    if isinstance(value, str):
        return len(value) > 90 or value.count(" ") >= 3
    if isinstance(value, dict):
        return any(map(prose, value.values()))
    return isinstance(value, list) and any(map(prose, value))


def default(field):
    """The default as JSON; None where there is none to show."""
    if field.is_required():
        return None
    value = field.default
    if field.default_factory is not None:
        try:
            value = field.default_factory()
        except TypeError:
            return None
    if value is PydanticUndefined or isinstance(value, SecretStr):
        return None
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    elif isinstance(value, enum.Enum):
        value = value.value
    elif type(value).__name__.endswith("Url") or isinstance(value, pathlib.PurePath):
        value = str(value)
    try:
        long = len(json.dumps(value)) > LONGEST_DEFAULT
    except TypeError:
        return str(value)
    return None if long or prose(value) else value


def fields(model, outer=()):
    if model in outer or len(outer) >= MAX_DEPTH:
        return []
    found = []
    for name, field in sorted(model.model_fields.items()):
        alias = field.validation_alias if isinstance(field.validation_alias, str) else field.alias
        options = members(field.annotation)
        kinds = list(dict.fromkeys(map(kind, options)))
        entry = {
            "key": alias or name,
            "type": "|".join([k for k in kinds if k != "null"] or ["null"]),
            "nullable": "null" in kinds,
            "required": field.is_required(),
            "secret": any(isinstance(one, type) and issubclass(one, SecretStr) for one in options),
            "default": default(field),
            "deprecated": bool(field.deprecated),
            "enum": [value for one in options for value in values(one)],
        }
        if any(getattr(one, "__name__", "") in ("HttpUrl", "AnyHttpUrl") for one in options):
            entry["format"] = "HttpUrl"
        models = [one for one in options if isinstance(one, type) and issubclass(one, BaseModel)]
        if models:
            entry["fields"] = [inner for one in models for inner in fields(one, (*outer, model))]
            telling = {field.discriminator, *discriminators(field.annotation)}
            for inner in entry["fields"]:
                # What tells the members of a union apart has to be there, also where each of them has a default.
                inner["required"] = inner["required"] or inner["key"] in telling
        found.append(entry)
    return found


def provider(spec):
    module, name = spec.config_class.rsplit(".", 1)
    model = getattr(importlib.import_module(module), name)
    return {
        "extra_keys": model.model_config.get("extra", "ignore"),
        "api_dependencies": sorted(api.value for api in spec.api_dependencies),
        "optional_api_dependencies": sorted(api.value for api in spec.optional_api_dependencies),
        "deprecated": bool(spec.deprecation_error or spec.deprecation_warning),
        "fields": fields(model),
    }


def describe():
    registry = distribution.get_provider_registry()
    api_type = type(next(iter(registry)))
    return {
        PACKAGE: version(PACKAGE.replace("_", "-")),
        "all_api_names": sorted(api.value for api in api_type),
        "internal_apis": sorted(api.value for api in distribution.INTERNAL_APIS),
        "routing_tables": {
            route.router_api.value: route.routing_table_api.value
            for route in sorted(distribution.builtin_automatically_routed_apis(), key=lambda route: route.router_api.value)
        },
        "apis": {
            api.value: {name: provider(registry[api][name]) for name in sorted(registry[api])}
            for api in sorted(registry, key=lambda api: api.value)
        },
    }
