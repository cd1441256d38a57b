"""BERT's tokenizer: clean, lower-case, split at spaces and punctuation, then greedily into known pieces of words."""

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np

LONGEST_WORD = 100  # longer ones become [UNK], as in the original


def _is_punctuation(c: str) -> bool:
    ascii_symbol = c.isascii() and not c.isalnum() and not c.isspace() and c.isprintable()
    return ascii_symbol or unicodedata.category(c).startswith("P")


def _is_ideograph(c: str) -> bool:
    n = ord(c)
    return 0x4E00 <= n <= 0x9FFF or 0x3400 <= n <= 0x4DBF or 0xF900 <= n <= 0xFAFF or 0x20000 <= n <= 0x2CEAF or 0x2F800 <= n <= 0x2FA1F


def words(text: str) -> Iterator[str]:
    """Lower-case words without accents; punctuation marks and ideographs are words of their own."""
    text = "".join(" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cf", "Co"))
    text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    text = "".join(f" {c} " if _is_punctuation(c) or _is_ideograph(c) else c for c in text if c not in "\0�")
    yield from text.split()


class WordPiece:
    """Turns sentences into token ids."""

    def __init__(self, tokenizer_json: Path) -> None:
        model = json.loads(tokenizer_json.read_text(encoding="utf-8"))["model"]
        self.vocabulary: dict[str, int] = model["vocab"]
        self._unknown = self.vocabulary["[UNK]"]

    def _pieces(self, word: str) -> list[int]:
        if len(word) > LONGEST_WORD:
            return [self._unknown]
        ids, start = [], 0
        while start < len(word):
            prefix = "##" if start else ""
            end = next((e for e in range(len(word), start, -1) if prefix + word[start:e] in self.vocabulary), None)
            if end is None:
                return [self._unknown]
            ids.append(self.vocabulary[prefix + word[start:end]])
            start = end
        return ids

    def encode(self, sentence: str, longest: int = 512) -> list[int]:
        """Ids from [CLS] to [SEP], at most `longest` of them."""
        ids = [i for word in words(sentence) for i in self._pieces(word)]
        return [self.vocabulary["[CLS]"], *ids[: longest - 2], self.vocabulary["[SEP]"]]

    def batch(self, sentences: list[str]) -> dict[str, np.ndarray]:
        """ids and mask, both (sentences, longest) int64; shorter sentences are padded with 0."""
        encoded = [self.encode(s) for s in sentences]
        ids = np.zeros((len(encoded), max(map(len, encoded), default=0)), np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(encoded):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        return {"ids": ids, "mask": mask}
