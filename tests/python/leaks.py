"""What tests ask to find tensors that nobody gave back."""

import pytest


def tensors_in_use() -> int:
    """Bytes of tensors; compiled functions and eager operators may keep plans and scratch."""
    import gc

    import msvm

    gc.collect()
    owners = msvm.memory_stats()["by_owner"]
    return owners["interpreter"] + owners["results"]


@pytest.fixture(autouse=True, scope="module", name="nothing_leaks")
def nothing_leaks_in_a_file():
    """For sweeps, in place of the fixture of that name: looking after each test would take longer than the tests."""
    before = tensors_in_use()
    yield
    assert tensors_in_use() == before
