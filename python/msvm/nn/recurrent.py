"""Recurrent networks of several layers, one or both ways. Parameters are named and laid out as torch's and MindSpore's."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from .._core import Tensor
from .._errors import InputError
from .cell import Cell
from .initializer import Uniform, initializer
from .parameter import Parameter


class _Recurrent(Cell):
    """Parameters of layer k: weight_ih_lk [gates * hidden, in], weight_hh_lk [gates * hidden, hidden], bias_ih_lk, bias_hh_lk.

    Those that read backwards have ``_reverse`` behind the name.
    """

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = "float32",
    ) -> None:
        super().__init__()
        if num_layers < 1:
            raise InputError(f"{type(self).__name__}: num_layers is {num_layers}; at least 1 is possible")
        self.input_size, self.hidden_size, self.num_layers, self.has_bias = input_size, hidden_size, num_layers, has_bias
        self.batch_first, self.dropout, self.bidirectional = batch_first, dropout, bidirectional
        self.directions = 2 if bidirectional else 1
        bound = Uniform(1 / math.sqrt(hidden_size)) if hidden_size else "zeros"
        rows = self.gates * hidden_size
        for k in range(num_layers):
            for suffix in self._suffixes():
                size = input_size if k == 0 else hidden_size * self.directions
                setattr(self, f"weight_ih_l{k}{suffix}", Parameter(initializer(bound, (rows, size), dtype)))
                setattr(self, f"weight_hh_l{k}{suffix}", Parameter(initializer(bound, (rows, hidden_size), dtype)))
                if has_bias:
                    setattr(self, f"bias_ih_l{k}{suffix}", Parameter(initializer(bound, (rows,), dtype)))
                    setattr(self, f"bias_hh_l{k}{suffix}", Parameter(initializer(bound, (rows,), dtype)))

    def _suffixes(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    def weights(self, k: int) -> list[Any]:
        """weight_ih, weight_hh, bias_ih and bias_hh of a layer: one parameter each, or a pair where it reads both ways."""
        found: list[Any] = []
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            if name.startswith("bias") and not self.has_bias:
                found.append(None)
            elif self.bidirectional:
                found.append((getattr(self, f"{name}_l{k}"), getattr(self, f"{name}_l{k}_reverse")))
            else:
                found.append(getattr(self, f"{name}_l{k}"))
        return found

    def states(self, h: Any, k: int) -> Any:
        """The part of a state [layers * directions, batch, hidden] that belongs to a layer; None of None."""
        if h is None:
            return None
        return h[k * self.directions : (k + 1) * self.directions]

    def extend_repr(self) -> str:
        """Its sizes."""
        layers = f"num_layers={self.num_layers}, bidirectional={self.bidirectional}"
        return f"input_size={self.input_size}, hidden_size={self.hidden_size}, {layers}"


class _Step(Cell):
    """One step of a layer: ``weight_ih`` [gates * hidden, in], ``weight_hh`` [gates * hidden, hidden], ``bias_ih``, ``bias_hh``."""

    gates = 1

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: Any = "float32") -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.has_bias = input_size, hidden_size, has_bias
        bound = Uniform(1 / math.sqrt(hidden_size)) if hidden_size else "zeros"
        rows = self.gates * hidden_size
        self.weight_ih = Parameter(initializer(bound, (rows, input_size), dtype))
        self.weight_hh = Parameter(initializer(bound, (rows, hidden_size), dtype))
        self.bias_ih = Parameter(initializer(bound, (rows,), dtype)) if has_bias else None
        self.bias_hh = Parameter(initializer(bound, (rows,), dtype)) if has_bias else None

    def nothing(self, x: Any) -> Tensor:
        """The state before the first step."""
        return ops.zeros((*x.shape[:-1], self.hidden_size), dtype=self.weight_ih.dtype)

    def halves(self, x: Any, h: Any) -> tuple[Tensor, Tensor]:
        """What input and state give to the gates, [..., gates * hidden] each."""
        return ops.linear(x, self.weight_ih, self.bias_ih), ops.linear(h, self.weight_hh, self.bias_hh)

    def extend_repr(self) -> str:
        """Its sizes."""
        return f"input_size={self.input_size}, hidden_size={self.hidden_size}, has_bias={self.has_bias}"


class LSTMCell(_Step):
    """One step of ``LSTM``: ``cell(x, (h, c))``, x [batch, in] or [in], states [batch, hidden], zeros if absent. Result: (h, c)."""

    gates = 4

    def construct(self, x: Any, hx: Any = None) -> tuple[Tensor, Tensor]:
        """(h, c) after the step."""
        h, c = (self.nothing(x), self.nothing(x)) if hx is None else hx
        of_input, of_state = self.halves(x, h)
        i, f, g, o = ops.chunk(of_input + of_state, 4, -1)
        c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
        return ops.sigmoid(o) * ops.tanh(c), c


class GRUCell(_Step):
    """One step of ``GRU``: ``cell(x, h)``, x [batch, in] or [in], h [batch, hidden], zeros if absent. Result: h."""

    gates = 3

    def construct(self, x: Any, hx: Any = None) -> Tensor:
        """h after the step."""
        h = self.nothing(x) if hx is None else hx
        of_input, of_state = self.halves(x, h)
        r_x, z_x, n_x = ops.chunk(of_input, 3, -1)
        r_h, z_h, n_h = ops.chunk(of_state, 3, -1)
        z = ops.sigmoid(z_x + z_h)
        n = ops.tanh(n_x + ops.sigmoid(r_x + r_h) * n_h)
        return n + z * (h - n)


class RNNCell(_Step):
    """One step of ``RNN``: ``cell(x, h)``, x [batch, in] or [in], h [batch, hidden], zeros if absent. Result: h."""

    def __init__(
        self, input_size: int, hidden_size: int, has_bias: bool = True, nonlinearity: str = "tanh", dtype: Any = "float32"
    ) -> None:
        super().__init__(input_size, hidden_size, has_bias, dtype)
        if nonlinearity not in ("tanh", "relu"):
            raise InputError(f"RNNCell: nonlinearity is 'tanh' or 'relu', found {nonlinearity!r}")
        self.nonlinearity = nonlinearity

    def construct(self, x: Any, hx: Any = None) -> Tensor:
        """h after the step."""
        of_input, of_state = self.halves(x, self.nothing(x) if hx is None else hx)
        return ops.relu(of_input + of_state) if self.nonlinearity == "relu" else ops.tanh(of_input + of_state)


class LSTM(_Recurrent):
    """Long short-term memory, gates i, f, g, o.

    ``cell(x, (h, c), seq_length)``: x [length, batch, in] or with ``batch_first`` [batch, length, in]; states [layers * directions, batch,
    hidden], zeros if absent; how much of each sequence counts. Result: (output [length, batch, directions * hidden], (h, c)).
    """

    gates = 4

    def construct(self, x: Any, hx: Any = None, seq_length: Any = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """(output, (h, c)) of the last layer, and of all layers."""
        h0, c0 = (None, None) if hx is None else hx
        hs = []
        cs = []
        for k in range(self.num_layers):
            w_ih, w_hh, b_ih, b_hh = self.weights(k)
            state = None if hx is None else (self.states(h0, k), self.states(c0, k))
            x, (h, c) = ops.lstm(x, state, w_ih, w_hh, b_ih, b_hh, sequence_lens=seq_length, batch_first=self.batch_first)
            hs.append(h)
            cs.append(c)
        return x, (ops.cat(hs, 0), ops.cat(cs, 0))


class GRU(_Recurrent):
    """Gated recurrent unit, gates r, z, n. Called as ``LSTM`` with one state; result: (output, h)."""

    gates = 3

    def construct(self, x: Any, hx: Any = None, seq_length: Any = None) -> tuple[Tensor, Tensor]:
        """(output, h) of the last layer, and of all layers."""
        hs = []
        for k in range(self.num_layers):
            w_ih, w_hh, b_ih, b_hh = self.weights(k)
            x, h = ops.gru(x, self.states(hx, k), w_ih, w_hh, b_ih, b_hh, sequence_lens=seq_length, batch_first=self.batch_first)
            hs.append(h)
        return x, ops.cat(hs, 0)


class RNN(_Recurrent):
    """h = f(x W^T + h R^T + b), f = tanh or relu. Called as ``LSTM`` with one state; result: (output, h)."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", **more: Any) -> None:
        super().__init__(input_size, hidden_size, num_layers, **more)
        if nonlinearity not in ("tanh", "relu"):
            raise InputError(f"RNN: nonlinearity is 'tanh' or 'relu', found {nonlinearity!r}")
        self.nonlinearity = nonlinearity

    def construct(self, x: Any, hx: Any = None, seq_length: Any = None) -> tuple[Tensor, Tensor]:
        """(output, h) of the last layer, and of all layers."""
        hs = []
        for k in range(self.num_layers):
            w_ih, w_hh, b_ih, b_hh = self.weights(k)
            x, h = ops.rnn(
                x,
                self.states(hx, k),
                w_ih,
                w_hh,
                b_ih,
                b_hh,
                nonlinearity=self.nonlinearity,
                sequence_lens=seq_length,
                batch_first=self.batch_first,
            )
            hs.append(h)
        return x, ops.cat(hs, 0)
