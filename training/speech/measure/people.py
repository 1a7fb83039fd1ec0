"""Judges networks of Panjabi by recordings of people, and chooses one of them.

    python -m speech.measure.people --data DIR --lm ../models/weights/speech-pa.lm --held WORK/eval \
        --networks ../models/weights/speech-pa.onnx WORK/full.pt WORK/full.pt=0.4 --out WORK/chosen.pt

A network is a checkpoint, also of a training that is running, or an ONNX file; `FILE=0.4` is a mixture, 0.4 of it and
0.6 of the first network, weight by weight. The table that is printed has a row for each set and a column for each
network: what is wrong in the texts of the search, with the weights that the service has. `drift` is how far the
encoder's outputs for English recordings of people have moved from those of the first network: the mean cosine distance
and the relative distance of the outputs, normalised as the first network's head does.

The network with the fewest wrong letters in what people said is chosen, of those that no other set shows to be worse
than the first: none is chosen by synthetic voices alone. `--every 6` takes every sixth of the digit strings, of the
English recordings and of the synthetic utterances, so that the table is there within a minute.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import learning
import numpy as np
import torch
import tyro
from torch import Tensor

from ..arrays import AnyFloats, Floats
from ..data import batches, real
from ..search import ctc
from ..sounds import features
from ..texts import units
from ..whisper_ctc.encoder import out_length
from ..whisper_ctc.export import PADDING_S
from ..whisper_ctc.model import Recogniser, heard, loaded
from .judgement import SENTENCE, SPONTANEOUS, WHOLE, WORDS, Drift, Figures, chosen, table

TUNED, WIDTH = (0.7, 1.8), 32  # models/speech-pa.toml: lm_weight and insertion_bonus; beam_width
SILENCE = float(np.log(1e-10))  # a log-mel of Whisper's front end
LONGEST = 2400  # frames of 10 ms of an English recording that are compared
SPELT = "English digits and letters"
SYNTHETIC = ("clean", "degraded", "babble", "words", "kokoro")
Heard = tuple[str, Floats, str]  # set, log-mels (frames, 80), text


def with_silence(mel: AnyFloats) -> Tensor:
    """Return the network's input, (1, 80, T), of log-mels (frames, 80) with silence before and behind them."""
    silence = np.full((round(PADDING_S * 100), features.MELS), SILENCE, np.float32)
    joined = features.normalised(np.concatenate([silence, mel, silence]), features.WHISPER)
    return torch.from_numpy(np.ascontiguousarray(joined.T))[None]


@torch.no_grad()
def outputs(net: Recogniser, mel: AnyFloats) -> tuple[Tensor, Tensor]:
    """Return the encoder's outputs for a recording, (1, T, 512), and their number, (1,)."""
    signal = with_silence(mel)
    lengths = torch.tensor([signal.shape[2]])
    return net.encoder(signal, lengths), out_length(lengths)


