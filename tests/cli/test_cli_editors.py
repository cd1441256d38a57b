"""What editors ask of the command line: findings with edits, texts without constants, tables, timelines, comparisons."""

import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

ROOT = Path(__file__).resolve().parents[2]
MISSING_CALC = """module "up" version 1
; größe
func @f(x: f32[N, h]) -> (f32[N, K])
b0:
  R0 "größe" = TENSOR_CREATE input 0
  R3 = SHAPE_PROPAGATE R0, 1
  R1 = TENSOR_ALLOC [
    (batch, N),  ; a line of its own
    (width, h)], f32, CPU(0)        ; up.py:3
  OP_CALL Concat(R0, R0) -> R1 {axis: 1}
  RETURN R1
"""


def findings(msvm_cli, *args, stdin=""):
    done = msvm_cli("verify", *args, "--json", stdin=stdin)
    assert done.code in (0, 1), done
    return json.loads(done.out)


def position(lines, line, column):
    return sum(len(text) for text in lines[: line - 1]) + column - 1


def mended(text, edits):
    """`text` with edits in it; lines and columns count bytes."""
    data = text.encode()
    lines = data.splitlines(keepends=True)
    for e in reversed(edits):
        begin, end = position(lines, e["line"], e["column"]), position(lines, e["end_line"], e["end_column"])
        data = data[:begin] + e["new_text"].encode() + data[end:]
    return data.decode()


def spot(text, place):
    lines = text.encode().splitlines(keepends=True)
    return text.encode()[position(lines, place["line"], place["column"]) : position(lines, place["end_line"], place["end_column"])].decode()


def test_edits_mend_a_text(msvm_cli, tmp_path):
    (tmp_path / "up.msasm").write_text(MISSING_CALC)
    (found,) = findings(msvm_cli, "up.msasm")
    assert found["code"] == "MSV0401" and found["place"]["line"] == 3 and found["place"]["file"] == "up.py"
    assert spot(MISSING_CALC, found["text"]).startswith("R1 = TENSOR_ALLOC [") and spot(MISSING_CALC, found["text"]).endswith("CPU(0)")
    text = mended(MISSING_CALC, found["edits"])
    assert "  R4 = SHAPE_CALC mul R3, 2\n  R1 = TENSOR_ALLOC [\n" in text
    assert "(width, R4)], f32, CPU(0)        ; up.py:3\n" in text
    assert findings(msvm_cli, "-", stdin=text) == []
    assert msvm_cli("verify", "-", stdin=text).code == 0


def test_a_text_on_standard_input(msvm_cli):
    (found,) = findings(msvm_cli, "-", stdin=MISSING_CALC)
    assert found["text"]["line"] == 7 and found["edits"]


def test_errors_of_a_text_stand_where_they_are(msvm_cli, tmp_path):
    (tmp_path / "bad.msasm").write_text('module "bad" version 1\nfunc @f() -> (i64)\nb0:\n  FROB\n  RETURN (; 1\n')
    found = findings(msvm_cli, "bad.msasm")
    assert [(f["place"]["line"], f["place"]["column"]) for f in found] == [(4, 3), (5, 14)]
    assert found[0]["message"] == "not the beginning of a statement" and "edits" not in found[0]


def without_expectations(text):
    return re.sub(r"; error:.*", "", text)


@pytest.mark.parametrize("name", [p.name for p in sorted((ROOT / "tests/verify").glob("*.msasm"))])
def test_every_edit_of_the_corpus_mends_its_finding(msvm_cli, tmp_path, name):
    """With the edits in the text it assembles, and the finding is gone; each stands alone."""
    text = without_expectations((ROOT / "tests/verify" / name).read_text())
    path = tmp_path / "case.msasm"
    path.write_text(text)
    before = findings(msvm_cli, path)
    for f in before:
        if "edits" not in f:
            continue
        after = findings(msvm_cli, "-", stdin=mended(text, f["edits"]))
        assert not any(g["code"] == "MSV0701" for g in after), (f, after)
        key = (f["code"], f["message"], f["place"].get("function"), f.get("found"))
        assert key not in [(g["code"], g["message"], g["place"].get("function"), g.get("found")) for g in after], f


