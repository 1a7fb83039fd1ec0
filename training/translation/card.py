"""The model card as text: the figures of `evaluate` between `card-head.md` and `card-foot.md`, which are by hand."""

from pathlib import Path

from . import manifest

NAMES = {"en-pa": "English to Panjabi", "pa-en": "Panjabi to English"}
DATA = """| data | pairs or sentences | used for | licence |
|---|---|---|---|
| Android Open Source Project: Settings, frameworks/base and Messaging, `values` beside `values-pa` | 7,525 pairs | training, dev, test | Apache-2.0 |
| Wikipedia for Android, `strings.xml` | 1,302 pairs | training, dev, test | Apache-2.0 |
| mozilla.org (mozilla-l10n/www-l10n), `en` beside `pa-IN` | 1,444 pairs | training, dev, test | MPL-2.0 |
| Common Voice, the site's own strings | 445 pairs | training, dev, test | MPL-2.0 |
| GOV.UK publishing components | 81 pairs | training, dev, test | MIT |
| Pratham Books / StoryWeaver, 36 children's stories (by way of global-asp/pb-source) | 722 pairs, 1,284 Panjabi sentences | training, dev, test | CC BY 4.0 |
| Common Voice sentences, Panjabi and English | 14,762 and 49,974 sentences | training (denoising), the vocabulary | CC0 |
| `phrasebook/`: phrases, templates, nouns and verbs written for this project | no end of pairs | training | MIT OR Apache-2.0 |"""


def table(rows):
    return "\n".join(
        [
            "| what | direction | pairs | chrF++ | BLEU |",
            "|---|---|---|---|---|",
            *(f"| {what} | {way} | {s['n']} | {s['chrf++']} | {s['bleu']} |" for what, way, s in rows),
        ]
    )


def cell(text):
    return text.replace("|", "\\|")


def examples(rows):
    return "\n".join(
        [
            "| source | what it says | reference |",
            "|---|---|---|",
            *("| " + " | ".join(map(cell, row)) + " |" for row in rows),
        ]
    )


def text(figures):
    held = [
        (what, way, figures[key]["all"] if what == "all" else figures[key]["groups"][what])
        for what in ("all", *figures["en-pa"]["groups"])
        for key, way in NAMES.items()
    ]
    daily = [
        (what, way, figures[key][name])
        for name, what in (
            ("everyday", "as written"),
            ("everyday as heard", "lower case, no punctuation, numbers in words"),
        )
        for key, way in NAMES.items()
    ]
    folder = Path(__file__).parent
    parts = {name: (folder / f"card-{name}.md").read_text().strip() for name in ("head", "foot")}
    drawn = "\n\n".join(f"### {way}\n\n{examples(figures[key]['drawn'])}" for key, way in NAMES.items())
    said = "\n\n".join(f"### {way}\n\n{examples(figures[key]['daily'])}" for key, way in NAMES.items())
    return f"""# {manifest.MODEL}: Panjabi ↔ English

{parts["head"]}

## Data

{DATA}

The GNOME and VLC strings (GPL) are not used.

## Figures

chrF++ and BLEU by sacrebleu (chrF word order 2; BLEU with 13a, one reference), of the shipped files, beam {manifest.BEAM}. All of
the held-out part, which no training and no choice between trainings looked at.

{table(held)}

Forty everyday sentences written beside the phrase book and never trained on. They use much of the same words, so this
says how well the phrase book was learnt, not how well Panjabi is known.

{table(daily)}

{parts["foot"]}

## Twenty held-out outputs a direction, drawn by a fixed seed, unpicked

{drawn}

## The everyday sentences, all of them

{said}
"""
