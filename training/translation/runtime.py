"""The shipped files in plain onnxruntime: greedy decoding with the cache, as Optimum runs them."""

import numpy as np
import onnxruntime

from .manifest import MODEL, NO_REPEAT
from .tokeniser import EOS, PAD


def barred(ids, n):
    """Tokens that would repeat an n-gram of `ids`."""
    if len(ids) < n:
        return []
    tail = tuple(ids[len(ids) - n + 1 :])
    return [ids[k + n - 1] for k in range(len(ids) - n + 1) if tuple(ids[k : k + n - 1]) == tail]


class Runtime:
    """Sessions over the files of a folder."""

    def __init__(self, folder, threads=1):
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

    def encoded(self, ids, mask):
        """A state to step from; `ids`, `mask`: i64 [B, S]."""
        hidden = self.encoder.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return {"mask": mask, "hidden": hidden, "past": None}

    def step(self, state, ids):
        """`ids`: i64 [B, T], the tokens since the last step -> logits f32 [B, T, V]."""
        first = state["past"] is None
        past = state["past"] or {
            name: np.zeros((len(ids), self.heads, 1, self.width), np.float32) for name in self.names
        }
        given = self.decoder.run(
            None,
            {
                "encoder_attention_mask": state["mask"],
                "input_ids": ids,
                "encoder_hidden_states": state["hidden"],
                **past,
                "use_cache_branch": np.array([not first]),
            },
        )
        given = dict(zip(self.outputs, given))
        state["past"] = {
            name: past[name] if not first and ".encoder." in name else given[name.replace("past_key_values", "present")]
            for name in self.names
        }
        return given["logits"]

    def greedy(self, sources, languages, limit):
        """`sources`: lists of ids; `languages`: the forced first tokens -> lists of ids from `</s>` on."""
        width = max(map(len, sources))
        ids = np.array([s + [PAD] * (width - len(s)) for s in sources])
        state = self.encoded(ids, (ids != PAD).astype(np.int64))
        said = [[EOS, language] for language in languages]
        self.step(state, np.full((len(sources), 1), EOS))
        while len(said[0]) < limit + 1 and not all(s[-1] == EOS or s[-1] == PAD for s in said):
            logits = self.step(state, np.array([[s[-1]] for s in said]))[:, -1]
            for row, s in zip(logits, said):
                row[barred(s, NO_REPEAT)] = -np.inf
                s.append(PAD if s[-1] in (EOS, PAD) else int(row.argmax()))
        return [[i for i in s if i != PAD] for s in said]
