"""Command line of the inspection line: see `./demo --line --help`."""

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from corpus.fetch import FetchError
from corpus.paths import model_path
from corpus.store import ensure

from inspection_line import figures
from inspection_line.camera import MODES, Camera
from inspection_line.detectors import ENGINES, Detector, Msvm, detector, sampled
from inspection_line.line import Judged, run

ROOT = Path(__file__).resolve().parents[2]
MODEL = "ppocrv4_det"
FACTORS = (1, 2, 3, 4, 5, 6, 8, 10, 12)
SHARE = 0.7  # of a frame's time that the detector may take when the factor is chosen


def say(text: str) -> None:
    """A line of progress."""
    print(f"   {text}", flush=True)


def choose_factor(fps: float, threads: int) -> int:
    """The smallest at which the largest resolution takes no more than its share of a frame's time. The net's time goes with its pixels."""
    trial = 8
    largest = MODES[-1]
    detect = Msvm(model_path(MODEL), trial, threads)
    frame = Camera(1, (largest,)).frame(0).pixels
    times = []
    for _ in range(12):
        begin = time.perf_counter()
        detect(frame)
        times.append(1e3 * (time.perf_counter() - begin))
    ms = statistics.median(times[4:])

    def pixels(factor: int) -> int:
        return sampled(largest.width, factor) * sampled(largest.height, factor)

    fitting = [f for f in FACTORS if ms * pixels(f) / pixels(trial) <= SHARE * 1e3 / fps]
    say(f"{sampled(largest.width, trial)}x{sampled(largest.height, trial)} takes {ms:.1f} ms here; a frame has {1e3 / fps:.1f} ms")
    return fitting[0] if fitting else FACTORS[-1]


def say_scale(factor: int) -> None:
    """What the net sees of each resolution."""
    for mode in MODES:
        seen = f"{sampled(mode.width, factor)}x{sampled(mode.height, factor)}"
        why = "whole" if factor == 1 else f"every {factor}. pixel each way, as this machine can't do more in time"
        say(f"camera {mode}: the net sees {seen} ({why})")


def watch(detect: Msvm, monitor: bool) -> list[Any]:
    """Alerts, a monitor where there is one, and the trace."""
    import msvm as ms

    fired: list[Any] = []

    def on_fire(alert: Any) -> None:
        fired.append((alert.rule, dict(alert.values)))
        say(f"ALERT {alert.rule}: {alert.message}; {alert.values}")

    rules = {
        "hit_rate < 85% for 5s": "check the compiler: ms.vm.explain()",
        "specialised_hit_rate < 85% for 5s": "check camera feed resolution",
    }
    for rule, message in rules.items():
        ms.vm.add_alert(rule, f=detect.function, message=message, on_fire=on_fire, window=5, hold=5)
        say(f"alert: {rule}")
    start = getattr(ms.vm, "start_monitor", None)
    if monitor and start is not None:
        say(f"monitor: {start('127.0.0.1:0').url}")
    ms.vm.enable_bc_trace(True)
    return fired


def report_msvm(detect: Msvm, out: Path) -> None:
    """Hit rates, the entries by the camera's resolutions, the CSV file."""
    import msvm as ms

    f = detect.function
    rates = {s: ms.vm.get_jit_hit_rate(f, specialised=s) for s in (False, True)}
    say(f"hit rate {rates[False]:.1%}, by code for the resolution itself {rates[True]:.1%}")
    for row in ms.vm.jit_info(f):
        if row["tier"]:
            say(f"entry {row['alias'] or '(all sizes)'}: tier {row['tier']}, {row['hits']} hits, {row['compile_ms']:.0f} ms to compile")
    say(f"trace: {ms.vm.bc_trace_to_csv(out=out)}")


def report(name: str, judged: list[Judged], of: figures.Figures) -> None:
    """For people."""
    print(f"\n== {name}: {of.judged} of {of.frames} frames in {of.seconds:.1f} s", flush=True)
    say(f"{of.per_second:.1f} frames/s, {of.dropped} dropped; {of.right} parts judged right ({of.right / of.judged:.1%})")
    say(f"detector: p50 {of.p50_ms:.1f} ms, p99 {of.p99_ms:.1f} ms, p99.9 {of.p999_ms:.1f} ms, longest {of.max_ms:.1f} ms")
    say(f"utilisation: busy {of.busy:.0%} of the time, {of.cores:.2f} cores, {of.settled_cpu_ms:.1f} ms of processor time a frame")
    say(f"settled, and without waiting for the camera, it would do {of.settled_per_second:.1f} frames/s")
    say(f"{'switch to':>12} {'at s':>7} {'first ms':>9} {'settled ms':>11} {'ratio':>6}")
    for s in figures.switches(judged):
        say(f"{s.mode:>12} {s.begin:7.1f} {s.first_ms:9.1f} {s.settled_ms:11.1f} {s.first_ms / s.settled_ms:6.2f}")


def parsed() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(prog="demo --line", description="An inspection line whose camera switches its resolution.")
    parser.add_argument("--seconds", type=float, default=60, help="of the camera's stream")
    parser.add_argument("--switch", type=float, default=10, help="seconds until the resolution switches")
    parser.add_argument("--fps", type=float, default=30, help="of the camera")
    parser.add_argument("--unpaced", action="store_true", help="the camera waits for the line: every frame is judged, as fast as it goes")
    parser.add_argument("--factor", type=int, choices=FACTORS, help="which pixels the net sees; by default what this machine can do")
    parser.add_argument("--fault", action="store_true", help="the camera's cable comes loose for 20 s in the middle: an alert fires")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--engine", choices=ENGINES, default="msvm", help="torch: the same on torch.compile, to compare")
    parser.add_argument("--no-monitor", action="store_true")
    parser.add_argument("--json", type=Path, help="write every frame that was judged")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "line", help="where the trace goes")
    return parser.parse_args()


def main() -> int:
    """The whole of it."""
    args = parsed()
    os.environ.setdefault("MSVM_NUM_THREADS", str(args.threads))
    try:
        ensure([MODEL])
    except FetchError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    print("== line", flush=True)
    factor = args.factor or choose_factor(args.fps, args.threads)
    say_scale(factor)
    frames = round(args.seconds * args.fps)
    loose = range(frames // 2, frames // 2 + round(20 * args.fps)) if args.fault else range(0)
    camera = Camera(max(1, round(args.switch * args.fps)), faulty=lambda number: number in loose)
    detect: Detector = detector(args.engine, model_path(MODEL), factor, args.threads)
    if isinstance(detect, Msvm):
        watch(detect, not args.no_monitor)
    cpu, told = time.process_time(), time.monotonic()

    def progress(j: Judged) -> None:
        nonlocal told
        if time.monotonic() - told >= 5:
            told = time.monotonic()
            say(f"{j.number + 1} of {frames} frames, {j.mode}: {j.ms:.1f} ms")

    judged = run(detect, camera, frames, 0 if args.unpaced else args.fps, progress)
    of = figures.figures(judged, frames, time.process_time() - cpu)
    report(detect.name, judged, of)
    if isinstance(detect, Msvm):
        args.out.mkdir(parents=True, exist_ok=True)
        report_msvm(detect, args.out / "trace.csv")
    if args.json:
        args.json.write_text(json.dumps(figures.as_json(detect.name, factor, judged, of)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
