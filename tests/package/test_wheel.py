"""What `pip install .` gives."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """module "chain" version 1
symbol N in [0, 4096]

func @main(x: f32[N]) -> (y: f32[N])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Exp(R0) -> R1
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Tanh(R1) -> R2
  TENSOR_FREE R1
  RETURN R2
"""


def test_it_holds_what_it_needs(contents):
    files = {str(p.relative_to(contents)) for p in contents.rglob("*") if p.is_file()}
    assert {"msvm/_core.pyi", "msvm/py.typed", "msvm/msvm-cc", "msvm/vm.py", "msvm/__init__.py"} <= files
    sources = {f"msvm/{p.relative_to(ROOT / 'python/msvm')}" for p in (ROOT / "python/msvm").rglob("*.py*") if "__pycache__" not in p.parts}
    assert sources <= files
    metadata = next(contents.glob("*.dist-info/METADATA")).read_text()
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert len(needed) == 1 and needed[0].startswith("Requires-Dist: numpy")
    assert len(list(contents.glob("*.dist-info/licenses/*"))) >= 5, "notices of what is linked in"


def test_it_needs_no_other_library(contents):
    (module,) = contents.glob("msvm/_core*.so")
    runtime = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "linux-vdso.so.1"}
    for binary in (module, contents / "msvm/msvm-cc"):
        binary.chmod(0o755)
        needed = {}
        for line in subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout.splitlines():
            name, _, where = line.strip().partition(" => ")
            needed[name.split()[0].rsplit("/", 1)[-1]] = where
        inside = {n for n, where in needed.items() if where.startswith(str(contents))}
        assert set(needed) - runtime == inside, binary


def test_native_code_runs(python):
    out = python(f"""
import numpy as np, pathlib, msvm as ms
pathlib.Path("chain.msasm").write_text({PROGRAM!r})
p = ms.load("chain.msasm", eager_compiler=True, compile_timeout=60)
x = np.linspace(-2, 2, 1000, dtype=np.float32)
for _ in range(3):
    y, = p({{"x": x}})
assert ms.vm.wait_compiled(p, timeout=120), ms.vm.explain(p)
y, = p({{"x": x}})
assert np.allclose(y, np.tanh(np.exp(x)), rtol=1e-5)
assert p.counters()["native_regions"] > 0, ms.vm.explain(p)
assert ms.vm.jit_info(p)[0]["came"] == "compiled"
print(ms.__version__, ms.__file__)
""")
    version, path = out.split()
    assert f"VERSION {version} " in (ROOT / "CMakeLists.txt").read_text()
    assert "site-packages" in path


def test_import_is_quick(python):
    """Beyond numpy's own import: 60 ms at most of CPU time, which other processes disturb least, in the best of several tries."""
    code = "import time, numpy; t = time.process_time(); import msvm; print(time.process_time() - t)"
    assert min(float(python(code)) for _ in range(7)) < 0.060


def test_heavy_parts_wait(python):
    out = python("import sys, numpy; before = set(sys.modules); import msvm; print(*sorted(set(sys.modules) - before))")
    assert not {"msvm.vm", "logging", "csv", "importlib.metadata", "difflib"} & set(out.split())
