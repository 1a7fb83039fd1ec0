"""The lexicon of names: those of `lexicon/names.txt`, written for this project, and those of `lexicon/learnt.tsv`.

Rows are English, Panjabi, and the direction in which the row is used: `both`, `en` (only from English) or `pa` (only
from Panjabi). `notes/translation.md` says which words of the training pairs are in `learnt.tsv`.
"""

from pathlib import Path

from .placeholders import Lexicon
from .words import sections

FOLDER = Path(__file__).parent / "lexicon"
Row = tuple[str, str, str]
"""English, Panjabi, direction."""
WORDS = ("Gill", "Toor", "Man", "Kang")
"""Names that are English words in small letters."""


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


def rows() -> list[Row]:
    """All rows, those written for the project first, which are also found in small letters."""
    found, learnt = written(), (FOLDER / "learnt.tsv").read_text().splitlines()
    small = [(en.lower(), pa, "en") for en, pa, way in found if way != "pa" and en not in WORDS]
    return [*found, *small, *((en, pa, way) for en, pa, way in (line.split("\t") for line in learnt))]


def table() -> str:
    """The rows as the service reads them, a row a line, with tabs between."""
    return "".join("\t".join(row) + "\n" for row in rows())


def lexicon() -> Lexicon:
    """The lexicon of the rows."""
    return Lexicon(rows())
