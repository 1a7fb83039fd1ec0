"""Recognises speech with an exported model: log-mel features in, text out, greedy or as the service decodes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from . import beam, decoding, features, ngram, units
from .arrays import AnyFloats, Floats
from .shards import Shard, found


class Recogniser:
    """An ONNX file, or a folder with a model.onnx, on ONNX Runtime, with a language model where `lm` names one.

    `tuned`: weight of the language model and bonus for each unit; `width`: prefixes that the beam search keeps.
    """

    def __init__(
        self,
        model: str | Path,
        language: str,
        lm: str | Path | None = None,
        threads: int = 1,
        tuned: tuple[float, float] | None = None,
        width: int = decoding.WIDTH,
    ) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        path = Path(model) / "model.onnx" if Path(model).is_dir() else Path(model)
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.language, self.lm = language, ngram.Model(lm) if lm else None
        self.tuned, self.width = tuned or decoding.TUNED[language], width

    def log_probs(self, mel: AnyFloats) -> Floats:
        """Return the log-probabilities, (T', units + 1), of features (frames, 80) that are not normalised."""
        signal = np.ascontiguousarray(features.normalised(mel, features.cmvn()).T)[None]
        return self.session.run(None, {"audio_signal": signal, "length": np.array([signal.shape[2]])})[0][0]

    def greedy(self, log_probs: AnyFloats) -> str:
        """Return the text of the likeliest unit of each frame."""
        return units.greedy(log_probs.argmax(1), self.language)

    def beam(self, log_probs: AnyFloats) -> str:
        """Return the text as the service decodes it: empty below the least confidence, else by beam search."""
        if units.confidence(log_probs, self.language) < decoding.MIN_CONFIDENCE[self.language]:
            return ""
        weight, bonus = self.tuned
        ids = beam.search(log_probs, self.lm, weight, bonus, width=self.width)
        return units.decode(ids, self.language)

    def texts(self, log_probs: AnyFloats) -> dict[str, str]:
        """Return the text of each decoder: "greedy", and "beam + lm" where there is a language model."""
        said = {"greedy": self.greedy(log_probs)}
        if self.lm:
            said["beam + lm"] = self.beam(log_probs)
        return said


def shard_items(folder: str | Path) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield the index entry and the features, (frames, 80), of each utterance of a folder of shards."""
    for path in found(folder):
        shard = Shard(path)
        for k, item in enumerate(shard.items):
            yield item, np.asarray(shard.mel(k), np.float32)
