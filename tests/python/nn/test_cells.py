"""Cells: what they own, what they compute, eagerly and compiled, against the operators and numpy."""

import copy
import pickle

import numpy as np
import pytest
from ops.oracle import array, assert_same

import msvm
import msvm as ms
from msvm import nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, has_bias=True)
        self.norm = nn.BatchNorm2d(8, moving_mean_init="normal", gamma_init="uniform")
        self.act = nn.ReLU()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.head = nn.SequentialCell(nn.Dense(8, 16, activation="relu"), nn.Dropout(p=0.2), nn.Dense(16, 4))

    def construct(self, x):
        x = self.act(self.norm(self.conv(x)))
        return self.head(self.flatten(self.pool(x)))


NAMES = [
    "conv.weight", "conv.bias", "norm.gamma", "norm.beta", "norm.moving_mean", "norm.moving_variance",
    "head.0.weight", "head.0.bias", "head.2.weight", "head.2.bias",
]  # fmt: skip


def compiled(cell):
    @ms.jit
    def f(*args):
        return cell(*args)

    return f


def test_what_a_cell_owns():
    net = Net()
    assert [name for name, _ in net.parameters_and_names()] == NAMES
    assert [p.name for p in net.get_parameters()] == NAMES
    assert [p.name for p in net.trainable_params()] == [n for n in NAMES if "moving" not in n]
    assert [p.name for p in net.untrainable_params()] == ["norm.moving_mean", "norm.moving_variance"]
    assert [name for name, _ in net.cells_and_names()] == [
        "",
        "conv",
        "norm",
        "act",
        "pool",
        "flatten",
        "head",
        "head.0",
        "head.0.activation",
        "head.1",
        "head.2",
    ]
    assert list(net.name_cells()) == ["conv", "norm", "act", "pool", "flatten", "head"]
    assert len(net.cells()) == 6
    shared = nn.Cell()
    shared.a = shared.b = nn.Dense(2, 2)
    assert [n for n, _ in shared.parameters_and_names()] == ["a.weight", "a.bias"]
    several = nn.Cell()
    several.ws = nn.ParameterTuple([nn.Parameter(np.zeros(1, np.float32)), nn.Parameter(np.zeros(2, np.float32))])
    assert [n for n, _ in several.parameters_and_names()] == ["ws.0", "ws.1"]
    with pytest.raises(msvm.InputError, match="expected parameters"):
        nn.ParameterTuple([1])
    with pytest.raises(NotImplementedError, match="no construct"):
        nn.Cell()()


def test_a_network_eager_and_compiled():
    net = Net()
    f = compiled(net)
    for n, h, w in [(2, 9, 7), (1, 4, 4), (3, 8, 5)]:
        x = array((n, 3, h, w))
        y = ops.conv2d(x, net.conv.weight, net.conv.bias, pad_mode="same")
        y = ops.relu(ops.batch_norm(y, net.norm.moving_mean, net.norm.moving_variance, net.norm.gamma, net.norm.beta))
        y = np.asarray(y).mean((2, 3))
        y = (
            np.maximum(y @ net.head[0].weight.asnumpy().T + net.head[0].bias.asnumpy(), 0) @ net.head[2].weight.asnumpy().T
            + net.head[2].bias.asnumpy()
        )
        assert_same(net(x), y, rtol=1e-4)
        assert_same(f(ms.Tensor(x)), y, rtol=1e-4)


def test_compiled_functions_see_new_weights():
    net = nn.Dense(3, 2)
    f = compiled(net)
    x = array((4, 3))
    for seed in range(3):
        net.weight.set_data(array((2, 3), seed=seed))
        net.bias[0] = float(seed)
        want = x @ net.weight.asnumpy().T + net.bias.asnumpy()
        assert_same(net(x), want)
        assert_same(f(x), want)
    lstm, y = nn.LSTM(3, 4), array((5, 2, 3))
    g = compiled(lstm)
    before = np.asarray(g(y)[0])
    lstm.weight_hh_l0.set_data(np.zeros((16, 4), np.float32))
    assert not np.allclose(np.asarray(g(y)[0]), before)
    assert_same(g(y)[0], np.asarray(lstm(y)[0]))