def test_how_much_of_the_corpus_is_mended(msvm_cli, tmp_path):
    """Codes that have edits: who takes some away notices it here."""
    codes = set()
    for path in sorted((ROOT / "tests/verify").glob("*.msasm")):
        (tmp_path / "case.msasm").write_text(without_expectations(path.read_text()))
        codes |= {f["code"] for f in findings(msvm_cli, "case.msasm") if f.get("edits")}
    assert codes >= {"MSV0203", "MSV0305", "MSV0306", "MSV0308", "MSV0401", "MSV0404"}


@pytest.fixture
def weights(msvm_cli, tmp_path):
    """A program with a constant that texts leave out; `w.npy` are its values."""
    from programs import model

    values = np.random.default_rng(0).random(1000, np.float32)
    w = helper.make_tensor("w", TensorProto.FLOAT, [1000], values.tobytes(), raw=True)
    proto = model([helper.make_node("Add", ["x", "w"], ["y"])], [("x", TensorProto.FLOAT, [1000])], [("y", TensorProto.FLOAT, [1000])], [w])
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    assert msvm_cli("import-onnx", "m.onnx").code == 0
    return "m.msbc"


def test_constants_of(msvm_cli, weights, tmp_path):
    text = msvm_cli("dis", weights).out
    assert "data(elided)" in text
    assert msvm_cli("asm", "-", "-o", "n.msbc", "--constants-of", weights, stdin=text).code == 0
    assert (tmp_path / "n.msbc").read_bytes() == (tmp_path / weights).read_bytes()
    done = msvm_cli("asm", "-", "-o", "n.msbc", stdin=text)
    assert done.code == 1 and "left out" in done.err
    done = msvm_cli("asm", "-", "-o", "o.msbc", "--constants-of", weights, stdin=text.replace("const %w f32[1000]", "const %w f32[999]"))
    assert done.code == 1 and "none of this name and type" in done.err and not (tmp_path / "o.msbc").exists()
    assert msvm_cli("asm", "-", "-o", "o.msbc", "--constants-of", "none.msbc", stdin=text).code == 3
    assert findings(msvm_cli, "-", "--constants-of", weights, stdin=text) == []
    assert msvm_cli("verify", weights, "--constants-of", weights).code == 1


def test_findings_of_a_file_stand_in_its_disassembly(msvm_cli, weights):
    text = msvm_cli("dis", weights).out
    broken = re.sub(r"(TENSOR_ALLOC) \[1000\]", r"\1 [1001]", text)
    assert broken != text
    assert msvm_cli("asm", "-", "-o", "b.msbc", "--constants-of", weights, stdin=broken).code == 0
    shown = msvm_cli("dis", "b.msbc").out
    found = [f for f in findings(msvm_cli, "b.msbc") if f.get("edits")]
    assert found and "TENSOR_ALLOC [1001]" in spot(shown, found[0]["text"])
    assert findings(msvm_cli, "-", "--constants-of", "b.msbc", stdin=mended(shown, found[0]["edits"])) == []


def test_the_editor_has_the_tables_of_this_build(msvm_cli):
    done = msvm_cli("info", "--instructions", "--json")
    assert done.code == 0
    assert done.out == (ROOT / "vscode/language/tables.json").read_text(), "tools/gen_editor_tables.sh writes it anew"
    tables = json.loads(done.out)
    call = next(i for i in tables["instructions"] if i["mnemonic"] == "OP_CALL")
    assert call["equation"] == "outs = op(uses; dims) {attrs}" and call["syntax"]
    assert next(o for o in tables["operators"] if o["name"] == "Resize")["attributes"]
    assert "OP_CALL" in msvm_cli("info", "--instructions").out and msvm_cli("info").code == 2


@pytest.fixture
def log(msvm_cli, add, tmp_path):
    def make(folder, runs):
        done = msvm_cli(
            "run", add, "-s", "x=2x3", "-s", "y=3", "-n", runs, "-q", "--tier", "0", env={"MSVM_BC_TRACE": str(tmp_path / folder)}
        )
        assert done.code == 0, done
        (path,) = (tmp_path / folder).glob("*.bclog")
        return path

    return make


SIZES = {"f64": ("d", 8), "f32": ("f", 4), "u32": ("I", 4), "i32": ("i", 4), "u16": ("H", 2), "u8": ("B", 1)}


