"""msvm.vm: reports over programs."""

import gc
import json
import logging
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from programs import ADD, assembled, loaded, model, relu_add

import msvm as ms
from msvm import _registry

CHAIN = """module "chain" version 1
symbol N in [0, 4096], M in [0, 4096]

func @main(x: f32[N, M]) -> (y: f32[N, M])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Exp(R0) -> R1                   ; chain.py:7
  R2 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Tanh(R1) -> R2                  ; chain.py:8
  TENSOR_FREE R1
  RETURN R2
"""

ROOT = Path(__file__).resolve().parents[2]
QUICK = {"eager_compiler": True, "compile_timeout": 60.0}


def run(p, *shape):
    return p({"x": np.ones(shape, np.float32)})[0]


@pytest.fixture
def chain(tmp_path):
    """Compiled, and run in native code."""
    p = assembled(tmp_path, CHAIN, **QUICK)
    for _ in range(4):
        run(p, 3, 5)
    assert ms.vm.wait_compiled(p, timeout=120)
    run(p, 3, 5)
    return p


def test_jit_info(chain):
    rows = ms.vm.jit_info(chain)
    assert {r["program"] for r in rows} == {"chain"} and rows[0]["tier"] in (1, 2)
    assert rows[0]["symbols"] == ["N", "M"] and rows[0]["runs"] >= 1 and rows[0]["code_bytes"] > 0
    assert sum(r["hits"] for r in rows) >= 1 and all(r["came"] in ("compiled", "from disk", "shared") for r in rows)
    text = repr(rows).splitlines()
    assert text[0].split()[:2] == ["program", "region"] and len(text) == 1 + len(rows) and rows[0]["entry"] in text[1]
    page = rows._repr_html_()
    assert page.count("<tr>") == 1 + len(rows) and rows[0]["entry"] in page
    assert [dict(r) for r in ms.vm.jit_info() if r["program"] == "chain"] == [dict(r) for r in rows]


def test_metrics(chain):
    lines = ms.vm.metrics().splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert values['msvm_runs_total{program="chain"}'] == "5"
    runs = {k: float(v) for k, v in values.items() if k.startswith('msvm_region_runs_total{program="chain"')}
    native = sum(v for k, v in runs.items() if 'tier="interpreted"' not in k)
    assert native == sum({r["region"]: r["native"] for r in ms.vm.jit_info(chain)}.values()) >= 1
    # Exp and Tanh of 15 elements, whichever tier did them.
    assert values['msvm_operations_total{program="chain"}'] == str(5 * 2 * 15)
    assert sum(float(v) for k, v in values.items() if k.startswith('msvm_run_duration_seconds_count{program="chain"')) == 5


def test_nothing_to_show(tmp_path):
    p = assembled(tmp_path, CHAIN)
    assert ms.vm.jit_info(p) == [] and "second run" in repr(ms.vm.jit_info(p)) and "<p>" in ms.vm.jit_info(p)._repr_html_()
    assert ms.vm.get_jit_hit_rate(p) == 0.0 and ms.vm.get_avg_compile_time(p) == 0.0


def test_rates(chain):
    runs = sum({r["region"]: r["runs"] for r in ms.vm.jit_info(chain)}.values())
    hits = sum({r["region"]: r["native"] for r in ms.vm.jit_info(chain)}.values())
    rate = ms.vm.get_jit_hit_rate(chain)
    assert rate == hits / runs > 0
    assert ms.vm.get_jit_hit_rate(chain, per="program") == {"chain": rate}
    assert list(ms.vm.get_jit_hit_rate(chain, per="region").values()) == [rate]
    assert 0 < ms.vm.get_jit_hit_rate(chain, window=True) <= 1
    assert 0 <= ms.vm.get_jit_hit_rate(chain, specialised=True) <= rate
    for wrong in ({"per": "call"}, {"per": "region", "window": True}, {"window": 100}):
        with pytest.raises(ms.InputError, match=r"per|window"):
            ms.vm.get_jit_hit_rate(chain, **wrong)


def test_compile_times_are_of_what_was_compiled(chain):
    view = chain.executables()[0].jit_view()
    expected = view["compile_ms"] / view["compiled"] if view["compiled"] else 0.0
    assert ms.vm.get_avg_compile_time(chain) == pytest.approx(expected)
    assert view["compiled"] + view["from_disk"] >= 1


