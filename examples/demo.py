"""Real models on inputs whose shape changes with every picture and sentence. Started by `./demo`.

Draws pages of text, finds and reads the text with PP-OCRv4's detector and recogniser, compares sentences with MiniLM, and
shows what came out together with the shapes and the latencies. Pictures go to `out/demo/`.
"""

import argparse
import sys
import time
from pathlib import Path

import picture
from corpus import engines
from corpus.fetch import FetchError
from corpus.paths import model_path
from corpus.store import ensure, weights_path
from pages import PAGES
from reader import Reader
from recognise import charset
from sentences import SENTENCES, embed, similarity_rows
from timing import Stopwatch, print_table
from wordpiece import WordPiece

ROOT = Path(__file__).resolve().parent.parent
HEAD = ("shape", "first ms", "then ms")
SHOWN = 12  # shapes of each model in the closing tables
MODELS = ("ppocrv4_det", "ppocrv4_rec", "minilm")


def title(text: str) -> None:
    """A section begins."""
    print(f"\n== {text}", flush=True)


def load(engine: str, threads: int) -> dict[str, engines.Engine]:
    """Import the models, saying how long each took."""
    title("import")
    loaded = {}
    for name in MODELS:
        path = model_path(name)
        begin = time.perf_counter()
        model = engines.load(engine, path, threads)
        ms = 1e3 * (time.perf_counter() - begin)
        print(f"   {name:12} {path.stat().st_size / 1e6:6.1f} MB   {ms:7.1f} ms   ({engine} {model.version})", flush=True)
        loaded[name] = model
    return loaded


def read_pages(reader: Reader, scales: list[float], out: Path) -> None:
    """Draw each page at each scale, read it, and save a picture of both."""
    exact = total = 0
    for page in PAGES:
        for scale in scales:
            drawn = page.draw(scale)
            title(f"{page.name}, {drawn.width} × {drawn.height} pixels")
            reading = reader(drawn)
            for text, sure in zip(reading.texts, reading.confidence, strict=True):
                print(f"   {sure:4.0%}  {text}", flush=True)
            right = sum(text in reading.texts for text in page.text)
            exact, total = exact + right, total + len(page.text)
            target = out / f"{page.name}-{drawn.width}x{drawn.height}.png"
            caption = (
                f"{page.name}, {drawn.width} × {drawn.height}: {len(reading.boxes)} boxes, {right} of {len(page.text)} lines read exactly"
            )
            picture.save(picture.show_reading(drawn, reading.boxes, reading.texts, caption), target)
            print(f"   {right} of {len(page.text)} lines read exactly; picture: {target}")
    title(f"{exact} of {total} lines read exactly, over {len(PAGES) * len(scales)} pictures")


def compare_sentences(model: Stopwatch) -> None:
    """Print the table of similarities."""
    title("sentences (cosine of MiniLM's embeddings; > marks the nearest other one)")
    for i, sentence in enumerate(SENTENCES):
        print(f"   {i + 1}  {sentence}")
    embeddings = embed(model, WordPiece(weights_path("minilm.tokenizer.json")), SENTENCES)
    print_table(["", *(str(i + 1) for i in range(len(SENTENCES)))], similarity_rows(embeddings))


def shown(watch: Stopwatch) -> str:
    """Says so if the table leaves shapes out."""
    return f"; {SHOWN} of them again:" if len(watch.times) > SHOWN else "; again:"


def readme_picture(out: Path, scale: float) -> None:
    """One picture of all pages, for the README."""
    from PIL import Image

    sheets = []
    for page in PAGES:
        (path,) = out.glob(f"{page.name}-{round(page.width * scale)}x{round(page.height * scale)}.png")
        sheets.append(Image.open(path))
    target = ROOT / "docs" / "images" / "demo.png"
    picture.save(picture.montage(sheets, 900), target)
    print(f"   for the README: {target}")


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one resolution per page, fewer repetitions")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "demo", help="where the pictures go")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--engine", choices=["msvm", "ort"], default="msvm", help="ort: the same demo on ONNX Runtime, to compare")
    parser.add_argument("--readme", action="store_true", help="also write docs/images/demo.png")
    args = parser.parse_args()
    scales, runs = ([1.0], 1) if args.quick else ([1.0, 0.75, 1.25], 3)
    try:
        ensure(list(MODELS))
    except FetchError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    models = load(args.engine, args.threads)
    watches = {name: Stopwatch(model.run) for name, model in models.items()}
    characters = charset(models["ppocrv4_rec"].metadata)
    read_pages(Reader(watches["ppocrv4_det"], watches["ppocrv4_rec"], characters), scales, args.out)
    compare_sentences(watches["minilm"])
    for name, watch in watches.items():
        title(f"{name}: {len(watch.times)} shapes in {sum(map(len, watch.times.values()))} runs" + shown(watch))
        print_table(HEAD, watch.rows(watch.settle(SHOWN, runs)))
    if args.readme:
        readme_picture(args.out, 1.0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
