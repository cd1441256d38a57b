"""The importer on the node tests of the `onnx` package, run to the end and compared.

`not_passed.txt` names the cases that aren't passed, with the reason; one that passes after all must leave the list.
"""

import pytest
from backend_cases import load_cases, not_passed, run_case

NOT_PASSED = not_passed()
CASES = load_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case, tmp_path):
    if case.name in NOT_PASSED:
        with pytest.raises(Exception):  # noqa: B017
            run_case(case, tmp_path)
    else:
        run_case(case, tmp_path)


def test_list_names_real_cases():
    assert not set(NOT_PASSED) - {case.name for case in CASES}