def test_code_is_made_again(chain):
    ms.vm.clear_cache(chain)
    assert ms.vm.wait_compiled(chain, timeout=120)
    events = [e["kind"] for e in chain.executables()[0].jit_view()["events"]]
    assert "retired" in events and events.count("hot patch") >= 2
    before = chain.counters()["native_regions"]
    assert np.allclose(run(chain, 2, 2), np.tanh(np.exp(1.0)))
    assert chain.counters()["native_regions"] == before + 1


def test_code_on_disk_goes(tmp_path, monkeypatch):
    monkeypatch.setenv("MSVM_CACHE_DIR", str(tmp_path / "code"))
    p = assembled(tmp_path, CHAIN, **QUICK, num_threads=3)  # an engine that has opened no folder yet
    ms.vm.warmup(p)
    assert list((tmp_path / "code").glob("*.code"))
    ms.vm.clear_cache(p)
    assert list((tmp_path / "code").glob("*.code")), "of one program: the disk stays"
    ms.vm.wait_compiled(p, timeout=120)
    ms.vm.clear_cache(p, disk=True)
    ms.vm.wait_compiled(p, timeout=120)
    assert ms.vm.jit_info(p)[0]["came"] == "compiled"


def test_the_command_line_shares_code_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("MSVM_CACHE_DIR", str(tmp_path / "code"))
    ms.vm.warmup(assembled(tmp_path, CHAIN, **QUICK, num_threads=4))
    listed = subprocess.run([ROOT / "build/release/msvm", "cache", "list", "--json"], capture_output=True, text=True, check=True)
    entries = json.loads(listed.stdout)
    assert entries and all(e["same_build"] for e in entries)


def test_jitted_functions():
    @ms.jit(**QUICK, name="work")
    def work(x):
        return ms.ops.tanh(ms.ops.exp(x))

    with pytest.raises(ms.InputError, match="never called"):
        ms.vm.warmup(work, [(2, 3)])
    x = ms.Tensor(np.ones((2, 3), np.float32))
    work(x)
    ms.vm.warmup(work, [(2, 3)])
    work(x)
    assert {r["program"] for r in ms.vm.jit_info(work)} == {"work"} and ms.vm.get_jit_hit_rate(work) > 0
    assert any(r["program"] == "work" for r in ms.vm.jit_info())
    assert ms.vm.scd_analysis(work, x)[0]["name"] == "x"
    ms.vm.explain(work, x)
    assert sum(e.counters()["runs"] for e in work.executables()) == 3


def test_warmup(tmp_path):
    p = assembled(tmp_path, CHAIN, **QUICK)
    ms.vm.warmup(p)
    assert [r["tier"] for r in ms.vm.jit_info(p)] == [1]
    ms.vm.warmup(p, {"x": (3, 8)})
    ms.vm.warmup(p, [(4, 16)])
    ms.vm.warmup(p, [{"x": (5, 32)}, {"x": (6, 64)}])
    ms.vm.warmup(p, [[(7, 128)]])
    boxes = " ".join(r["box"] for r in ms.vm.jit_info(p) if r["tier"] == 2)
    assert all(f"M{m}" in boxes for m in (8, 16, 32, 64, 128))
    run(p, 3, 8)
    assert p.counters()["native_regions"] == 1 and ms.vm.get_jit_hit_rate(p, specialised=True) == 1.0
    for shapes, message in (
        ({"z": (1, 2)}, "no input z; the inputs are x"),
        ({"x": (1,)}, "x"),
        ([(1, 2), (3, 4)], "2 shapes"),
        ([(1, 2**64)], "64 bits"),
    ):
        with pytest.raises(ms.Error, match=message):
            ms.vm.warmup(p, shapes)
    with pytest.raises(ms.Error):
        ms.vm.warmup(assembled(tmp_path, CHAIN, jit_level=0), {"x": (1, 2)})


def test_wait_ends_in_time(tmp_path):
    p = assembled(tmp_path, CHAIN)
    begin = time.monotonic()
    ms.vm.wait_compiled(p, timeout=0.0)
    ms.vm.wait_compiled(timeout=0.1)
    assert time.monotonic() - begin < 30
    with pytest.raises(ms.InputError, match="timeout"):
        ms.vm.wait_compiled(p, timeout=-1)


