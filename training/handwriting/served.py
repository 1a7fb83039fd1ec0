"""The drawings of characters that a running service writes; drawings are lists of strokes (n, 2) in pixels, y down."""

import json
from collections.abc import Sequence

import numpy as np
from recognition.arrays import Float64, Picture
from running_service import Service

BODY = 52.0  # pixels from headline to baseline
TOP, LINE = 100.0, 150.0  # pixels: the first baseline, and the distance between baselines that is requested
GAP = 30.0  # pixels: characters that are words of their own are further apart


class Writer(Service):
    """A running service that writes."""

    def write(self, text: str, **fields: object) -> bytes:
        """The body of the response to a text and other fields of the request."""
        body = json.dumps({"text": text, **fields}).encode()
        with self.opened("/v1/models/handwriting-generator", body, Content_Type="application/json") as response:
            return response.read()

    def strokes(self, text: str) -> list[Float64]:
        """The strokes of a text on pages as wide and long as they can be."""
        fields = {"page-width": 950, "page-length": 950, "line-space": LINE, "word-space": 100}
        points = json.loads(self.write(text, **fields))["points"]
        return [np.stack([x, y], 1).astype(float) for x, y in zip(points["x"], points["y"], strict=True)]

    def picture(self, label: str) -> Picture:
        """The picture (height, width, 3) of one character."""
        import io

        from PIL import Image

        fields = {"with-image": True, "page-width": 300, "page-length": 300}
        return np.asarray(Image.open(io.BytesIO(self.write(f"{label} ", **fields))).convert("RGB"))

    def characters(self, labels: Sequence[str]) -> list[list[Float64]]:
        """The drawings of characters that are written as one text, each a word of its own."""
        found = words(self.strokes(" ".join(labels) + " "))
        if len(found) != len(labels):
            raise ValueError(f"{len(labels)} characters were requested, and the strokes are of {len(found)}")
        return found


def words(strokes: Sequence[Float64]) -> list[list[Float64]]:
    """The strokes of each word, line by line; y = 0 is the height from which the line's letters should hang."""
    lines: dict[int, list[Float64]] = {}
    for stroke in strokes:
        line = max(0, round(float((stroke[:, 1].mean() - TOP + BODY / 2) / LINE)))
        lines.setdefault(line, []).append(stroke - [0.0, TOP - BODY + line * LINE])
    return [word for k in sorted(lines) for word in apart(lines[k])]


def apart(strokes: Sequence[Float64]) -> list[list[Float64]]:
    """Groups of strokes, from left to right, with gaps of more than GAP between them."""
    groups: list[list[Float64]] = []
    right = -np.inf
    for k in np.argsort([s[:, 0].min() for s in strokes], kind="stable"):
        stroke = strokes[k]
        if stroke[:, 0].min() > right + GAP:
            groups.append([])
        groups[-1].append(stroke)
        right = max(right, stroke[:, 0].max())
    return groups