def test_parameters():
    p = nn.Parameter(np.ones((2, 3), np.float32), "w")
    assert isinstance(p, ms.Tensor) and p.requires_grad and p.name == "w"
    version = p._version
    assert p.set_data(ms.Tensor(np.zeros((2, 3), np.float32))) is p
    assert p._version != version and p.asnumpy().sum() == 0
    with pytest.raises(msvm.InputError, match=r"parameter w has shape \(2, 3\), found \(3, 2\)"):
        p.set_data(np.zeros((3, 2), np.float32))
    with pytest.raises(msvm.InputError, match="has dtype float32, found float64"):
        p.set_data(np.zeros((2, 3)))
    p.set_data(np.zeros((4,), np.float32), slice_shape=True)
    assert p.shape == (4,)
    q = pickle.loads(pickle.dumps(p))
    assert q.name == "w" and q.shape == (4,) and isinstance(q, nn.Parameter)
    assert p.clone() is not p and repr(p).startswith("Parameter (w, ")
    net = Net()
    twin = copy.deepcopy(net)
    twin.conv.bias[0] = 9.0
    assert net.conv.bias.asnumpy()[0] != 9.0


def test_training_is_refused_clearly():
    net = Net().set_train()
    assert net.head[1].training
    with pytest.raises(msvm.UnsupportedError, match="BatchNorm: statistics of the batch"):
        net(array((1, 3, 4, 4)))
    with pytest.raises(msvm.UnsupportedError, match="Dropout: training isn't there"):
        nn.Dropout(p=0.5).train()(array((2,)))
    assert not net.eval().norm.training


PLAIN = {
    "ReLU": ((), ops.relu, ()),
    "LeakyReLU": ((0.1,), ops.leaky_relu, (0.1,)),
    "ELU": ((), ops.elu, ()),
    "GELU": ((False,), ops.gelu, ("none",)),
    "SiLU": ((), ops.silu, ()),
    "Sigmoid": ((), ops.sigmoid, ()),
    "Tanh": ((), ops.tanh, ()),
    "Softmax": ((1,), ops.softmax, (1,)),
    "Mish": ((), ops.mish, ()),
    "HSwish": ((), ops.hardswish, ()),
    "Hardtanh": ((-0.5, 0.5), ops.hardtanh, (-0.5, 0.5)),
    "Identity": ((), lambda x: x, ()),
    "Flatten": ((), ops.flatten, ()),
    "LogSoftmax": ((), ops.log_softmax, ()),
    "GLU": ((1,), ops.glu, (1,)),
    "Softplus": ((), ops.softplus, ()),
    "Threshold": ((0.1, 2.0), ops.threshold, (0.1, 2.0)),
}


@pytest.mark.parametrize("name", PLAIN)
def test_cells_without_parameters(name):
    arguments, function, more = PLAIN[name]
    cell, x = getattr(nn, name)(*arguments), array((2, 4, 3))
    want = np.asarray(function(x, *more)) if name != "Flatten" else x.reshape(2, 12)
    assert_same(cell(x), want)
    assert_same(compiled(cell)(x), want)


