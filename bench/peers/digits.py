"""Digit recognition as a Python user of Pillow, NumPy and ONNX Runtime would write it, for the servers compared here.

It is simpler than inference/src/ink on purpose: no paper field, no second look, no stroke evening. The comparison sends
clean pictures such as tests/fixtures/images/digit-5.png, which do not need these. `DIGITS_ONNX` in the environment is
the path of the model.
"""

import io
import os

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from PIL import Image

SIDE, MARGIN, WORK = 48, 3, 128
LABELS = "੦੧੨੩੪੫੬੭੮੯"


def open_session() -> onnxruntime.InferenceSession:
    """A session of one thread, as there is one process for each core."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(os.environ["DIGITS_ONNX"], options, providers=["CPUExecutionProvider"])


def prepare(image: Image.Image) -> NDArray[np.float32]:
    """Ink coverage [1, 48, 48]: 0 is paper, 1 is ink; the mark fills the square up to a margin.

    Raises ValueError where no ink is found.
    """
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


def decode(data: bytes) -> NDArray[np.float32]:
    """The ink coverage of an encoded picture, as `prepare` gives it."""
    return prepare(Image.open(io.BytesIO(data)))


def classify(session: onnxruntime.InferenceSession, squares: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Scores [n, 10] of n squares, in one run."""
    return session.run(["probabilities"], {"ink": np.stack(squares)})[0]


def answer(scores: NDArray[np.float32]) -> dict[str, list[dict[str, str | float]]]:
    """`predictions`: label and score of the three best, by falling score; `scores` is [10]."""
    best = np.argsort(scores)[::-1][:3]
    return {"predictions": [{"label": LABELS[i], "score": float(scores[i])} for i in best]}
