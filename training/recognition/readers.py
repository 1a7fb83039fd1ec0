"""Pictures in; probabilities out: through the feature filter and ONNX Runtime, or through the HTTP service."""

import io
import json
import urllib.error
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PIL import Image
from running_service import Service

from .arrays import Float32, Picture
from .labels import OPERATIONS, SETS
from .pool import Filter


class Recogniser(Protocol):
    """Whatever reads pictures."""

    def read(self, images: Sequence[Picture]) -> Float32:
        """Probabilities (n, labels); a row of zeros for a picture without ink."""
        ...


class Local:
    """The Rust feature filter, then an ONNX file (or several, whose probabilities are averaged).

    `threads`: of ONNX Runtime.
    """

    def __init__(self, paths: Sequence[Path], threads: int = 1) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.sessions = [onnxruntime.InferenceSession(str(p), options) for p in paths]
        self.filter = Filter()

    def read(self, images: Sequence[Picture]) -> Float32:
        """Probabilities (n, labels); a row of zeros where the filter found no ink."""
        squares = self.filter.features(images)
        n_labels = self.sessions[0].get_outputs()[0].shape[1]
        rows = np.zeros((len(images), n_labels), np.float32)
        found = [k for k, square in enumerate(squares) if square is not None]
        for start in range(0, len(found), 256):
            part = found[start : start + 256]
            ink = np.stack([square for k in part if (square := squares[k]) is not None])[:, None].astype(np.float32)
            rows[part] = np.mean([s.run(None, {"ink": ink / 255.0})[0] for s in self.sessions], 0)
        return rows


class Served(Service):
    """A running service: one request a picture, asking for the five best labels.

    `url`: the service's; `key`: an API key; `model`: a key of `labels.SETS`.
    """

    def __init__(self, url: str, key: str, model: str) -> None:
        super().__init__(url, key)
        self.operation, self.labels = OPERATIONS[model], SETS[model]

    def read(self, images: Sequence[Picture]) -> Float32:
        """Probabilities (n, labels), zero beyond the five best; a row of zeros where the service found no ink."""
        return np.stack([self.one(image) for image in images])

    def one(self, pixels: Picture) -> Float32:
        """The row (labels,) of one picture."""
        row = np.zeros(len(self.labels), np.float32)
        content, kind = small_enough(pixels)
        try:
            with self.uploaded(self.operation, (f"image.{kind}", content), {"top-k": "5"}) as response:
                predictions = json.load(response)["predictions"]
        except urllib.error.HTTPError as error:
            if error.code == 422:  # no ink
                return row
            raise
        for prediction in predictions:
            row[self.labels.index(prediction["label"])] = prediction["score"]
        return row


def small_enough(pixels: Picture, limit: int = 15 * 1024) -> tuple[bytes, str]:
    """The picture as a file of at most `limit` bytes, which the service's contract sets, and its kind.

    PNG where that fits, else JPEG of the best quality that does. A grey picture has one channel.
    """
    image = Image.fromarray(pixels)
    if (pixels == pixels[..., :1]).all():
        image = image.convert("L")
    ways: list[tuple[str, dict[str, Any]]] = [("png", {"optimize": True})]
    ways += [("jpeg", {"quality": q, "optimize": True}) for q in (92, 80, 65, 45, 25, 10)]
    for kind, options in ways:
        buffer = io.BytesIO()
        image.save(buffer, kind.upper(), **options)
        if buffer.tell() <= limit:
            return buffer.getvalue(), kind
    raise ValueError("the image does not fit 15 kB")
