"""Measures numbers in sentences through the service: how many sentences have all their values right, in figures.

    python -m speech.measure.numbers --program ../target/release/akhar

Years, prices, times, amounts and shares stand first, in the middle and last in SENTENCES sentences, which are in no
training. The voices that read them are kept apart from it too: espeak-ng's and flite's that `speech.voices.speakers`
names. `--models-dir` measures other models than the program's own.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import tyro
from figures import wilson
from running_service import served

from ..data.corpus import HELD
from ..sounds.features import RATE
from ..texts import numbers
from ..voices.speakers import Speakers
from .client import Client

SENTENCES, NATURAL = 200, 60
QUIET_S = 0.3  # before and behind each sentence
FIGURE = re.compile(r"\d[\d,]*(?:[.:]\d+)?")
YEARS = ("{} ਵਿੱਚ ਪਿੰਡ ਦੀ ਲਾਇਬਰੇਰੀ ਖੁੱਲ੍ਹੀ", "ਮੇਰੇ ਚਾਚਾ ਜੀ ਦਾ ਜਨਮ ਅਗਸਤ {} ਨੂੰ ਹੋਇਆ", "ਇਹ ਕਿਤਾਬ ਪਹਿਲੀ ਵਾਰ ਛਪੀ ਸੰਨ {}")
PRICES = ("{} ਰੁਪਏ ਦੀ ਟਿਕਟ ਬਹੁਤ ਮਹਿੰਗੀ ਹੈ", "ਦੁਕਾਨਦਾਰ ਨੇ ਮੇਰੇ ਕੋਲੋਂ {} ਰੁਪਏ ਲਏ", "ਇਸ ਕੁਰਸੀ ਦੀ ਕੀਮਤ {} ਰੁਪਏ")
TIMES = ("{} ਵਜੇ ਸਾਡੀ ਗੱਡੀ ਚੱਲੇਗੀ", "ਕੱਲ੍ਹ ਸ਼ਾਮ ਨੂੰ {} ਵਜੇ ਮੀਂਹ ਪਿਆ", "ਸਕੂਲ ਦੀ ਘੰਟੀ ਵੱਜੀ ਸਵੇਰੇ {} ਵਜੇ")
AMOUNTS = ("{} ਵਿਦਿਆਰਥੀ ਇਮਤਿਹਾਨ ਦੇਣ ਆਏ", "ਬਾਗ਼ ਵਿੱਚ {} ਬੂਟੇ ਲਾਏ ਗਏ", "ਇੱਥੋਂ ਅੰਮ੍ਰਿਤਸਰ ਦੂਰ ਹੈ {} ਕਿਲੋਮੀਟਰ")
SHARES = ("{} ਪ੍ਰਤੀਸ਼ਤ ਲੋਕ ਵੋਟ ਪਾਉਣ ਗਏ", "ਇਸ ਵਾਰ {} ਪ੍ਰਤੀਸ਼ਤ ਫ਼ਸਲ ਖ਼ਰਾਬ ਹੋਈ", "ਭੈਣ ਦੇ ਨੰਬਰ ਆਏ {} ਪ੍ਰਤੀਸ਼ਤ")


def year(rng: np.random.Generator) -> tuple[str, str]:
    """Draw a year in words and in figures; those before 2000 are said in hundreds."""
    value = int(rng.integers(1850, 2030))
    hundreds, rest = divmod(value, 100)
    said = (
        numbers.pa(value)
        if value >= 2000
        else " ".join([numbers.pa(hundreds), "ਸੌ", *([numbers.pa(rest)] if rest else [])])
    )
    return said, str(value)


def time(rng: np.random.Generator) -> tuple[str, str]:
    """Draw an hour, or half past one."""
    hour, half = int(rng.integers(3, 13)), rng.random() < 0.5
    return (f"ਸਾਢੇ {numbers.pa(hour)}", f"{hour}:30") if half else (numbers.pa(hour), str(hour))


def amount(rng: np.random.Generator, most: float) -> tuple[str, str]:
    """Draw a number from 10 to about 10 to the power of `most`."""
    value = int(10 ** rng.uniform(1, most))
    return numbers.pa(value), str(value)


def sentences(rng: np.random.Generator, n: int = SENTENCES) -> Iterator[tuple[str, str]]:
    """Yield sentences in words, and the value that each must have in figures."""
    kinds = (YEARS, PRICES, TIMES, AMOUNTS, SHARES)
    for k in range(n):
        frames = kinds[k % len(kinds)]
        frame = frames[k // len(kinds) % len(frames)]
        if frames is YEARS:
            said, value = year(rng)
        elif frames is TIMES:
            said, value = time(rng)
        else:
            said, value = amount(rng, 2 if frames is SHARES else 4.5)
        yield frame.format(said), value


def values(text: str) -> list[str]:
    """Return the figures of a text, without the commas of thousands."""
    return [found.replace(",", "") for found in FIGURE.findall(text)]


def main(program: Path, models_dir: Path | None = None, natural: bool = False, show: bool = False) -> None:
    """Print how many sentences are right, of each synthesiser; `show` prints the others.

    With `natural`, Kokoro's two Hindi voices that are kept apart read NATURAL other sentences.
    """
    rng, speakers = np.random.default_rng(30 if natural else 29), Speakers("pa")
    rows = [(*row, *speakers.plan(rng, held=True)) for row in sentences(rng, NATURAL if natural else SENTENCES)]
    if natural:
        rows = [(text, value, "kokoro", HELD[k % len(HELD)], how) for k, (text, value, _, _, how) in enumerate(rows)]
    said = speakers.spoken([(text, engine, voice, how) for text, _, engine, voice, how in rows])
    counts: dict[str, list[bool]] = {}
    with TemporaryDirectory() as folder:
        settings = {"AKHAR_DATA_DIR": folder} | ({"AKHAR_MODELS_DIR": str(models_dir.resolve())} if models_dir else {})
        with served(program.resolve(), os.environ | settings) as service:
            client = Client(service.url, service.key)
            for (text, value, engine, voice, _), one in zip(rows, said, strict=True):
                if one is None:
                    raise ValueError(f"{engine} does not say {text}")
                samples = np.pad(one[0] * np.float32(0.5 / np.abs(one[0]).max()), int(QUIET_S * RATE))
                answer = client.written(samples, "pa")
                right = values(answer) == [value]
                for name in (engine, "all"):
                    counts.setdefault(name, []).append(right)
                if show and not right:
                    print(f"{engine}:{voice} | {text} | {value} | {answer}", flush=True)
    for name, each in counts.items():
        low, high = wilson(sum(each), len(each))
        share = f"{100 * sum(each) / len(each):.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        print(f"{name}: {sum(each)} of {len(each)} right, {share}")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
