"""`Setting`: a method with the parameters that were asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unchurn.core.errors import InputError
from unchurn.methods import Combination, Method, combine
from unchurn.methods.registry import name_of, named_method, parse_method


@dataclass(frozen=True)
class Setting:
    """A method by name, such as `knn_ls+ema`, with its parameters."""

    name: str
    method: Method

    @property
    def text(self) -> str:
        """The parameters, such as `k=10 a=0.9 b=0.5`; those of a combination's parts in turn."""
        parts = self.method.parts if isinstance(self.method, Combination) else (self.method,)
        texts = [" ".join(f"{key}={v:g}" for key, v in _shown(part).items()) for part in parts]
        return " + ".join(texts).strip(" +")

    @property
    def parameters(self) -> dict[str, Any]:
        """Those worth trying, and others where unusual; of a combination as `knn_ls__a`."""
        if not isinstance(self.method, Combination):
            return _shown(self.method)
        return {
            f"{name_of(part)}__{key}": value
            for part in self.method.parts
            for key, value in _shown(part).items()
        }


def _shown(method: Method) -> dict[str, Any]:
    """The parameters that make a method what it is."""
    mine, usual = method.get_params(), type(method)().get_params()
    named = [*method.grid, *(p for p in mine if p not in method.grid)]
    return {p: mine[p] for p in named if p in method.grid or mine[p] != usual[p]}


def make_setting(name: str, **parameters: Any) -> Setting:
    """A setting of one method, or as it is written: `make_setting("knn_ls(k=5)+ema")`.

    >>> make_setting("knn_ls", k=5).text
    'k=5 a=0.9 b=0.9'
    """
    written = parse_method(name)
    if parameters and len(written) > 1:
        raise InputError(f"write a combination's parameters in it: {written[0][0]}(…)+…")
    parts = [named_method(part, **{**given, **parameters}) for part, given in written]
    return Setting("+".join(part for part, _ in written), combine(*parts))
