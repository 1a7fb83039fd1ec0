"""Trains the translator: a teacher, its translations of single sentences, and the student, whose weights are shipped.

    python -m translation.train --data DATA --work WORK

WORK has what `translation.prepared` and `translation.tokeniser` wrote; `main` has the stages. Run again, it goes on
from the last checkpoint. It uses a GPU if there is one. A stage trains at a constant rate until its loss on dev stalls;
then the rate falls to nothing over as many steps again. The averaged weights (EMA) translate, teach and are shipped.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import learning
import numpy as np
import torch
import tyro
from manifests import replace
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from transformers import M2M100ForConditionalGeneration as Network

from . import batches, corpus, names, placeholders, prepared, streams
from .batches import Segmenter
from .corpus import Pair
from .model import SIZES, TEACHER, Sizes, loss, network, optimiser
from .phrases import Phrases
from .streams import Made
from .tokeniser import EOS, PAD

CUDA = torch.cuda.is_available()
DEVICE = torch.device("cuda" if CUDA else "cpu")
half = partial(torch.autocast, DEVICE.type, torch.bfloat16, CUDA or learning.HALF is torch.bfloat16)
SMOOTHING, KEPT, WARM = 0.1, 0.998, 60  # of the labels; of the average at a step; steps in which the rate rises
STALLED, PATIENCE = 0.005, 3  # dev stalls if so many measurements in a row are not below the best by this share
UNLIKELY, TAUGHT = 0.12, 0.3  # the shares of the least likely translations that are no sources, and no targets
BEAMS, LONGEST = 4, 100  # of the search; pieces of a text of dev
Mix = Mapping[str, float]


class Stage(NamedTuple):
    """What a network is, and what it learns from."""

    name: str
    sizes: Sizes
    rate: float
    dropout: float
    mix: Mix
    init: str = ""  # the stage whose weights it begins with
    back: str = ""  # the file of WORK with the translations that it learns from
    falls: bool = True  # whether the rate falls before the stage ends
    late: Mix | None = None  # the mix in the second half of the fall


@dataclass
class Options:
    """What the command line says."""

    data: Path
    work: Path
    tokens: int = 22000 if CUDA else 6000
    """The places of a batch."""
    dev_steps: int = 400
    """Dev is measured, and a checkpoint written, after so many steps."""
    steps: int = 10**9
    """The most steps of a stage before its rate falls."""
    sentences: int = 10**9
    """The most single sentences of a language."""
    workers: int = 8 if CUDA else 0
    """Processes that make the batches; 0: this one does."""
    threads: int = 2


class Examples(IterableDataset[tuple[torch.Tensor, torch.Tensor]]):
    """Batches without end, of a mix of streams; each worker draws its own."""

    def __init__(self, options: Options, back: str, mix: Mix, seed: int) -> None:
        self.options, self.back, self.mix, self.seed = options, back, mix, seed

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        worker, work = get_worker_info(), self.options.work
        rng = random.Random(f"{self.seed} {worker.id if worker else 0}")
        parts, lexicon = prepared.read(work / "pairs"), names.lexicon()
        single = corpus.single(self.options.data, parts)
        back, forward = likely(work / self.back) if self.back else ([], [])
        made = {
            "parallel": lambda: streams.parallel(parts["train"], rng, lexicon),
            "phrases": lambda: streams.generated(Phrases(), rng, lexicon),
            "denoise-pa": lambda: streams.denoise(single["pa"], "pa", rng),
            "denoise-en": lambda: streams.denoise(single["en"], "en", rng),
            "back": lambda: streams.back(back, rng),
            "forward": lambda: streams.forward(forward, rng),
        }
        flows, weights = [made[name]() for name in self.mix], [*self.mix.values()]
        return batches.batches(flows, weights, Segmenter(work / "tokens", rng), rng, self.options.tokens)


def likely(path: Path) -> tuple[list[Made], list[Made]]:
    """The translations of single sentences to learn from: as sources, and the likelier ones as targets."""
    rows = [line.split("\t") for line in path.read_text().split("\n")[:-1]]
    out: tuple[list[Made], list[Made]] = ([], [])
    for language in ("pa", "en"):
        mine = [(float(mean), a, text, said) for a, text, said, mean in rows if a == language]
        for kept, share in zip(out, (UNLIKELY, TAUGHT), strict=True):
            bound = np.quantile([row[0] for row in mine], share)
            kept += [row[1:] for row in mine if row[0] >= bound and streams.sane(*row[2:])]
    return out


class Training:
    """A stage under way: the network, its average, the optimiser and the counts, which a checkpoint keeps."""

    def __init__(self, options: Options, stage: Stage, teacher: Network | None) -> None:
        self.options, self.stage, self.teacher = options, stage, teacher
        self.path = options.work / f"{stage.name}.pt"
        self.segmenter = Segmenter(options.work / "tokens", random.Random(1), chance=0)
        begun = self.path if self.path.exists() or not stage.init else options.work / f"{stage.init}.pt"
        state = learning.load(begun) if begun.exists() else None
        torch.manual_seed(1)
        self.net = network(self.segmenter.size, stage.dropout, stage.sizes).to(DEVICE)
        self.counts: dict[str, Any] = {"step": 0, "n_tokens": 0, "fall": 0, "n_worse": 0, "best": 1e9, "done": False}
        if state:
            self.net.load_state_dict(state["net"])
        self.optimiser, self.average = optimiser(self.net), learning.copied(self.net)
        if state and begun == self.path:
            self.counts = {key: state[key] for key in self.counts}
            self.optimiser.load_state_dict(state["optimiser"])
            self.average = {name: value.to(DEVICE) for name, value in state["average"].items()}

    def left(self) -> float:
        """The share of the rate that is left: 1 until it falls, from step `fall` on, then down to 0."""
        return 2 - self.counts["step"] / self.counts["fall"] if self.counts["fall"] else 1.0

    def averaged(self) -> Network:
        """The network with the averaged weights, ready to translate."""
        net = network(self.segmenter.size, 0, self.stage.sizes).to(DEVICE)
        net.load_state_dict({**self.net.state_dict(), **self.average})
        return net.eval()

    def advance(self, source: torch.Tensor, target: torch.Tensor) -> None:
        """One step on a batch, as `batches.batches` gives it."""
        with half():
            value, n_tokens = loss(self.net, source.to(DEVICE), target.to(DEVICE), SMOOTHING, self.teacher)
        value.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.counts["step"] += 1
        self.counts["n_tokens"] += n_tokens
        step = self.counts["step"]
        self.optimiser.step(self.stage.rate * min(1, step / WARM) * max(self.left(), 0.01))
        learning.follow(self.average, self.net, min(KEPT, 1 - 1 / (1 + step / 5)))

    def measure(self, dev: Sequence[Pair]) -> None:
        """Says by the loss on dev whether the rate falls and whether the stage is over; writes the checkpoint."""
        counts, found = self.counts, development(self.averaged(), dev, self.segmenter)
        counts["n_worse"] = 0 if found < counts["best"] * (1 - STALLED) else counts["n_worse"] + 1
        counts["best"] = min(found, counts["best"])
        if not counts["fall"] and (counts["n_worse"] >= PATIENCE or counts["step"] >= self.options.steps):
            counts["fall"] = counts["step"]
        counts["done"] = self.left() <= 0 or bool(counts["fall"] and not self.stage.falls)
        print(self.stage.name, {**counts, "dev": round(found, 3)}, flush=True)
        weights = {"net": self.net.state_dict(), "average": self.average, "optimiser": self.optimiser.state_dict()}
        learning.write(self.path, {**weights, **counts})

    def run(self) -> Network:
        """Trains until done. Returns the averaged network."""
        dev, counts = prepared.read(self.options.work / "pairs")["dev"], self.counts
        while not counts["done"]:
            late = self.stage.late if self.left() <= 0.5 else None
            examples = Examples(self.options, self.stage.back, late or self.stage.mix, counts["step"])
            for source, target in DataLoader(examples, None, num_workers=self.options.workers):
                self.net.train()
                self.advance(source, target)
                if counts["step"] % self.options.dev_steps == 0 or self.left() <= 0:
                    self.measure(dev)
                if counts["done"] or (self.stage.late and not late and self.left() <= 0.5):
                    break
        return self.averaged()


@torch.no_grad()
def development(net: Network, pairs: Sequence[Pair], segmenter: Segmenter) -> float:
    """Mean cross entropy of the pairs in both directions, in nats a token, without smoothing."""
    rng, lexicon, rows, total, count = random.Random(1), names.lexicon(), [], 0.0, 0
    for en, pa, _ in pairs:
        for a, b, one, other in (("en", "pa", en, pa), ("pa", "en", pa, en)):
            source, target = placeholders.masked(one, other, a, rng, lexicon)
            rows.append(segmenter.example(a, source, b, target))
    rows = sorted((row for row in rows if max(map(len, row)) <= LONGEST), key=lambda row: len(row[1]))
    for group in learning.grouped(rows, lambda row: max(map(len, row)), 4000):
        with half():
            value, n = loss(net, *(batches.padded(side).to(DEVICE) for side in zip(*group, strict=True)))
        total, count = total + float(value) * n, count + n
    return total / count


@torch.no_grad()
def translate(net: Network, options: Options, path: Path) -> None:
    """Writes a line for each single sentence: language, text with placeholders, translation, mean log-probability."""
    segmenter, lexicon, part = Segmenter(options.work / "tokens", random.Random(1), chance=0), names.lexicon(), []
    single, ids = corpus.single(options.data, prepared.read(options.work / "pairs")), segmenter.languages
    for a, b in (("pa", "en"), ("en", "pa")):
        texts = [placeholders.mask(text, a, lexicon)[0] for text in single[a][: options.sentences]]
        rows = [(text, [ids[a], *segmenter.ids(text), EOS]) for text in texts if 2 <= len(text.split()) <= 40]
        rows.sort(key=lambda row: len(row[1]))
        for group in learning.grouped(rows, lambda row: len(row[1]), 12000 if CUDA else 600):
            source = batches.padded([row[1] for row in group]).to(DEVICE)
            limits = {"num_beams": BEAMS, "max_new_tokens": 2 * source.shape[1] + 10, "forced_bos_token_id": ids[b]}
            limits |= {"return_dict_in_generate": True, "output_scores": True}
            with half():
                given = net.generate(input_ids=source, attention_mask=(source != PAD).long(), **limits)
            said = segmenter.spm.decode([[i for i in row if EOS < i < ids["en"]] for row in given.sequences.tolist()])
            means = given.sequences_scores.tolist()
            part += [(a, *row) for row in zip((text for text, _ in group), said, means, strict=True)]
    replace(path, "".join(f"{a}\t{text}\t{other}\t{mean:.3f}\n" for a, text, other, mean in part).encode())


def main(options: Options) -> None:
    """Runs the stages that are not done."""
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    plain = {"parallel": 10, "phrases": 0.9, "denoise-pa": 0.5, "denoise-en": 0.2}
    backed = {"parallel": 10, "phrases": 0.7, "denoise-pa": 0.3, "denoise-en": 0.1, "back": 4}
    both = {"parallel": 10, "phrases": 0.8, "denoise-pa": 0.15, "denoise-en": 0.05, "back": 4, "forward": 4}
    late = {"parallel": 10, "phrases": 0.6, "back": 2, "forward": 2}
    first = Stage("first", TEACHER, 2e-3, 0.25, plain, falls=False)
    teacher = Stage("teacher", TEACHER, 2e-3, 0.25, backed, "first", "first.tsv")
    student = Stage("student", SIZES, 2.5e-3, 0.1, both, "", "teacher.tsv", late=late)
    net = None
    for stage in (first, teacher, student):
        net = Training(options, stage, net if stage is student else None).run()
        path = options.work / f"{stage.name}.tsv"
        if stage is not student and not path.exists():
            translate(net, options, path)


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