LAYERS = {
    "Conv1d": (
        lambda: nn.Conv1d(4, 6, 3, stride=2, pad_mode="pad", padding=1, group=2, has_bias=True),
        (2, 4, 9),
        lambda c, x: ops.conv1d(x, c.weight, c.bias, 2, "pad", 1, 1, 2),
    ),
    "Conv3d": (lambda: nn.Conv3d(2, 3, 2, pad_mode="valid"), (1, 2, 4, 5, 3), lambda c, x: ops.conv3d(x, c.weight)),
    "Conv2dTranspose": (
        lambda: nn.Conv2dTranspose(4, 6, 3, 2, pad_mode="pad", padding=1, has_bias=True),
        (2, 4, 5, 4),
        lambda c, x: ops.conv_transpose2d(x, c.weight, c.bias, 2, "pad", 1),
    ),
    "LayerNorm": (
        lambda: nn.LayerNorm((3, 4), gamma_init="normal"),
        (2, 3, 4),
        lambda c, x: ops.layer_norm(x, (3, 4), c.gamma, c.beta, 1e-7),
    ),
    "RMSNorm": (lambda: nn.RMSNorm(4), (2, 3, 4), lambda c, x: ops.rms_norm(x, c.gamma)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), (2, 4, 5), lambda c, x: ops.group_norm(x, 2, c.gamma, c.beta)),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(4), (2, 4, 5, 3), lambda c, x: ops.instance_norm(x)),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(4), (5, 4), lambda c, x: x / np.float32(np.sqrt(1 + 1e-5))),
    "MaxPool2d": (lambda: nn.MaxPool2d(3, 2, "same"), (1, 2, 7, 6), lambda c, x: ops.max_pool2d(x, 3, 2, pad_mode="same")),
    "AvgPool2d": (lambda: nn.AvgPool2d(3, 2), (1, 2, 7, 6), lambda c, x: ops.avg_pool2d(x, 3, 2)),
    "AvgPool1d": (lambda: nn.AvgPool1d(3, 2, "pad", 1), (1, 2, 7), lambda c, x: ops.avg_pool1d(x, 3, 2, 1)),
    "AdaptiveMaxPool2d": (lambda: nn.AdaptiveMaxPool2d((2, 3)), (1, 2, 7, 6), lambda c, x: ops.adaptive_max_pool2d(x, (2, 3))),
    "Upsample": (
        lambda: nn.Upsample(scale_factor=2.0, mode="bilinear"),
        (1, 2, 3, 4),
        lambda c, x: ops.interpolate(x, scale_factor=2.0, mode="bilinear"),
    ),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), (1, 8, 3, 4), lambda c, x: ops.pixel_shuffle(x, 2)),
    "Pad": (lambda: nn.Pad(((0, 0), (1, 2))), (2, 3), lambda c, x: np.pad(x, ((0, 0), (1, 2)))),
    "PReLU": (lambda: nn.PReLU(3), (2, 3, 4), lambda c, x: ops.prelu(x, c.weight)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    make, shape, reference = LAYERS[name]
    cell, x = make(), array(shape)
    want = np.asarray(reference(cell, x))
    assert_same(cell(x), want, rtol=1e-4)
    assert_same(compiled(cell)(x), want, rtol=1e-4)
    assert repr(cell).startswith(f"{name}<")


def test_embedding():
    e = nn.Embedding(7, 3, padding_idx=0)
    ids = np.array([[0, 6], [3, 3]])
    assert_same(e(ids), e.embedding_table.asnumpy()[ids])
    assert e.embedding_table.asnumpy()[0].sum() == 0
    assert_same(compiled(e)(ids), e.embedding_table.asnumpy()[ids])
    with pytest.raises(msvm.InputError):
        e(np.array([7]))


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers(kind, both):
    cell = getattr(nn, kind)(3, 4, num_layers=2, bidirectional=both, batch_first=True)
    x = array((2, 5, 3))
    y, state = cell(x)
    d = 2 if both else 1
    assert y.shape == (2, 5, 4 * d)
    function = getattr(ops, kind.lower())
    first, s1 = function(x, None, *cell.weights(0), batch_first=True)
    second, s2 = function(first, None, *cell.weights(1), batch_first=True)
    assert_same(y, np.asarray(second), rtol=1e-4)
    last = np.concatenate([np.asarray(s[0] if kind == "LSTM" else s) for s in (s1, s2)])
    assert_same(state[0] if kind == "LSTM" else state, last, rtol=1e-4)
    got = compiled(cell)(x)
    assert_same(got[0], np.asarray(y), rtol=1e-4)
    assert_same(compiled(cell)(x, state)[0], np.asarray(cell(x, state)[0]), rtol=1e-4)
    names = [n for n, _ in cell.parameters_and_names()]
    assert names[:4] == ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]
    assert ("weight_ih_l1_reverse" in names) == both


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("has_bias", [True, False])
def test_one_step_is_a_step_of_the_layer(kind, has_bias):
    layer, cell = getattr(nn, kind)(3, 4, has_bias=has_bias), getattr(nn, f"{kind}Cell")(3, 4, has_bias)
    for name in ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if has_bias else ())):
        getattr(cell, name).set_data(getattr(layer, f"{name}_l0").asnumpy())
    x = array((5, 2, 3))
    wanted, state = layer(x)
    step = ms.jit(cell)
    for f in (cell, step):
        h = None
        for k in range(5):
            h = f(x[k]) if h is None else f(x[k], h)
            assert_same(h[0] if kind == "LSTM" else h, wanted[k], rtol=1e-5)
    if kind == "LSTM":
        assert_same(h[1], state[1][0], rtol=1e-5)
    alone = cell(x[0, 0])
    assert_same(alone[0] if kind == "LSTM" else alone, wanted[0, 0], rtol=1e-5)
    assert "hidden_size=4" in repr(cell)


def test_rnn_cell_with_relu():
    cell = nn.RNNCell(3, 4, nonlinearity="relu")
    x, h = array((2, 3)), array((2, 4))
    w = [np.asarray(p.asnumpy()) for p in (cell.weight_ih, cell.bias_ih, cell.weight_hh, cell.bias_hh)]
    assert_same(cell(x, h), np.maximum(np.asarray(x) @ w[0].T + w[1] + np.asarray(h) @ w[2].T + w[3], 0), rtol=1e-5)
    with pytest.raises(ms.InputError, match="nonlinearity"):
        nn.RNNCell(3, 4, nonlinearity="sin")


