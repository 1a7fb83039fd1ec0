"""Runs an export of the English network, which is shipped as aligner-en: log-mel features in, letters out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from ..arrays import AnyFloats, Floats
from ..data.shards import Shard, found
from ..sounds import features
from ..texts import units

MODEL = "aligner-en"


class Recogniser:
    """An ONNX file, or a folder with a model.onnx, on ONNX Runtime with one thread."""

    def __init__(self, model: str | Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        path = Path(model) / "model.onnx" if Path(model).is_dir() else Path(model)
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def log_probs(self, mel: AnyFloats) -> Floats:
        """Return the log-probabilities, (T', units + 1), of features (frames, 80) that are not normalised."""
        signal = np.ascontiguousarray(features.normalised(mel).T)[None]
        return self.session.run(None, {"audio_signal": signal, "length": np.array([signal.shape[2]])})[0][0]

    def greedy(self, log_probs: AnyFloats) -> str:
        """Return the text of the likeliest unit of each frame."""
        return units.greedy(log_probs.argmax(1), "en")


def shard_items(folder: str | Path) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield the index entry and the features, (frames, 80), of each utterance of a folder of shards."""
    for path in found(folder):
        shard = Shard(path)
        for k, item in enumerate(shard.items):
            yield item, np.asarray(shard.mel(k), np.float32)
