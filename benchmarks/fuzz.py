"""Attack every reader and command with spoiled files; what came of it is in docs/reliability.md.

    python benchmarks/fuzz.py [--cases 200000] [--seed 0] [--minutes 60] [--out build/fuzz]
                              [--record benchmarks/fuzz_record.json] [--no-page]

Case number i of seed S is always the same: a target, its files, and what is spoiled in them. Cases
run in one process after another; that a case kills it, hangs, or ends in anything but an answer or
one line of refusal, is a find: it is made as small as it goes and kept in --out (to be mended, and
then kept under tests/fuzz/finds). What was tried is in --record: the same command goes on where it
stopped, also another day; docs/reliability.md has the sum of it.
"""

import argparse
import hashlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzing import record

if TYPE_CHECKING:
    from fuzzing.base import Target

RECORD = Path(__file__).parent / "fuzz_record.json"
PAGE = Path(__file__).parent.parent / "docs/reliability.md"
PATIENCE = 300  # seconds that a case may take: other work may need the cores
MEMORY = 24 << 30  # bytes of address space: the system refuses claims of more
TRIES = 150  # to make a find smaller
MEMORY_FOLDER = next((p for p in (Path("/dev/shm"),) if p.is_dir()), None)  # noqa: S108
TOLD_BY = 40  # how many cases `kind` hashes


class Attack:
    """All targets, and how cases are drawn, tried and made smaller."""

    def __init__(self) -> None:
        from fuzzing.mutations import mutate
        from fuzzing.targets import all_targets

        self.mutate = mutate
        self.targets = {target.name: target for target in all_targets()}

    def case(self, seed: int, number: int) -> tuple["Target", dict[str, bytes], int]:
        """A target, the files that are spoiled, and the seed of what else is drawn."""
        rng = random.Random(f"{seed} {number}")
        targets = list(self.targets.values())
        target = rng.choices(targets, [t.weight for t in targets])[0]
        spoiled: dict[str, bytes] = {}
        for _ in range(rng.choice((1, 1, 1, 2, 3)) if target.files else 0):
            name = rng.choice(list(target.files))
            spoiled[name] = self.mutate(spoiled.get(name, target.files[name]), name, rng)
        return target, spoiled, rng.randrange(2**32)

    def kind(self) -> str:
        """A hash of the first cases, which tells them from others with the same numbers."""
        digest = hashlib.sha256(repr([(t.name, t.weight) for t in self.targets.values()]).encode())
        for number in range(TOLD_BY):
            target, spoiled, drawn = self.case(0, number)
            digest.update(repr((target.name, sorted(spoiled.items()), drawn)).encode())
        return digest.hexdigest()[:12]

    def outcome(self, target: "Target", spoiled: dict[str, bytes], seed: int) -> tuple[str, str]:
        """How a case ends: "answered", "refused" or "find", and what was said."""
        from unchurn.core.errors import InputError

        before = Path.cwd()
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            for name, content in target.mend({**target.files, **spoiled}).items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            os.chdir(folder)
            os.environ["UNCHURN_CACHE"] = f"{folder}/cache"
            try:
                target.call(random.Random(seed))
            except (InputError, OSError) as error:
                return "refused", str(error)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                return "find", f"{type(error).__name__}: {error}"[:400]
            finally:
                os.chdir(before)
        return "answered", ""

    def smaller(self, target: "Target", spoiled: dict[str, bytes], seed: int) -> dict[str, bytes]:
        """The files of a find, with as much left out as TRIES tries allow while it stays a find."""
        tries = 0
        for name in list(spoiled):
            without = {other: content for other, content in spoiled.items() if other != name}
            if self.outcome(target, without, seed)[0] == "find":
                spoiled = without
        for name in list(spoiled):
            step = len(spoiled[name]) // 2
            while step and tries < TRIES:
                start = 0
                while start < len(spoiled[name]) and tries < TRIES:
                    content = spoiled[name]
                    cut = {**spoiled, name: content[:start] + content[start + step :]}
                    tries += 1
                    if self.outcome(target, cut, seed)[0] == "find":
                        spoiled = cut
                    else:
                        start += step
                step //= 2
        return spoiled


