"""The lexicon of names: those of `lexicon/names.txt`, and those that the training pairs show.

    python -m translation.names --data DATA --pairs WORK/pairs

writes `lexicon/learnt.tsv`. Rows are English, Panjabi, and the direction in which the row is used: `both`, `en` (only
from English) or `pa` (only from Panjabi).

A name of the pairs is a word that English writes with a capital inside a sentence, and the Panjabi word that most often
stands in the same rows and has about the same consonants; or a Latin word that the Panjabi text mostly keeps.
"""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import tyro

from . import corpus, prepared
from .corpus import Pair
from .placeholders import Lexicon
from .words import sections

FOLDER = Path(__file__).parent / "lexicon"
Row = tuple[str, str, str]
"""English, Panjabi, direction."""
WORDS = ("Gill", "Toor", "Man", "Kang")
"""Names that are English words in small letters."""
FEWEST = 2  # rows that must show a name
LIKE = 0.8  # the least likeness of the consonants
_WORD = re.compile(r"[A-Za-z]+(?:[’'-][A-Za-z]{2,})*")
_TAG = re.compile(r"<[^<>]*>|\{[^{}]*\}|%[0-9$]*[a-z]")
# In these, Panjabi spells brands in its own script, but keeps abbreviations.
_MADE = ("indicvoices:grocery", "indicvoices:digital", "indicvoices:gov", "indicvoices:customercare")
_GURMUKHI = re.compile("[\u0a05-\u0a39\u0a59-\u0a5e\u0a72-\u0a74][\u0a01-\u0a75]*")
_PANJABI = {
    **dict.fromkeys("ਕਖਖ਼", "k"), **dict.fromkeys("ਗਘਗ਼", "g"), **dict.fromkeys("ਚਛ", "c"), **dict.fromkeys("ਜਝਜ਼", "j"),
    **dict.fromkeys("ਟਠਤਥ", "t"), **dict.fromkeys("ਡਢਦਧ", "d"), **dict.fromkeys("ਣਨਙਞੰਂ", "n"), "ਪ": "p",
    **dict.fromkeys("ਫਫ਼", "f"), **dict.fromkeys("ਬਭ", "b"), "ਮ": "m", "ਰ": "r", "ੜ": "r", "ਲ": "l", "ਲ਼": "l", "ਵ": "v",
    **dict.fromkeys("ਸਸ਼", "s"),
}  # fmt: skip
_ENGLISH = [
    ("sch", "s"), ("tch", "C"), ("ch", "C"), ("sh", "s"), ("ph", "f"), ("th", "t"), ("ck", "k"), ("ce", "s"),
    ("ci", "s"), ("cy", "s"), ("c", "k"), ("q", "k"), ("x", "ks"), ("w", "v"), ("z", "j"),
]  # fmt: skip


def consonants(word: str) -> str:
    """The consonants of a word of either script, as Latin letters; aspirates and doubled letters are simple."""
    if corpus.GURMUKHI.search(word):
        word = re.sub("[ੰਂ](?=[ਪਫਬਭਮ])", "ਮ", word)
        found = "".join(_PANJABI.get(c, "") for c in word)
    else:
        found = word.lower()
        for a, b in _ENGLISH:
            found = found.replace(a, b)
        found = re.sub("[^bcdfgjklmnprstv]", "", found.lower())
    return re.sub(r"(.)\1+", r"\1", found)


def alike(en: str, pa: str) -> float:
    """How alike two words sound, 0 to 1."""
    a, b = consonants(en), consonants(pa)
    if not a or not b or a[0] != b[0]:
        return 0.0
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def written() -> list[Row]:
    """The rows of `names.txt`; given names are joined of their parts."""
    found = sections(FOLDER / "names.txt")
    rows: list[Row] = []
    for line in found["people"] + found["places"]:
        both = " = " in line
        en, _, forms = line.partition(" = " if both else " > ")
        for k, pa in enumerate(forms.split(" | ")):
            rows.append((en, pa, ("both" if both else "en") if not k else "pa"))
    parts = [[line.split(" = ") for line in found[name]] for name in ("first", "second")]
    known = {row[0] for row in rows} | set(found["except"])
    spelled = {pa for _, pa, way in rows if way != "en"}
    for first, begin in parts[0]:
        for second, end in parts[1]:
            if first + second not in known:
                # jeet and jit are one name in Panjabi. The spelling that comes first is the one in English.
                pa = begin + end
                rows.append((first + second, pa, "en" if pa in spelled else "both"))
                spelled.add(pa)
    return rows


