"""The texts that are spoken: CC0 sentences, code-mixed prompts, words, numbers from 0 to 100 and digit strings.

The kind "conversation" has English words and spoken forms in them.

`reading.part` splits sentences and prompts into train, dev and test by a hash.
"""

import gzip
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from . import amounts, borrowed, conversation, numbers, reading, units

PROMPTS = "text/parallel/indicvoices-prompts.tsv.gz"
NATURAL = {"everyday", "wikipedia", "domain", "topic", "icebreaker", "customercare", "keyword"}
SKIPPED = {"district"}
SHARES = {"digits": 0.2, "sentences": 0.25, "natural": 0.32, "templates": 0.06, "words": 0.11, "numbers": 0.06}
CONVERSATION = {
    "digits": 0.12,
    "sentences": 0.24,
    "natural": 0.4,
    "templates": 0.05,
    "words": 0.08,
    "numbers": 0.05,
    "english": 0.06,
}
ISOLATED = {"word": 0.55, "number": 0.35, "digit": 0.1}
AMOUNTS = {"amounts": 1.0}
TEXTS = {"mixed": SHARES, "conversation": CONVERSATION, "isolated": ISOLATED, "amounts": AMOUNTS}
LETTERS = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        ("ਏ ਬੀ ਸੀ ਡੀ ਈ ਐੱਫ ਜੀ ਐੱਚ ਆਈ ਜੇ ਕੇ ਐੱਲ ਐੱਮ ਐੱਨ ਓ ਪੀ ਕਿਊ ਆਰ ਐੱਸ ਟੀ ਯੂ ਵੀ ਡਬਲਿਊ ਐਕਸ ਵਾਈ ਜ਼ੈੱਡ").split(),
        strict=True,
    )
)
BORROWED = "ਜ਼ੀਰੋ ਵਨ ਟੂ ਥ੍ਰੀ ਫੋਰ ਫਾਈਵ ਸਿਕਸ ਸੈਵਨ ਏਟ ਨਾਈਨ".split()  # English digits as they are said in Panjabi
LARGEST = 10**7  # a longer number is read digit by digit


def _number(found: re.Match[str]) -> str:
    figures = found[0].replace(",", "")
    if figures.startswith("0") or int(figures) >= LARGEST:
        return f" {' '.join(numbers.PA[int(c)] for c in figures)} "
    return f" {numbers.pa(int(figures))} "


def readable(line: str) -> str | None:
    """Return a prompt as it is read out: without glosses in brackets, numbers and acronyms in words.

    Returns None where Latin letters or other signs remain.
    """
    line = re.sub(r"\[[^\]]*\]|\([^)]*\)|<[^>]*>", " ", line)
    line = re.sub(r"\bRs\b\.?", "ਰੁਪਏ", line).replace("%", " ਪ੍ਰਤੀਸ਼ਤ ").replace("&", " ਐਂਡ ")
    line = re.sub(r"\s[I|]\s*$|\|", " ", line)
    line = re.sub(r"\b[A-Z]{2,5}\b", lambda m: f" {' '.join(LETTERS[c] for c in m[0])} ", line)
    line = re.sub(r"[0-9]+(?:,[0-9]+)*", _number, line)
    return units.plain(line, "pa")


@cache
def prompts(data: str | Path) -> dict[tuple[str, str], list[str]]:
    """Return the prompts by part and kind ("natural" or "templates"): no repeats, at most `reading.LONGEST` words each.

    `data` is the data folder.
    """
    out: dict[tuple[str, str], list[str]] = {}
    seen = set()
    with gzip.open(Path(data) / PROMPTS, "rt", encoding="utf-8") as lines:
        for line in lines:
            _, panjabi, source = line.rstrip("\n").split("\t")
            name = source.removeprefix("indicvoices:")
            text = None if name in SKIPPED or "template" in name else readable(panjabi)
            if text is None or text in seen or len(text.split()) > reading.LONGEST:
                continue
            seen.add(text)
            kind = "natural" if name in NATURAL else "templates"
            out.setdefault((reading.part(text), kind), []).append(text)
    return out


def _digits(rng: np.random.Generator) -> list[str]:
    """Draw a string of 1 to 10 digits, in pieces between which the speaker pauses."""
    known = BORROWED if rng.random() < 0.1 else numbers.PA[:10]
    words = [known[k] for k in rng.integers(0, 10, rng.integers(1, 11))]
    kind = rng.random()
    if kind < 0.4:  # one breath
        return [" ".join(words)]
    if kind < 0.75:  # each on its own
        return words
    pieces = []
    while words:  # groups, as telephone numbers are read
        n = int(rng.integers(1, 5))
        pieces.append(" ".join(words[:n]))
        words = words[n:]
    return pieces


def _isolated(data: str | Path, kind: str, rng: np.random.Generator) -> str:
    """Draw one word or one number. Half of the words are drawn evenly, so that rare ones are drawn too."""
    if kind == "number":
        return numbers.pa(int(rng.integers(0, 101)))
    if kind == "digit":
        return numbers.PA[int(rng.integers(0, 10))]
    forms, weight = reading.words(data, "pa")
    return str(rng.choice(forms, p=weight if rng.random() < 0.5 else None))


def endless(
    data: str | Path,
    part: str,
    rng: np.random.Generator,
    shares: dict[str, float] = SHARES,
    lexicon: borrowed.Lexicon | None = None,
) -> Iterator[tuple[str, list[str]]]:
    """Yield (kind, pieces) without end; one voice speaks the pieces with pauses between them.

    `data` is the data folder; `part` is "train", "dev" or "test"; `shares`: one of TEXTS.
    `lexicon`: English words; with them, sentences and prompts are at times as in conversation.
    """
    pools = {
        "sentences": reading.sentences(data, "pa")[part],
        **{kind: prompts(data)[part, kind] for kind in ("natural", "templates")},
    }
    while True:
        kind = str(rng.choice(list(shares), p=list(shares.values())))
        if kind in ISOLATED:
            yield kind, [_isolated(data, kind, rng)]
        elif kind == "digits":
            yield kind, _digits(rng)
        elif kind == "numbers":
            yield kind, [numbers.pa(int(n)) for n in rng.integers(0, 101, rng.integers(1, 4))]
        elif kind == "words":
            yield kind, [reading.phrase(data, "pa", rng) for _ in range(rng.integers(1, 3))]
        elif kind == "amounts":
            pool = pools["sentences" if rng.random() < 0.5 else "natural"]
            yield kind, [amounts.amid(pool[rng.integers(len(pool))], rng)]
        elif kind == "english" and lexicon:
            yield kind, [" ".join(rng.choice(lexicon[0], rng.integers(1, 4), p=lexicon[1]))]
        else:
            pool = pools[kind]
            text = pool[rng.integers(len(pool))]
            again = len(text.split()) < 8 and rng.random() < 0.3
            pieces = [text, pool[rng.integers(len(pool))]] if again else [text]
            yield kind, [conversation.spoken(one, rng, lexicon) for one in pieces] if lexicon else pieces
