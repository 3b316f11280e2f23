"""Shared by all tests: nobody's own data or cache is touched, nothing leaves this machine."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Times are never asserted: the first call of a kernel compiles it, and machines are shared.
settings.register_profile("unchurn", deadline=None)
settings.load_profile("unchurn")

REAL_DATA = os.environ.get("UNCHURN_DATA")


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test an empty cache, no data folder and no way to a proxy."""
    monkeypatch.setenv("UNCHURN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("UNCHURN_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the publishers' own files, where there is one."""
    if not REAL_DATA:
        pytest.skip("UNCHURN_DATA is not set: not tried on the real data")
    return Path(REAL_DATA)
