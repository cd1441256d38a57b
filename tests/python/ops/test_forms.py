"""Every class form, outside and inside compiled functions: those of a function give what it gives, the others what their case says."""

import inspect

import numpy as np
import pytest
from msvm.ops.classes import FORMS
from ops.oracle import array, assert_same
from ops.test_compiled import CASES, KNOWN, C, tensors

import msvm as ms
from msvm import ops

X, T = array((3, 4), low=0.2, high=0.9), array((2, 3, 4))
I, B = array((3, 4), "int32", 0, 4), array((3, 4), "bool")  # noqa: E741
Q, K = array((2, 4, 6, 6)), array((2, 4, 3, 3))
V, W = array((4,)), array((4,), low=0.5, high=2, seed=1)
GAMMA = array((3, 4), seed=2)
BOXES = np.array([[0, 1, 1, 6, 5], [1, 0.5, 2, 5.5, 4]], np.float32)
ANGLE = 0.7978845608 * (T + 0.044715 * T**3)

# A form -> the arguments that make it, those of the call, and what that gives, in terms of numpy or of functions.
OWN = {
    "DivNoNan": [(C(), C(X, I), lambda: np.where(I == 0, 0, X / np.maximum(I, 1)).astype(np.float32))],
    "CumSum": [(C(), C(T, 1), lambda: T.cumsum(1))],
    "GeLU": [(C(), C(T), lambda: 0.5 * T * (1 + np.tanh(ANGLE)))],
    "Softmax": [(C((1,)), C(T), lambda: ops.softmax(T, 1)), (C(), C(T), lambda: ops.softmax(T))],
    "Argmax": [
        (C(), C(T), lambda: T.argmax(-1)),
        (C(0), C(T), lambda: T.argmax(0)),
        (C(1, ms.int32), C(T), lambda: T.argmax(1).astype(np.int32)),
    ],
    "Argmin": [(C(), C(T), lambda: T.argmin(-1)), (C(axis=1), C(T), lambda: T.argmin(1))],
    "ArgMaxWithValue": [
        (C(1, True), C(T), lambda: (T.argmax(1)[:, None], T.max(1)[:, None])),
        (C(), C(T), lambda: (T.argmax(0), T.max(0))),
    ],
    "ArgMinWithValue": [(C(1), C(T), lambda: (T.argmin(1), T.min(1)))],
    "ReduceAll": [(C(), C(B, 1), lambda: B.all(1))],
    "ReduceAny": [(C(True), C(B, 1), lambda: B.any(1, keepdims=True))],
    "ReduceMax": [(C(), C(T), lambda: T.max()), (C(True), C(T, (0, 2)), lambda: T.max((0, 2), keepdims=True))],
    "ReduceMean": [(C(keep_dims=True), C(T, 1), lambda: T.mean(1, keepdims=True))],
    "ReduceMin": [(C(), C(T, -1), lambda: T.min(-1))],
    "ReduceProd": [(C(), C(T, 1), lambda: T.prod(1))],
    "ReduceSum": [(C(), C(T, ()), lambda: T.sum())],
    "BatchMatMul": [(C(True), C(T, T), lambda: T.swapaxes(1, 2) @ T), (C(False, True), C(T, T), lambda: T @ T.swapaxes(1, 2))],
    "MatMul": [(C(), C(X, X.T), lambda: X @ X.T), (C(transpose_a=True), C(X, X), lambda: X.T @ X)],
    "Einsum": [(C("ij,kj->ik"), C((X, X)), lambda: X @ X.T)],
    "BroadcastTo": [(C((2, 3, 4)), C(X), lambda: np.broadcast_to(X, (2, 3, 4)))],
    "Flatten": [(C(), C(T), lambda: T.reshape(2, 12))],
    "Pad": [(C(((1, 2), (0, 3))), C(X), lambda: np.pad(X, ((1, 2), (0, 3))))],
    "Slice": [(C(), C(T, (0, 1, 2), (1, -1, 2)), lambda: T[:1, 1:, 2:])],
    "Split": [(C(2, 2), C(T), lambda: tuple(np.split(T, 2, 2)))],
    "TopK": [(C(), C(X, 2), lambda: ops.topk(X, 2))],
    "Unique": [(C(), C(np.array([5, 1, 5, 2])), lambda: (np.array([5, 1, 2]), np.array([0, 1, 0, 2])))],
    "AvgPool": [
        (C(2, 2), C(Q), lambda: ops.avg_pool2d(Q, 2, 2)),
        (C(3, 2, "SAME"), C(Q), lambda: ops.avg_pool2d(Q, 3, 2, pad_mode="same", count_include_pad=False)),
    ],
    "MaxPool": [(C(kernel_size=2, strides=1, pad_mode="VALID"), C(Q), lambda: ops.max_pool2d(Q, 2, 1))],
    "Conv2D": [
        (C(2, 3), C(Q, K), lambda: ops.conv2d(Q, K)),
        (C(out_channel=2, kernel_size=3, pad_mode="pad", pad=1, stride=2), C(Q, K), lambda: ops.conv2d(Q, K, None, 2, "pad", 1)),
        (C(4, (3, 3), group=2), C(Q, np.concatenate([K, K])[:, :2]), lambda: ops.conv2d(Q, np.concatenate([K, K])[:, :2], groups=2)),
    ],
    "BatchNorm": [(C(epsilon=1e-3), C(Q, V, V, V, W), lambda: ops.batch_norm(Q, V, W, V, V, eps=1e-3))],
    "LayerNorm": [(C(), C(T, GAMMA, GAMMA), lambda: ops.layer_norm(T, (3, 4), GAMMA, GAMMA, 1e-7))],
    "ResizeLinear1D": [(C(), C(Q[0], 9), lambda: ops.interpolate(Q[0], 9, mode="linear", align_corners=True))],
    "ROIAlign": [(C(3, 2, 0.5, 2), C(Q, BOXES), lambda: ops.roi_align(Q, BOXES, (3, 2), 0.5, 2))],
    "Fill": [(C(), C(ms.float32, (2, 3), 4), lambda: np.full((2, 3), 4, np.float32))],
    "Ones": [(C(), C((2, 3), ms.int8), lambda: np.ones((2, 3), np.int8))],
    "Zeros": [(C(), C((2, 3), ms.int8), lambda: np.zeros((2, 3), np.int8))],
}
OF_FUNCTIONS = {
    name: next((f for f in CASES if getattr(ops, f) is form.function), None) for name, form in FORMS.items() if name not in OWN
}


