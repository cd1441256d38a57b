"""Recurrent networks, one layer at a time. Weights are rows of gates, in the order of torch and MindSpore."""

from __future__ import annotations

from typing import Any

from .._errors import InputError
from ..frontend import values as v
from ..frontend.values import DTYPE, SymTensor, as_tensor, emit
from ._op import op
from ._promote import floating, tensor

# Which gate of torch stands at each place of ONNX: i f g o -> i o f g; r z n -> z r n.
_ORDER = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}
STATIC = ("batch_first", "activation")


def _gates(t: SymTensor, operator: str, axis: int) -> SymTensor:
    """The rows of gates in ONNX's order."""
    order = _ORDER[operator]
    n = len(order)
    if n == 1:
        return t
    size = t.shape[axis]
    if isinstance(size, int) and size % n:
        raise InputError(f"{operator.lower()}: {size} rows of weights aren't a multiple of {n} gates")
    step = size // n
    parts = [v.slice_view(t, [axis], [k * step], [(k + 1) * step], [1]) for k in order]
    return emit("Concat", parts, axis=axis)


def _directions(v_: Any) -> list[Any]:
    return list(v_) if isinstance(v_, (tuple, list)) else [v_]


def _stacked(operator: str, given: Any, dtype: Any) -> SymTensor:
    """Weights of all directions [directions, rows, ...]."""
    rows = [_gates(tensor(t, dtype), operator, 0) for t in _directions(given)]
    return v.unsqueeze(rows[0], [0]) if len(rows) == 1 else emit("msvm.Stack", rows, axis=0)


def _biases(operator: str, b_ih: Any, b_hh: Any, w: SymTensor, dtype: Any) -> SymTensor | None:
    if b_ih is None and b_hh is None:
        return None
    zeros = emit("msvm.Fill", [], w.shape[:2], dtype=dtype, value=0)
    halves = [zeros if b is None else _stacked(operator, b, dtype) for b in (b_ih, b_hh)]
    return emit("Concat", halves, axis=1)


def _layer(
    operator: str,
    input: Any,
    states: list[Any],
    weight_ih: Any,
    weight_hh: Any,
    bias_ih: Any,
    bias_hh: Any,
    sequence_lens: Any,
    batch_first: bool,
    reverse: bool,
    **attrs: Any,
) -> tuple[SymTensor, list[SymTensor]]:
    """One layer over [length, batch, in]: (output [length, batch, directions * hidden], states [directions, batch, hidden])."""
    (x,) = floating(input)
    dtype = x.dtype
    alone = x.ndim == 2
    if alone:
        x = v.unsqueeze(x, [1])
        states = [None if s is None else v.unsqueeze(tensor(s, dtype), [1]) for s in states]
        batch_first = False
    if x.ndim != 3:
        raise InputError(f"{operator.lower()}: expected [length, batch, in], found rank {x.ndim}")
    if batch_first:
        x = v.transpose(x, [1, 0, 2])
    both = len(_directions(weight_ih)) == 2
    w, r = _stacked(operator, weight_ih, dtype), _stacked(operator, weight_hh, dtype)
    lens = None if sequence_lens is None else tensor(as_tensor(sequence_lens), DTYPE["int32"])
    operands = [x, w, r, _biases(operator, bias_ih, bias_hh, w, dtype), lens, *(None if s is None else tensor(s, dtype) for s in states)]
    direction = "bidirectional" if both else "reverse" if reverse else "forward"
    y, *finals = emit(operator, operands, outputs=1 + len(states), direction=direction, **attrs)
    # [length, directions, batch, hidden] -> [length, batch, directions * hidden]
    length, directions, batch, hidden = y.shape
    y = v.reshape(v.transpose(y, [0, 2, 1, 3]), [length, batch, directions * hidden])
    if batch_first:
        y = v.transpose(y, [1, 0, 2])
    if alone:
        return v.squeeze(y, [1]), [v.squeeze(s, [1]) for s in finals]
    return y, finals


_SHAPES = """

    ``input`` [length, batch, in], or [batch, length, in] with ``batch_first``, or [length, in] without a batch.
    ``weight_ih`` [{rows} hidden, in], ``weight_hh`` [{rows} hidden, hidden], ``bias_ih``, ``bias_hh`` [{rows} hidden]; a pair of each
    reads both ways.
    States [directions, batch, hidden], zeros if absent. ``sequence_lens`` [batch]: how much of each sequence counts.
    Result: output [length, batch, directions * hidden]{result}.
    """


@op(static=(*STATIC, "reverse"))
def lstm(
    input: Any,
    hx: Any = None,
    weight_ih: Any = None,
    weight_hh: Any = None,
    bias_ih: Any = None,
    bias_hh: Any = None,
    *,
    sequence_lens: Any = None,
    batch_first: bool = False,
    reverse: bool = False,
) -> Any:
    """See ``_SHAPES``."""
    h, c = (None, None) if hx is None else hx
    y, (h, c) = _layer("LSTM", input, [h, c], weight_ih, weight_hh, bias_ih, bias_hh, sequence_lens, batch_first, reverse)
    return y, (h, c)


@op(static=(*STATIC, "reverse", "linear_before_reset"))
def gru(
    input: Any,
    hx: Any = None,
    weight_ih: Any = None,
    weight_hh: Any = None,
    bias_ih: Any = None,
    bias_hh: Any = None,
    *,
    sequence_lens: Any = None,
    batch_first: bool = False,
    reverse: bool = False,
    linear_before_reset: bool = True,
) -> Any:
    """See ``_SHAPES``."""
    y, (h,) = _layer(
        "GRU",
        input,
        [hx],
        weight_ih,
        weight_hh,
        bias_ih,
        bias_hh,
        sequence_lens,
        batch_first,
        reverse,
        linear_before_reset=int(linear_before_reset),
    )
    return y, h


@op(static=(*STATIC, "reverse", "nonlinearity"))
def rnn(
    input: Any,
    hx: Any = None,
    weight_ih: Any = None,
    weight_hh: Any = None,
    bias_ih: Any = None,
    bias_hh: Any = None,
    *,
    nonlinearity: str = "tanh",
    sequence_lens: Any = None,
    batch_first: bool = False,
    reverse: bool = False,
) -> Any:
    """See ``_SHAPES``."""
    names = {"tanh": "Tanh", "relu": "Relu"}
    if nonlinearity not in names:
        raise InputError(f"rnn: nonlinearity is 'tanh' or 'relu', found {nonlinearity!r}")
    functions = [names[nonlinearity]] * len(_directions(weight_ih))
    y, (h,) = _layer("RNN", input, [hx], weight_ih, weight_hh, bias_ih, bias_hh, sequence_lens, batch_first, reverse, activations=functions)
    return y, h


for _operator, _text, _rows, _result in (
    (lstm, "Long short-term memory, gates i, f, g, o. ONNX ``LSTM``.", 4, ", and the last (h, c)"),
    (
        gru,
        "Gated recurrent unit, gates r, z, n; with ``linear_before_reset`` the reset comes after the product with weight_hh. ONNX ``GRU``.",
        3,
        ", and the last h",
    ),
    (rnn, "h = f(x W^T + h R^T + b) over a sequence, f = tanh or relu. ONNX ``RNN``.", 1, ", and the last h"),
):
    _operator.__doc__ = _text + _SHAPES.format(rows=_rows if _rows > 1 else "", result=_result).replace("[ hidden", "[hidden")
