"""The command line's promises: one line and exit code 2 for bad input, nothing heavy for --help."""

import signal
import subprocess
import sys

import pytest

import unchurn

HEAVY = {"torch", "numba", "polars", "pandas", "altair", "scipy", "sklearn", "pooch"}


def test_version_and_help(run):
    assert run("--version") == (0, f"unchurn {unchurn.__version__}\n", "")
    for arguments in ((), ("--help",), ("-h",)):
        code, out, _ = run(*arguments)
        assert code == 0
        assert "smooth" in out
        assert "data" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["smooth"], "Missing argument"),
        (["smooth", "a.npy", "b.npy", "-o", "c.npy", "-k", "many"], "valid integer"),
        (["smooth", "a.npy", "b.npy", "-o", "c.npy", "--loud"], "No such option"),
        (["smooth", "a.npy", "b.npy", "-o", "c.npy"], "a.npy: No such file or directory"),
        (["data", "fetch", "mnits"], "did you mean 'mnist'?"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("unchurn: ")
    assert message in err
    assert err.count("\n") == 1


def test_a_bug_is_not_blamed_on_the_user(run, monkeypatch):
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("unchurn.datasets.find.cache_dir", broken)
    code, _, err = run("data", "list")
    assert code == 70
    assert "Traceback" in err
    assert "this is a bug in unchurn" in err


def test_an_interruption_is_one_line(run, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("unchurn.datasets.find.cache_dir", interrupted)
    assert run("data", "list") == (130, "", "unchurn: interrupted\n")


def test_an_interruption_that_a_library_made_an_error_of_is_still_one(run, monkeypatch):
    def interrupted(*_: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("initialization failed") from None

    monkeypatch.setattr("unchurn.datasets.find.cache_dir", interrupted)
    before = signal.getsignal(signal.SIGINT)
    assert run("data", "list") == (130, "", "unchurn: interrupted\n")
    assert signal.getsignal(signal.SIGINT) is before


def test_a_message_of_several_lines_becomes_one(run, monkeypatch):
    def broken(*_: object) -> None:
        raise unchurn.InputError("one\ntwo\n  three")

    monkeypatch.setattr("unchurn.datasets.find.cache_dir", broken)
    assert run("data", "list") == (2, "", "unchurn: one two three\n")


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(shown.stdout.splitlines()[-1].split())


def test_import_and_help_load_nothing_heavy():
    assert not loaded_by("import unchurn") & (HEAVY | {"numpy", "typer", "rich"})
    call = """
sys.argv = ["unchurn", "--help"]
import unchurn.cli
try: unchurn.cli.main()
except SystemExit: pass
"""
    assert not loaded_by(call) & (HEAVY | {"numpy"})


def test_measuring_and_smoothing_load_no_torch():
    call = """
import unchurn
unchurn.churn([0], [0])
unchurn.knn_smooth_labels([[0., 1.]], [0], k=1, a=1, b=1)
"""
    assert not loaded_by(call) & {"torch", "numba", "polars", "pandas", "altair"}


def test_every_public_name_is_there():
    for name in unchurn.__all__:
        assert getattr(unchurn, name) is not None
    assert set(dir(unchurn)) == set(unchurn.__all__)
    with pytest.raises(AttributeError, match="no attribute 'chrun'"):
        _ = unchurn.chrun


def test_python_runs_it_as_a_module():
    command = [sys.executable, "-m", "unchurn", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"unchurn {unchurn.__version__}\n"


@pytest.mark.parametrize(
    "mistyped", [["--runs", "1"], ["--methods", "knn"], ["--preset", "no"], ["--model", "cnn"]]
)
def test_a_mistyped_option_is_told_before_anything_heavy_is_loaded(mistyped):
    call = f"""
sys.argv = ["unchurn", "bench", *{mistyped!r}]
import unchurn.cli
try: unchurn.cli.main()
except SystemExit: pass
"""
    assert not loaded_by(call) & {"torch", "sklearn", "numba", "altair"}
