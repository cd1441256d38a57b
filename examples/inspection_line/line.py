"""The line itself: takes the camera's newest frame, judges the part, and keeps time."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from inspection_line.camera import Camera, Frame
from inspection_line.detectors import Detector

TEXT = 0.3  # a pixel is text above this
LABEL = 0.004  # share of a frame's pixels that are text, where a part has its label


@dataclass(frozen=True)
class Judged:
    """A frame that was looked at. Seconds from the stream's start; milliseconds."""

    number: int
    mode: str
    begin: float
    ms: float
    """The detector."""
    cpu_ms: float
    """Processor time of the process meanwhile: what other processes on the machine take doesn't count."""
    late_ms: float
    """From the frame's arrival to the verdict."""
    right: bool


def has_label(probability: np.ndarray) -> bool:
    """The verdict."""
    return float((probability > TEXT).mean()) > LABEL


def judge(detect: Detector, frame: Frame, arrived: float, start: float) -> Judged:
    """One frame."""
    begin, cpu = time.perf_counter(), time.process_time()
    probability = detect(frame.pixels)
    ms = 1e3 * (time.perf_counter() - begin)
    cpu_ms = 1e3 * (time.process_time() - cpu)
    right = has_label(probability) == frame.label
    late = 1e3 * (time.perf_counter() - start - arrived)
    return Judged(frame.number, str(frame.mode), begin - start, ms, cpu_ms, late, right)


def run(detect: Detector, camera: Camera, frames: int, fps: float, progress: Callable[[Judged], None]) -> list[Judged]:
    """`frames` of the camera. With `fps` they arrive by the clock, and one that the next overtakes is dropped; with 0 each waits."""
    judged: list[Judged] = []
    start = time.perf_counter()
    number = 0
    while number < frames:
        now = time.perf_counter() - start
        if fps:
            newest = int(now * fps)
            if newest < number:
                time.sleep(number / fps - now)
            number = max(number, min(newest, frames - 1))
        j = judge(detect, camera.frame(number), number / fps if fps else now, start)
        judged.append(j)
        progress(j)
        number += 1
    return judged
