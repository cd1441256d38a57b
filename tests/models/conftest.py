import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.extend(str(ROOT / part) for part in ("tools", "examples", "build/release/python"))


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: whole streams of shapes; minutes, not seconds")
