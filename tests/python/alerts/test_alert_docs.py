"""docs/alerts.md: its examples run, and its table of metrics is the table."""

import re
from pathlib import Path

import pytest
from doc_pages import DOCS, run_page
from msvm._vm.alerts.metrics import METRICS
from programs import relu_add

import msvm as ms

PAGE = DOCS / "alerts.md"


def test_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("model.onnx").write_bytes(relu_add().SerializeToString())
    Path("smtp_password").write_text("secret")
    Path("smtp_password").chmod(0o600)
    try:
        run_page(PAGE, tmp_path)
    finally:
        left = ms.vm.alerts()
        for a in left:
            ms.vm.remove_alert(a["rule"])
    assert left == []


def test_the_table_of_metrics():
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", PAGE.read_text(encoding="utf-8").split("## Rules")[1].split("## What")[0], re.M)
    assert rows == [(m.name, m.unit, m.doc) for m in METRICS.values()]


@pytest.mark.parametrize("name", ["add_alert", "remove_alert", "alerts", "load_alerts"])
def test_functions_and_arguments(name):
    import inspect

    text = PAGE.read_text(encoding="utf-8")
    assert f"| `{name}(" in text
    if name == "add_alert":
        row = next(line for line in text.splitlines() if line.startswith("| `add_alert("))
        given = inspect.signature(ms.vm.add_alert).parameters.values()
        texts = [p.name if p.default is p.empty else f"{p.name}={p.default!r}".replace("'", '"') for p in given]
        assert f"add_alert({texts[0]}, *, {', '.join(texts[1:])})" in row
