import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "build/release/python"))


@pytest.fixture(autouse=True)
def nothing_leaks(request):
    """After every test the tensors are as many as before; compiled functions and eager operators may keep plans and scratch."""
    import gc

    import msvm

    gc.collect()

    def tensors() -> int:
        owners = msvm.memory_stats()["by_owner"]
        return owners["interpreter"] + owners["results"]

    before = tensors()
    yield
    gc.collect()
    assert tensors() == before
