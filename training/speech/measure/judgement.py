"""What a judgement by recordings of people says of networks, and which of them is chosen by it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from figures import wilson

from ..arrays import AnyFloats, Floats
from ..texts import metrics

SENTENCE, WORDS, SPONTANEOUS = "read sentence", "single words", "spontaneous"
CHOSEN_BY = (SENTENCE, WORDS, SPONTANEOUS)
WHOLE = "single words, wrong as a whole"


@dataclass
class Count:
    """How much of a set is wrong."""

    unit: str
    wrong: int = 0
    total: int = 0

    def add(self, truth: Sequence[object], said: Sequence[object]) -> None:
        """Count one text, as sequences of the unit."""
        self.wrong += metrics.distance(truth, said)
        self.total += len(truth)

    def interval(self) -> tuple[float, float]:
        """Return the 95 % Wilson interval of the share that is wrong."""
        return wilson(self.wrong, self.total)

    def __str__(self) -> str:
        """The share with its interval, for people to read."""
        low, high = self.interval()
        return f"{100 * self.wrong / max(1, self.total):.1f} % [{100 * max(0.0, low):.1f}, {100 * high:.1f}]"


@dataclass
class Drift:
    """How far outputs have moved from those of another network, over all frames."""

    apart: float = 0.0  # sum of 1 - cosine
    squares: float = 0.0
    of: float = 0.0
    frames: int = 0

    def add(self, found: Floats, reference: AnyFloats) -> None:
        """Compare the outputs for a recording, (T, D)."""
        lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(reference, axis=1)
        self.apart += float((1 - (found * reference).sum(1) / np.maximum(lengths, 1e-9)).sum())
        self.squares += float(((found - reference) ** 2).sum())
        self.of += float((reference**2).sum())
        self.frames += len(found)

    def __str__(self) -> str:
        """The mean cosine distance, and the relative distance."""
        return f"{max(0.0, self.apart) / max(1, self.frames):.4f}, {(self.squares / max(1e-9, self.of)) ** 0.5:.3f}"


class Figures:
    """The figures of a network by set."""

    def __init__(self) -> None:
        self.counts: dict[str, Count] = {}
        self.drifts: dict[str, Drift] = {}

    def count(self, name: str, unit: str, truth: Sequence[object], said: Sequence[object]) -> None:
        """Count one text of a set."""
        self.counts.setdefault(name, Count(unit)).add(truth, said)

    def letters(self) -> int:
        """Return how many letters of what people said are wrong."""
        return sum(self.counts[name].wrong for name in CHOSEN_BY)

    def worse(self, first: "Figures") -> list[str]:
        """Return the other sets of which more is wrong than the interval of the first network lets expect."""
        others = self.counts.keys() - {*CHOSEN_BY, WHOLE}
        expected = {name: first.counts[name].interval()[1] * first.counts[name].total for name in others}
        return sorted(name for name in others if self.counts[name].wrong > expected[name])


def chosen(found: Sequence[Figures]) -> int:
    """Return the number of the network with the fewest wrong letters of people, of those not worse than the first."""
    able = [k for k, figures in enumerate(found) if not figures.worse(found[0])]
    return min(able, key=lambda k: found[k].letters())


def table(names: Sequence[str], found: Sequence[Figures], of_people: Sequence[str]) -> str:
    """Return the figures as a table; `of_people` says which people are in the training of each network."""
    rows = [["set", "of", *names], ["---"] * (len(names) + 2)]
    for name, count in found[0].counts.items():
        rows.append([name, f"{count.total} {count.unit}", *(str(figures.counts[name]) for figures in found)])
    for name, drift in found[0].drifts.items():
        rows.append([name, f"{drift.frames} frames", *(str(figures.drifts[name]) for figures in found)])
    rows.append(["letters of people that are wrong", "", *(str(figures.letters()) for figures in found)])
    rows.append(["people in the training", "", *of_people])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
