"""Our engine beside its peers on real models, over streams of changing shapes.

    bench/setup_peers.sh                                        once: ONNX Runtime, OpenVINO, matplotlib
    build/peers/bin/python bench/models/compare.py              a table of medians and ratios
    … --json results.json --plot results.png                    and files of them

Every measurement is a process of its own. The engines of a model run one after another, so that what drifts on the machine
hits them all, and the whole row is repeated; the table shows, shape by shape, the best process's median. (ONNX Runtime with
two threads is bimodal from process to process.) A `*` marks what ran while other programs took more than 15 % of the cores.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "build" / "release" / "python"), os.environ.get("PYTHONPATH")]))
sys.path.insert(0, str(ROOT / "build" / "release" / "python"))

from corpus import engines  # noqa: E402
from corpus.fetch import FetchError  # noqa: E402
from corpus.more_workloads import MORE_WORKLOADS  # noqa: E402
from corpus.store import SPINE, ensure  # noqa: E402
from corpus.workloads import STREAMS, WORKLOADS  # noqa: E402

WORKLOADS |= MORE_WORKLOADS
Result = dict[str, Any]
BUSY = 0.15


def run_one(engine: str, model: str, kind: str, args: argparse.Namespace) -> Result:
    """One process; `error` says why there is nothing else."""
    command = [sys.executable, "-W", "ignore", str(HERE / "measure.py"), engine, model, kind]
    command += ["--threads", str(args.threads), "--scale", str(args.scale), "--budget", str(args.budget)]
    head: Result = {"engine": engine, "model": model, "stream": kind, "threads": args.threads}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10 * args.budget + 120, check=False)
    except subprocess.TimeoutExpired:
        return head | {"error": "took too long"}
    if done.returncode != 0:
        return head | {"error": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:200]}
    measured: Result = json.loads(done.stdout.splitlines()[-1])
    return head | measured


def geometric_mean(values: Iterable[float]) -> float:
    """Of positive numbers."""
    return statistics.geometric_mean(values)


def best(results: list[Result], what: str) -> dict[str, float]:
    """Shape by shape, the least of the processes."""
    merged: dict[str, float] = {}
    for r in results:
        for shape, ms in r.get(what, {}).items():
            merged[shape] = min(ms, merged.get(shape, ms))
    return merged


def ratio(ours: dict[str, float], base: dict[str, float]) -> float | None:
    """Geometric mean over the shapes that both have."""
    common = ours.keys() & base.keys()
    return geometric_mean(ours[s] / base[s] for s in common) if common else None


def summarise(results: list[Result], base: str) -> list[Result]:
    """One row per model, stream and engine."""
    rows = []
    for model, kind in dict.fromkeys((r["model"], r["stream"]) for r in results):
        cell = [r for r in results if (r["model"], r["stream"]) == (model, kind)]
        basis = {what: best([r for r in cell if r["engine"] == base], what) for what in ("settled_ms", "first_ms")}
        for engine in dict.fromkeys(r["engine"] for r in cell):
            mine = [r for r in cell if r["engine"] == engine]
            good = [r for r in mine if "error" not in r]
            row: Result = {"model": model, "stream": kind, "engine": engine, "processes": len(good)}
            if not good:
                rows.append(row | {"error": mine[0]["error"]})
                continue
            for what in ("settled_ms", "first_ms"):
                shapes = best(good, what)
                row[what] = statistics.median(shapes.values()) if shapes else None
                row[what + "_ratio"] = ratio(shapes, basis[what])
            settled = best(good, "settled_ms")
            extra = [ms / settled[shape] for shape, ms in best(good, "first_ms").items() if shape in settled]
            row["first_over_settled"] = statistics.median(extra) if extra else None
            row["load_ms"] = min(r["load_ms"] for r in good)
            row["peak_mb"] = statistics.median(r["peak_mb"] for r in good)
            row["starved"] = min(r["starved"] for r in good)
            rows.append(row)
    return rows


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def print_rows(rows: list[Result], base: str) -> None:
    """A table; ratios below 1 are faster than the base."""
    columns = f"{'settled ms':>10} {'/' + base:>7} {'first ms':>9} {'/' + base:>7} {'/settled':>8} {'load ms':>8} {'MB':>6}"
    print(f"\n{'model':17} {'stream':10} {'engine':9} {columns}")
    for r in rows:
        line = f"{r['model']:17} {r['stream']:10} {r['engine']:9}"
        if "error" in r:
            print(f"{line} failed: {r['error']}")
            continue
        busy = "*" if r["starved"] > BUSY else ""
        settled = f"{_number(r['settled_ms'], '.2f'):>10} {_number(r['settled_ms_ratio'], '.2f'):>7}"
        first = f"{_number(r['first_ms'], '.2f'):>9} {_number(r['first_ms_ratio'], '.2f'):>7}"
        new = _number(r["first_over_settled"], ".2f")
        print(f"{line} {settled} {first} {new:>8} {r['load_ms']:8.0f} {r['peak_mb']:6.0f}{busy}")
    for kind in dict.fromkeys(r["stream"] for r in rows):
        for engine in dict.fromkeys(r["engine"] for r in rows):
            line = f"{'geometric mean':17} {kind:10} {engine:9}"
            for what, width in (("settled_ms_ratio", 18), ("first_ms_ratio", 17)):
                ratios = [r[what] for r in rows if (r["stream"], r["engine"]) == (kind, engine) and r.get(what)]
                line += f" {_number(geometric_mean(ratios) if ratios else None, '.2f'):>{width}}"
            print(line)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="compare.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=SPINE, choices=list(WORKLOADS), metavar="MODEL", help=f"of {', '.join(WORKLOADS)}")
    parser.add_argument("--engines", nargs="+", default=None, choices=list(engines.ENGINES), help="default: those installed here")
    parser.add_argument("--streams", nargs="+", default=["switching"], choices=STREAMS)
    parser.add_argument("--base", default="ort", choices=list(engines.ENGINES), help="what the ratios divide by")
    parser.add_argument("--repeat", type=int, default=3, help="processes per engine")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--scale", type=float, default=0.5, help="length of the streams")
    parser.add_argument("--budget", type=float, default=20, help="seconds after which a stream is cut")
    parser.add_argument("--json", type=Path, help="write everything that was measured")
    parser.add_argument("--plot", type=Path, help="write a picture (needs matplotlib)")
    args = parser.parse_args()
    wanted = args.engines or [e for e in engines.ENGINES if engines.available(e)]
    for engine in wanted:
        if not engines.available(engine):
            hint = "run ./test or ./demo, which build it" if engine == "msvm" else "run bench/setup_peers.sh and use build/peers/bin/python"
            print(f"error: {engine} is not installed here: {hint}", file=sys.stderr)
            return 1
    try:
        ensure(args.models)
    except FetchError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    results: list[Result] = []
    for kind in args.streams:
        for model in args.models:
            for turn in range(args.repeat):
                for engine in wanted:
                    r = run_one(engine, model, kind, args)
                    results.append(r)
                    said = r.get("error") or f"{r['runs']} runs in {r['wall_s']:.1f} s, starved {r['starved']:.0%}"
                    print(f"   {model} {kind} {engine} {turn + 1}/{args.repeat}: {said}", file=sys.stderr, flush=True)
    rows = summarise(results, args.base)
    print_rows(rows, args.base)
    if args.json:
        args.json.write_text(
            json.dumps({"machine": platform.processor() or platform.machine(), "rows": rows, "results": results}, indent=1)
        )
    if args.plot:
        from plot import draw

        draw(rows, args.base, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
