"""Synthesises the test sets, of voices and texts that are never trained on, as shards and as folders of clips, `wav`.

    python -m speech.data.held --data DIR --language en --part test --out DIR/test
    python -m speech.data.held --data DIR --language pa --whisper --part dev --out WORK/eval

sentences    `clean` and `degraded` (a room, noise at 10 dB SNR, mp3 of 32 kb/s), in voices kept apart

With `--whisper` the features are those that speech-pa takes, and the other sets are written too:

people       F04, M01: digit strings without the silence at the ends, one folder a speaker, the even strings in one
             shard and the odd ones in another (all speakers read the same strings); `spontaneous`, whole clips with
             an approximate text, or with none ("")
words        numbers from 0 to 100 and frequent words, one at a time, in voices kept apart
kokoro       sentences in the two of Kokoro's Hindi voices that are kept apart; they sound natural
conditions   `clean`, which must be there, as it sounds over a telephone (300 to 3400 Hz, 8 kHz), with other voices of
             the set 10 dB below the speech (`babble`), through an mp3 of 16 kb/s (`mp3-16`)
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro

from ..arrays import Floats
from ..sounds import acoustics, features
from ..sounds.features import NEMO, RATE, WHISPER
from ..texts import numbers, reading, sentences
from ..voices import kokoro
from ..voices.speakers import Speakers
from . import clips, corpus, real
from .clips import Clip
from .shards import Shard, Writer

SENTENCES, WORDS, NATURAL = {"pa": 240, "en": 500}, 240, 30  # utterances
QUIET_S = 0.15  # at both ends
OTHERS, BELOW_DB = 4, 10  # of `babble`: voices at once, and how much softer they are together
MP3, MP3_16 = 32, 16  # kb/s
WHOLE = "00-000"  # the name of a set's only shard
Rows = Iterable[tuple[dict[str, Any], Floats]]  # text, voice and the like; samples at 16 kHz


def write(folder: Path, rows: Rows, front_end: str = WHISPER, name: str = WHOLE) -> None:
    """Write one shard and its clips."""
    writer, sounds = Writer(folder / name), []
    for k, (what, samples) in enumerate(rows):
        samples = samples / max(1, np.abs(samples).max() * 1.01)
        writer.add(features.log_mel(samples, front_end), **what)
        sounds.append(Clip(f"{k:04}.wav", samples, what["text"], what.get("times", ())))
    writer.close()
    clips.write((folder if name == WHOLE else folder / name) / "wav", sounds)
    print(folder.name, len(writer.items), "utterances,", f"{writer.at / 6000:.1f} minutes", flush=True)


def people(data: Path, out: Path) -> None:
    """Write F04, M01 and spontaneous. Raises ValueError where an approximate text is not plain Panjabi."""

    def voiced(recordings: Sequence[real.Recording]) -> Rows:
        return (({"text": text, "voice": who, "name": name}, real.voiced(x)) for who, name, x, text in recordings)

    recordings = list(real.panjabi(data))
    for speaker in sorted({who for who, *_ in recordings}):
        own = [row for row in recordings if row[0] == speaker]
        for name, half in (("even", own[::2]), ("odd", own[1::2])):
            write(out / speaker, voiced(half), name=name)
    unknown = (({"text": text, "voice": "unknown", "name": name}, x) for name, x, text in real.spontaneous(data))
    write(out / "spontaneous", unknown)


def clean(rows: Rows, rng: np.random.Generator) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Add QUIET_S at both ends, set the peak to half of full scale and add faint noise."""
    for what, samples in rows:
        samples = np.pad(samples, int(QUIET_S * RATE)) * np.float32(0.5 / np.abs(samples).max())
        times = [(word, start + QUIET_S) for word, start in what.get("times", ())]
        yield {**what, "times": times}, samples + rng.normal(0, 1e-4, len(samples)).astype(np.float32)


def words(data: Path, part: str, out: Path) -> None:
    """Write single words and numbers."""
    rng = np.random.default_rng([11, len(part)])
    forms, weight = reading.words(data, "pa")
    drawn = [[numbers.pa(n)] for n in range(101)]
    drawn += [[str(rng.choice(forms, p=weight))] for _ in range(WORDS - len(drawn))]
    source = (("words", pieces) for pieces in drawn)
    write(out / "words", clean(corpus.spoken(Speakers("pa"), source, WORDS, rng, held=True), rng))