def cut(name):
    """The calls of the function's cases: what makes the form, what calls it, what it gives."""
    form, function = FORMS[name], getattr(ops, OF_FUNCTIONS[name])
    parameters = list(inspect.signature(function).parameters)
    for call in CASES[OF_FUNCTIONS[name]]:
        named = {**dict(zip(parameters, call.args, strict=False)), **call.kwargs}
        targets = {of or own: own for own, of in form.attributes.items()}
        if len(call.args) > len(parameters):  # sizes one by one
            yield C(), call, lambda call=call: function(*tensors(call.args), **call.kwargs)
            continue
        made = C(**{targets[n]: v for n, v in named.items() if n in targets})
        rest = {n: v for n, v in named.items() if n not in targets}
        by_place = [n for n, m in zip(rest, parameters, strict=False) if n == m and n not in call.kwargs]
        called = C(*[rest.pop(n) for n in by_place], **rest)
        yield made, called, lambda call=call: function(*tensors(call.args), **call.kwargs)


def test_every_form_has_a_case():
    assert set(OWN) <= set(FORMS)
    assert [name for name, f in OF_FUNCTIONS.items() if f is None] == []


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    form = getattr(ops, name)
    for made, called, result in OWN[name] if name in OWN else cut(name):
        operator = form(*made.args, **made.kwargs)
        args, kwargs = tensors(called.args), {n: tensors(v) for n, v in called.kwargs.items()}

        @ms.jit
        def compiled(args, kwargs, operator=operator):
            return operator(*args, **kwargs)

        want = result()
        assert_same(operator(*args, **kwargs), want, rtol=1e-4, what=f"{operator}")
        if OF_FUNCTIONS.get(name) not in KNOWN:
            assert_same(compiled(args, kwargs), want, rtol=1e-4, what=f"compiled {operator}")
