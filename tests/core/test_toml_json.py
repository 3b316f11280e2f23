"""Plain values of a file, however odd, are read or refused in one line."""

import pytest

from unchurn.core.errors import InputError
from unchurn.core.toml_json import DEEPEST, read_plain


def test_fields_are_read(tmp_path):
    (tmp_path / "a.toml").write_text("\ufeffa = 1\n[b]\nc = [[1], [2]]\n")
    assert read_plain(tmp_path / "a.toml") == {"a": 1, "b": {"c": [[1], [2]]}}
    (tmp_path / "a.json").write_text('{"a": {"b": null}}')
    assert read_plain(tmp_path / "a.json") == {"a": {"b": None}}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", "a = " + "[" * 100_000),
        ("a.toml", "a = " + "[" * 60 + "]" * 60),
        ("a.toml", "a = " + "{a = " * 100_000),
        ("a.toml", "[" + ".".join("a" * 60) + "]"),
        ("a.json", "[" * 100_000),
        ("a.json", '{"a":' * 100_000),
        ("a.json", '{"a":' * 60 + "1" + "}" * 60),
    ],
)
def test_what_is_nested_too_deeply_is_one_line(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=rf"{name}: nested more than {DEEPEST} deep"):
        read_plain(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.toml", b"a"), ("a.toml", b"a = " + b"9" * 5000), ("a.json", b""), ("a.json", b"\xff")],
)
def test_what_is_neither_is_one_line(tmp_path, name, text):
    (tmp_path / name).write_bytes(text)
    with pytest.raises(InputError, match=rf"{name}: not a (TOML|JSON) file"):
        read_plain(tmp_path / name)


def test_fields_are_asked_for(tmp_path):
    (tmp_path / "a.json").write_text("[1]")
    with pytest.raises(InputError, match=r"a\.json: not a table of fields"):
        read_plain(tmp_path / "a.json")
