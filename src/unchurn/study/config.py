"""What `unchurn bench` is asked for, from options and a TOML file, checked field by field."""

from __future__ import annotations

import importlib
import json
import sys
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unchurn.core.errors import InputError, field_problem
from unchurn.datasets import DATASETS, Dataset, load, load_csv
from unchurn.training.networks import MODELS, Factory


class BenchConfig(BaseModel):
    """The fields of a TOML file, and the options of the same names."""

    model_config = ConfigDict(extra="forbid")

    data: str = "digits"
    target: str | None = None
    methods: list[str] | None = None
    preset: Literal["quick", "paper", "grid"] = "quick"
    model: str = "mlp"
    runs: int = Field(default=5, ge=2)
    epochs: int = Field(default=20, ge=1)
    seed: int = Field(default=0, ge=0)
    select_on: Literal["test", "validation"] | None = None
    out: Path | None = None
    engine: Literal["local", "ray"] = "local"
    ray_address: str | None = None
    workers: int | None = Field(default=None, ge=1)

    @property
    def is_file(self) -> bool:
        """Whether the data are a table of the user's own."""
        return self.data not in DATASETS and self.data.lower().endswith((".csv", ".parquet"))

    @property
    def folder(self) -> Path:
        """Where finished runs are kept."""
        return self.out or Path(f"bench-{Path(self.data).stem if self.is_file else self.data}")

    @property
    def validation(self) -> bool:
        """Whether settings are chosen on held-out training data: by default, for own tables."""
        return (self.select_on or ("validation" if self.is_file else "test")) == "validation"

    def to_json(self) -> str:
        """What decides the results, for a report made later and from elsewhere."""
        fields = self.model_dump(exclude={"out", "workers", "engine", "ray_address"})
        if self.is_file:
            fields["data"] = str(Path(self.data).resolve())
        return json.dumps(fields, indent=1) + "\n"

    def load_data(self) -> Dataset:
        """The dataset by name, or the table."""
        if not self.is_file:
            if self.target is not None:
                raise InputError("target is for a .csv or .parquet file of your own")
            return load(self.data)
        if self.target is None:
            raise InputError(f"{self.data}: say which column to predict: --target COLUMN")
        return load_csv(self.data, target=self.target)

    def load_model(self) -> str | Factory:
        """A network by name, or the factory that `module:function` names."""
        if self.model in MODELS:
            return self.model
        module, colon, name = self.model.partition(":")
        if not colon:
            raise InputError(
                f"no model {self.model!r}: there are {', '.join(MODELS)}, or module:function"
            )
        if "" not in sys.path:
            sys.path.insert(0, "")  # the user's own files, as with python -m
        try:
            factory: Factory = getattr(importlib.import_module(module), name)
        except Exception as error:  # whatever the user's own file raises
            raise InputError(f"model {self.model!r}: {error}") from error
        return factory


def make_config(path: Path | None, options: dict[str, Any]) -> BenchConfig:
    """Read a TOML file, if given; options that were given go before it."""
    fields: dict[str, Any] = {}
    if path is not None:
        try:
            text = path.read_text("utf-8-sig")
            fields = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except ValueError as error:
            kind = "JSON" if path.suffix == ".json" else "TOML"
            raise InputError(f"{path}: not a {kind} file: {error}") from error
    if not isinstance(fields, dict):
        raise InputError(f"{path}: not a table of fields")
    fields |= {name: value for name, value in options.items() if value is not None}
    try:
        return BenchConfig(**fields)
    except ValidationError as error:
        there = list(BenchConfig.model_fields)
        problems = [field_problem(e, "field", there) for e in error.errors()]
        raise InputError("; ".join(problems)) from error
