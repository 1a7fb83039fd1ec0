"""A checkpoint in; the ONNX file with int8 weights, and transcripts with the scores that it gives out.

    python -m punctuation.export --checkpoint WORK/punctuation.pt --models-dir ../models

The table has int8 values with a scale for each column. The matrices are quantised as `exporting.quantised` says.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import learning
import numpy as np
import onnx
import torch
import tyro
from exporting import exported, quantised
from manifests import MODELS, installed, replace
from torch import Tensor, nn

from . import grams, pauses, tagger
from .model import COLUMNS, Tagger

GOLDEN: tuple[tuple[str, dict[int, float]], ...] = (
    ("ਕੀ ਤੁਸੀਂ ਕੱਲ੍ਹ ਸਕੂਲ ਗਏ ਸੀ ਨਹੀਂ ਮੈਂ ਘਰ ਹੀ ਸੀ ਮੇਰੀ ਮਾਂ ਬੀਮਾਰ ਸੀ", {5: 0.8, 10: 0.62, 14: -1}),
    ("ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਵਧੀਆ ਹੈ ਚਲੋ ਬਾਹਰ ਚੱਲੀਏ ਤੁਸੀਂ ਕਿੱਥੇ ਰਹਿੰਦੇ ਹੋ", {}),
    ("ਪਾਣੀ", {0: -1}),
    ("are you coming with us tomorrow i think so but first i have to finish this don't wait for me", {5: 0.7, 8: 0.44}),
)
"""Words, and the pauses behind some of them in seconds; 0.06 behind the others where any is named."""


class Served(nn.Module):
    """The network as it is shipped: one transcript, the table in int8."""

    def __init__(self, net: Tagger) -> None:
        super().__init__()
        self.net = net
        scale = net.table.detach().abs().amax(0) / 127
        self.register_buffer("scale", scale)
        self.register_buffer("values", torch.round(net.table.detach() / scale).to(torch.int8))

    def forward(self, grams: Tensor, times: Tensor) -> Tensor:
        """Rows [W, MOST] and pauses [W]: scores [W, labels]."""
        words = self.values[grams].float().sum(1) * self.scale
        return self.net.scores(words.reshape(1, -1, COLUMNS), times[None])[0]


def averaged(checkpoint: Path) -> Tagger:
    """The network with a checkpoint's averaged weights; row 0 of the table is zero."""
    net = Tagger()
    net.load_state_dict(learning.load(checkpoint)["average"])
    with torch.no_grad():
        net.table[0] = 0
    return net.eval()


def shipped(net: Tagger) -> onnx.ModelProto:
    """The shipped file of a network."""
    inputs = {"grams": torch.ones(40, grams.MOST, dtype=torch.int32), "pauses": torch.zeros(40)}
    return quantised(exported(Served(net), inputs, ["scores"], {name: {0: "words"} for name in (*inputs, "scores")}))


def examples(content: bytes) -> list[dict[str, Sequence[object]]]:
    """Transcripts with what the service makes of them: rows, pauses and scores."""
    reader, out = tagger.Tagger(content), []
    for text, known in GOLDEN:
        words = text.split()
        times = pauses.none(len(words))
        if known:
            times[:-1] = 0.06
            for at, pause in known.items():
                times[at] = pause
        scores = reader.scores(words, times)
        case = {"words": words, "pauses": times, "grams": grams.table(words), "scores": scores}
        out.append({name: np.asarray(value).tolist() for name, value in case.items()})
    return out


def main(checkpoint: Path, models_dir: Path = MODELS, golden: Path | None = None) -> None:
    """Exports a checkpoint with the manifest; `golden` is a file for the transcripts with their scores."""
    net = averaged(checkpoint)
    content = shipped(net).SerializeToString()
    installed(models_dir, tagger.MODEL, {"model": content})
    print(f"{tagger.MODEL}: {len(content)} bytes")
    cases = examples(content)
    for case in cases:
        with torch.no_grad():
            rows = torch.tensor([case["grams"]])
            wanted = net(rows, torch.tensor([case["pauses"]]), torch.ones(rows.shape[:2]))[0].numpy()
        print("largest difference to the network without int8:", np.abs(wanted - np.array(case["scores"])).max())
    if golden:
        replace(golden, (json.dumps(cases, ensure_ascii=False) + "\n").encode())


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
