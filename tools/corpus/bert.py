"""BERT-like encoders: MiniLM with its real weights, BERT-base with seeded ones."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import TensorProto

from corpus.graph import Graph
from corpus.safetensors import read_safetensors

SEED = 20260302


@dataclass(frozen=True)
class Config:
    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int = 30522
    positions: int = 512


Weights = Callable[[str, tuple[int, ...]], np.ndarray]  # name and expected shape -> float32 values


class _Encoder(Graph):
    """Adds the encoder's layers; values have shape (b, s, hidden) unless said otherwise."""

    def __init__(self, name: str, config: Config, weights: Weights) -> None:
        super().__init__(name)
        self.config, self._get = config, weights
        self.ids = self.input("ids", ["b", "s"], TensorProto.INT64)
        self.mask = self.input("mask", ["b", "s"], TensorProto.INT64)
        self.batch = self.node("Shape", self.ids, start=0, end=1)
        self.length = self.node("Shape", self.ids, start=1, end=2)

    def _param(self, name: str, *shape: int) -> str:
        return self.weight(name, self._get(name, shape))

    def _linear(self, x: str, name: str, inputs: int, outputs: int) -> str:
        w = self.weight(f"{name}.weight.T", self._get(f"{name}.weight", (outputs, inputs)).T)
        return self.node("Add", self.node("MatMul", x, w), self._param(f"{name}.bias", outputs))

    def _layer_norm(self, x: str, name: str) -> str:
        h = self.config.hidden
        return self.node("LayerNormalization", x, self._param(f"{name}.weight", h), self._param(f"{name}.bias", h), axis=-1, epsilon=1e-12)

    def _gelu(self, x: str) -> str:
        """x/2 · (1 + erf(x/√2)), as exporters write it."""
        e = self.node("Erf", self.node("Div", x, self.scalar(2**0.5)))
        return self.node("Mul", self.node("Mul", x, self.node("Add", e, self.scalar(1))), self.scalar(0.5))

    def embed(self) -> str:
        """Word, position and type embeddings, normalised."""
        c = self.config
        words = self.node("Gather", self._param("embeddings.word_embeddings.weight", c.vocabulary, c.hidden), self.ids)
        end = self.node("Squeeze", self.length, self.ints(0))
        positions = self.node("Range", self.scalar(0, np.int64), end, self.scalar(1, np.int64))
        positions = self.node("Unsqueeze", positions, self.ints(0))
        places = self.node("Gather", self._param("embeddings.position_embeddings.weight", c.positions, c.hidden), positions)
        types = self._get("embeddings.token_type_embeddings.weight", (2, c.hidden))
        x = self.node("Add", words, places)
        x = self.node("Add", x, self.weight("token_type_0", types[0]))
        return self._layer_norm(x, "embeddings.LayerNorm")

    def attention_bias(self) -> str:
        """(b, 1, 1, s): 0 where the mask is 1, else -10000."""
        m = self.node("Cast", self.node("Unsqueeze", self.mask, self.ints(1, 2)), to=TensorProto.FLOAT)
        return self.node("Mul", self.node("Sub", self.scalar(1), m), self.scalar(-1e4))

    def _heads(self, x: str, perm: list[int]) -> str:
        c = self.config
        shape = self.node("Concat", self.batch, self.length, self.ints(c.heads), self.ints(c.hidden // c.heads), axis=0)
        return self.node("Transpose", self.node("Reshape", x, shape), perm=perm)

    def layer(self, x: str, bias: str, i: int) -> str:
        """One post-norm transformer layer."""
        c, p = self.config, f"encoder.layer.{i}"
        q, k, v = (self._linear(x, f"{p}.attention.self.{n}", c.hidden, c.hidden) for n in ("query", "key", "value"))
        scores = self.node("MatMul", self._heads(q, [0, 2, 1, 3]), self._heads(k, [0, 2, 3, 1]))
        scores = self.node("Add", self.node("Div", scores, self.scalar((c.hidden // c.heads) ** 0.5)), bias)
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), self._heads(v, [0, 2, 1, 3]))
        shape = self.node("Concat", self.batch, self.length, self.ints(c.hidden), axis=0)
        mixed = self.node("Reshape", self.node("Transpose", mixed, perm=[0, 2, 1, 3]), shape)
        mixed = self._linear(mixed, f"{p}.attention.output.dense", c.hidden, c.hidden)
        x = self._layer_norm(self.node("Add", x, mixed), f"{p}.attention.output.LayerNorm")
        inner = self._gelu(self._linear(x, f"{p}.intermediate.dense", c.hidden, c.inner))
        return self._layer_norm(self.node("Add", x, self._linear(inner, f"{p}.output.dense", c.inner, c.hidden)), f"{p}.output.LayerNorm")

    def encode(self) -> str:
        """All layers over the embedded ids."""
        x, bias = self.embed(), self.attention_bias()
        for i in range(self.config.layers):
            x = self.layer(x, bias, i)
        return x

    def mean_pool(self, x: str) -> str:
        """(b, hidden): the mean over the tokens that the mask keeps, scaled to length 1."""
        m = self.node("Cast", self.node("Unsqueeze", self.mask, self.ints(2)), to=TensorProto.FLOAT)
        total = self.node("ReduceSum", self.node("Mul", x, m), self.ints(1), keepdims=0)
        count = self.node("Clip", self.node("ReduceSum", m, self.ints(1), keepdims=0), self.scalar(1e-9))
        mean = self.node("Div", total, count)
        norm = self.node("Clip", self.node("ReduceL2", mean, self.ints(-1), keepdims=1), self.scalar(1e-12))
        return self.node("Div", mean, self.node("Expand", norm, self.node("Shape", mean)))


def build_minilm(path: Path, weights: Path) -> None:
    """all-MiniLM-L6-v2: sentence embeddings. Inputs: ids, mask (b, s) int64, s ≤ 512. Output: embedding (b, 384) float32, unit length."""
    tensors = {name.removeprefix("bert."): t for name, t in read_safetensors(weights).items()}

    def get(name: str, shape: tuple[int, ...]) -> np.ndarray:
        t = tensors[name].astype(np.float32)
        if t.shape != shape:
            raise ValueError(f"{weights.name}: {name} has shape {t.shape}, expected {shape}")
        return t

    g = _Encoder("minilm", Config(hidden=384, layers=6, heads=12, inner=1536), get)
    g.output(g.mean_pool(g.encode()), "embedding", ["b", 384])
    g.save(path)


def build_bert_base(path: Path) -> None:
    """BERT-base with seeded weights. Inputs: ids, mask (b, s) int64, s ≤ 512. Output: hidden (b, s, 768) float32."""
    rng = np.random.default_rng(SEED)

    def get(name: str, shape: tuple[int, ...]) -> np.ndarray:
        x = 0.02 * rng.standard_normal(shape, np.float32)
        return (x + 1 if name.endswith("LayerNorm.weight") else x).astype(np.float32)

    g = _Encoder("bert_base", Config(hidden=768, layers=12, heads=12, inner=3072), get)
    g.output(g.encode(), "hidden", ["b", "s", 768])
    g.save(path)
