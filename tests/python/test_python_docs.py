"""docs/: python, tensors, options, reports, traces, disassembly, monitor: their examples run; the stub says what is there."""

import ast
import re
from pathlib import Path

import pytest
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


def test_examples_of_disassembly(tmp_path, monkeypatch, capsys):
    page = PAGE.with_name("disassembly.md").read_text()
    monkeypatch.chdir(tmp_path)
    for name, content in re.findall(r"```msasm (\S+)\n(.*?)```", page, re.S):
        Path(name).write_text(content)
    (block,) = re.findall(r"```python\n(.*?)```", page, re.S)
    names: dict = {}
    exec(compile(block, "disassembly.md", "exec"), names)
    assert {"entry", "alias", "box", "region", "tier", "shared", "isa", "kernels", "findings", "calls"} <= set(vars(names["code"]))
    kinds = set(re.findall(r"^\| `(\w+)` \| an? |^\| `(\w+)` \| nops", page, re.M))
    assert {a or b for a, b in kinds} == {"symbolic_moves", "generic_kernel", "nops_unaligned", "size_branch"}


def test_examples_of_tensors():
    page = PAGE.with_name("tensors.md")
    names: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("page", ["options.md", "reports.md", "traces.md", "monitor.md"])
def test_examples_of(page, tmp_path, monkeypatch, capsys):
    import msvm

    monkeypatch.chdir(tmp_path)
    Path("model.onnx").write_bytes(relu_add().SerializeToString())
    names: dict = {}
    try:
        for block in re.findall(r"```python\n(.*?)```", (PAGE.parent / page).read_text(), re.S):
            exec(compile(block, page, "exec"), names)
    finally:
        msvm.set_context(**dict.fromkeys(msvm.get_context()))
    if page == "reports.md":
        assert "Tensor x: SCD=0.5 (dims: [symbolic:N, 4])" in capsys.readouterr().out


def test_every_report_is_there():
    import msvm

    text = (PAGE.parent / "reports.md").read_text()
    assert [n for n in msvm.vm.__all__ if f"`{n}(" not in text] == []


def test_every_name_is_there():
    import msvm

    text = "".join(PAGE.with_name(page).read_text() for page in ("python.md", "tensors.md", "jit_functions.md", "networks.md"))
    names = [n for n in [*msvm.__all__, *dir(msvm.Program)] if not n.startswith("_")]
    assert [n for n in names if n not in text] == []


def test_the_stub_names_what_is_there():
    from msvm import _core

    def public(names) -> set[str]:
        return {n for n in names if not n.startswith("_")}

    stub, of_tensors = (ast.parse((PAGE.parents[1] / "python/msvm" / n).read_text()) for n in ("_core.pyi", "_tensor.pyi"))
    functions = {d.name for d in stub.body if isinstance(d, ast.FunctionDef)}
    classes = {
        d.name: {f.name if isinstance(f, ast.FunctionDef) else f.target.id for f in d.body if hasattr(f, "name") or hasattr(f, "target")}
        for d in stub.body
        if isinstance(d, ast.ClassDef)
    }
    classes["Tensor"] |= {f.name for c in of_tensors.body if isinstance(c, ast.ClassDef) for f in c.body}
    data = {d.target.id for d in stub.body if isinstance(d, ast.AnnAssign)}
    assert functions | set(classes) | public(data) == public(vars(_core))
    for name, methods in classes.items():
        there = vars(getattr(_core, name))
        assert [m for m in methods if not (hasattr(getattr(_core, name), m) or m == "__getattr__")] == [], name
        if "__getattr__" not in methods:
            assert public(methods) == public(there), name
