import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "build/release/python"))


@pytest.fixture(autouse=True)
def nothing_leaks(request):
    """After every test the tensors are as many as before."""
    import gc

    import msvm

    gc.collect()
    before = msvm.memory_stats()["in_use"]
    yield
    gc.collect()
    assert msvm.memory_stats()["in_use"] == before
