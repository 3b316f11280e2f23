import sys

import pytest

from unchurn import cli


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run the command line in an empty folder; give its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run_(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["unchurn", *arguments])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err  # type: ignore[return-value]

    return run_
