import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "build/release/python"))


@pytest.fixture(autouse=True)
def nothing_leaks():
    """After every test the tensors are as many as before."""
    from leaks import leaked_since, tensors_in_use

    before = tensors_in_use()
    yield
    assert leaked_since(before) == 0
