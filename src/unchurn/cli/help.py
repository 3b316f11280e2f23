"""Layout of `--help`: options in groups, readable at 80 columns, without the type of a switch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup, TyperOption

from unchurn.cli.manual import PANELS
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Command(TyperCommand):
    """A command whose help groups its options, and leaves room for their names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option of one value that is given twice: of two, the first would be lost."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        single = [one for one in given if isinstance(one, TyperOption) and not one.multiple]
        for option in single:
            if single.count(option) > 1 and not option.is_flag:
                raise InputError(f"{max(option.opts, key=len)} is given twice, and takes one value")
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, --help too, as they are shown."""
        return _grouped(_shortened(super().get_params(ctx)), PANELS.get(self.name or "", {}))


class Group(TyperGroup):
    """The same for a group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, --help too."""
        return _shortened(super().get_params(ctx))


def _grouped(params: list[Any], panels: dict[str, str]) -> list[Any]:
    """Parameters in their panels and in the order of these; --help is in the last one."""
    places = {option: panel for panel, options in panels.items() for option in options.split()}
    if panels:
        places["--help"] = list(panels)[-1]
    order = {option: place for place, option in enumerate(places)}
    for param in params:
        if isinstance(param, TyperOption):
            param.rich_help_panel = next((places[o] for o in param.opts if o in places), None)
    return sorted(params, key=lambda param: max(order.get(option, -1) for option in param.opts))


def _shortened(params: Iterable[Any]) -> list[Any]:
    """Parameters whose types take no more room than they are worth: a long name would be cut."""
    params = list(params)
    for param in params:
        if isinstance(param, TyperOption) and param.metavar is None:
            if param.is_flag or param.min is not None or param.max is not None:
                param.metavar = ""  # nothing is given, or its range is shown
            elif param.multiple:
                param.metavar = "<str>"
    return params
