"""docs/recipes: the code of each page runs, in order, in a folder that holds the models it names."""

import importlib.util
import re
from pathlib import Path

import page_models
import pytest
from doc_pages import DOCS, run_page, shown

import msvm as ms

RECIPES = DOCS / "recipes"
RECIPE_PAGES = sorted(p for p in RECIPES.glob("*.md") if p.name != "README.md")
PAGES = [DOCS / "jit_functions.md", DOCS / "networks.md", *RECIPE_PAGES]
NEEDS = {"from_torch": ("torch", "onnxscript")}
"""Packages that aren't part of the project's environment; without them a page is left out."""


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_page(page, tmp_path, monkeypatch, capsys):
    for package in NEEDS.get(page.stem, ()):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} isn't installed")
    monkeypatch.chdir(tmp_path)
    Path("detector.onnx").write_bytes(page_models.detector().SerializeToString())
    context = ms.get_context()
    try:
        run_page(page, tmp_path)
    finally:
        ms.set_context(**dict.fromkeys(ms.get_context(), None))
    assert ms.get_context() == context
    printed = capsys.readouterr().out.replace(f"{tmp_path}/", "").splitlines()
    assert [line for line in shown(page) if line not in printed] == []


def test_the_table_has_every_page():
    listed = re.findall(r"\]\((\w+)\.md\)", (RECIPES / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [p.stem for p in RECIPE_PAGES]


def test_links_lead_somewhere():
    for page in (RECIPES / "README.md", *PAGES):
        for target in re.findall(r"\]\((?!http)([^)#:]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