def _texts(data: Path, part: str) -> list[str]:
    """Return Panjabi sentences and prompts of a part."""
    return reading.sentences(data, "pa")[part] + sentences.prompts(data)[part, "natural"]


def voices(data: Path, part: str, out: Path, language: str = "pa", front_end: str = WHISPER) -> None:
    """Write clean and degraded."""
    rng = np.random.default_rng([12, len(part)])
    pool = _texts(data, part) if language == "pa" else reading.sentences(data, language)[part]
    chosen = rng.permutation(len(pool))[: SENTENCES[language]]
    source = (("sentences", [pool[k]]) for k in chosen)
    rows = list(clean(corpus.spoken(Speakers(language), source, len(chosen), rng, held=True), rng))
    write(out / "clean", rows, front_end)
    rooms = (acoustics.in_room(samples, acoustics.room(rng)) for _, samples in rows)
    noisy = [acoustics.with_noise(samples, 10, rng).astype(np.float32) for samples in rooms]
    sounds = acoustics.through_mp3(noisy, MP3)
    write(out / "degraded", ((what, sound) for (what, _), sound in zip(rows, sounds, strict=True)), front_end)


def natural(data: Path, part: str, out: Path) -> None:
    """Write sentences in Kokoro's voices that are kept apart."""
    rng, pool, voice = np.random.default_rng([13, len(part)]), _texts(data, part), kokoro.Kokoro()

    def rows() -> Iterator[tuple[dict[str, Any], Floats]]:
        for k in rng.permutation(len(pool))[:NATURAL]:
            name = str(rng.choice(corpus.HELD))
            samples, rate = voice.say(kokoro.panjabi(pool[k]), name)
            yield {"text": pool[k], "voice": name}, acoustics.trimmed(acoustics.resampled(samples, rate))[0]

    write(out / "kokoro", clean(rows(), rng))


def over_telephone(samples: Floats) -> Floats:
    """Keep 300 to 3400 Hz, sampled at 8 kHz; the result is again at 16 kHz."""
    low = acoustics.resampled(acoustics.band(samples, 300, 3400), RATE, speed=2)
    return acoustics.resampled(low, RATE // 2)[: len(samples)]


def among_others(sounds: list[Floats], voices: list[str], rng: np.random.Generator) -> list[Floats]:
    """Add OTHERS utterances of other voices to each; they are equally loud, and repeated up to its length."""
    out = []
    for samples, voice in zip(sounds, voices, strict=True):
        others = [k for k, other in enumerate(voices) if other != voice]
        chosen = [sounds[k] for k in rng.choice(others, min(OTHERS, len(others)), replace=False)]
        babble = sum((np.resize(one / one.std(), len(samples)) for one in chosen), np.zeros(len(samples)))
        out.append(acoustics.with_noise(samples, BELOW_DB, rng, babble).astype(np.float32))
    return out


def conditions(part: str, out: Path) -> None:
    """Write telephone, babble and mp3-16 from clean. Raises FileNotFoundError without clean."""
    items = Shard(out / "clean" / WHOLE).items
    rows = [{name: item[name] for name in ("kind", "text", "voice")} for item in items]
    sounds = [clip.samples for clip in clips.read(out / "clean/wav")]
    changed = {
        "telephone": [over_telephone(samples) for samples in sounds],
        "babble": among_others(sounds, [row["voice"] for row in rows], np.random.default_rng([14, len(part)])),
        "mp3-16": acoustics.through_mp3(sounds, MP3_16),
    }
    for name, some in changed.items():
        write(out / name, zip(rows, some, strict=True))


def main(
    data: Path, language: Literal["pa", "en"], part: Literal["dev", "test"], out: Path, whisper: bool = False
) -> None:
    """Write the sets."""
    if not whisper:
        voices(data, part, out, language, NEMO)
        return
    people(data, out)
    words(data, part, out)
    voices(data, part, out)
    natural(data, part, out)
    conditions(part, out)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