def test_attention():
    cell = nn.MultiheadAttention(8, 2, batch_first=True)
    q, k = array((3, 5, 8)), array((3, 7, 8), seed=1)
    w, b = cell.in_proj_weight.asnumpy(), cell.in_proj_bias.asnumpy()

    def heads(x, which):
        y = x @ w[which * 8 : which * 8 + 8].T + b[which * 8 : which * 8 + 8]
        return y.reshape(3, -1, 2, 4).swapaxes(1, 2)

    hidden = array((3, 7), "bool", seed=3)
    hidden[:, 0] = False
    scores = heads(q, 0) @ heads(k, 1).swapaxes(-1, -2) / 2
    scores = np.where(hidden[:, None, None], -np.inf, scores)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    y = (p @ heads(k, 2)).swapaxes(1, 2).reshape(3, 5, 8) @ cell.out_proj.weight.asnumpy().T + cell.out_proj.bias.asnumpy()
    assert_same(cell(q, k, k, hidden), (y, p.mean(1)), rtol=1e-4)
    assert_same(cell(q, k, k, hidden, need_weights=False)[0], y, rtol=1e-4)
    assert_same(compiled(cell)(q, k, k, hidden), (y, p.mean(1)), rtol=1e-4)
    causal = np.triu(np.ones((5, 5), bool), 1)
    first, _ = cell(q, q, q, attn_mask=causal)
    again, _ = cell(q[:, :3].copy(), q[:, :3].copy(), q[:, :3].copy(), attn_mask=causal[:3, :3].copy())
    assert_same(np.asarray(first)[:, :3], np.asarray(again), rtol=1e-4)
    other = nn.MultiheadAttention(8, 2, kdim=6, vdim=5)
    y, _ = other(array((5, 3, 8)), array((7, 3, 6)), array((7, 3, 5)))
    assert y.shape == (5, 3, 8)


def test_containers():
    a, b, c = nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 1)
    for s in (
        nn.SequentialCell(a, b, c),
        nn.SequentialCell([a, b, c]),
        nn.SequentialCell({"a": a, "b": b, "c": c}),
        nn.SequentialCell(a, b).append(c),
    ):
        assert_same(s(array((4, 2))), np.asarray(c(b(a(array((4, 2)))))))
        assert len(s) == 3 and s[0] is a and list(s) == [a, b, c] and len(s[1:]) == 2
    assert [n for n, _ in nn.SequentialCell({"x": a}).parameters_and_names()] == ["x.weight", "x.bias"]
    blocks = nn.CellList([nn.Dense(2, 2) for _ in range(3)])
    blocks.append(nn.Dense(2, 2))

    class Deep(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = blocks

        def construct(self, x):
            for block in self.blocks:
                x = x + block(x)
            return x

    x = array((3, 2))
    want = x
    for block in blocks:
        want = want + (want @ block.weight.asnumpy().T + block.bias.asnumpy())
    assert_same(Deep()(x), want, rtol=1e-4)
    assert_same(compiled(Deep())(x), want, rtol=1e-4)
    with pytest.raises(msvm.InputError, match="expected cells, found int"):
        nn.SequentialCell(a, 1)


def test_initializers():
    ops.set_seed(3)
    first = nn.initializer("he_uniform", (64, 32)).asnumpy()
    ops.set_seed(3)
    np.testing.assert_array_equal(nn.initializer("he_uniform", (64, 32)).asnumpy(), first)
    assert np.abs(first).max() <= np.sqrt(6 / 32) and first.std() > 0.2
    assert nn.initializer("ones", (2,)).asnumpy().tolist() == [1, 1]
    assert nn.initializer(0.5, (2,), "float64").asnumpy().tolist() == [0.5, 0.5]
    assert np.abs(nn.initializer("truncated_normal", (500,)).asnumpy()).max() <= 0.02
    q = nn.initializer(nn.Orthogonal(seed=1), (3, 5)).asnumpy()
    np.testing.assert_allclose(q @ q.T, np.eye(3), atol=1e-6)
    for name in ("normal", "uniform", "xavier_uniform", "xavier_normal", "he_normal", "identity", "orthogonal"):
        assert np.isfinite(nn.initializer(name, (4, 4)).asnumpy()).all()
    with pytest.raises(msvm.InputError, match="no initializer 'magic'"):
        nn.initializer("magic", (2,))
    with pytest.raises(msvm.InputError, match="expected"):
        nn.initializer(np.zeros(3), (2,))
