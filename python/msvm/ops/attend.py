"""Attention and what belongs to it."""

from __future__ import annotations

from typing import Any

from .._errors import InputError
from ..frontend import values
from ..frontend.values import I64, as_tensor, emit
from ._op import op
from ._promote import as_dtype, floating, tensor

STATIC = (
    "is_causal",
    "scale",
    "softcap",
    "q_num_heads",
    "kv_num_heads",
    "qk_matmul_output_mode",
    "softmax_precision",
    "left_window_size",
    "right_window_size",
    "outputs",
)


@op(static=("dropout_p", "is_causal", "scale", "enable_gqa", "softcap"))
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    softcap: float = 0.0,
) -> Any:
    """softmax(Q K^T * scale + mask) V for each head. ONNX ``Attention``.

    ``query`` [batch, heads, length, size], ``key`` and ``value`` [batch, kv heads, kv length, size]; or rank 3, one head. ``attn_mask``:
    bools
    (true: seen) or floats to add, of shape [length, kv length] or broadcasting to [batch, heads, length, kv length].
    ``scale`` is 1 / sqrt(size) unless given. Rows that see no key give 0. ``enable_gqa``: kv heads may be fewer, a divisor of the heads.
    """
    if dropout_p:
        raise InputError("scaled_dot_product_attention: dropout isn't there; leave dropout_p = 0")
    q, k, x = floating(query, key, value)
    if q.ndim not in (3, 4) or k.ndim != q.ndim or x.ndim != q.ndim:
        raise InputError(f"scaled_dot_product_attention: expected rank 4 (or 3) for all, found {q.ndim}, {k.ndim} and {x.ndim}")
    alone = q.ndim == 3
    if alone:
        q, k, x = (values.unsqueeze(t, [1]) for t in (q, k, x))
    mask = _mask(attn_mask, q.dtype)
    if alone and mask is not None and mask.ndim == 3:
        mask = values.unsqueeze(mask, [1])
    y = emit("Attention", [q, k, x, mask], is_causal=int(is_causal), scale=None if scale is None else float(scale), softcap=float(softcap))
    return values.squeeze(y, [1]) if alone else y


def _mask(mask: Any, dtype: Any) -> Any:
    """Bools as they are, numbers in the dtype of the scores."""
    if mask is None:
        return None
    t = as_tensor(mask)
    return t if t.dtype.kind == "b" else tensor(t, dtype)


flash_attention = scaled_dot_product_attention


@op(static=STATIC)
def attention(
    q: Any,
    k: Any,
    v: Any,
    attn_mask: Any = None,
    past_key: Any = None,
    past_value: Any = None,
    nonpad_kv_seqlen: Any = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    softcap: float = 0.0,
    q_num_heads: int | None = None,
    kv_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    softmax_precision: Any = None,
    left_window_size: int = -1,
    right_window_size: int = -1,
    outputs: int = 1,
) -> Any:
    """All of ONNX ``Attention``: keys and values of the past before ``k`` and ``v``, heads folded into the last axis (rank 3), windows.

    ``outputs``: how many of (Y, present_key, present_value, qk_matmul_output) are wanted; one comes alone, several as a tuple.
    """
    given = iter(floating(*(t for t in (q, k, v, past_key, past_value) if t is not None)))
    a, b, c = next(given), next(given), next(given)
    past_k = None if past_key is None else next(given)
    past_v = None if past_value is None else next(given)
    mask = _mask(attn_mask, a.dtype)
    lens = None if nonpad_kv_seqlen is None else tensor(as_tensor(nonpad_kv_seqlen), I64)
    attrs: dict[str, Any] = {"q_num_heads": q_num_heads, "kv_num_heads": kv_num_heads, "scale": None if scale is None else float(scale)}
    if softmax_precision is not None:
        attrs["softmax_precision"] = as_dtype(softmax_precision)
    if left_window_size != -1 or right_window_size != -1:
        attrs.update(left_window_size=left_window_size, right_window_size=right_window_size)
    return emit(
        "Attention",
        [a, b, c, mask, past_k, past_v, lens],
        outputs=outputs,
        is_causal=int(is_causal),
        softcap=float(softcap),
        qk_matmul_output_mode=qk_matmul_output_mode,
        **attrs,
    )


@op(static=("interleaved", "num_heads", "rotary_embedding_dim"))
def rotary_embedding(
    x: Any,
    cos_cache: Any,
    sin_cache: Any,
    position_ids: Any = None,
    *,
    interleaved: bool = False,
    num_heads: int | None = None,
    rotary_embedding_dim: int = 0,
) -> Any:
    """Pairs of elements of each head rotated by the angles of its position. ONNX ``RotaryEmbedding``.

    ``x`` [batch, heads, length, size], or [batch, length, heads * size] with ``num_heads``; caches [positions, size / 2] with
    ``position_ids`` [batch, length], or [batch, length, size / 2] without.
    """
    t, c, s = floating(x, cos_cache, sin_cache)
    at = None if position_ids is None else tensor(as_tensor(position_ids), I64)
    return emit(
        "RotaryEmbedding", [t, c, s, at], interleaved=int(interleaved), num_heads=num_heads, rotary_embedding_dim=rotary_embedding_dim
    )
