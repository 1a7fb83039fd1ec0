"""Who speaks, and who is kept for the tests."""

from . import abroad, festival, gurmukhi, hibari, kokoro, pico, world
from .espeak import ODD, Espeak
from .flite import Flite
from .hibari import Hibari
from .kokoro import Kokoro
from .pico import Pico

VARIANTS = [
    "Alex",
    "Alicia",
    "Andrea",
    "Andy",
    "Annie",
    "Denis",
    "Diogo",
    "Gene",
    "Gene2",
    "Henrique",
    "Hugo",
    "Jacky",
    "Lee",
    "Marco",
    "Mario",
    "Michael",
    "Mike",
    "adam",
    "anika",
    "announcer",
    "antonio",
    "aunty",
    "belinda",
    "benjamin",
    "boris",
    "caleb",
    "david",
    "ed",
    "edward",
    "edward2",
    "f1",
    "f2",
    "f3",
    "f4",
    "f5",
    "grandma",
    "grandpa",
    "gustave",
    "iven",
    "iven2",
    "iven3",
    "iven4",
    "john",
    "kaukovalta",
    "klatt",
    "klatt2",
    "klatt3",
    "klatt4",
    "linda",
    "m1",
    "m2",
    "m3",
    "m4",
    "m5",
    "m6",
    "m7",
    "m8",
    "marcelo",
    "max",
    "michel",
    "miguel",
    "norbert",
    "pablo",
    "paul",
    "pedro",
    "quincy",
    "rob",
    "robert",
    "sandro",
    "shelby",
    "steph",
    "steph2",
    "steph3",
    "travis",
    "victor",
    "zac",
]
HELD_VARIANTS = ["f4", "m6", "linda", "Gene2", "victor", "klatt3", "pablo", "Andrea"]
ACCENTS = {
    "pa": ["pa"],
    "en": ["en-us", "gmw/en", "en-gb-scotland", "en-gb-x-rp", "en-gb-x-gbclan", "en-029", "en-us-nyc"],
}
NATURAL = [*kokoro.ENGLISH * 2, *kokoro.INDIAN, *kokoro.OTHERS]  # who speaks English of Kokoro's
# Shares of a corpus by engine, and the voices of the engines that are learnt from.
SHARES = {
    "pa": {"espeak": 0.5, "festival": 0.12, "flite": 0.1, "abroad": 0.2, "pico": 0.08},
    "en": {"espeak": 0.35, "festival": 0.18, "flite": 0.29, "pico": 0.18},
}
ALONE = ["hibari", "kokoro", "pairs"]  # slow, or one voice: corpora of their own
ENGINES = sorted({engine for shares in SHARES.values() for engine in shares} | set(ALONE))
LEARNT = {
    "pa": {
        "festival": ["hindi_NSK_diphone"],
        "flite": ["rms", "slt", "kal16"],
        "abroad": list(abroad.VOICES),
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
FEW = {"kal16": 0.4}  # of the weight of the others: the machine-like


class Speakers:
    """All engines of one language behind one call, or one engine, whose voices then vary more."""

    def __init__(self, language, only=None):
        if only not in (None, "espeak", *LEARNT[language]):
            raise ValueError(f"{only} does not speak {language}; espeak, {', '.join(LEARNT[language])} do")
        self.language, self.only = language, only
        self.espeak = Espeak()
        names = LEARNT[language].get("flite", []) + HELD[language].get("flite", [])
        self.flite = Flite(names)
        self.pico = Pico()
        self.hibari, self.kokoro = Hibari(), Kokoro()

    def plan(self, rng, held=False):
        """(engine, voice, how) of one utterance."""
        lang = self.language
        if held:
            others = [(e, v) for e, vs in HELD[lang].items() for v in vs]
            if rng.random() < 0.3:
                engine, voice = others[rng.integers(len(others))]
            else:
                engine, voice = "espeak", f"{rng.choice(ACCENTS[lang])}+{rng.choice(HELD_VARIANTS)}"
        else:
            engine = self.only or str(rng.choice(list(SHARES[lang]), p=list(SHARES[lang].values())))
            if engine == "espeak":
                usable = [v for v in VARIANTS if v not in HELD_VARIANTS and v not in ODD]
                voice = f"{rng.choice(ACCENTS[lang])}+{rng.choice(usable)}"
            else:
                names = LEARNT[lang][engine]
                weight = [FEW.get(n, 1.0) for n in names]
                voice = str(rng.choice(names, p=[w / sum(weight) for w in weight]))
                if engine == "pairs":  # what lies between two of Kokoro's voices is a third
                    voice = f"{voice}+{rng.choice([n for n in names if n != voice])}"
        how = {
            "pace": float(rng.uniform(0.8, 1.25)),
            "pitch": float(rng.uniform(25, 75)),
            "span": float(rng.uniform(25, 85)),
            "speed": 1.0,
            "shift": 1.0,
        }
        if engine != "espeak":
            how["speed"] = float(rng.uniform(0.9, 1.12)) if not held else 1.0
            if self.only:  # one engine's few voices vary more
                how["speed"], how["shift"] = float(rng.uniform(0.84, 1.2)), float(rng.uniform(0.75, 1.35))
            if engine == "hibari":  # a woman's voice: also as a child's and as men's
                how["speed"], how["shift"] = float(rng.uniform(0.78, 1.15)), float(rng.uniform(0.6, 1.25))
            if engine in ("kokoro", "pairs"):  # many voices: each as it is
                how["speed"] = float(rng.uniform(0.95, 1.05))
        return engine, str(voice), how

    def spoken(self, jobs):
        """jobs: [(text, engine, voice, how)] to [(samples at 16 kHz, [(word number, seconds)]) or None]."""
        out = [None] * len(jobs)
        by_voice = {}
        for k, (text, engine, voice, how) in enumerate(jobs):
            if engine in ("festival", "abroad"):
                by_voice.setdefault((engine, voice), []).append(k)
            elif engine == "espeak":
                out[k] = self.by_espeak(text, voice, how)
            else:
                samples, rate = self.said(text, engine, voice, how)
                out[k] = world.trimmed(world.resampled(samples, rate, how["speed"]))[0], []
        for (engine, voice), ks in by_voice.items():
            texts = [jobs[k][0] for k in ks]
            if engine == "festival" and self.language == "pa":
                texts = [gurmukhi.devanagari(text) for text in texts]
            read = abroad.say if engine == "abroad" else festival.say
            said = read(texts, voice, [1 / jobs[k][3]["pace"] for k in ks])
            for k, one in zip(ks, said):
                out[k] = self.by_festival(jobs[k][0], one, jobs[k][3])
        return out

    def by_espeak(self, text, voice, how):
        samples, events = self.espeak.say(text, voice, 165 * how["pace"], how["pitch"], how["span"])
        if not len(samples):
            return None
        starts = {}
        at = 0
        for k, word in enumerate(text.split(" ")):
            starts[at] = k
            at += len(word) + 1
        times = [(starts[c], t) for c, t in events if c in starts]
        samples, cut = world.trimmed(world.resampled(samples, self.espeak_rate))
        return samples, [(k, t - cut / 16000) for k, t in times]

    espeak_rate = 22050

    def said(self, text, engine, voice, how):
        """Samples and their rate of an engine that does not tell when a word starts."""
        panjabi = self.language == "pa"
        if engine == "flite":
            words = gurmukhi.phones(text) if panjabi else text
            return self.flite.say(words, voice, 1 / how["pace"], panjabi, how["shift"])
        if engine == "pico":
            text = pico.phones(abroad.sampa(text, voice)) if panjabi else text
            return self.pico.say(text, voice, how["pace"], how["shift"])
        if engine == "hibari":
            phonemes = hibari.american(kokoro.panjabi(text)) if panjabi else self.hibari.phonemes(text)
            return self.hibari.say_phonemes(phonemes, how["pace"] / how["speed"], how["shift"])
        return self.kokoro.say(self.read(text), voice, how["pace"])

    def read(self, text):
        """A text's phonemes for Kokoro."""
        return kokoro.panjabi(text) if self.language == "pa" else self.hibari.phonemes(text)

    def by_festival(self, text, one, how):
        if one is None or not len(one[0]):
            return None
        samples, rate, words = one
        if len(words) != len(text.split()) or any(w[2] == "0" for w in words):
            return None  # a word was not read
        samples, cut = world.trimmed(world.resampled(samples, rate, how["speed"]))
        return samples, [(k, w[0] / how["speed"] - cut / 16000) for k, w in enumerate(words)]
