"""A software bill of materials of the pinned constraints, and what is known against them.

    python benchmarks/audit.py [--sbom build/sbom.json]      (make audit)

Writes the bill as CycloneDX JSON, then asks the OSV database of known vulnerabilities about every
pin. Exit code 0: nothing is known against any of them; 1: something is, and is listed; 2: the
database could not be reached or did not answer for all, so nothing is known at all.
"""

import argparse
import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import requests

ROOT = Path(__file__).parent.parent
DATABASE = "https://api.osv.dev/v1/querybatch"
PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;#]+)")
AT_ONCE = 500  # the database takes a thousand

Pins = dict[str, str]


class UnreachableError(Exception):
    """The database gave no answer."""


def read_pins(path: Path) -> Pins:
    """Names and versions; a line that pins nothing is an error, as it would not be asked about."""
    pins = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        found = PIN.match(text)
        if found is None:
            raise SystemExit(f"{path}: line {number} pins no version: {text}")
        pins[re.sub(r"[-_.]+", "-", found[1]).lower()] = found[2]
    return pins


def bill(pins: Pins) -> dict[str, Any]:
    """The bill of materials: every pin, with its licence where the package is installed here."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "library", "name": "unchurn", "bom-ref": "unchurn"}},
        "components": [
            {
                "type": "library",
                "bom-ref": f"pkg:pypi/{name}@{version}",
                "purl": f"pkg:pypi/{name}@{version}",
                "name": name,
                "version": version,
                **_licence(name),
            }
            for name, version in sorted(pins.items())
        ],
    }


def _licence(name: str) -> dict[str, Any]:
    """What an installed package says of its licence."""
    try:
        about: Any = metadata.metadata(name)  # an email.message.Message in all but its type
    except metadata.PackageNotFoundError:
        return {}
    classifiers = [c for c in about.get_all("Classifier") or [] if c.startswith("License ::")]
    said = (
        about.get("License-Expression")
        or (classifiers[0].rpartition(":: ")[2] if classifiers else None)
        or about.get("License", "")
    )
    is_name = said and "\n" not in said  # some put the whole text there
    return {"licenses": [{"license": {"name": said}}]} if is_name else {}


def known_against(pins: Pins, database: str = DATABASE) -> dict[str, list[str]]:
    """The vulnerabilities that the database knows of each pin, by their names there."""
    found: dict[str, list[str]] = {}
    names = sorted(pins)
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        queries = [
            {"package": {"ecosystem": "PyPI", "name": name}, "version": pins[name]} for name in some
        ]
        try:
            response = requests.post(database, json={"queries": queries}, timeout=30)
            response.raise_for_status()
            results = response.json()["results"]
        except (requests.RequestException, ValueError, KeyError, TypeError) as error:
            raise UnreachableError(type(error).__name__) from error
        if len(results) != len(some):
            raise UnreachableError(f"{len(results)} answers to {len(some)} questions")
        for name, result in zip(some, results, strict=True):
            if vulnerabilities := result.get("vulns"):
                found[name] = sorted(v["id"] for v in vulnerabilities)
    return found


def main() -> None:
    """Write the bill, ask, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--constraints", type=Path, default=ROOT / "constraints.txt")
    parser.add_argument("--sbom", type=Path, default=ROOT / "build/sbom.json")
    parser.add_argument("--database", default=DATABASE)
    asked = parser.parse_args()
    pins = read_pins(asked.constraints)
    asked.sbom.parent.mkdir(parents=True, exist_ok=True)
    asked.sbom.write_text(json.dumps(bill(pins), indent=1) + "\n", "utf-8")
    print(f"{len(pins)} packages: {asked.sbom}")
    try:
        found = known_against(pins, asked.database)
    except UnreachableError as error:
        print(f"NOT AUDITED: {asked.database} could not be reached ({error})", file=sys.stderr)
        sys.exit(2)
    for name, ids in found.items():
        print(f"{name} {pins[name]}: {', '.join(ids)}")
    print(f"{len(found)} of {len(pins)} have known vulnerabilities")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
