import pytest
from leaks import tensors_in_use


@pytest.fixture(autouse=True, scope="module")
def nothing_leaks():
    """After every file of sweeps the tensors are as many as before: looking after each test would take longer than the tests."""
    before = tensors_in_use()
    yield
    assert tensors_in_use() == before
