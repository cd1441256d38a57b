"""Fourier transforms. Complex numbers are pairs along a last axis of size 2: real and imaginary part."""

from __future__ import annotations

from typing import Any

from ..frontend import values as v
from ..frontend.values import F32, emit
from ._op import op
from ._promote import as_dtype, floating, tensor
from ._shape import as_size, axis_of


@op(sizes=("dft_length",), static=("axis", "inverse", "onesided"))
def dft(input: Any, dft_length: Any = None, *, axis: int = -2, inverse: bool = False, onesided: bool = False) -> Any:
    """Discrete Fourier transform along an axis of [..., 1 or 2]; ``dft_length`` cuts the signal or fills it with 0. ONNX ``DFT``.

    ``onesided``: the half of the spectrum that real signals have. The inverse is scaled by 1 / length.
    """
    (x,) = floating(input)
    args = [] if dft_length is None else [as_size(dft_length, "dft_length")]
    return emit("DFT", [x], args, axis=axis_of(axis, x.ndim), inverse=int(inverse), onesided=int(onesided))


@op(sizes=("frame_step", "frame_length"), static=("onesided",))
def stft(signal: Any, frame_step: Any, window: Any = None, frame_length: Any = None, *, onesided: bool = True) -> Any:
    """Fourier transforms of overlapping windowed frames of a signal: [batch, frames, bins, 2]. ONNX ``STFT``.

    ``signal`` [batch, length, 1 or 2], or [batch, length].

    ``frame_length``: that of the window if absent.
    """
    given = floating(*(t for t in (signal, window) if t is not None))
    x, w = given[0], given[1] if window is not None else None
    if x.ndim == 2:
        x = v.unsqueeze(x, [2])
    length = w.shape[0] if frame_length is None and w is not None else as_size(frame_length, "frame_length")
    return emit("STFT", [x, w], [as_size(frame_step, "frame_step"), length], onesided=int(onesided))


@op(sizes=("num_mel_bins", "dft_length", "sample_rate"), static=("dtype",))
def mel_weight_matrix(
    num_mel_bins: Any, dft_length: Any, sample_rate: Any, lower_edge_hertz: Any, upper_edge_hertz: Any, *, dtype: Any = None
) -> Any:
    """Triangular filters that turn a spectrum of dft_length / 2 + 1 bins into bins evenly spaced on the mel scale.

    The result is [bins of the spectrum, mel bins]. ONNX ``MelWeightMatrix``.
    """
    low, high = (tensor(t, F32) for t in (lower_edge_hertz, upper_edge_hertz))
    sizes = [as_size(s, w) for s, w in ((num_mel_bins, "num_mel_bins"), (dft_length, "dft_length"), (sample_rate, "sample_rate"))]
    return emit("MelWeightMatrix", [low, high], sizes, output_datatype=F32 if dtype is None else as_dtype(dtype))
