"""Where the executable lies."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MSVM = Path(os.environ.get("MSVM_CLI", ROOT / "build/release/msvm"))
