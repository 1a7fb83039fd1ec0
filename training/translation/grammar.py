"""Plain sentences by rule: subject, object, verb and time, in six tenses and moods, as statement, denial and question.

In Panjabi the verb agrees with its subject. In the past of a transitive verb it agrees with the object, and the subject
takes ਨੇ (not ਮੈਂ, ਅਸੀਂ, ਤੁਸੀਂ). The infinitive before ਚਾਹੁੰਦਾ and ਚਾਹੀਦਾ agrees with its object.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .words import Listed, Noun, sections

Thing = tuple[str, str, str]
"""An object: English, Panjabi, and its form (a key of `ENDINGS`)."""
Clause = tuple[str, str, str | None, str]
"""English subject and predicate, Panjabi predicate, the list that a word of time may come from, Panjabi subject."""

ENDINGS = {"ms": "ਾ", "fs": "ੀ", "mp": "ੇ", "fp": "ੀਆਂ"}
GOING = {"ms": "ਰਿਹਾ", "fs": "ਰਹੀ", "mp": "ਰਹੇ", "fp": "ਰਹੀਆਂ"}
WOMEN = {"Sita", "Anita", "Meena", "Fatima", "Maria", "Sara", "Anna", "Lakshmi"}


@dataclass
class Subject:
    """A subject in both languages."""

    en: str
    pa: str
    person: int
    """1, 2 or 3."""
    form: str
    """Gender and number: a key of `ENDINGS`."""
    agent: str
    """The Panjabi subject of a transitive verb in the past: with ਨੇ where it takes one."""
    to: str
    """The Panjabi subject with ਨੂੰ, as ਚਾਹੀਦਾ wants it."""

    @property
    def many(self) -> bool:
        """Whether the subject is plural."""
        return self.form[1] == "p"

    @property
    def be(self) -> str:
        """The English "be" in the present."""
        return "am" if self.en == "I" else "are" if self.many else "is"

    @property
    def third(self) -> bool:
        """Whether the English verb takes its -s."""
        return self.person == 3 and not self.many

    @property
    def aux(self) -> str:
        """The Panjabi "be" in the present."""
        return {1: "ਹਾਂ", 2: "ਹੋ"}.get(self.person, "ਹਨ" if self.many else "ਹੈ")

    @property
    def was(self) -> str:
        """The Panjabi "be" in the past."""
        return "ਸਨ" if self.person == 3 and self.many else "ਸੀ"


def own(subject: Subject) -> str | None:
    """The English possessive that refers back to the subject; None for a noun in the singular."""
    return {"I": "my", "you": "your", "he": "his", "she": "her", "we": "our"}.get(
        subject.en, "their" if subject.many else None
    )


class Verb:
    """A line of `verbs.txt`: the forms of a verb in both languages; the file's first line says which."""

    def __init__(self, line: str) -> None:
        english, panjabi = line.split(" = ")
        forms, past, classes = (part.strip() for part in panjabi.split(";"))
        self.base, self.s, self.ing, self.ed = english.split()
        self.stem, self.habit, self.sub1, self.sub3, self.command, self.oblique = (
            form.replace("_", " ") for form in forms.split()
        )
        perfective = [form.replace("_", " ") for form in past.split()]
        self.past = None if past == "none" else dict(zip(ENDINGS, perfective, strict=True))
        self.classes = classes.split()
        self.transitive = self.classes[0] not in ("-", "to")

    def habitual(self, form: str) -> str:
        """The imperfective participle: ਖਾਂਦਾ."""
        return self.habit[:-1] + ENDINGS[form]

    def infinitive(self, form: str) -> str:
        """The infinitive: ਖਾਣਾ."""
        return self.oblique + ENDINGS[form]

    def future(self, subject: Subject) -> str:
        """The future: ਖਾਵਾਂਗਾ."""
        if subject.person == 2:
            return self.command + "ਗੇ"
        if subject.person == 1:
            return self.sub1 + ("ਗੇ" if subject.many else "ਗਾ" if subject.form == "ms" else "ਗੀ")
        return self.oblique + "ਗੇ" if subject.many else self.sub3 + ("ਗਾ" if subject.form == "ms" else "ਗੀ")


