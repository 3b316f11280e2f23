"""Attack every reader and command with spoiled files; what came of it is in docs/reliability.md.

    python benchmarks/fuzz.py [--cases 200000] [--seed 0] [--out build/fuzz] [--no-page]

Case number i of seed S is always the same: a target, its files, and what is spoiled in them. Cases
run in one process after another; that a case kills it, hangs, or ends in anything but an answer or
one line of refusal, is a find: it is made as small as it goes and kept in --out (to be mended, and
then kept under tests/fuzz/finds). The same command goes on where it stopped.
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
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuzz_targets import Target

PAGE = Path(__file__).parent.parent / "docs/reliability.md"
PATIENCE = 120  # seconds that a case may take
MEMORY = 24 << 30  # bytes of addresses: claims of more are refused by the system
TRIES = 150  # to make a find smaller
MEMORY_FOLDER = next((p for p in (Path("/dev/shm"),) if p.is_dir()), None)  # noqa: S108
OUTCOMES = ("answered", "refused", "find")


class Attack:
    """All targets, and a folder in which cases are tried."""

    def __init__(self) -> None:
        from fuzz_mutations import mutate
        from fuzz_targets import all_targets

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
        """The files of a find with as much left out as it stays one, in so many tries."""
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
    """Try cases, one after another; tell of each when it begins and how it ended."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")  # of what is spoiled
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
    """Keep a find as a folder: the spoiled files, and what they are spoiled for."""
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


def run(seed: int, cases: int, out: Path) -> dict[str, Any]:
    """Have cases tried by processes, each until one kills it; go on from what was done before."""
    out.mkdir(parents=True, exist_ok=True)
    state_file = out / f"seed-{seed}.json"
    state: dict[str, Any] = {"seed": seed, "done": 0, "seconds": 0.0, "counts": {}}
    if state_file.exists():
        state = json.loads(state_file.read_text())
    while state["done"] < cases:
        for event in _worker(seed, state["done"], cases, out):
            counts = state["counts"].setdefault(event["target"], dict.fromkeys(OUTCOMES, 0))
            counts[event["ended"]] += 1
            state["done"] += 1
            state["seconds"] += event["seconds"]
            if event["ended"] == "find":
                print(f"find in {event['target']}: {event['said']}", flush=True)
            if state["done"] % 100 == 0 or state["done"] == cases or event["ended"] == "find":
                state_file.write_text(json.dumps(state, indent=1) + "\n")
            if state["done"] % 5000 == 0:
                print(f"{state['done']:,} cases", flush=True)
    return state


def _worker(seed: int, first: int, last: int, out: Path) -> Iterator[dict[str, Any]]:
    """Events of a process that tries cases; the one that it dies of is its last, and a find."""
    command = [sys.executable, __file__, "--seed", str(seed), "--out", str(out),
               "--work", str(first), str(last)]  # fmt: skip
    # Cases are small: more threads than one only wait for one another.
    one = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    environment = {**os.environ, **one, "TMPDIR": str(MEMORY_FOLDER or tempfile.gettempdir())}
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
            yield {**event, "seconds": now - since}
            since = now
        if not ready:
            process.kill()
        process.wait()
        if process.returncode == 0:
            return
        if process.returncode == -signal.SIGTERM:  # no case does that: somebody wants it to end
            raise SystemExit("stopped from outside: the same command goes on")
    said = f"no answer in {PATIENCE} s" if not ready else f"ended by {process.returncode}"
    target, spoiled, drawn = Attack().case(seed, begun)
    keep(out, target.name, spoiled, drawn, said, f"seed {seed}, case {begun}")
    seconds = time.monotonic() - since
    yield {"ended": "find", "target": target.name, "said": said, "seconds": seconds}


def table(states: list[dict[str, Any]]) -> str:
    """What came of it, as Markdown."""
    totals: dict[str, Counter[str]] = {}
    for state in states:
        for target, counts in state["counts"].items():
            totals.setdefault(target, Counter()).update(counts)
    everything: Counter[str] = sum(totals.values(), Counter())
    seeds = ", ".join(str(state["seed"]) for state in states)
    hours = sum(state["seconds"] for state in states) / 3600
    lines = [
        f"`python benchmarks/fuzz.py`, seeds {seeds}: **{everything.total():,} cases tried, "
        f"{everything['find']:,} that crashed, hung or were not one line**, in {hours:.1f} hours "
        "of one core.",
        "",
        "| what reads | cases | answered | refused in one line | finds |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for target, counts in sorted(totals.items()):
        cells = " | ".join(f"{counts[outcome]:,}" for outcome in OUTCOMES)
        lines.append(f"| {target} | {counts.total():,} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    """Parse what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"))
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
        state = run(asked.seed, asked.cases, out)
        print(table([state]))
        if not asked.no_page:
            states = [json.loads(path.read_text()) for path in sorted(out.glob("seed-*.json"))]
            from sections import fill

            fill("fuzz", table(states), PAGE)
        sys.exit(any(counts["find"] for counts in state["counts"].values()))


if __name__ == "__main__":
    main()
