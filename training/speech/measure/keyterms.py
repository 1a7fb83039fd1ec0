"""Measures key terms through a running service: how many are recognised, and what changes where none is said.

    python -m speech.measure.keyterms --language pa --clips TERMS --elsewhere FOLDER --url URL --key KEY

TERMS is what `speech.data.keyterms` wrote; a folder of `--elsewhere` has other clips. Each clip is sent without terms
and with a hundred of them. Printed are the terms that are right, those that are written and not said, the words that
the terms change, and the worker's time with terms beside that without.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import tyro

from ..data.clips import Clip, read
from ..texts import english, metrics
from .client import Client

MOST = 100  # terms in a request


def times(term: Sequence[str], text: Sequence[str]) -> int:
    """Return how often a term is in a text, as whole words."""
    return sum(text[at : at + len(term)] == term for at in range(len(text) - len(term) + 1))


def measured(client: Client, language: str, clips: Sequence[Clip], terms: Sequence[str], said_terms: bool) -> str:
    """Return the figures of clips as one line; with `said_terms` the n-th clip has the n-th term, and else none."""
    words = english.words if language == "en" else str.split
    found, inserted, work_s = [0, 0], [0, 0], [0.0, 0.0]
    changed = n_words = 0
    for n, clip in enumerate(clips):
        start = n // MOST * MOST if said_terms else n * MOST % len(terms)
        some = terms[start : start + MOST]
        texts = []
        for k, sent in enumerate(([], some)):
            answer = client.transcribe(clip.samples, language, sent)
            text, said = words(answer.text), words(clip.text)
            texts.append(text)
            work_s[k] += answer.work_s
            found[k] += said_terms and times(words(terms[n]), text) > 0
            inserted[k] += sum(max(0, times(words(term), text) - times(words(term), said)) for term in some)
        changed += metrics.distance(*texts)
        n_words += len(texts[0])
    right = f"right {found[0]} and {found[1]} of {len(terms)}, " if said_terms else ""
    return (
        f"{right}inserted {inserted[0]} and {inserted[1]}, "
        f"{changed} of {n_words} words changed, {work_s[1] / work_s[0]:.2f} x the time"
    )


def main(language: Literal["pa", "en"], clips: Path, url: str, key: str, elsewhere: tuple[Path, ...] = ()) -> None:
    """Print a line for the clips with the terms, and one for each folder without."""
    client, terms = Client(url, key), (clips / "terms.txt").read_text("utf-8").splitlines()
    for folder in (clips, *elsewhere):
        print(f"{folder}: {measured(client, language, list(read(folder)), terms, folder == clips)}", flush=True)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
