"""`make audit`: a bill of all pins, and no all-clear from a database that was not reached."""

import http.server
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AUDIT = ROOT / "benchmarks/audit.py"
pytestmark = pytest.mark.skipif(not AUDIT.exists(), reason="a source distribution has none")


class Database(http.server.BaseHTTPRequestHandler):
    """Knows something against requests, of whatever version."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        results = [
            {"vulns": [{"id": "X-2"}, {"id": "X-1"}]} if q["package"]["name"] == "requests" else {}
            for q in asked
        ]
        if self.path == "/short":
            results.pop()
        self.send_response(500 if self.path == "/broken" else 200)
        self.end_headers()
        self.wfile.write(b"?" if self.path == "/odd" else json.dumps({"results": results}).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def database():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Database) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def audit(tmp_path, database, text):
    (tmp_path / "pins.txt").write_text(text)
    command = [sys.executable, AUDIT, "--constraints", tmp_path / "pins.txt",
               "--sbom", tmp_path / "sbom.json", "--database", database]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_what_is_known_is_listed(tmp_path, database):
    code, out, _ = audit(tmp_path, database, "# pins\nNumPy==2.0\nrequests==2.31.0  # http\n")
    assert code == 1
    assert "requests 2.31.0: X-1, X-2\n1 of 2 have known vulnerabilities" in out
    code, out, _ = audit(tmp_path, database, "numpy==2.0\n")
    assert code == 0
    assert "0 of 1 have" in out


@pytest.mark.parametrize("path", ["/broken", "/odd", "/short", None])
def test_a_database_that_does_not_answer_is_no_all_clear(tmp_path, database, path):
    where = database + path if path else "http://127.0.0.1:9/"
    code, out, err = audit(tmp_path, where, "numpy==2.0\n")
    assert code == 2
    assert err.startswith(f"NOT AUDITED: {where} could not be reached")
    assert "have known" not in out


def test_the_bill_lists_every_pin_of_the_project(tmp_path, database):
    pins = [
        line.split("==")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line and not line.startswith("#")
    ]
    audit(tmp_path, database, (ROOT / "constraints.txt").read_text())
    bill = json.loads((tmp_path / "sbom.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    assert [c["version"] for c in bill["components"]] == [
        version for _, version in sorted((n.lower().replace("_", "-"), v) for n, v in pins)
    ]
    by_name = {c["name"]: c for c in bill["components"]}
    assert by_name["numpy"]["purl"].startswith("pkg:pypi/numpy@")
    assert "BSD" in by_name["numpy"]["licenses"][0]["license"]["name"]


def test_a_line_that_pins_nothing_is_an_error(tmp_path, database):
    code, _, err = audit(tmp_path, database, "numpy>=2\n")
    assert code == 1
    assert "line 1 pins no version: numpy>=2" in err
