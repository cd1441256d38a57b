"""The demo's pieces, and the whole: text that was drawn is found and read, letter by letter."""

import json

import detect
import numpy as np
import pytest
from corpus.store import ensure, weights_path
from model_under_test import ours
from pages import PAGES
from reader import Reader
from recognise import charset, decode
from sentences import SENTENCES, embed
from timing import Stopwatch
from wordpiece import WordPiece


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_drawn_text_is_read(page):
    reader = Reader(ours("ppocrv4_det").run, ours("ppocrv4_rec").run, charset(ours("ppocrv4_rec").metadata))
    assert sorted(reader(page.draw()).texts) == sorted(page.text)


def test_like_sentences_are_near():
    run = Stopwatch(ours("minilm").run)
    e = embed(run, WordPiece(weights_path("minilm.tokenizer.json")), SENTENCES)
    assert len(run.times) == len(SENTENCES)  # each at a shape of its own
    np.testing.assert_allclose(np.linalg.norm(e, axis=1), 1, atol=1e-5)
    assert (e @ e.T - 2 * np.eye(len(e))).argmax(axis=1).tolist() == [1, 0, 3, 2, 5, 4]


def test_padding_changes_nothing():
    """A batch of sentences of different lengths gives what each gives alone."""
    ensure(["minilm"])
    tokenizer = WordPiece(weights_path("minilm.tokenizer.json"))
    alone = np.concatenate([ours("minilm").run(tokenizer.batch([s]))[0] for s in SENTENCES])
    np.testing.assert_allclose(ours("minilm").run(tokenizer.batch(list(SENTENCES)))[0], alone, rtol=1e-3, atol=1e-4)


def test_regions():
    """Touching by a corner is touching; a U is one region; an empty row parts."""
    picture = """
        ##...#.#
        ..#..#.#
        .....###
        ........
        #......#
    """
    mask = np.array([[c == "#" for c in line.strip()] for line in picture.split()])
    assert detect.regions(mask) == [(0, 0, 3, 2), (5, 0, 8, 3), (0, 4, 1, 5), (7, 4, 8, 5)]
    assert detect.regions(np.zeros((3, 0), bool)) == []


def test_ctc():
    """Repeats merge unless a blank parts them."""
    characters = ["", "a", "b"]
    steps = np.eye(3, dtype=np.float32)[[0, 1, 1, 0, 1, 2, 2, 0]]
    assert decode(steps, characters) == ("aab", 1.0)
    assert decode(steps[:0], characters) == ("", 0.0)
    with pytest.raises(ValueError, match="3 classes, the charset 2"):
        decode(steps, characters[:2])


def test_wordpiece(tmp_path):
    """Longest piece first; accents and case don't matter; a word with an unknown rest is unknown as a whole."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##able", "##ab", "cafe", "!", "日"]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"model": {"vocab": {p: i for i, p in enumerate(pieces)}}}))
    tokenizer = WordPiece(path)
    assert tokenizer.encode("UNABLE Café!日 unx") == [2, 4, 5, 7, 8, 9, 1, 3]
    assert tokenizer.encode("cafe " * 9, longest=4) == [2, 7, 7, 3]
    batch = tokenizer.batch(["cafe", "cafe!"])
    assert batch["ids"].tolist() == [[2, 7, 3, 0], [2, 7, 8, 3]] and batch["mask"].tolist() == [[1, 1, 1, 0], [1] * 4]
