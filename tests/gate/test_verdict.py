"""A verdict: what its checks decide together, and JUnit's form of it."""

import xml.etree.ElementTree as ET

from unchurn.gate.verdict import Check, Verdict, held_against
from unchurn.metrics.intervals import Interval


def test_the_worst_check_decides():
    def verdict(*decisions):
        return Verdict(tuple(Check("c", d, "") for d in decisions)).decision

    assert verdict("promote", "hold", "promote") == "hold"
    assert verdict("hold", "reject", "promote") == "reject"
    assert verdict("promote", "promote") == "promote"


def test_junit_has_a_case_for_every_check():
    checks = (Check("churn", "promote", "fine"), Check('a "<b>"', "reject", "<bad> & worse"))
    suite = ET.fromstring(Verdict(checks).junit())  # noqa: S314
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite] == ["churn", 'a "<b>"']
    assert suite[1][0].get("message") == "<bad> & worse"


def test_junit_has_no_character_that_xml_forbids():
    text = Verdict((Check("slice \x01", "reject", "bad \x0b<&>\ud800"),)).junit()
    (case,) = ET.fromstring(text).iter("testcase")  # noqa: S314
    assert case.get("name") == "slice \N{REPLACEMENT CHARACTER}"


def test_what_is_shown_above_a_comparison():
    banner = Verdict((Check("churn", "promote", "in"), Check("bad_flips", "hold", "open"))).banner()
    assert (banner.decision, banner.meaning[:22]) == ("hold", "The data leave it open")
    assert [(line.name, line.decision, line.reason) for line in banner.lines] == [
        ("churn", "promote", "in"), ("bad_flips", "hold", "open"),
    ]  # fmt: skip


def test_it_prints_as_on_the_command_line():
    checks = (Check("churn", "promote", "in"), Check("slice_churn of a=\x1b[31m", "hold", "open"))
    assert str(Verdict(checks)) == "HOLD\n  promote churn: in\n  hold slice_churn of a= [31m: open"


def test_json_has_the_numbers_of_a_check():
    numbers = {"value": 0.02, "low": 0.01, "high": 0.03, "limit": 0.05}
    check = held_against("churn", "promote", "in", Interval(0.02, 0.01, 0.03), 0.05)
    assert {key: check.to_dict()[key] for key in numbers} == numbers
    assert {Check("missing", "hold", "").to_dict()[key] for key in numbers} == {None}


def test_a_small_limit_is_told_from_zero_and_so_is_what_was_measured():
    check = held_against("churn", "hold", "open", Interval(0.00003, 0.00001, 0.0005), 0.00004)
    assert check.reason == "0.003% [0.001%, 0.050%], limit 0.004%: open"
