"""JSON Schemas as tools publish them: one flat object, since clients drop or misread references, titles and unions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

JsonSchema = dict[str, Any]

_REFERENCE = "#/$defs/"


def published(shape: type[BaseModel]) -> JsonSchema:
    """The schema of a pydantic model, its references replaced by what they stand for."""
    schema = shape.model_json_schema()
    return _flat(schema, schema.get("$defs", {}))


def _flat(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> JsonSchema:
    if "$ref" in schema:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _flat({**definitions[schema["$ref"].removeprefix(_REFERENCE)], **beside}, definitions)
    flat: JsonSchema = {}
    for key, value in schema.items():
        match key:
            case "title" | "$defs":
                continue
            case "properties":
                flat[key] = {name: _flat(inner, definitions) for name, inner in value.items()}
            case "items":
                flat[key] = _flat(value, definitions)
            case _:
                flat[key] = value
    return flat
