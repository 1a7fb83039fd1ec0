"""A language model over the units of Panjabi: how likely each unit is after the up to seven before it.

    python -m speech.search.ngram --data DIR --out speech-pa.lm

It is estimated from CC0 sentences and code-mixed prompts that are not held out, from frequent word forms on their own,
and from numbers as they are read out, alone and beside the words that they stand with in sentences. Smoothing is
interpolated Kneser-Ney (Chen and Goodman, 1999). N-grams that change little are pruned, and the back-off weights are
computed for the rest. `notes/speech-lm.md` describes the file.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import tyro

from ..arrays import AnyFloats, Doubles, Floats, Ints, Keys
from ..texts import amounts, numbers, reading, sentences, units
from . import ctc

MAGIC = b"AKHARLM1"
BITS = 7  # of a unit in a key
WORDS = 150000  # tokens that the list of words counts for, beside the sentences
NUMBERS = 4000  # phrases of digits, numbers and dates
AMOUNTS = 30000  # phrases of years, prices, times and amounts
EVERY = 4  # of the prompts that repeat a template, one in four is taken
# The n-grams of one order: sorted keys (7 bits a unit, the last unit lowest), (m,), with counts or log-probabilities.
Grams = tuple[Keys, Doubles]


def training_texts(data: Path) -> list[tuple[list[int], float]]:
    """Return the units of each text and how often it counts."""
    pools = sentences.prompts(data)
    plain = [*pools["train", "natural"], *pools["train", "templates"][::EVERY]]
    rng = np.random.default_rng(0)
    plain += reading.sentences(data, "pa")["train"]
    plain += [numbers.drawn("pa", rng) for _ in range(NUMBERS)]
    plain += [amounts.phrase(rng) for _ in range(AMOUNTS)]
    rows = [(units.encode(one, "pa"), 1.0) for one in plain]
    forms, drawn = reading.words(data, "pa")
    share = drawn**2 / (drawn**2).sum()  # words are drawn by the root of the count
    rows += [(units.encode(form, "pa"), max(1.0, round(s * WORDS))) for form, s in zip(forms, share, strict=True)]
    return rows


def counts_of(weighted: Sequence[tuple[Sequence[int], float]], order: int) -> list[Grams]:
    """Count n-grams for n = 1 … `order` in texts, each given as units and a weight; a space begins and ends a text."""
    rows = [[0, *ids, 0] for ids, _ in weighted]
    weights = [weight for _, weight in weighted]
    flat = np.concatenate([np.array(r, np.uint64) for r in rows])
    lengths = np.array([len(r) for r in rows])
    weight = np.repeat(weights, lengths)
    place = np.concatenate([np.arange(n) for n in lengths])
    out = []
    key = np.zeros(len(flat), np.uint64)
    for n in range(1, order + 1):
        # key[i]: the n units that end at i
        shifted = np.zeros_like(flat)
        shifted[n - 1 :] = flat[: len(flat) - n + 1]
        key = key + (shifted << np.uint64(BITS * (n - 1)))
        good = place >= n - 1 if n > 1 else place >= 1  # the first space is given, never guessed
        keys, inverse = np.unique(key[good], return_inverse=True)
        out.append((keys, np.bincount(inverse, weight[good]).astype(np.float64)))
    return out


def tail(keys: Keys, n: int) -> Keys:
    """Return the keys of the last `n` units."""
    return keys & np.uint64((1 << (BITS * n)) - 1)


def find(keys: Keys, wanted: Keys) -> Ints:
    """Return the index of each wanted key among sorted `keys`, -1 where it is not there."""
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, at, -1)


def _continuations(counts: Sequence[Grams]) -> list[Grams]:
    """Return Kneser-Ney's counts: below the highest order, how many different units stand before an n-gram.

    An n-gram that begins a text has no unit before it and keeps its own count.
    """
    used = []
    for n, (keys, count) in enumerate(counts, 1):
        if n < len(counts):
            before = find(keys, tail(counts[n][0], n))
            kinds = np.bincount(before[before >= 0], minlength=len(keys)).astype(float)
            starts = kinds == 0
            kinds[starts] = count[starts]
            first = (keys >> np.uint64(BITS * (n - 1))) == 0
            used.append((keys, np.where(first & (n > 1), count, kinds)))
        else:
            used.append((keys, count))
    return used


def smoothed(counts: Sequence[Grams], size: int) -> list[Grams]:
    """Return the log-probability of every counted n-gram by order, by interpolated Kneser-Ney.

    `size`: the number of units. Order 1 has every unit; 2 % of it is spread evenly.
    """
    (ones, count), *higher = _continuations(counts)
    p = np.full(size, 0.02 / size)
    p[ones.astype(int)] += 0.98 * count / count.sum()
    out = [(np.arange(size, dtype=np.uint64), p)]
    for n, (keys, count) in enumerate(higher, 2):
        discount = (count == 1).sum() / ((count == 1).sum() + 2 * (count == 2).sum() + 1e-9)
        discount = min(max(discount, 0.3), 0.95)
        _, inverse = np.unique(keys >> np.uint64(BITS), return_inverse=True)
        total = np.bincount(inverse, count)
        kinds = np.bincount(inverse, np.minimum(count, discount) / discount)
        lower_keys, p_lower = out[-1]
        lower = find(lower_keys, tail(keys, n - 1))
        below = np.where(lower >= 0, p_lower[lower], 0.02 / size)
        p = np.maximum(count - discount, 0) / total[inverse] + discount * kinds[inverse] / total[inverse] * below
        out.append((keys, p))
    return [(keys, np.log(p)) for keys, p in out]


def pruned(grams: Sequence[Grams], counts: Sequence[Grams], threshold: float) -> list[Grams]:
    """Keep an n-gram where its count times the change of its log-probability is above `threshold`.

    The change is that from the next lower order. The threshold rises by a quarter with each order above 2. The
    contexts of an n-gram that is kept are kept too. Source: entropy pruning (Stolcke, 1998), simplified.
    """
    order = len(grams)
    keep = [np.ones(len(grams[0][0]), bool)]
    for n in range(2, order + 1):
        keys, logp = grams[n - 1]
        lower = find(grams[n - 2][0], tail(keys, n - 1))
        gain = counts[n - 1][1] * np.abs(logp - grams[n - 2][1][lower])
        keep.append(gain > threshold * (1 + 0.25 * (n - 2)))
    for n in range(order, 1, -1):
        contexts = np.unique(grams[n - 1][0][keep[n - 1]] >> np.uint64(BITS))
        at = find(grams[n - 2][0], contexts)
        keep[n - 2][at[at >= 0]] = True
        keep[n - 1] &= find(grams[n - 2][0], grams[n - 1][0] >> np.uint64(BITS)) >= 0
    return [(keys[k], logp[k]) for (keys, logp), k in zip(grams, keep, strict=True)]


def backed_off(grams: Sequence[Grams]) -> list[Doubles]:
    """Return the logarithm of the back-off weight of each n-gram, by order below the last; 0 where it has no child."""

    def lookup(keys: Keys, n: int) -> Doubles:
        """Return the log-probability of each n-gram, (m,), by the pruned model."""
        if n == 1:
            return grams[0][1][keys.astype(int)]
        at = find(grams[n - 1][0], keys)
        out = np.where(at >= 0, grams[n - 1][1][at], 0.0)
        missing = at < 0
        if missing.any():
            context = find(grams[n - 2][0], keys[missing] >> np.uint64(BITS))
            weight = np.where(context >= 0, weights[n - 2][context], 0.0)
            out[missing] = weight + lookup(tail(keys[missing], n - 1), n - 1)
        return out

    weights: list[Doubles] = []
    for n in range(1, len(grams)):
        keys, logp = grams[n]
        parent = find(grams[n - 1][0], keys >> np.uint64(BITS))
        size = len(grams[n - 1][0])
        here = np.bincount(parent, np.exp(logp), minlength=size)
        below = np.bincount(parent, np.exp(lookup(tail(keys, n), n)), minlength=size)
        weight = np.log(np.maximum(1 - here, 1e-4)) - np.log(np.maximum(1 - below, 1e-4))
        weights.append(np.where(here > 0, weight, 0.0))
    return weights


def coded(values: AnyFloats) -> tuple[Floats, np.ndarray]:
    """Return 256 levels, the quantiles of the values, and the number of the nearest level of each as uint8."""
    levels = np.quantile(values, np.linspace(0, 1, 256)) if len(values) else np.zeros(256)
    middle = (levels[1:] + levels[:-1]) / 2
    return levels.astype("<f4"), np.searchsorted(middle, values).astype(np.uint8)


def write(path: str | Path, grams: Sequence[Grams], weights: Sequence[Doubles]) -> None:
    """Write the file of a model and its back-off weights."""
    order = len(grams)
    levels, codes = coded(np.concatenate([logp for _, logp in grams]))
    weight_levels, weight_codes = coded(np.concatenate(weights))
    parts = [
        MAGIC,
        np.array([order, len(grams[0][0]), *(len(k) for k, _ in grams)], "<u4").tobytes(),
        levels.tobytes(),
        weight_levels.astype("<f4").tobytes(),
    ]
    at = weight_at = 0
    for n, (keys, _) in enumerate(grams, 1):
        parts += [tail(keys, 1).astype(np.uint8).tobytes(), codes[at : at + len(keys)].tobytes()]
        at += len(keys)
        if n < order:
            parts.append(weight_codes[weight_at : weight_at + len(keys)].tobytes())
            weight_at += len(keys)
            children = find(keys, grams[n][0] >> np.uint64(BITS))
            starts = np.concatenate([[0], np.cumsum(np.bincount(children, minlength=len(keys)))])
            parts.append(starts.astype("<u4").tobytes())
    Path(path).write_bytes(b"".join(parts))


def bits(path: Path, texts: Iterable[str]) -> float:
    """Return the bits per unit of a model's file on plain texts, the space behind each included."""
    rows = ([*units.encode(text, "pa"), 0] for text in texts)
    scores = [score for row in rows for score in ctc.scored(row, units.blank("pa"), path)]
    return -float(np.mean(scores)) / np.log(2)


def main(data: Path, out: Path, order: int = 8, threshold: float = 0.3) -> None:
    """Write the language model, and print its size and its bits per unit on sentences and prompts of the part `dev`."""
    counts = counts_of(training_texts(data), order)
    grams = pruned(smoothed(counts, units.blank("pa")), counts, threshold)
    write(out, grams, backed_off(grams))
    print([len(keys) for keys, _ in grams], out.stat().st_size, "bytes")
    dev = {"sentences": reading.sentences(data, "pa")["dev"], "prompts": sentences.prompts(data)["dev", "natural"]}
    print(", ".join(f"{name} {bits(out, texts):.3f} bits a unit" for name, texts in dev.items()))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
