"""docs/python.md: its examples run."""

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

    stub = (PAGE.parents[1] / "python/msvm/_core.pyi").read_text()
    for owner, indent in ((_core, ""), (_core.Executable, "    ")):
        there = {n for n in vars(owner) if not n.startswith("_") and n != "Executable"}
        assert set(re.findall(rf"^{indent}def (\w+)", stub, re.M)) == there
