"""Commands made from the table of operations: one function for all of them."""

import functools
from typing import Any

import click

from ..operations.table import Operation
from .common import Common, common_options
from .flags import options, payload


def operation_command(operation: Operation) -> click.Command:
    """The command of one operation, with a flag for each field of its request."""
    return click.Command(
        operation.name,
        params=[*options(operation.request), *_only_here(operation), *common_options()],
        callback=functools.partial(_perform, operation),
        help=operation.help,
    )


def _only_here(operation: Operation) -> list[click.Parameter]:
    """Flags that only the command line has."""
    if operation.name != "status":
        return []
    return [click.Option(["--watch"], is_flag=True, help="Show it again each second, until Ctrl-C.")]


def _perform(operation: Operation, **values: Any) -> int:
    from .output import show, wants_json
    from .perform import perform

    common = Common.taken(click.get_current_context(), values)
    if values.pop("watch", False):
        from .watch import watch

        return watch(common)
    if operation.name == "doctor":  # a client sees more than a memory: socket, versions, service
        from .doctor import doctor

        payload(operation.request, values)
        answer = doctor(common)
    else:
        answer = perform(operation, payload(operation.request, values), common)
    show(operation.name, answer.body, as_json=wants_json(common), text_as_json=common.json)
    return answer.exit_code
