"""A picture's bytes in; the digit's scores out, as a Python user of Pillow, numpy and onnxruntime writes it.

Simpler than inference/src/ink on purpose: no paper field, no second look, no stroke evening. It reads clean
pictures such as tests/fixtures/images/digit-5.png, so the comparison does not charge it for what it lacks.
"""

import io
import os

import numpy as np
import onnxruntime
from PIL import Image

SIDE, MARGIN, WORK = 48, 3, 128
LABELS = "੦੧੨੩੪੫੬੭੮੯"


def open_session() -> onnxruntime.InferenceSession:
    """One thread a session: there is one process a core."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(os.environ["DIGITS_ONNX"], options, providers=["CPUExecutionProvider"])


def prepare(image: Image.Image) -> np.ndarray:
    """Ink coverage, float32 (1, 48, 48): 0 is paper, 1 is ink; the mark fills the square but a margin."""
    image = image.convert("L")
    image.thumbnail((WORK, WORK), Image.Resampling.BOX)
    grey = np.asarray(image, dtype=np.float32) / 255
    ink = np.abs(grey - np.median(grey))
    ink = np.clip((ink / max(float(ink.max()), 1e-6) - 0.28) / 0.34, 0, 1)
    rows, columns = np.flatnonzero(ink.max(axis=1) > 0.5), np.flatnonzero(ink.max(axis=0) > 0.5)
    if rows.size == 0:
        raise ValueError("no ink")
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = (SIDE - 2 * MARGIN) / max(ink.shape)
    size = (max(1, round(ink.shape[1] * scale)), max(1, round(ink.shape[0] * scale)))
    mark = Image.fromarray(ink).resize(size, Image.Resampling.BILINEAR)
    square = np.zeros((1, SIDE, SIDE), dtype=np.float32)
    left, top = (SIDE - size[0]) // 2, (SIDE - size[1]) // 2
    square[0, top : top + size[1], left : left + size[0]] = np.asarray(mark)
    return square


def decode(data: bytes) -> np.ndarray:
    """The features of an encoded picture."""
    return prepare(Image.open(io.BytesIO(data)))


def classify(session: onnxruntime.InferenceSession, squares: list[np.ndarray]) -> np.ndarray:
    """Scores (n, 10) of n squares, in one run."""
    return session.run(["probabilities"], {"ink": np.stack(squares)})[0]


def answer(scores: np.ndarray) -> dict:
    """The three best, by falling score."""
    best = np.argsort(scores)[::-1][:3]
    return {"predictions": [{"label": LABELS[i], "score": float(scores[i])} for i in best]}
