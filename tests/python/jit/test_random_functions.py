"""Random functions, compiled and run by Python: results and their types agree."""

import importlib.util
import math

import pytest
from random_functions import Generator

import msvm as ms

ARGUMENTS = [(3, 4, 0.25), (0, 0, -1.5), (17, -5, 3.0), (-7, 9, 0.0), (6, 2, 10.5)]


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_random_functions(tmp_path, first):
    for seed in range(first, first + 50):
        file = tmp_path / f"random_{seed}.py"
        file.write_text(Generator(seed).source())
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        compiled = ms.jit(module.f, opt=seed % 2)
        for args in ARGUMENTS:
            expected = module.f(*args)
            found = compiled(*map(ms.mutable, args))
            assert same(expected, found), (seed, args, file.read_text())
        assert len(compiled.executables()) == 1, seed
