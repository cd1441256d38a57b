"""Every model of the corpus on our engine, beside ONNX Runtime: a table, not a test.

    build/venv/bin/python tests/models/survey.py [MODEL ...]

Without names: every model known, fetched if need be. Each runs in a process of its own, at the stable shape, at the six
that switch and at the odd ones. `error` is the largest difference relative to the largest value of that output.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).resolve().parents[2] / part) for part in ("tools", "build/release/python"))

from corpus import engines, packages, workloads
from corpus.fetch import FetchError
from corpus.more_workloads import MORE_WORKLOADS
from corpus.paths import model_path
from corpus.store import BUILT, ensure

workloads.WORKLOADS |= MORE_WORKLOADS


def short(e: BaseException) -> str:
    """One line of an error's text."""
    return " ".join(f"{type(e).__name__}: {e}".split())[:160]


def difference(ours, reference) -> float:
    """Largest error relative to each output's largest value; infinite where shapes or dtypes differ."""
    import numpy as np

    worst = 0.0 if len(ours) == len(reference) else float("inf")
    for a, b in zip(ours, reference, strict=False):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return float("inf")
        if b.size:
            wide = b.astype(np.float64)
            error = np.abs(a.astype(np.float64) - wide).max() / max(1e-12, np.abs(wide).max())
            worst = max(worst, float("inf") if np.isnan(error) else float(error))
    return worst


def look(model: str, engine: str) -> dict:
    """In a process of its own: import, run, compare."""
    w = workloads.WORKLOADS[model]
    try:
        ours = engines.load(engine, model_path(model), threads=2)
    except Exception as e:
        return {"import": short(e)}
    reference = engines.OnnxRuntime(model_path(model), threads=1, optimise=False)
    worst, refused, failed = 0.0, 0, []
    keys = list(dict.fromkeys([w.stable, *w.switching, *w.odd]))
    for key in keys:
        if key[0] == 0 and model.startswith(("silero", "bilstm")):
            continue  # onnxruntime would end the process
        feed = workloads.inputs(model, key)
        try:
            wanted = reference.run(feed)
        except Exception:
            refused += 1
            continue
        try:
            worst = max(worst, difference(ours.run(feed), wanted))
        except Exception as e:
            failed.append(f"{key}: {short(e)}")
    return {"shapes": len(keys) - refused, "error": worst, "failed": failed}


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--engine", default="msvm", choices=list(engines.ENGINES))
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(look(args.models[0], args.engine)))
        return 0
    good = 0
    names = args.models or [*packages.MODELS, *BUILT, *packages.MORE]
    for name in names:
        try:
            ensure([name])
        except FetchError as e:
            print(f"{name:18} not there: {e}")
            continue
        command = [sys.executable, __file__, "--one", "--engine", args.engine, name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name:18} ended with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}", flush=True)
            continue
        r = json.loads(done.stdout.splitlines()[-1])
        if "import" in r:
            print(f"{name:18} import: {r['import']}", flush=True)
            continue
        right = not r["failed"] and r["error"] < 1e-3
        good += right
        print(
            f"{name:18} {'ok' if right else 'NOT OK':7} {r['shapes']:3} shapes, error {r['error']:.1e}",
            *r["failed"][:3],
            sep="  ",
            flush=True,
        )
    print(f"{good} of {len(names)} models agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
