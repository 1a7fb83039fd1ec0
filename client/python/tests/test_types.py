"""The types and docs/openapi.json, and the client and the one for asyncio."""

import json
import tomllib
import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import akhar_client
import pytest
from akhar_client import JobFilters, JobOptions, TextFormat, bodies, steps
from running_service import ROOT

OPENAPI = json.loads((ROOT / "docs/openapi.json").read_text())
SCHEMAS, PATHS = OPENAPI["components"]["schemas"], OPENAPI["paths"]
NAMES = {
    "ProgressData": "ProgressEvent",
    "StateData": "StateEvent",
    "HandwritingFields": "HandwritingForm",
    "SpeechFields": "SpeechForm",
    "TranslationFields": "TranslationForm",
}
# What is not typed on purpose: fields that are arguments of their own, and members of the routes of OpenAI's API.
LEFT_OUT = {
    ("HandwritingFields", "text"),
    ("SpeechFields", "file"),
    ("TranslationFields", "text"),
    ("Problem", "violated_policies"),
    ("Problem", "error"),
}
SIMPLE = {"string": str, "integer": int, "number": float, "boolean": bool, "null": type(None)}
TYPES = {name: value for name, value in vars(bodies).items() if is_typeddict(value)}


def described(schema: dict[str, Any]) -> Any:
    """A schema in the words of `written`."""
    options = schema.get("oneOf", schema.get("anyOf", schema.get("allOf", [])))
    if len(options) == 1:
        return described(options[0])
    if options:
        return {frozenset(described(option)) for option in options}
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return {name} if SCHEMAS[name].get("type") == "object" else described(SCHEMAS[name])
    if "enum" in schema:
        return {*schema["enum"]}
    if "additionalProperties" in schema:
        return {"any name": described(schema["additionalProperties"])}
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return [described(schema["items"])] if kinds == ["array"] else {SIMPLE[kind] for kind in kinds}


def written(hint: Any) -> Any:
    """A type: the set of its simple types, its literals or its name; a list or a dictionary of what it has."""
    if get_origin(hint) is Literal:
        return {*get_args(hint)}
    if get_origin(hint) is list:
        return [written(get_args(hint)[0])]
    if get_origin(hint) is dict:
        return {"any name": written(get_args(hint)[1])}
    if get_origin(hint) in (Union, types.UnionType):
        parts = get_args(hint)
        return {frozenset(written(part)) for part in parts} if any(map(is_typeddict, parts)) else {*parts}
    return {NAMES.get(hint.__name__, hint.__name__) if is_typeddict(hint) else hint}


@pytest.mark.parametrize("name", TYPES)
def test_a_type_has_the_members_of_its_schema(name: str) -> None:
    schema, hints = SCHEMAS[NAMES.get(name, name)], get_type_hints(TYPES[name])
    members = {member.replace("-", "_"): value for member, value in schema["properties"].items()}
    left_out = {member for type_name, member in LEFT_OUT if type_name == name}
    assert {*hints} == {*members} - left_out
    required = {member.replace("-", "_") for member in schema.get("required", [])}
    assert TYPES[name].__required_keys__ == required - left_out
    for member, hint in hints.items():
        assert written(hint) == described(members[member]), member


def test_every_operation_takes_the_options_and_gives_the_texts() -> None:
    operations = {path.rsplit("/", 1)[1]: value["post"] for path, value in PATHS.items() if "post" in value}
    assert {*get_args(bodies.Operation)} <= {*operations}
    for name in get_args(bodies.Operation):
        headers = {parameter["name"] for parameter in operations[name]["parameters"]}
        assert headers - {"Prefer", "X-Request-Id", "traceparent"} == {*steps.OPTIONS.values()}, name
    assert {*steps.OPTIONS} == {*get_type_hints(JobOptions)}
    spoken = operations["speech-recognition"]["responses"]["200"]["content"]
    assert {*spoken} - {steps.JSON} == {*steps.TEXTS.values()}
    assert {*steps.TEXTS} == {*get_args(TextFormat)}


def test_jobs_have_all_filters() -> None:
    parameters = {parameter["name"] for parameter in PATHS["/v1/jobs"]["get"]["parameters"]}
    assert parameters - {"limit"} == {*get_type_hints(JobFilters)}


def test_the_version_is_that_of_the_service() -> None:
    assert (
        akhar_client.__version__ == tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    )
