"""The pictures of the book: a running service and the tests' fixtures come in, docs/src/images/*.png come out.

    pip install pillow
    python docs/pictures.py --url http://127.0.0.1:8080 --key ak_… --font NotoSansGurmukhi-Regular.ttf

Run it in the repository's root. The service makes the handwriting anew each time, so every run draws other hands.
"""

import argparse
import io
import json
import urllib.request
import uuid
import wave
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FIXTURES = Path("tests/fixtures")
IMAGES = Path("docs/src/images")
PAPER, INK, FAINT, ACCENT = "white", "#222222", "#bbbbbb", "#1f5fbf"
DIGITS = (
    "digit-5.png",
    "digit-0.png",
    "digit-1-pencil.jpg",
    "digit-3-photo.jpg",
    "digit-7-chalk.png",
    "digit-9-lined.jpg",
)
LETTERS = (
    "letter-ka.png",
    "letter-sha.png",
    "letter-ga-photo.jpg",
    "letter-ra-squared.jpg",
    "letter-ha-marker.png",
    "letter-ta-chalk.jpg",
)
# One colour for each stroke in turn; chosen so that neighbours differ in lightness too.
STROKES = ("#1b6ca8", "#d1495b", "#2f7d4f", "#8a4fb0", "#c77d0a", "#0f8b8d")


@dataclass(frozen=True)
class Service:
    """A running service and a key for it."""

    url: str
    key: str

    def post(self, operation: str, body: bytes, content_type: str, accept: str = "*/*") -> bytes:
        """The body of the response to one request."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": content_type, "Accept": accept}
        request = urllib.request.Request(f"{self.url}/v1/models/{operation}", data=body, headers=headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.read()

    def upload(self, operation: str, file: Path, **fields: str) -> dict:
        """The answer to a file."""
        boundary = uuid.uuid4().hex
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name.replace("_", "-")}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        ]
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{file.name}"\r\n\r\n'
        body = "".join(parts).encode() + head.encode() + file.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
        return json.loads(self.post(operation, body, f"multipart/form-data; boundary={boundary}"))

    def write(self, **fields: object) -> Image.Image:
        """A picture of handwriting."""
        body = json.dumps({"with-image": True, **{k.replace("_", "-"): v for k, v in fields.items()}}).encode()
        return Image.open(io.BytesIO(self.post("handwriting-generator", body, "application/json"))).convert("RGB")

    def strokes(self, **fields: object) -> list[list[tuple[float, float]]]:
        """The strokes of a handwriting."""
        body = json.dumps({k.replace("_", "-"): v for k, v in fields.items()}).encode()
        points = json.loads(self.post("handwriting-generator", body, "application/json"))["points"]
        return [list(zip(x, y, strict=True)) for x, y in zip(points["x"], points["y"], strict=True)]


def typeface(text: str, gurmukhi: ImageFont.FreeTypeFont) -> ImageFont.FreeTypeFont:
    """The typeface for a caption: Pillow's own where it is Latin."""
    latin = ImageFont.load_default(gurmukhi.size * 0.85)
    return latin if text.isascii() and isinstance(latin, ImageFont.FreeTypeFont) else gurmukhi


def row(cells: list[tuple[Image.Image, list[str]]], font: ImageFont.FreeTypeFont, gap: int = 24) -> Image.Image:
    """Pictures side by side, each framed, with lines of text below it."""
    line = int(font.size * 1.5)
    height = max(image.height for image, _ in cells) + line * max(len(text) for _, text in cells) + gap
    sheet = Image.new("RGB", (sum(image.width + gap for image, _ in cells) + gap, height + gap), PAPER)
    draw, x = ImageDraw.Draw(sheet), gap
    for image, text in cells:
        sheet.paste(image, (x, gap))
        draw.rectangle((x - 1, gap - 1, x + image.width, gap + image.height), outline=FAINT)
        for at, words in enumerate(text):
            place = (x + image.width / 2, gap + image.height + 8 + at * line)
            draw.text(place, words, font=typeface(words, font), fill=INK, anchor="ma")
        x += image.width + gap
    return sheet