@dataclass
class Judge:
    """The recordings by which networks are judged, and the first one's outputs."""

    first: Recogniser
    data: Path
    lm: Path
    held: Path | None = None
    every: int = 1

    @cached_property
    def judging(self) -> set[str]:
        """The speakers of en-accented who are in no training."""
        everybody = {who for who, *_ in real.accented(self.data)}
        return everybody - real.learnt(everybody)

    def _panjabi(self) -> Iterator[tuple[str, Floats, str]]:
        """Yield set, samples and text of what people said in Panjabi, or spelt in English."""
        for name, samples, text in real.read_aloud(self.data):
            yield (WORDS if "/" in name else SENTENCE), samples, text
        yield from ((SPONTANEOUS, samples, text) for _, samples, text in real.spontaneous(self.data) if text)
        for who, _, samples, text in list(real.panjabi(self.data))[:: self.every]:
            yield f"digits of {who}", real.voiced(samples), text
        for who, _, samples, text in real.spelt(self.data):
            if who in self.judging:
                yield SPELT, real.voiced(samples), text

    def _english(self) -> Iterator[tuple[str, Floats]]:
        """Yield set and samples of what people said in English."""
        yield from (("en-accented", row[3]) for row in real.accented(self.data) if row[0] in self.judging)
        for name in ("en-read-matthes", "en-misc-tests"):
            yield from ((name, samples) for _, samples, _ in real.reading(self.data, name))

    @cached_property
    def spoken(self) -> list[Heard]:
        """What people said."""
        return [(name, features.log_mel(samples, features.WHISPER), text) for name, samples, text in self._panjabi()]

    @cached_property
    def synthetic(self) -> list[Heard]:
        """What synthetic voices said, in the folders of `held` that are there."""
        folders = [self.held / name for name in SYNTHETIC] if self.held else []
        found = [folder for folder in folders if folder.exists()]
        rows = ((folder.name, row) for folder in found for row in batches.rows(folder, "pa")[:: self.every])
        return [(name, row.values(), row.item["text"]) for name, row in rows]

    @cached_property
    def english(self) -> list[tuple[str, Floats, AnyFloats]]:
        """Set, log-mels and the first network's outputs, (T, 512), of each recording in English."""
        some = list(self._english())[:: self.every]
        mels = [(name, features.log_mel(samples, features.WHISPER)[:LONGEST]) for name, samples in some]
        return [(name, mel, self.normalised(self.first, mel).astype(np.float16)) for name, mel in mels]

    @torch.no_grad()
    def text(self, net: Recogniser, mel: AnyFloats) -> str:
        """Return what a network reads, by the search."""
        found = ctc.searched(net.head(*outputs(net, mel))[0].numpy(), self.lm, TUNED, WIDTH)
        return units.decode(found.units, "pa") if found else ""

    def normalised(self, net: Recogniser, mel: AnyFloats) -> Floats:
        """Return the encoder's outputs, (T, 512), as the first network's head normalises them."""
        head = self.first.head
        return ((outputs(net, mel)[0][0] - head.mean) / head.deviation).numpy()

    def judged(self, net: Recogniser) -> Figures:
        """Return the figures of a network."""
        figures = Figures()
        for name, mel, text in self.spoken:
            said = self.text(net, mel)
            if name.startswith("digits"):
                figures.count(name, "words", text.split(), said.split())
            else:
                figures.count(name, "letters", text.replace(" ", ""), said.replace(" ", ""))
            if name == WORDS:
                figures.count(WHOLE, "words", [text], [said])
        for name, mel, text in self.synthetic:
            figures.count(name, "characters", text, self.text(net, mel))
        for name, mel, reference in self.english:
            drift = figures.drifts.setdefault(f"drift, {name}", Drift())
            drift.add(self.normalised(net, mel), reference.astype(np.float32))
        return figures


def opened(spec: str, first: Recogniser) -> Recogniser:
    """Return a network, or the mixture of one and the first."""
    path, _, share = spec.partition("=")
    net = loaded(path, 0).eval()
    if share:
        own = first.state_dict()
        mixed = {name: torch.lerp(own[name], value, float(share)) for name, value in net.state_dict().items()}
        net.load_state_dict(mixed)
    return net


def people_of(spec: str, first: str) -> list[str]:
    """Return the people in the training of a network, or of both parts of a mixture."""
    path, _, share = spec.partition("=")
    return sorted({*heard(path), *(heard(first) if share else ())})


def main(
    networks: list[str], data: Path, lm: Path, held: Path | None = None, every: int = 1, out: Path | None = None
) -> None:
    """Print the table, and write the network that is chosen as a checkpoint without an optimiser."""
    torch.set_num_threads(1)
    first = loaded(networks[0], 0).eval()
    judge, found = Judge(first, data, lm, held, every), []
    for spec in networks:
        found.append(judge.judged(opened(spec, first)))
        print(f"{spec}: {found[-1].letters()} letters of people are wrong", flush=True)
    of_people = [people_of(spec, networks[0]) for spec in networks]
    names = [spec.rpartition("/")[2] for spec in networks]
    print(table(names, found, [", ".join(people) or "none" for people in of_people]))
    best = chosen(found)
    print(f"chosen: {networks[best]}")
    if out:
        weights = opened(networks[best], first).state_dict()
        kept = {"net": weights, "average": weights, "heard": of_people[best], "step": 0, "seconds": 0.0}
        learning.write(out, kept)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
