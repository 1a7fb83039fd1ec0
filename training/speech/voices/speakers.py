"""All synthesisers behind one call, and the choice of voices: those for training and those kept for the tests."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..sounds import acoustics
from ..texts import gurmukhi
from . import cross_lingual, espeak, festival, hibari, kokoro, pico
from .espeak import ODD, Espeak
from .flite import Flite
from .hibari import Hibari
from .kokoro import Kokoro
from .pico import Pico

VARIANTS = (
    "Alex Alicia Andrea Andy Annie Denis Diogo Gene Gene2 Henrique Hugo Jacky Lee Marco Mario Michael Mike adam "
    "anika announcer antonio aunty belinda benjamin boris caleb david ed edward edward2 f1 f2 f3 f4 f5 grandma "
    "grandpa gustave iven iven2 iven3 iven4 john kaukovalta klatt klatt2 klatt3 klatt4 linda m1 m2 m3 m4 m5 m6 m7 "
    "m8 marcelo max michel miguel norbert pablo paul pedro quincy rob robert sandro shelby steph steph2 steph3 "
    "travis victor zac"
).split()
HELD_VARIANTS = ["f4", "m6", "linda", "Gene2", "victor", "klatt3", "pablo", "Andrea"]
ACCENTS = {
    "pa": ["pa"],
    "en": ["en-us", "gmw/en", "en-gb-scotland", "en-gb-x-rp", "en-gb-x-gbclan", "en-029", "en-us-nyc"],
}
NATURAL = [*kokoro.ENGLISH * 2, *kokoro.INDIAN, *kokoro.OTHERS]  # Kokoro's voices for English; doubled ones weigh more
# The share of each engine in a corpus; below, the voices of each engine that training uses. hibari, Kokoro and pairs of
# Kokoro's voices are slow, or one voice: each gets a corpus of its own.
SHARES = {
    "pa": {"espeak": 0.5, "festival": 0.12, "flite": 0.1, "cross-lingual": 0.2, "pico": 0.08},
    "en": {"espeak": 0.35, "festival": 0.18, "flite": 0.29, "pico": 0.18},
}
TRAINING = {
    "pa": {
        "festival": ["hindi_NSK_diphone"],
        "flite": ["rms", "slt", "kal16"],
        "cross-lingual": list(cross_lingual.VOICES),
        "pico": ["it-IT", "de-DE", "es-ES"],
        "hibari": list(hibari.VOICES),
        "kokoro": [*kokoro.INDIAN * 3, *kokoro.ENGLISH, *kokoro.OTHERS],
        "pairs": [*kokoro.INDIAN * 12, *kokoro.ENGLISH, *kokoro.OTHERS],
    },
    "en": {
        "festival": ["kal_diphone", *festival.BRITISH],
        "flite": ["rms", "slt", "awb", "kal16"],
        "pico": ["en-US", "en-GB"],
        "hibari": list(hibari.VOICES),
        "kokoro": NATURAL,
        "pairs": NATURAL,
    },
}
HELD = {"pa": {"flite": ["awb"]}, "en": {"festival": ["ked_diphone"]}}
FEW = {"kal16": 0.4}  # weight beside the other voices' 1: this one sounds like a machine

How = dict[str, float]  # pace, pitch, span (espeak-ng's), speed and shift of one utterance
Plan = tuple[str, str, How]  # engine, voice, how
Job = tuple[str, str, str, How]  # text, engine, voice, how
Spoken = tuple[Floats, list[tuple[int, float]]]  # samples at 16 kHz, (word number, start in seconds)


def _held(language: str, rng: np.random.Generator) -> tuple[str, str]:
    """Draw an engine and a voice of those kept for the tests."""
    others = [(e, v) for e, vs in HELD[language].items() for v in vs]
    if rng.random() < 0.3:
        return others[rng.integers(len(others))]
    return "espeak", f"{rng.choice(ACCENTS[language])}+{rng.choice(HELD_VARIANTS)}"


def _trained(language: str, only: str | None, rng: np.random.Generator) -> tuple[str, str]:
    """Draw an engine and a voice of those for training."""
    engine = only or str(rng.choice(list(SHARES[language]), p=list(SHARES[language].values())))
    if engine == "espeak":
        usable = [v for v in VARIANTS if v not in HELD_VARIANTS and v not in ODD]
        return engine, f"{rng.choice(ACCENTS[language])}+{rng.choice(usable)}"
    names = TRAINING[language][engine]
    weight = [FEW.get(n, 1.0) for n in names]
    voice = str(rng.choice(names, p=[w / sum(weight) for w in weight]))
    if engine == "pairs":  # the mean of two of Kokoro's voices is a third
        voice = f"{voice}+{rng.choice([n for n in names if n != voice])}"
    return engine, voice


def planned(language: str, only: str | None, rng: np.random.Generator, held: bool = False) -> Plan:
    """Draw engine, voice and way of speaking of one utterance.

    `only`: the one engine to use, whose voices then vary more; `held`: use the voices kept for the tests.
    """
    engine, voice = _held(language, rng) if held else _trained(language, only, rng)
    how = {
        "pace": float(rng.uniform(0.8, 1.25)),
        "pitch": float(rng.uniform(25, 75)),
        "span": float(rng.uniform(25, 85)),
        "speed": 1.0,
        "shift": 1.0,
    }
    if engine != "espeak":
        how["speed"] = float(rng.uniform(0.9, 1.12)) if not held else 1.0
        if only:  # one engine's few voices vary more
            how["speed"], how["shift"] = float(rng.uniform(0.84, 1.2)), float(rng.uniform(0.75, 1.35))
        if engine == "hibari":  # a woman's voice: also as a child's and as men's
            how["speed"], how["shift"] = float(rng.uniform(0.78, 1.15)), float(rng.uniform(0.6, 1.25))
        if engine in ("kokoro", "pairs"):  # these are many voices: each stays as it is
            how["speed"] = float(rng.uniform(0.95, 1.05))
    return engine, str(voice), how


class Speakers:
    """The engines of one language, or one engine of it.

    Raises ValueError where the engine `only` does not speak the language.
    """

    def __init__(self, language: str, only: str | None = None) -> None:
        if only not in (None, "espeak", *TRAINING[language]):
            raise ValueError(f"{only} does not speak {language}; espeak, {', '.join(TRAINING[language])} do")
        self.language, self.only = language, only
        self.espeak = Espeak()
        names = TRAINING[language].get("flite", []) + HELD[language].get("flite", [])
        self.flite = Flite(names)
        self.pico = Pico()
        self.hibari, self.kokoro = Hibari(), Kokoro()

    def plan(self, rng: np.random.Generator, held: bool = False) -> Plan:
        """Draw engine, voice and way of speaking of one utterance, as `planned` does."""
        return planned(self.language, self.only, rng, held)

    def spoken(self, jobs: Sequence[Job]) -> list[Spoken | None]:
        """Speak each job; None stands for one that its engine could not say.

        Only espeak-ng and festival give the times of words.
        """
        out: list[Spoken | None] = [None] * len(jobs)
        by_voice: dict[tuple[str, str], list[int]] = {}
        for k, (text, engine, voice, how) in enumerate(jobs):
            if engine in ("festival", "cross-lingual"):
                by_voice.setdefault((engine, voice), []).append(k)
            elif engine == "espeak":
                out[k] = self.by_espeak(text, voice, how)
            else:
                samples, rate = self.synthesised(text, engine, voice, how)
                out[k] = acoustics.trimmed(acoustics.resampled(samples, rate, how["speed"]))[0], []
        for (engine, voice), ks in by_voice.items():
            texts = [jobs[k][0] for k in ks]
            if engine == "festival" and self.language == "pa":
                texts = [gurmukhi.devanagari(text) for text in texts]
            read = cross_lingual.say if engine == "cross-lingual" else festival.say
            said = read(texts, voice, [1 / jobs[k][3]["pace"] for k in ks])
            for k, one in zip(ks, said, strict=True):
                out[k] = self.by_festival(jobs[k][0], one, jobs[k][3])
        return out

    def by_espeak(self, text: str, voice: str, how: How) -> Spoken | None:
        """Speak one text by espeak-ng."""
        samples, events = self.espeak.say(text, voice, 165 * how["pace"], how["pitch"], how["span"])
        if not len(samples):
            return None
        starts = {}
        at = 0
        for k, word in enumerate(text.split(" ")):
            starts[at] = k
            at += len(word) + 1
        times = [(starts[c], t) for c, t in events if c in starts]
        samples, cut = acoustics.trimmed(acoustics.resampled(samples, espeak.RATE))
        return samples, [(k, t - cut / 16000) for k, t in times]

    def synthesised(self, text: str, engine: str, voice: str, how: How) -> tuple[Floats, int]:
        """Speak one text by an engine that gives no times; returns samples in [-1, 1] and their rate in Hz."""
        panjabi = self.language == "pa"
        if engine == "flite":
            words = gurmukhi.phones(text) if panjabi else text
            return self.flite.say(words, voice, 1 / how["pace"], panjabi, how["shift"])
        if engine == "pico":
            text = pico.phones(cross_lingual.sampa(text, voice)) if panjabi else text
            return self.pico.say(text, voice, how["pace"], how["shift"])
        if engine == "hibari":
            phonemes = hibari.american(kokoro.panjabi(text)) if panjabi else self.hibari.phonemes(text)
            return self.hibari.say_phonemes(phonemes, how["pace"] / how["speed"], how["shift"])
        return self.kokoro.say(self.read(text), voice, how["pace"])

    def read(self, text: str) -> str:
        """Return a text's phonemes for Kokoro."""
        return kokoro.panjabi(text) if self.language == "pa" else self.hibari.phonemes(text)

    def by_festival(self, text: str, one: festival.Spoken | None, how: How) -> Spoken | None:
        """Trim and resample what festival said; None where it failed or left a word out."""
        if one is None or not len(one[0]):
            return None
        samples, rate, words = one
        if len(words) != len(text.split()) or any(w[2] == "0" for w in words):
            return None  # a word was not read
        samples, cut = acoustics.trimmed(acoustics.resampled(samples, rate, how["speed"]))
        return samples, [(k, w[0] / how["speed"] - cut / 16000) for k, w in enumerate(words)]
