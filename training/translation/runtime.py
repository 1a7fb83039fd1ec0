"""The shipped files in onnxruntime alone: greedy decoding with the decoder's cache, called as Optimum calls them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from .manifest import MODEL, NO_REPEAT
from .tokeniser import EOS, PAD


@dataclass
class State:
    """What the decoder needs from one step to the next; B texts of S source tokens."""

    mask: NDArray[np.int64]
    """[B, S]: 1 for a token, 0 for padding."""
    hidden: NDArray[np.float32]
    """[B, S, D]: the encoder's output."""
    past: dict[str, NDArray[np.float32]] | None = None
    """The cache by input name, each [B, heads, length, width]; None before the first step."""


def barred(ids: Sequence[int], n: int) -> list[int]:
    """The tokens that would repeat an n-gram of `ids`."""
    if len(ids) < n:
        return []
    tail = tuple(ids[len(ids) - n + 1 :])
    return [ids[k + n - 1] for k in range(len(ids) - n + 1) if tuple(ids[k : k + n - 1]) == tail]


class Runtime:
    """Sessions over the files of a folder, with so many threads each."""

    def __init__(self, folder: str | Path, threads: int = 1) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.encoder, self.decoder = (
            onnxruntime.InferenceSession(f"{folder}/{MODEL}.{part}.onnx", options, providers=["CPUExecutionProvider"])
            for part in ("encoder", "decoder")
        )
        self.names = [i.name for i in self.decoder.get_inputs() if i.name.startswith("past_key_values")]
        self.outputs = [o.name for o in self.decoder.get_outputs()]
        shape = self.decoder.get_inputs()[3].shape
        self.heads, self.width = shape[1], shape[3]

    def encoded(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> State:
        """The state after the encoder; `ids` and `mask` are [B, S]."""
        hidden = self.encoder.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return State(mask, hidden)

    def step(self, state: State, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Logits [B, T, vocabulary] of the T tokens since the last step, `ids` [B, T]; advances the state."""
        first = state.past is None
        past = state.past or {name: np.zeros((len(ids), self.heads, 1, self.width), np.float32) for name in self.names}
        results = self.decoder.run(
            None,
            {
                "encoder_attention_mask": state.mask,
                "input_ids": ids,
                "encoder_hidden_states": state.hidden,
                **past,
                "use_cache_branch": np.array([not first]),
            },
        )
        given = dict(zip(self.outputs, results, strict=True))
        state.past = {
            name: past[name] if not first and ".encoder." in name else given[name.replace("past_key_values", "present")]
            for name in self.names
        }
        return given["logits"]

    def greedy(self, sources: Sequence[list[int]], languages: Sequence[int], limit: int) -> list[list[int]]:
        """Greedy translations: lists of ids from `</s>` on, at most `limit` after it.

        `sources` are ids as the encoder takes them; `languages` the ids of the target language tokens, one a source.
        """
        width = max(map(len, sources))
        ids = np.array([s + [PAD] * (width - len(s)) for s in sources])
        state = self.encoded(ids, (ids != PAD).astype(np.int64))
        outputs = [[EOS, language] for language in languages]
        self.step(state, np.full((len(sources), 1), EOS))
        while len(outputs[0]) < limit + 1 and not all(s[-1] == EOS or s[-1] == PAD for s in outputs):
            logits = self.step(state, np.array([[s[-1]] for s in outputs]))[:, -1]
            for row, s in zip(logits, outputs, strict=True):
                row[barred(s, NO_REPEAT)] = -np.inf
                s.append(PAD if s[-1] in (EOS, PAD) else int(row.argmax()))
        return [[i for i in s if i != PAD] for s in outputs]
