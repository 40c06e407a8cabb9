"""Flags made from request structs, and request objects made from flags.

A field `all_agents: bool` is the flag `--all-agents`, a list field may be repeated, a pair takes two
values. What the command line alone needs (further spellings, "this is a file") stands in the field's
`extra_json_schema`.
"""

import math
import os
import re
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click
import msgspec
from msgspec.structs import FieldInfo

from ..errors import UsageError
from ..operations.requests import Request

_BOUND = re.compile(r"Expected `\w+` (?P<of>of length )?(?P<sign><=|>=) (?P<bound>[\d.]+)")


class Shape(msgspec.Struct):
    """How one field looks as a flag. `kind` is the type of one value; `pair` takes two, `many` may be repeated.

    An `argument` stands after the command's name without a flag.
    """

    kind: type = str
    pair: bool = False
    many: bool = False
    help: str = ""
    spellings: list[str] = []
    path: bool = False
    choices: list[str] = []
    metavar: str | None = None
    argument: bool = False


def options(request: type[Request]) -> list[click.Parameter]:
    """The flags of a command, in the order of the struct's fields, the command's own before the common ones."""
    own = [field for field in msgspec.structs.fields(request) if field.name != "agent_id"]
    common = [field for field in msgspec.structs.fields(request) if field.name == "agent_id"]
    return [_option(field) for field in [*own, *common]]


def flag_name(field: FieldInfo) -> str:
    """`from_`, which JSON calls `from`, is `--from`; `all_agents` is `--all-agents`."""
    return "--" + field.encode_name.replace("_", "-")


def payload(request: type[Request], values: dict[str, Any]) -> dict[str, Any]:
    """The JSON object of a request: only what was given, files absolute, every value checked.

    Raises `UsageError` naming the flag, as the daemon would, before anything is sent.
    """
    given: dict[str, Any] = {}
    for field in msgspec.structs.fields(request):
        value = values.get(field.name)
        if value is None or value == () or value is False:
            continue
        given[field.encode_name] = _sendable(flag_name(field), value, _shape(field.type))
    checked(request, given)
    return given


def checked(request: type[Request], given: dict[str, Any]) -> Request:
    """The typed request of a JSON object; raises `UsageError` in the words of the command line."""
    try:
        return msgspec.convert(given, request)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        flag = "--" + where.rstrip("`").split("[")[0].replace("_", "-") if where else "The request"
        raise UsageError(f"{flag} {_in_words(what)}.", "The command with --help lists its flags.") from None


def _in_words(what: str) -> str:
    """What a checked value lacks, for people."""
    if what == "Expected `str` of length >= 1":
        return "is empty"
    if "matching regex" in what:
        return "has characters that it must not have, or is too long"
    if match := _BOUND.fullmatch(what):
        most = match["sign"] == "<="
        if match["of"]:
            return f"has {'more' if most else 'fewer'} than {match['bound']} characters"
        return f"has to be {'at most' if most else 'at least'} {match['bound'].removesuffix('.0')}"
    return f"does not fit: {what[:1].lower()}{what[1:]}"


def _option(field: FieldInfo) -> click.Parameter:
    shape = _shape(field.type)
    if shape.argument:
        return click.Argument([field.name], type=_click_type(shape), required=field.required)
    names = [field.name, flag_name(field), *shape.spellings]
    if shape.kind is bool:
        return click.Option(names, is_flag=True, default=False, help=shape.help)
    return click.Option(
        names,
        type=_click_type(shape),
        multiple=shape.many,
        required=field.required,
        help=_help(field, shape),
        metavar=shape.metavar,
    )


def _click_type(shape: Shape) -> Any:
    if shape.choices:
        return click.Choice(shape.choices)
    return click.Tuple([str, str]) if shape.pair else shape.kind


def _help(field: FieldInfo, shape: Shape) -> str:
    shown = field.default if isinstance(field.default, int | float | str) and field.default != "" else None
    return shape.help if shown is None else f"{shape.help}  [default: {shown}]"


def _shape(annotation: Any) -> Shape:
    shape = Shape()
    kind = _unwrapped(annotation, shape)
    if get_origin(kind) is list:
        shape.many = True
        kind = get_args(kind)[0]
    elif get_origin(kind) is tuple:
        shape.pair = True
        kind = str
    elif get_origin(kind) is Literal:
        shape.choices = list(get_args(kind))
        kind = str
    shape.kind = _unwrapped(kind, Shape())
    return shape


def _unwrapped(annotation: Any, shape: Shape) -> Any:
    """The bare type; what `Meta` says on the way goes into `shape`."""
    while (origin := get_origin(annotation)) in (Annotated, Union, UnionType):
        if origin is Annotated:
            annotation, *notes = get_args(annotation)
            for meta in notes:
                extra = meta.extra_json_schema or {}
                shape.help = meta.description or shape.help
                shape.spellings = extra.get("flags", shape.spellings)
                shape.path = extra.get("path", shape.path)
                shape.metavar = extra.get("metavar", shape.metavar)
                shape.argument = extra.get("argument", shape.argument)
        else:
            annotation = next(each for each in get_args(annotation) if each is not NoneType)
    return annotation


def _sendable(flag: str, value: Any, shape: Shape) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{flag}: {value} is no number.", "Give a finite number.")
    if isinstance(value, tuple):
        return [_unicode(flag, each) for each in value]
    if not isinstance(value, str):
        return value
    value = _unicode(flag, value)
    if shape.path and value:
        # the daemon has another current folder
        return str(Path(value).expanduser().absolute())
    return value


def _unicode(flag: str, text: str) -> str:
    """`text` as the terminal meant it: where the locale is not UTF-8, Python hands over escaped bytes."""
    try:
        return os.fsencode(text).decode() if any("\udc80" <= char <= "\udcff" for char in text) else text
    except UnicodeDecodeError:
        raise UsageError(f"{flag}: the text is not valid UTF-8.", "Check the terminal's encoding.") from None
