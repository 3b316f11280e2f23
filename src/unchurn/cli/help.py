"""Layout of `--help`: options in groups, readable at 80 columns, no type for switches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup, TyperOption

from unchurn.cli.manual import PANELS
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Command(TyperCommand):
    """A command whose help groups its options and leaves room for their names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a single-value option that is given twice: the first value would be lost."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        single = [one for one in given if isinstance(one, TyperOption) and not one.multiple]
        for option in single:
            if single.count(option) > 1 and not option.is_flag:
                raise InputError(f"{max(option.opts, key=len)} is given twice, and takes one value")
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, including --help, in the order of the help."""
        return _grouped(_shortened(super().get_params(ctx)), PANELS.get(self.name or "", {}))


class Group(TyperGroup):
    """A group of commands whose help leaves room for the names of options."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, including --help."""
        return _shortened(super().get_params(ctx))


def _grouped(params: list[Any], panels: dict[str, str]) -> list[Any]:
    """Parameters assigned to panels and sorted by panel; --help goes to the last one."""
    places = {option: panel for panel, options in panels.items() for option in options.split()}
    if panels:
        places["--help"] = list(panels)[-1]
    order = {option: place for place, option in enumerate(places)}
    for param in params:
        if isinstance(param, TyperOption):
            param.rich_help_panel = next((places[o] for o in param.opts if o in places), None)
    return sorted(params, key=lambda param: max(order.get(option, -1) for option in param.opts))


def _shortened(params: Iterable[Any]) -> list[Any]:
    """Parameters with short type names: long ones would cut off the options' names."""
    params = list(params)
    for param in params:
        if isinstance(param, TyperOption) and param.metavar is None:
            if param.is_flag or param.min is not None or param.max is not None:
                param.metavar = ""  # a switch has no value; a range is shown elsewhere
            elif param.multiple:
                param.metavar = "<str>"
    return params
