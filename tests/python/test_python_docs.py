"""docs/python.md: its examples run."""

import ast
import re
from pathlib import Path

from programs import relu_add

PAGE = Path(__file__).resolve().parents[2] / "docs/python.md"


def test_examples(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("model.onnx").write_bytes(relu_add().SerializeToString())
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    assert len(blocks) == 3
    names: dict = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert "OP_CALL msvm.Pointwise" in capsys.readouterr().out


def test_every_name_is_there():
    import msvm

    text = PAGE.read_text()
    names = [n for n in [*msvm.__all__, *dir(msvm.Program)] if not n.startswith("_")]
    assert [n for n in names if n not in text] == []


def test_the_stub_names_what_is_there():
    from msvm import _core

    def public(names) -> set[str]:
        return {n for n in names if not n.startswith("_")}

    stub = ast.parse((PAGE.parents[1] / "python/msvm/_core.pyi").read_text())
    functions = {d.name for d in stub.body if isinstance(d, ast.FunctionDef)}
    classes = {d.name: {f.name for f in d.body if isinstance(f, ast.FunctionDef)} for d in stub.body if isinstance(d, ast.ClassDef)}
    data = {d.target.id for d in stub.body if isinstance(d, ast.AnnAssign)}
    assert functions | set(classes) | public(data) == public(vars(_core))
    for name, methods in classes.items():
        there = vars(getattr(_core, name))
        assert [m for m in methods if not (m in there or hasattr(object, m) or m == "__getattr__")] == [], name
        if "__getattr__" not in methods:
            assert public(methods) == public(there), name
