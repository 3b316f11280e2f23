"""What is installed only when asked for: which extra of unchurn brings which module."""

from __future__ import annotations

EXTRAS = {
    "torch": "train",
    "safetensors": "train",
    "numba": "knn",
    "faiss": "faiss",
    "altair": "charts",
    "vl_convert": "charts",
    "jinja2": "charts",
    "ray": "ray",
    "fastexcel": "excel",
}


def what_is_missing(error: BaseException, user: str) -> str | None:
    """Say what its `user` needs and how to install it, if a module of an extra was not found.

    >>> what_is_missing(ModuleNotFoundError(name="torch"), "StableClassifier")
    "StableClassifier needs torch: pip install 'unchurn[train]'"
    """
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if name not in EXTRAS:
        return None
    return f"{user} needs {name}: pip install 'unchurn[{EXTRAS[name]}]'"