def denied(verb: str) -> str:
    """The verb with ਨਹੀਂ, which stands before its last word: ਬੰਦ ਨਹੀਂ ਕਰਦਾ."""
    first, _, last = verb.rpartition(" ")
    return f"{first} ਨਹੀਂ {last}".strip()


def english(first: str, subject: Subject, rest: str, asked: bool, negative: bool) -> str:
    """An English clause with the auxiliary `first`: "you are eating", "you are not eating", "are you eating"."""
    return f"{first} {subject.en} {rest}" if asked else f"{subject.en} {first}{' not' if negative else ''} {rest}"


def plain(do: str, subject: Subject, verbs: tuple[str, str], thing: str, asked: bool, negative: bool) -> str:
    """An English clause that needs the auxiliary `do` only in a question and with `not`: "you eat", "do you eat".

    `verbs`: the verb behind the auxiliary, and without it.
    """
    if asked or negative:
        return english(do, subject, f"{verbs[0]} {thing}".strip(), asked, negative)
    return f"{subject.en} {verbs[1]} {thing}".strip()


class Grammar:
    """Makes sentences of the verbs of a file and the given nouns and lists."""

    def __init__(self, path: Path, nouns: Mapping[str, Sequence[Noun]], lists: Mapping[str, Sequence[Listed]]) -> None:
        self.verbs = [Verb(line) for line in sections(path)[""]]
        self.nouns, self.lists = nouns, lists
        # The kinds of clause that take a subject and an object.
        self.clauses: dict[str, Callable[[Verb, Subject, Thing, bool, bool], Clause]] = {
            "habit": self.habit,
            "going": self.going,
            "was": self.was,
            "future": self.future,
            "past": self.past,
            "want": self.want,
            "can": self.can,
            "should": self.should,
        }

    def subject(self, rng: random.Random, speaker: int) -> Subject:
        """A drawn subject; with `speaker`, "I" is a woman."""
        kind = rng.random()
        if kind < 0.6:
            return rng.choice(
                (
                    Subject("I", "ਮੈਂ", 1, "fs" if speaker else "ms", "ਮੈਂ", "ਮੈਨੂੰ"),
                    Subject("you", "ਤੁਸੀਂ", 2, "mp", "ਤੁਸੀਂ", "ਤੁਹਾਨੂੰ"),
                    Subject("he", "ਉਹ", 3, "ms", "ਉਸ ਨੇ", "ਉਸ ਨੂੰ"),
                    Subject("she", "ਉਹ", 3, "fs", "ਉਸ ਨੇ", "ਉਸ ਨੂੰ"),
                    Subject("we", "ਅਸੀਂ", 1, "mp", "ਅਸੀਂ", "ਸਾਨੂੰ"),
                    Subject("they", "ਉਹ", 3, "mp", "ਉਨ੍ਹਾਂ ਨੇ", "ਉਨ੍ਹਾਂ ਨੂੰ"),
                )
            )
        if kind < 0.7:
            name, (called,) = rng.choice(self.lists["name"])
            return Subject(name, called, 3, "fs" if name in WOMEN else "ms", f"{called} ਨੇ", f"{called} ਨੂੰ")
        en, pa, gender = rng.choice(self.nouns["person" if kind < 0.85 else "family"])
        if kind < 0.78:
            return Subject(f"the {en['s']}", pa["s"], 3, f"{gender}p", f"{pa['so']} ਨੇ", f"{pa['so']} ਨੂੰ")
        if kind < 0.85:
            return Subject(f"the {en['']}", pa[""], 3, f"{gender}s", f"{pa['o']} ਨੇ", f"{pa['o']} ਨੂੰ")
        mine = ("ਮੇਰਾ", "ਮੇਰੇ") if gender == "m" else ("ਮੇਰੀ", "ਮੇਰੀ")
        return Subject(
            f"my {en['']}", f"{mine[0]} {pa['']}", 3, f"{gender}s", f"{mine[1]} {pa['o']} ਨੇ", f"{mine[1]} {pa['o']} ਨੂੰ"
        )

    def object(self, verb: Verb, subject: Subject | None, rng: random.Random) -> Thing:
        """A drawn object that the verb may take; ("", "", "ms") for none."""
        kind = rng.choice(verb.classes)
        if kind == "-":
            return "", "", "ms"
        if kind == "to":
            return self.destination(rng)
        if kind == "tongue":
            tongue, (called,) = rng.choice(self.lists["tongue"])
            return tongue, called, "fs"
        en, pa, gender = rng.choice(self.nouns[kind])
        if not en["s"] or (pa[""] == pa["s"] and gender == "f"):
            return (en[""] if rng.random() < 0.6 else f"the {en['']}"), pa[""], f"{gender}s"
        chance = rng.random()
        if chance < 0.25 and kind != "place":
            return en["s"], pa["s"], f"{gender}p"
        if chance < 0.5 and kind != "place":
            return en["a"], f"ਇੱਕ {pa['']}", f"{gender}s"
        if chance < 0.65 and subject is not None and own(subject) and kind not in ("place", "food"):
            return f"{own(subject)} {en['']}", f"{'ਆਪਣਾ' if gender == 'm' else 'ਆਪਣੀ'} {pa['']}", f"{gender}s"
        return f"the {en['']}", pa[""], f"{gender}s"

    def destination(self, rng: random.Random) -> Thing:
        """Where somebody goes: home, to a town or to a place."""
        chance = rng.random()
        if chance < 0.2:
            return "home", "ਘਰ", "ms"
        if chance < 0.4:
            town, (called,) = rng.choice(self.lists["town"])
            return f"to {town}", called, "ms"
        en, pa, _ = rng.choice(self.nouns["place"])
        return (f"to {en['']}" if en[""] == "school" else f"to the {en['']}"), pa["o"], "ms"

    def sentence(self, rng: random.Random) -> tuple[str, str, int]:
        """A drawn sentence: English, Panjabi, and 1 if the Panjabi says that a woman speaks, else 0."""
        speaker = int(rng.random() < 0.2)
        verb, subject = rng.choice(self.verbs), self.subject(rng, speaker)
        speaker = int(subject.form == "fs" and subject.person == 1)
        kinds = ["habit", "going", "going", "future", "want", "can", "should", "command", "what"]
        kind = rng.choice(kinds + (["past", "past"] if verb.past else ["was"]))
        if kind == "command":
            return *self.command(verb, rng), 0
        asked = rng.random() < 0.2
        negative = not asked and rng.random() < 0.2
        if kind == "what":
            return *self.question(verb, subject, rng), speaker
        thing = self.object(verb, subject, rng)
        en, pa, when, by = self.clauses[kind](verb, subject, thing, asked, negative)
        time = rng.choice(self.lists[when]) if when and rng.random() < 0.35 else ("", [""])
        en = " ".join(part for part in (en, time[0]) if part)
        pa = " ".join(part for part in (by, time[1][0], thing[1], pa) if part)
        if asked:
            return f"{en[0].upper()}{en[1:]}?", f"ਕੀ {pa}?", speaker
        return f"{en[0].upper()}{en[1:]}.", f"{pa}।", speaker

    def habit(self, verb: Verb, subject: Subject, thing: Thing, asked: bool, negative: bool) -> Clause:
        """`I eat`: what is done often."""
        verbs = verb.base, verb.s if subject.third else verb.base
        en = plain("does" if subject.third else "do", subject, verbs, thing[0], asked, negative)
        said = verb.habitual(subject.form)
        return en, denied(said) if negative else f"{said} {subject.aux}", "often", subject.pa

    def going(self, verb: Verb, subject: Subject, thing: Thing, asked: bool, negative: bool) -> Clause:
        """`I am eating`: what is being done."""
        en = english(subject.be, subject, f"{verb.ing} {thing[0]}".strip(), asked, negative)
        said = f"{denied(verb.stem) if negative else verb.stem} {GOING[subject.form]}"
        return en, said if negative else f"{said} {subject.aux}", "now", subject.pa

    def was(self, verb: Verb, subject: Subject, thing: Thing, asked: bool, negative: bool) -> Clause:
        """`I was eating`."""
        be = "were" if subject.many else "was"
        en = english(be, subject, f"{verb.ing} {thing[0]}".strip(), asked, negative)
        said = f"{denied(verb.stem) if negative else verb.stem} {GOING[subject.form]}"
        return en, f"{said} {subject.was}", "then", subject.pa

    def future(self, verb: Verb, subject: Subject, thing: Thing, asked: bool, negative: bool) -> Clause:
        """`I will eat`."""
        en = english("will", subject, f"{verb.base} {thing[0]}".strip(), asked, negative)
        said = verb.future(subject)
        return en, denied(said) if negative else said, "when", subject.pa

    def past(self, verb: Verb, subject: Subject, thing: Thing, asked: bool, negative: bool) -> Clause:
        """`I ate`; only for verbs with past forms."""
        en = plain("did", subject, (verb.base, verb.ed), thing[0], asked, negative)
        assert verb.past is not None
        said = verb.past[thing[2] if verb.transitive else subject.form]
        return en, denied(said) if negative else said, "then", subject.agent if verb.transitive else subject.pa

    def want(self, verb: Verb, subject: Subject, thing: Thing, asked: bool, negative: bool) -> Clause:
        """`I want to eat`."""
        verbs = f"want to {verb.base}", f"{'wants' if subject.third else 'want'} to {verb.base}"
        en = plain("does" if subject.third else "do", subject, verbs, thing[0], asked, negative)
        wished = "ਚਾਹੁੰਦ" + ENDINGS[subject.form]
        pa = f"{verb.infinitive(thing[2])} {f'ਨਹੀਂ {wished}' if negative else f'{wished} {subject.aux}'}"
        return en, pa, None, subject.pa

    def can(self, verb: Verb, subject: Subject, thing: Thing, asked: bool, negative: bool) -> Clause:
        """`I can eat`."""
        en = english("can", subject, f"{verb.base} {thing[0]}".strip(), asked, negative)
        said = f"{denied(verb.stem) if negative else verb.stem} ਸਕਦ{ENDINGS[subject.form]}"
        return en.replace("can not", "cannot"), said if negative else f"{said} {subject.aux}", None, subject.pa

    def should(self, verb: Verb, subject: Subject, thing: Thing, asked: bool, negative: bool) -> Clause:
        """`I should eat`; the Panjabi subject takes ਨੂੰ."""
        en = english("should", subject, f"{verb.base} {thing[0]}".strip(), asked, negative)
        form = thing[2]
        said = f"{denied(verb.infinitive(form)) if negative else verb.infinitive(form)} ਚਾਹੀਦ{ENDINGS[form]}"
        return en, said if negative else f"{said} {'ਹਨ' if form[1] == 'p' else 'ਹੈ'}", None, subject.to

    def command(self, verb: Verb, rng: random.Random) -> tuple[str, str]:
        """A command or a request: (English, Panjabi)."""
        en, pa, _ = self.object(verb, None, rng)
        en = f"{verb.base} {en}".strip()
        chance = rng.random()
        if chance < 0.4:
            return f"Please {en}.", " ".join(f"ਕਿਰਪਾ ਕਰਕੇ {pa} {verb.command}।".split())
        first, _, last = verb.command.rpartition(" ")
        if chance < 0.6:
            return f"Do not {en}.", " ".join(f"{pa} {first} ਨਾ {last}।".split())
        return f"{en[0].upper()}{en[1:]}.", " ".join(f"{pa} {verb.command}।".split())

    def question(self, verb: Verb, subject: Subject, rng: random.Random) -> tuple[str, str]:
        """A question with what, why or when: (English, Panjabi)."""
        if verb.transitive and verb.classes[0] != "tongue" and rng.random() < 0.6:
            if rng.random() < 0.5:
                return (
                    f"What {subject.be} {subject.en} {verb.ing}?",
                    f"{subject.pa} ਕੀ {verb.stem} {GOING[subject.form]} {subject.aux}?",
                )
            return f"What will {subject.en} {verb.base}?", f"{subject.pa} ਕੀ {verb.future(subject)}?"
        en, pa, _ = self.object(verb, None, rng)
        if rng.random() < 0.5:
            return f"Why {subject.be} {subject.en} {verb.ing} {en}".strip() + "?", " ".join(
                f"{subject.pa} {pa} ਕਿਉਂ {verb.stem} {GOING[subject.form]} {subject.aux}?".split()
            )
        return f"When will {subject.en} {verb.base} {en}".strip() + "?", " ".join(
            f"{subject.pa} {pa} ਕਦੋਂ {verb.future(subject)}?".split()
        )
