"""What a page shows beside what is printed: words are the same, and numbers are near."""

import re

import pytest

NUMBER = r"[-+]?\d[\d,]*\.?\d*"
NEAR = {"rel": 0.5, "abs": 0.05}  # another processor may change the last digits


def without_times(text: str) -> str:
    """Without how long a study would take, which depends on the machine."""
    return re.sub(r"^about .* on \d+ workers?.*$", "", text, flags=re.MULTILINE)


def words(text: str) -> str:
    """Without numbers, and the widths that they make."""
    text = without_times(text).replace("─", "")
    return " ".join(re.sub(NUMBER, "#", text).split())


def numbers(text: str) -> list[float]:
    """All numbers, in their order."""
    found = re.findall(NUMBER, without_times(text))
    return [float(number.replace(",", "")) for number in found]


def assert_shown(shown: str, printed: str, advice: str = "", **near: float) -> None:
    """Raise unless a page shows what is printed; the advice says how to make it anew."""
    assert words(printed) == words(shown), advice
    assert numbers(printed) == pytest.approx(numbers(shown), **(near or NEAR)), advice
