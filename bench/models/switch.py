"""A camera switches its resolution: the first frame after each switch against that resolution's settled frames.

    bench/setup_peers.sh                                      once: ONNX Runtime, OpenVINO
    build/peers/bin/python bench/models/switch.py             a detector at 480x864 and 960x1728

1920x1080 and 3840x2160 at the scale that two cores bear. Each engine runs in a process of its own, one after another. It sees both
resolutions until it has settled (`seen first` is its very first frame of each), then they take turns. Target: a first frame takes
at most 1.1 times as long as a settled one.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "build" / "release" / "python"), str(ROOT / "tools")]

from corpus import engines  # noqa: E402
from corpus.fetch import FetchError  # noqa: E402
from corpus.more_workloads import MORE_WORKLOADS  # noqa: E402
from corpus.paths import model_path  # noqa: E402
from corpus.store import ensure  # noqa: E402
from corpus.workloads import WORKLOADS, inputs  # noqa: E402

WORKLOADS |= MORE_WORKLOADS
Result = dict[str, Any]


def parse_size(text: str) -> tuple[int, int]:
    """HEIGHTxWIDTH."""
    height, width = (int(part) for part in text.split("x"))
    return height, width


def measure(engine: str, args: argparse.Namespace) -> Result:
    """In this process: by resolution, milliseconds of the very first frame, of those after a switch, of the others."""
    os.environ["MSVM_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(args.threads)
    feeds = {f"{h}x{w}": inputs(args.model, (1, h, w)) for h, w in args.sizes}
    loaded = engines.load(engine, model_path(args.model), args.threads)

    def frame(size: str) -> float:
        start = time.perf_counter()
        loaded.run(feeds[size])
        return 1e3 * (time.perf_counter() - start)

    result: Result = {size: {"seen_first": 0.0, "switched": [], "settled": []} for size in feeds}
    for size in feeds:
        result[size]["seen_first"] = frame(size)
    for _ in range(args.settle):
        for size in feeds:
            for _ in range(3):
                frame(size)
    for turn in range(args.switches):
        for size in feeds:
            result[size]["switched"].append(frame(size))
            result[size]["settled"] += [frame(size) for _ in range(args.frames - 1)]
            print(f"   {engine} {size} {turn + 1}/{args.switches}", file=sys.stderr, flush=True)
    return result


def print_table(results: dict[str, Result]) -> None:
    """Milliseconds and ratios; one row per engine and resolution."""
    heads = ("settled", "p99", "switched", "max", "/settled", "max/settled", "seen first", "/settled")
    print(f"{'engine':9} {'size':10} " + " ".join(f"{h:>11}" for h in heads))
    for engine, result in results.items():
        if "error" in result:
            print(f"{engine:9} failed: {result['error']}")
            continue
        for size, r in result.items():
            settled = statistics.median(r["settled"])
            late = sorted(r["settled"])[min(len(r["settled"]) - 1, int(0.99 * len(r["settled"])))]
            switched, worst, first = statistics.median(r["switched"]), max(r["switched"]), r["seen_first"]
            columns = (settled, late, switched, worst, switched / settled, worst / settled, first, first / settled)
            print(f"{engine:9} {size:10} " + " ".join(f"{c:11.2f}" for c in columns))


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="switch.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="ppocrv4_det", choices=list(WORKLOADS), metavar="MODEL", help="one that takes images")
    parser.add_argument("--sizes", nargs="+", type=parse_size, default=[(480, 864), (960, 1728)], metavar="HxW")
    parser.add_argument("--engines", nargs="+", default=None, choices=list(engines.ENGINES), help="default: those installed here")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--settle", type=int, default=8, help="rounds of three frames each before anything counts")
    parser.add_argument("--switches", type=int, default=10, help="to each resolution")
    parser.add_argument("--frames", type=int, default=6, help="until the next switch")
    parser.add_argument("--json", type=Path, help="write everything that was measured")
    parser.add_argument("--one", choices=list(engines.ENGINES), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.frames < 2:
        parser.error("--frames: two at least, the first one after the switch and a settled one")
    if args.one:
        print(json.dumps(measure(args.one, args)))
        return 0
    try:
        ensure([args.model])
    except FetchError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    results: dict[str, Result] = {}
    for engine in args.engines or [e for e in engines.ENGINES if engines.available(e)]:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", __file__, *sys.argv[1:], "--one", engine], stdout=subprocess.PIPE, text=True, check=False
        )
        failed = {"error": f"exit {done.returncode}"}
        results[engine] = failed if done.returncode else json.loads(done.stdout.splitlines()[-1])
    print_table(results)
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
