"""Sentences of very different lengths, and how alike they are."""

import numpy as np
from timing import Stopwatch
from wordpiece import WordPiece

SENTENCES = (
    "The cat sleeps on the sofa.",
    "A kitten is napping on the couch in the living room, and nobody dares to move.",
    "Where can I catch the train to the airport?",
    "The railway to the terminal leaves from platform nine every fifteen minutes.",
    "Bake the bread for half an hour.",
    "Leave the loaf in a hot oven until, after about thirty minutes, its crust is brown and it sounds hollow when you knock on it.",
)


def embed(run: Stopwatch, tokenizer: WordPiece, sentences: tuple[str, ...]) -> np.ndarray:
    """(sentences, 384) float32 of unit length. Each sentence runs alone, at its own length."""
    return np.concatenate([run(tokenizer.batch([s]))[0] for s in sentences])


def similarity_rows(embeddings: np.ndarray) -> list[list[str]]:
    """Cosines of all pairs; an arrow marks each sentence's nearest neighbour."""
    cosines = embeddings @ embeddings.T
    others = cosines - 2 * np.eye(len(cosines))
    nearest = others.argmax(axis=1)
    return [
        [str(i + 1)] + [f"{'>' if j == nearest[i] else ''}{c:.2f}" if i != j else "·" for j, c in enumerate(row)]
        for i, row in enumerate(cosines)
    ]
