"""The model card as text: `card.md` with the figures of `evaluate` filled in."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from . import manifest
from .metrics import Scores

Direction = TypedDict(
    "Direction",
    {
        "all": Scores,
        "groups": dict[str, Scores],
        "everyday": Scores,
        "everyday as heard": Scores,
        "drawn": list[list[str]],
        "daily": list[list[str]],
    },
)
"""What `evaluate` measured in one direction.

A row of `drawn` (held-out pairs) and `daily` (the everyday sentences) is source, output and reference.
"""
TEMPLATE = Path(__file__).parent / "card.md"
DIRECTIONS = ("en-pa", "pa-en")


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; a bar inside a cell is escaped."""
    first, *others = ("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in (head, *rows))
    return "\n".join([first, "|" + "---|" * len(head), *others])


def figures_table(figures: Mapping[str, Direction], rows: Mapping[str, Callable[[Direction], Scores]]) -> str:
    """A row for each name of `rows`: the pairs and the scores of both directions."""
    head = ("what", "pairs", "to Panjabi: chrF++", "BLEU", "to English: chrF++", "BLEU")
    cells: list[list[object]] = []
    for name, of in rows.items():
        both = [of(figures[direction]) for direction in DIRECTIONS]
        assert both[0]["n"] == both[1]["n"], name
        cells.append([name, both[0]["n"], *(score for s in both for score in (s["chrf++"], s["bleu"]))])
    return table(head, cells)


def examples_table(to_panjabi: Sequence[Sequence[str]], to_english: Sequence[Sequence[str]]) -> str:
    """The same pairs in both directions: each sentence beside its translation by the model."""
    cells = []
    for (en, said_pa, pa), (source, said_en, reference) in zip(to_panjabi, to_english, strict=True):
        assert (source, reference) == (pa, en)
        cells.append((en, said_pa, pa, said_en))
    return table(("English", "the model to Panjabi", "Panjabi", "the model to English"), cells)


def text(figures: Mapping[str, Direction]) -> str:
    """The card, of what `evaluate` measured; the keys are "en-pa" and "pa-en"."""
    to_panjabi, to_english = (figures[direction] for direction in DIRECTIONS)

    def group(name: str) -> Callable[[Direction], Scores]:
        return lambda direction: direction["groups"][name]

    held: dict[str, Callable[[Direction], Scores]] = {"all": lambda direction: direction["all"]}
    held |= {name: group(name) for name in to_panjabi["groups"]}
    return TEMPLATE.read_text().format(
        model=manifest.MODEL,
        beam=manifest.BEAM,
        pairs=to_panjabi["all"]["n"],
        summary=", ".join(
            f"chrF++ {whole['chrf++']} and BLEU {whole['bleu']} to {language}"
            for language, whole in (("Panjabi", to_panjabi["all"]), ("English", to_english["all"]))
        ),
        held=figures_table(figures, held),
        daily=figures_table(
            figures,
            {
                "as written": lambda direction: direction["everyday"],
                "lower case, no punctuation, numbers in words": lambda direction: direction["everyday as heard"],
            },
        ),
        drawn=examples_table(to_panjabi["drawn"], to_english["drawn"]),
        said=examples_table(to_panjabi["daily"], to_english["daily"]),
    )
