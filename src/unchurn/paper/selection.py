"""Some settings of a study: what a list of methods asks for, and how their files are called."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from unchurn.core.errors import InputError
from unchurn.study.design.settings import Setting, make_setting

LONGEST = 80  # characters of a file name that lists methods


def some(
    study: str, tried: Sequence[Setting], methods: Sequence[str] | None
) -> tuple[Setting, ...]:
    """All settings, or those of methods (`knn_ls+ema`) or written so (`ema(decay=0.99)`)."""
    there = list(dict.fromkeys(setting.name for setting in tried))
    wanted = [_is_asked(text) for text in methods or ()]
    for text, is_asked in zip(methods or (), wanted, strict=True):
        if not any(is_asked(setting) for setting in tried):
            raise InputError(f"{study} has no method {text!r}: it has {', '.join(there)}")
    if methods is None:
        return tuple(tried)
    return tuple(one for one in tried if any(is_asked(one) for is_asked in wanted))


def _is_asked(text: str) -> Callable[[Setting], bool]:
    """A test of whether a setting is meant by a text: its method's name, or a method as written."""
    method = make_setting(text).method if "(" in text else None
    return lambda setting: setting.name == text or setting.method == method


def name_of(*parts: str, methods: Sequence[str] | None = None) -> str:
    """A name for files; long lists of methods, or parameters, become a digest."""
    listed = "-".join(methods or ())
    if len(listed) > LONGEST or "(" in listed:
        listed = f"part-{hashlib.sha256(listed.encode()).hexdigest()[:8]}"
    return "-".join([*parts, *([listed] if listed else [])])