def recognised(service: Service, operation: str, names: tuple[str, ...], font: ImageFont.FreeTypeFont) -> Image.Image:
    """Fixtures of one height, and what each was read as."""
    cells = []
    for name in names:
        file = FIXTURES / "images" / name
        image = Image.open(file).convert("RGB")
        image = image.resize((image.width * 240 // image.height, 240), Image.Resampling.LANCZOS)
        best = service.upload(operation, file)["predictions"][0]
        cells.append((image, [best["label"], f"{best['score']:.6f}"]))
    return row(cells, font)


def strokes(service: Service, font: ImageFont.FreeTypeFont) -> Image.Image:
    """The points of a word, each stroke in its colour with its number in the order of writing."""
    scale, margin, path = 8, 18, service.strokes(text="ਪੰਜਾਬੀ")
    left, top = (min(p[axis] for s in path for p in s) - margin for axis in (0, 1))
    path = [[(x - left, y - top) for x, y in stroke] for stroke in path]
    width, height = (int((max(p[axis] for s in path for p in s) + margin) * scale) for axis in (0, 1))
    sheet = Image.new("RGB", (width, height), PAPER)
    draw, latin = ImageDraw.Draw(sheet), typeface("1", font.font_variant(size=56))
    for number, stroke in enumerate(path, 1):
        colour = STROKES[number % len(STROKES)]
        for x, y in stroke:
            draw.ellipse((x * scale - 5, y * scale - 5, x * scale + 5, y * scale + 5), fill=colour)
        x, y = stroke[0]
        draw.ellipse((x * scale - 12, y * scale - 12, x * scale + 12, y * scale + 12), outline=colour, width=4)
        draw.text((x * scale - 14, y * scale - 14), str(number), font=latin, fill=colour, anchor="rd")
    return sheet.resize((sheet.width // 2, sheet.height // 2), Image.Resampling.LANCZOS)


def segments(service: Service, file: Path, font: ImageFont.FreeTypeFont) -> Image.Image:
    """A recording's waveform over time, and the segments heard in it."""
    width, height, left = 1400, 420, 40
    with wave.open(str(file)) as recording:
        rate, n = recording.getframerate(), recording.getnframes()
        samples = memoryview(recording.readframes(n)).cast("h")
    heard = service.upload("speech-recognition", file, with_timestamps="true")["timestamps"]
    sheet = Image.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(sheet)
    scale, middle, n_seconds = (width - 2 * left) / (n / rate), 110, n / rate
    for segment in heard:
        x0, x1 = left + segment["start"] * scale, left + segment["end"] * scale
        times = f"{segment['start']} to {segment['end']} s"
        draw.rectangle((x0, 20, x1, 300), fill="#e8f0fb", outline=ACCENT)
        draw.text(((x0 + x1) / 2, 215), segment["transcription"], font=font, fill=INK, anchor="ma")
        draw.text(((x0 + x1) / 2, 262), times, font=typeface(times, font), fill=ACCENT, anchor="ma")
    for x in range(left, width - left):
        at = int((x - left) / scale * rate)
        loudest = max((abs(s) for s in samples[at : at + int(rate / scale) + 1]), default=0)
        reach = loudest / 32768 * 90
        draw.line((x, middle - reach, x, middle + reach), fill="#667788")
    draw.line((left, 320, width - left, 320), fill=INK)
    for second in range(int(n_seconds) + 1):
        x = left + second * scale
        draw.line((x, 320, x, 330), fill=INK)
        draw.text((x, 338), f"{second} s", font=typeface("s", font), fill=INK, anchor="ma")
    return sheet


def handwriting(service: Service, font: ImageFont.FreeTypeFont) -> dict[str, Image.Image]:
    """The pictures of the handwriting's page: what each parameter does."""
    text, two = "ਪੰਜਾਬੀ ਲਿਖਤ", "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\nਜੀ ਆਇਆਂ ਨੂੰ"

    def pictures(rows: list[dict[str, object]], height: int, **common: object) -> Image.Image:
        cells = []
        for fields in rows:
            caption = ", ".join(f"{k.replace('_', '-')} {v}" for k, v in fields.items())
            page = service.write(**common, **fields)
            cells.append((page.crop((0, 0, page.width, min(height, page.height))), [caption]))
        return row(cells, font)

    spaces = {"text": text, "page_width": 500, "page_length": 300}
    return {
        "handwriting-colours": pictures(
            [{"stroke_color": c} for c in ("black", "blue", "pink", "green", "yellow", "brown")],
            120, text="ਅੱਖਰ", page_width=300, page_length=300,
        ),
        "handwriting-widths": pictures(
            [{"stroke_width": w} for w in (1.0, 2.5, 5.0, 8.0)], 120, text="ਅੱਖਰ", page_width=300, page_length=300
        ),
        "handwriting-char-space": pictures([{"char_space": c} for c in (30, 35, 50)], 130, **spaces),
        "handwriting-word-space": pictures([{"word_space": w} for w in (70, 75, 100)], 130, **spaces),
        "handwriting-line-space": pictures(
            [{"line_space": n} for n in (120, 125, 150)], 300, text=two, page_width=500, page_length=400
        ),
        "handwriting-page-width": pictures(
            [{"page_width": w} for w in (300, 550, 950)], 600, text="ਪੰਜਾਬੀ ਲਿਖਤ, ਹੱਥ ਦੀ ਲਿਖੀ।", page_length=300
        ),
    }  # fmt: skip


def main() -> None:
    """Draws all of them."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--url", default="http://127.0.0.1:8080")
    arguments.add_argument("--key", required=True)
    arguments.add_argument("--font", type=Path, required=True, help="a typeface with Gurmukhi and Latin letters")
    arguments.add_argument("--only", default="", help="pictures whose name begins with this")
    options = arguments.parse_args()
    service, font = Service(options.url, options.key), ImageFont.truetype(options.font, 26)
    makers = {
        "digits": lambda: {"digits": recognised(service, "digit-recognition", DIGITS, font)},
        "letters": lambda: {"letters": recognised(service, "alphabet-recognition", LETTERS, font)},
        "handwriting": lambda: {**handwriting(service, font), "handwriting-strokes": strokes(service, font)},
        "speech": lambda: {
            "speech-segments": segments(service, FIXTURES / "audio/pa-two-sentences.wav", font)
        },
    }  # fmt: skip
    for name, make in makers.items():
        if not name.startswith(options.only):
            continue
        for file, image in make().items():
            path = IMAGES / f"{file}.png"
            n_colours = 256 if name in {"digits", "letters"} else 64
            image.quantize(n_colours).save(path, optimize=True)
            print(path, image.size, path.stat().st_size)


if __name__ == "__main__":
    main()
