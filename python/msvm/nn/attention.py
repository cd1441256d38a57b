"""Attention of several heads as a cell."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from .._core import Tensor
from .._errors import InputError
from .basic import Dense
from .cell import Cell
from .initializer import XavierUniform, initializer
from .parameter import Parameter


class MultiheadAttention(Cell):
    """softmax(Q K^T / sqrt(size)) V for each head, with products before and behind (A. Vaswani et al. 2017).

    Parameters: in_proj_weight [3 * embed_dim, embed_dim], in_proj_bias, out_proj.weight, out_proj.bias; with other sizes of key or value
    q_proj_weight, k_proj_weight and v_proj_weight. ``batch_first``: [batch, length, embed_dim] instead of [length, batch, embed_dim].
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        has_bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        if embed_dim % num_heads:
            raise InputError(f"MultiheadAttention: embed_dim {embed_dim} isn't a multiple of {num_heads} heads")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        kdim, vdim = kdim or embed_dim, vdim or embed_dim
        self.joint = kdim == embed_dim and vdim == embed_dim
        if self.joint:
            self.in_proj_weight = Parameter(initializer(XavierUniform(), (3 * embed_dim, embed_dim), dtype))
        else:
            self.q_proj_weight = Parameter(initializer(XavierUniform(), (embed_dim, embed_dim), dtype))
            self.k_proj_weight = Parameter(initializer(XavierUniform(), (embed_dim, kdim), dtype))
            self.v_proj_weight = Parameter(initializer(XavierUniform(), (embed_dim, vdim), dtype))
        self.in_proj_bias = Parameter(initializer("zeros", (3 * embed_dim,), dtype)) if has_bias else None
        self.out_proj = Dense(embed_dim, embed_dim, has_bias=has_bias, bias_init="zeros", dtype=dtype)

    def project(self, x: Any, which: int) -> Any:
        """Query (0), key (1) or value (2) of [batch, length, size] as [batch, heads, length, head size]."""
        e = self.embed_dim
        if self.joint:
            weight = ops.getitem(self.in_proj_weight, slice(which * e, (which + 1) * e))
        else:
            weight = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)[which]
        bias = None if self.in_proj_bias is None else ops.getitem(self.in_proj_bias, slice(which * e, (which + 1) * e))
        y = ops.dense(x, weight, bias)
        return ops.permute(ops.reshape(y, (y.shape[0], y.shape[1], self.num_heads, self.head_dim)), 0, 2, 1, 3)

    def construct(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """(output, weights [batch, length, key length], or None without ``need_weights``).

        Masks: bools where true hides a key, or floats to add. ``attn_mask`` [length, key length] or [batch * heads, ...],
        ``key_padding_mask`` [batch, key length]. Without ``average_attn_weights`` the weights are [batch, heads, ...].
        """
        if not self.batch_first:
            query = ops.swapaxes(query, 0, 1)
            key = ops.swapaxes(key, 0, 1)
            value = ops.swapaxes(value, 0, 1)
        q = self.project(query, 0)
        k = self.project(key, 1)
        v = self.project(value, 2)
        mask = None
        if attn_mask is not None:
            mask = _additive(attn_mask)
            if mask.ndim == 3:
                mask = ops.reshape(mask, (-1, self.num_heads, mask.shape[1], mask.shape[2]))
        if key_padding_mask is not None:
            hidden = ops.expand_dims(_additive(key_padding_mask), (1, 2))
            mask = hidden if mask is None else mask + hidden
        weights = None
        if need_weights:
            scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) * (1.0 / math.sqrt(self.head_dim))
            if mask is not None:
                scores = scores + mask
            weights = ops.softmax(scores, -1)
            y = ops.matmul(weights, v)
            if average_attn_weights:
                weights = ops.mean(weights, 1)
        else:
            y = ops.scaled_dot_product_attention(q, k, v, mask)
        y = ops.reshape(ops.permute(y, 0, 2, 1, 3), (y.shape[0], y.shape[2], self.embed_dim))
        y = self.out_proj(y)
        if not self.batch_first:
            y = ops.swapaxes(y, 0, 1)
        return y, weights

    def extend_repr(self) -> str:
        """Its sizes."""
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}"


def _additive(mask: Any) -> Any:
    """What is added to the scores: -inf where a bool hides a key."""
    if mask.dtype.kind == "b":
        return ops.where(mask, float("-inf"), 0.0)
    return mask