def work(seed: int, first: int, last: int, out: Path) -> None:
    """Try cases, one after another; print when each begins and how it ended."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")  # about spoiled files
    attack = Attack()
    for number in range(first, last):
        print(json.dumps({"begun": number}), flush=True)
        target, spoiled, drawn = attack.case(seed, number)
        ended, said = attack.outcome(target, spoiled, drawn)
        if ended == "find":
            spoiled = attack.smaller(target, spoiled, drawn)
            keep(out, target.name, spoiled, drawn, said, f"seed {seed}, case {number}")
        print(json.dumps({"ended": ended, "target": target.name, "said": said[:200]}), flush=True)


def keep(
    out: Path, target: str, spoiled: dict[str, bytes], drawn: int, said: str, case: str
) -> None:
    """Keep a find as a folder: the spoiled files, and find.json, with all it takes to replay it."""
    digest = hashlib.sha256(repr((target, sorted(spoiled.items()), drawn)).encode()).hexdigest()[:8]
    folder = out / "finds" / f"{''.join(c if c.isalnum() else '-' for c in target)}-{digest}"
    for name, content in spoiled.items():
        path = folder / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    folder.mkdir(parents=True, exist_ok=True)
    about = {"target": target, "drawn": drawn, "said": said, "case": case}
    (folder / "find.json").write_text(json.dumps(about, indent=1) + "\n")


def replay(attack: Attack, folder: Path) -> tuple[str, str]:
    """How a kept find ends now."""
    about = json.loads((folder / "find.json").read_text())
    files = folder / "files"
    spoiled = {str(p.relative_to(files)): p.read_bytes() for p in files.rglob("*") if p.is_file()}
    return attack.outcome(attack.targets[about["target"]], spoiled, about["drawn"])


def run(seed: int, cases: int, out: Path, kept: Path, minutes: float) -> dict[str, Any]:
    """Try cases in a process, in a new one if a case kills it; go on from where the record ends."""
    out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * minutes
    entry = record.entry_of(kept, Attack().kind(), seed)
    while entry["done"] < cases and time.monotonic() < end:
        for event in _worker(seed, entry["done"], cases, out):
            if event["ended"] == "died":
                event = _again(seed, event, out)
                entry["died_once"] = entry.get("died_once", 0) + (event["ended"] != "find")
            record.add(entry, event["target"], event["ended"], event["seconds"])
            if event["ended"] == "find":
                print(f"find in {event['target']}: {event['said']}", flush=True)
            is_over = time.monotonic() > end
            if entry["done"] % 500 == 0 or event["ended"] == "find" or is_over:
                record.keep(kept, entry)
            if entry["done"] % 5000 == 0:
                print(f"{entry['done']:,} cases", flush=True)
            if is_over:
                break
    record.keep(kept, entry)
    return entry


def _again(seed: int, event: dict[str, Any], out: Path) -> dict[str, Any]:
    """Try a case once more whose process died or hung: if it does so again, it is a find.

    Otherwise the case was not to blame: a process may be killed from outside, or starved.
    """
    number = event["number"]
    print(f"case {number} of {event['target']}: {event['said']}; once more", flush=True)
    *_, again = _worker(seed, number, number + 1, out)
    if again["ended"] != "died":
        return again
    target, spoiled, drawn = Attack().case(seed, number)
    keep(out, target.name, spoiled, drawn, again["said"], f"seed {seed}, case {number}")
    return {**again, "ended": "find"}


def _worker(seed: int, first: int, last: int, out: Path) -> Iterator[dict[str, Any]]:
    """The events of a process that tries cases; if a case kills it, that is the last event."""
    command = [sys.executable, __file__, "--seed", str(seed), "--out", str(out),
               "--work", str(first), str(last)]  # fmt: skip
    # Cases are small: more threads than one only wait for one another.
    one = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    folder = str(MEMORY_FOLDER or tempfile.gettempdir())
    environment = {**os.environ, **one, "RUST_BACKTRACE": "0", "TMPDIR": folder}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        bufsize=0,  # a line that waits in a buffer of ours would not be seen by select
    ) as process:
        assert process.stdout is not None  # noqa: S101
        begun, since = first, time.monotonic()
        while True:
            ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
            line = process.stdout.readline() if ready else b""
            if not line:
                break
            event = json.loads(line)
            if "begun" in event:
                begun = event["begun"]
                continue
            now = time.monotonic()
            try:
                yield {**event, "seconds": now - since}
            except GeneratorExit:  # the time is over
                process.kill()
                raise
            since = now
        if not ready:
            process.kill()
        process.wait()
        if process.returncode == 0:
            return
        if process.returncode == -signal.SIGTERM:  # no case does that: somebody stopped it
            raise SystemExit("stopped from outside: the same command goes on")
    said = f"no answer in {PATIENCE} s" if not ready else f"ended by {process.returncode}"
    target, _, _ = Attack().case(seed, begun)
    seconds = time.monotonic() - since
    yield {"ended": "died", "number": begun, "target": target.name, "said": said,
           "seconds": seconds}  # fmt: skip


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--no-page", action="store_true")
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--work", type=int, nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    out = asked.out.resolve()
    if asked.work:
        first, last = asked.work
        work(asked.seed, first, last, out)
    elif asked.replay:
        print(*replay(Attack(), asked.replay))
    else:
        entry = run(asked.seed, asked.cases, out, asked.record.resolve(), asked.minutes)
        print(record.table([entry]))
        if not asked.no_page:
            from sections import fill

            fill("fuzz", record.table(record.load(asked.record)), PAGE)
        sys.exit(any(counts["find"] for counts in entry["counts"].values()))


if __name__ == "__main__":
    main()