def test_explain(tmp_path, chain):
    off = assembled(tmp_path, CHAIN, jit_level=0)
    run(off, 2, 2)
    assert "jit_level is O0" in ms.vm.explain(off)[0]["cause"] and "O2" in ms.vm.explain(off)[0]["mend"]
    new = assembled(tmp_path, CHAIN)
    assert "has not run yet" in ms.vm.explain(new)[0]["cause"]
    assert "1. " in repr(ms.vm.explain(new)) and "mend: " in repr(ms.vm.explain(new))
    causes = ms.vm.explain(chain, {"x": np.ones((9, 9), np.float32)})
    assert chain.counters()["runs"] == 6, "called with the arguments"
    assert all(c["mend"] for c in causes) and [c["weight"] for c in causes] == sorted((c["weight"] for c in causes), reverse=True)
    assert any("no code for the last sizes alone" in c["cause"] for c in causes)


def test_explain_without_a_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("MSVM_CC", "/nowhere/msvm-cc")
    p = assembled(tmp_path, CHAIN, disk_cache=False, compile_timeout=59.0)
    for _ in range(3):
        run(p, 2, 2)
    assert ms.vm.wait_compiled(p, timeout=60)
    causes = ms.vm.explain(p)
    found = [c for c in causes if "no compiler" in c["cause"]]
    assert found and "MSVM_CC" in found[0]["mend"] and causes.index(found[0]) == 0


def test_scd(tmp_path, capsys):
    p = loaded(tmp_path, model(*SLICE))
    table = ms.vm.scd_analysis(p)
    assert table[0]["name"] == "x" and table[0]["scd"] == pytest.approx(0.25)
    ms.vm.print_scd_analysis(p)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Tensor x: SCD=0.25 (dims: [symbolic:N, 3, symbolic:H, symbolic:W])"
    assert any(line.startswith("Tensor y: SCD=0.25 (propagated from x") for line in lines)
    assert "<table>" in table._repr_html_() and repr(table) == "\n".join(lines)


SLICE = ([__import__("onnx").helper.make_node("Relu", ["x"], ["y"])], [("x", 1, ["N", 3, "H", "W"])], [("y", 1, ["N", 3, "H", "W"])])


def test_memory(tmp_path):
    before = ms.vm.memory_stats()
    p = loaded(tmp_path, relu_add())
    y = p({"x": np.ones((1000, 4), np.float32)})
    during = ms.vm.memory_stats()
    assert sum(during["by_owner"].values()) == during["in_use"]
    tensors = [s["by_owner"]["interpreter"] + s["by_owner"]["results"] for s in (before, during)]
    assert tensors[1] - tensors[0] >= y[0].nbytes == 16000
    assert 0 <= during["fragmentation"] <= 1 and during["peak"] >= during["in_use"]
    del y


def test_capabilities(tmp_path):
    db = json.loads(ms.vm.dump_capability_db(tmp_path / "db.json"))
    assert json.loads((tmp_path / "db.json").read_text()) == db
    assert any("matmul_f32" in key for key in json.dumps(db).split('"'))
    for content, kind in (("{", ms.Error), ('{"no": 1}', ms.Error)):
        (tmp_path / "patch.json").write_text(content)
        with pytest.raises(kind, match=r"patch\.json"):
            ms.vm.load_capability_patch(tmp_path / "patch.json")
    with pytest.raises(ms.FileError, match="nowhere"):
        ms.vm.load_capability_patch("/nowhere.json")
    with pytest.raises(ms.FileError):
        ms.vm.dump_capability_db("/nowhere/db.json")
    assert json.loads(ms.vm.dump_capability_db()) == db, "nothing of a refused patch is taken"
    ms.vm.load_capability_patch(tmp_path / "db.json")  # itself
    assert json.loads(ms.vm.dump_capability_db())["sections"] == db["sections"]


def test_log(tmp_path, caplog):
    ms.vm.set_log_level("info")
    try:
        with caplog.at_level(logging.INFO, "msvm"):
            p = assembled(tmp_path, CHAIN, **QUICK)
            ms.vm.warmup(p)
            until = time.monotonic() + 30

            def logged():  # other programs that live are logged, too
                return any(r.getMessage().startswith("chain at ") and "hot patch" in r.getMessage() for r in caplog.records)

            while time.monotonic() < until and not logged():
                time.sleep(0.05)
        assert logged()
    finally:
        ms.vm.set_log_level("off")
    with pytest.raises(ms.InputError, match="debug, info, warning, error, off"):
        ms.vm.set_log_level("loud")


