"""A wheel as `pip install .` makes it, in a fresh environment that holds numpy and nothing else of ours."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=3000, **options)
    assert done.returncode == 0, f"{command}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """Compiled with the flags and names of the release build, so that ccache has most of it."""
    folder = tmp_path_factory.mktemp("wheel")
    environment = {
        **os.environ,
        "CC": "cc",
        "CXX": "c++",
        "CMAKE_GENERATOR": "Ninja",
        "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_NOHASHDIR": "1",
        "CMAKE_BUILD_PARALLEL_LEVEL": os.environ.get("MSVM_JOBS", "2"),
    }
    environment.pop("PYTHONPATH", None)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    run(*pip, "wheel", "--no-build-isolation", "--no-deps", "-w", folder, ".", cwd=ROOT, env=environment)
    (path,) = folder.glob("msvm-*.whl")
    return path


@pytest.fixture(scope="session")
def contents(wheel, tmp_path_factory):
    """The wheel's files, unpacked."""
    folder = tmp_path_factory.mktemp("contents")
    with zipfile.ZipFile(wheel) as z:
        z.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def python(wheel, tmp_path_factory):
    """Runs Python code there: no compiler in reach, no code on disk from elsewhere."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder / "venv")
    interpreter = folder / "venv/bin/python"
    run(interpreter, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "-q", f"numpy=={numpy.__version__}", wheel)
    clean = {"PATH": "/nowhere", "HOME": str(folder), "MSVM_CACHE_DIR": str(folder / "code"), "LANG": "C.UTF-8"}
    return lambda code: run(interpreter, "-c", code, cwd=folder, env=clean)