def read_timeline(data):
    end = data.index(b"\n") + 1
    assert end % 8 == 0
    head = json.loads(data[:end])
    columns = {}
    for c in head["columns"]:
        letter, size = SIZES[c["type"]]
        begin = end + c["offset"]
        assert c["offset"] % 8 == 0
        columns[c["name"]] = struct.unpack(f"<{head['events']}{letter}", data[begin : begin + size * head["events"]])
    last = max(c["offset"] + SIZES[c["type"]][1] * head["events"] for c in head["columns"])
    assert len(data) == end + (last + 7) // 8 * 8
    return head, columns


def test_timeline(msvm_cli, log, tmp_path):
    path = log("logs", 20)
    assert msvm_cli("trace", "timeline", path, "-o", "t").code == 0
    head, columns = read_timeline((tmp_path / "t").read_bytes())
    assert head["format"] == 1 and head["modes"] == ["interpreted", "native", "specialised"]
    kinds = [head["kinds"][k] for k in columns["kind"]]
    assert kinds.count("run") == 20 and head["summary"]["programs"][0]["runs"] == 20
    assert list(columns["begin"]) == sorted(columns["begin"]) and min(columns["duration"]) >= 0
    call = kinds.index("call")
    program = head["programs"][columns["program"][call] - 1]
    mnemonic, operator, place, _ = program["functions"][columns["function"][call]]["instructions"][columns["instruction"][call]]
    assert (program["name"], mnemonic, operator) == ("add", "OP_CALL", "Add") and "add.msasm" in place
    assert "f32[2, 3]" in head["texts"][columns["detail"][call]] and head["texts"][0] == ""
    rows = msvm_cli("trace", "csv", path).out.splitlines()[1:]
    assert len(rows) == head["events"] and [r.split(",")[5] for r in rows] == kinds
    for o in head["outliers"]:
        assert 0 <= o["event"] < head["events"] and o["cause"]
    (tmp_path / "not.bclog").write_text("no log")
    assert msvm_cli("trace", "timeline", "not.bclog").code == 1
    cut = path.read_bytes()[:-50]
    (tmp_path / "cut.bclog").write_bytes(cut)
    assert msvm_cli("trace", "timeline", "cut.bclog", "-o", "u").code == 0
    assert read_timeline((tmp_path / "u").read_bytes())[0]["damage"]


def test_compare(msvm_cli, log):
    before, after = log("a", 10), log("b", 30)
    done = msvm_cli("trace", "compare", before, after, "--json")
    assert done.code == 0, done
    rows = json.loads(done.out)
    run = rows[0]
    assert "instruction" not in run and run["before"]["count"] == 10 and run["after"]["count"] == 30
    (add_row,) = [r for r in rows if r["operator"] == "Add"]
    assert add_row["before"]["count"] == 10 and add_row["ratio"] == pytest.approx(
        add_row["after"]["median_us"] / add_row["before"]["median_us"]
    )
    assert add_row["before"]["name"] and add_row["before"]["mode"] == "interpreted"
    same = json.loads(msvm_cli("trace", "compare", before, before, "--json").out)
    assert all(r["ratio"] == 1 for r in same if r["before"]["median_us"] > 0)
    text = msvm_cli("trace", "compare", before, after).out
    assert "runs of add @main" in text and "Add" in text
    assert msvm_cli("trace", "compare", before).code == 2
    assert msvm_cli("trace", "compare", before, "none.bclog").code == 3


def test_ten_thousand_instructions(msvm_cli, tmp_path):
    """Findings of a large program come in one go, with edits; its disassembly can be read back."""
    n = 10_000
    body = "".join(
        f"  R{k + 1} = TENSOR_ALLOC [N], f32, CPU(0)\n  OP_CALL Relu(R{k}) -> R{k + 1}\n" + (f"  TENSOR_FREE R{k}\n" if k else "")
        for k in range(n // 3)
    )
    text = f'module "big" version 1\nfunc @main(x: f32[N]) -> (f32[N])\nb0:\n  R0 = TENSOR_CREATE input 0\n{body}  RETURN R{n // 3}\n'
    (tmp_path / "big.msasm").write_text(text)
    assert findings(msvm_cli, "big.msasm") == []
    assert msvm_cli("asm", "big.msasm").code == 0
    (tmp_path / "leaks.msasm").write_text(text.replace("  TENSOR_FREE R5\n", ""))
    (found,) = findings(msvm_cli, "leaks.msasm")
    assert found["code"] == "MSV0305" and found["edits"][0]["new_text"] == "  TENSOR_FREE R5\n"