def kept(pairs: Sequence[Pair]) -> list[Row]:
    """Latin words that Panjabi mostly keeps as they are, and that English never writes small."""
    stays, all_of, small = Counter[str](), Counter[str](), Counter[str]()
    for en, pa, source in pairs:
        theirs = set(_WORD.findall(_TAG.sub(" ", pa)))
        for word in set(_WORD.findall(_TAG.sub(" ", en))):
            small[word] += word.islower()
            if word.isupper() or not source.startswith(_MADE):
                all_of[word] += 1
                stays[word] += word in theirs
    return [
        (word, word, "en")
        for word, count in stays.items()
        if count >= FEWEST and count >= 0.7 * all_of[word] and len(word) > 1 and small[word.lower()] * 5 < count
    ]


def capitals(pairs: Sequence[Pair]) -> list[tuple[str, list[int]]]:
    """The words that English writes with a capital inside sentences and never small, with the rows that have them."""
    rows: dict[str, list[int]] = defaultdict(list)
    small = Counter[str]()
    for k, (en, _, source) in enumerate(pairs):
        words = _WORD.findall(en)
        natural = source in ("indicvoices:wikipedia", "indicvoices:domain", "indicvoices:topic")
        for at, word in enumerate(words):
            if word.islower() and source != "indicvoices:everyday":
                small[word] += 1
            elif natural and at and word[0].isupper() and not word.isupper() and len(word) > 2:
                rows[word].append(k)
    return [(word, sorted(set(found))) for word, found in rows.items() if small[word.lower()] * 10 < len(found)]


def shown(pairs: Sequence[Pair], common: Iterable[str]) -> list[Row]:
    """The names that the pairs show; `common` are words of English that are no names."""
    out: list[Row] = []
    common = set(common)
    holds: dict[str, set[int]] = defaultdict(set)
    for k, (_, pa, _) in enumerate(pairs):
        for word in _GURMUKHI.findall(pa):
            holds[word].add(k)
    english = [set(_WORD.findall(en.lower())) for en, _, _ in pairs]
    for word, rows in capitals(pairs):
        if len(rows) < FEWEST or word.lower() in common:
            continue
        counts = Counter(pa for k in rows for pa in set(_GURMUKHI.findall(pairs[k][1])))
        near = [
            (count * alike(word, pa), pa)
            for pa, count in counts.items()
            if len(consonants(pa)) > 1 and alike(word, pa) >= LIKE
        ]
        if not near:
            continue
        score, best = max(near)
        if score >= 0.55 * len(rows):
            also = sum(word.lower() in english[k] for k in holds[best])
            out.append((word, best, "both" if also >= 0.8 * len(holds[best]) else "en"))
    return out


def rows() -> list[Row]:
    """All rows, those written for the project first, which are also found in small letters."""
    path = FOLDER / "learnt.tsv"
    learnt = path.read_text().splitlines() if path.exists() else []
    found = written()
    small = [(en.lower(), pa, "en") for en, pa, way in found if way != "pa" and en not in WORDS]
    return [*found, *small, *((en, pa, way) for en, pa, way in (line.split("\t") for line in learnt))]


def table(found: Sequence[Row] | None = None) -> str:
    """The rows as the service reads them, a row a line, with tabs between."""
    return "".join("\t".join(row) + "\n" for row in (rows() if found is None else found))


def lexicon(found: Sequence[Row] | None = None) -> Lexicon:
    """The lexicon of the rows."""
    return Lexicon(rows() if found is None else found)


def main(data: Path, pairs: Path) -> None:
    """Learns the names of the training pairs and writes them."""
    parts = prepared.read(pairs)
    train = parts["train"]
    small = Counter(word for text in corpus.single(data, parts)["en"] for word in _WORD.findall(text))
    common = {word for word in small if word.islower()}
    known = {row[0] for row in written()}
    found = [row for row in (*kept(train), *shown(train, common)) if row[0] not in known]
    (FOLDER / "learnt.tsv").write_text(table(sorted(set(found))))
    print(len(written()), "written,", len(found), "learnt")


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