def test_the_registry_holds_nobody(tmp_path):
    p = assembled(tmp_path, ADD)
    assert p in _registry.members() and p.executables()[0] in ms.vm._programs.executables()
    gc.collect()
    n = len(_registry.members())
    del p
    gc.collect()
    assert len(_registry.members()) == n - 1


def test_disassemble(chain):
    d = ms.vm.disassemble(chain)
    assert d.entry in {r["entry"] for r in ms.vm.jit_info(chain)} and d.isa in ("avx2", "avx512") and d.tier in (1, 2)
    (kernel,) = d.kernels
    assert kernel["name"] == "exp_tanh" and kernel["size"] > 100
    # Lines name their line of the loop program, its calls and where those come from.
    of = {line["text"].split()[0]: kernel["ir"][line["ir"]] for line in kernel["lines"] if line["ir"] is not None}
    stores = [ir for ir in kernel["ir"] if ir["text"].strip().startswith("store")]
    assert stores == [{"text": stores[0]["text"], "instructions": [4], "places": ["chain.py:8"]}]
    assert of and all(set(ir["places"]) <= {"chain.py:7", "chain.py:8"} for ir in of.values())
    assert {tuple(ir["instructions"]) for ir in kernel["ir"]} == {(2,), (4,), (2, 4)}
    assert kernel["lines"][-1]["text"] == "ret" and d.calls == []
    for n, f in enumerate(d.findings):
        assert f["kind"] in ("symbolic_moves", "generic_kernel", "nops_unaligned", "size_branch") and f["text"] and f["mend"]
        if f["kernel"] is not None:
            assert d.kernels[f["kernel"]]["lines"][f["line"]]["finding"] in range(n + 1)
    assert repr(d) == str(d) and d.entry in repr(d) and "instr 2; chain.py:7" in repr(d)
    assert "<pre>" in d._repr_html_()
    assert ms.vm.disassemble(chain, d.entry).entry == ms.vm.disassemble(chain, entry=d.box).entry == d.entry
    assert ms.vm.disassemble().kernels


def test_disassemble_what_is_not_there(chain, tmp_path):
    with pytest.raises(ms.InputError, match="there is no entry 'nobody'; there are: jit_cache_"):
        ms.vm.disassemble(chain, "nobody")
    with pytest.raises(ms.InputError, match="there is no native code yet"):
        ms.vm.disassemble(assembled(tmp_path, ADD))


def test_disassemble_calls_beside_the_kernels(tmp_path):
    p = assembled(tmp_path, ADD, **QUICK)  # one call: nothing to fuse
    for _ in range(4):
        p({"x": np.ones((2, 3), np.float32), "y": np.ones(3, np.float32)})
    assert ms.vm.wait_compiled(p, timeout=120)
    p({"x": np.ones((2, 3), np.float32), "y": np.ones(3, np.float32)})
    d = ms.vm.disassemble(p)
    assert d.kernels == [] and d.isa == "" and "no kernels" in repr(d)
    assert [c["operator"] for c in d.calls] == ["Add"] and d.calls[0]["kernel"]


@pytest.mark.parametrize("report", ["jit_info", "get_jit_hit_rate", "explain", "disassemble", "wait_compiled", "clear_cache", "warmup"])
def test_only_programs_have_reports(report):
    with pytest.raises(ms.InputError, match="expected a Program or a jitted function, found str"):
        getattr(ms.vm, report)("p")


def test_rich_repr_and_save(tmp_path):
    p = assembled(tmp_path, ADD, name="<b>")
    page = p._repr_html_()
    assert "&lt;b&gt;" in page and "<code>f32[N, M]</code>" in page and page.count("<tr>") == 3
    ms.save(p, tmp_path / "add.msbc")
    assert ms.load(tmp_path / "add.msbc").inputs == ["x", "y"]
    with pytest.raises(ms.InputError, match="save takes a Program or a jitted function, found int"):
        ms.save(1, tmp_path / "x.msbc")
