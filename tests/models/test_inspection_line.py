"""The inspection line of the examples: what its camera gives, what it does with frames that come too fast, and the names of its code."""

import csv
import time

import numpy as np
import pytest
from corpus.paths import model_path
from corpus.store import ensure
from inspection_line import figures
from inspection_line.__main__ import report_msvm, watch
from inspection_line.camera import Camera, Mode
from inspection_line.detectors import Msvm, sampled
from inspection_line.line import Judged, run

SMALL = (Mode(320, 180), Mode(640, 360))


def test_camera():
    camera = Camera(10, SMALL, faulty=lambda n: n == 25)
    assert [str(camera.mode(n)) for n in (0, 9, 10, 19, 20)] == ["320x180", "320x180", "640x360", "640x360", "320x180"]
    frame = camera.frame(12)
    assert frame.pixels.shape == (1, 3, 360, 640) and frame.pixels.dtype == np.uint8 and frame.pixels.flags.c_contiguous
    labels = [camera.frame(n).label for n in range(0, 90, 15)]
    assert labels == [True, True, False, True, True, False]
    cut = camera.frame(25)
    assert cut.pixels.shape[3] == cut.mode.width == 320 - 16 * (1 + 25 * 7 % 11)


@pytest.mark.parametrize(("size", "factor", "seen"), [(1080, 1, 1088), (2160, 6, 352), (1920, 6, 320), (1080, 12, 96), (10, 12, 32)])
def test_what_the_net_sees(size, factor, seen):
    assert sampled(size, factor) == seen


def test_frames_that_come_too_fast_are_dropped():
    class Slow:
        name = "slow"

        def __call__(self, pixels):
            time.sleep(0.03)
            return np.zeros((1, 1, 8, 8), np.float32)

    camera = Camera(10, SMALL)
    judged = run(Slow(), camera, 40, 100, lambda j: None)
    numbers = [j.number for j in judged]
    assert numbers == sorted(set(numbers)) and numbers[-1] == 39 and len(numbers) < 30
    assert [j.right for j in judged] == [not camera.frame(n).label for n in numbers]
    waited = run(Slow(), camera, 10, 0, lambda j: None)
    assert [j.number for j in waited] == list(range(10)), "an unpaced camera waits"


def test_figures():
    modes = ["a", "a", "b", "b", "a", "a", "b", "b"]
    times = [50, 10, 60, 20, 12, 10, 24, 20]
    begins = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.98]
    judged = [Judged(2 * k, mode, begins[k], times[k], times[k] / 2, 0.0, k != 0) for k, mode in enumerate(modes)]
    found = figures.switches(judged)
    assert [(s.number, s.mode, s.first_ms, s.settled_ms) for s in found] == [
        (0, "a", 50, 11),
        (4, "b", 60, 22),
        (8, "a", 12, 11),
        (12, "b", 24, 22),
    ]
    of = figures.figures(judged, 16, 0.5)
    assert (of.frames, of.judged, of.dropped, of.right, of.seconds) == (16, 8, 8, 7, 1.0)
    assert (of.per_second, of.cores, of.max_ms, of.p50_ms) == (8.0, 0.5, 60, 20)
    assert (
        of.settled_per_second == pytest.approx(1e3 / 16.5) and of.busy == pytest.approx(0.206) and of.settled_cpu_ms == pytest.approx(8.25)
    )


def test_code_is_named_after_the_camera(tmp_path, capsys):
    import msvm as ms

    ensure(["ppocrv4_det"])
    detect = Msvm(model_path("ppocrv4_det"), 12, 2)
    watch(detect, monitor=False)
    try:
        camera = Camera(15)
        judged = run(detect, camera, 60, 0, lambda j: None)
        assert ms.vm.wait_compiled(detect.function, timeout=120)
        judged += run(detect, camera, 60, 0, lambda j: None)
        assert [r["rule"] for r in ms.vm.alerts()] == ["hit_rate < 85% for 5s", "specialised_hit_rate < 85% for 5s"]
        report_msvm(detect, tmp_path / "trace.csv")
    finally:
        ms.vm.enable_bc_trace(False)
        for row in ms.vm.alerts():
            ms.vm.remove_alert(row["rule"])
    assert all(j.right for j in judged)
    assert {r["alias"] for r in ms.vm.jit_info(detect.function) if r["tier"] == 2} == {"jit_1920x1080", "jit_3840x2160"}
    said = capsys.readouterr().out
    assert "entry jit_3840x2160: tier 2" in said and "hit rate" in said
    with (tmp_path / "trace.csv").open(newline="") as f:
        assert {"run", "region", "jit"} <= {row.get("kind") for row in csv.DictReader(f)}
