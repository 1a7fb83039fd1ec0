"""Figures and templates in; the cards of models/cards and the metrics of their manifests out.

    python -m cards --models-dir ../models              # all of them
    python -m cards speech-pa --models-dir ../models

The template of a model is `cards/MODEL.md`. The figures are `notes/MODEL.json`, which the measuring programs write. A
place `{keys:form}` in a template stands for a figure: `keys` lead from the outermost to the figure, with points between
them, and `form` is one of FORMS or a format of Python. Neither the data nor the models are needed.
"""

import json
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import manifests
import tyro
from figures import Figures, percent, wilson

HERE = Path(__file__).resolve().parent
NOTES = HERE / "notes"


def right(read: Figures, best: str = "") -> int:
    """How many pictures were read rightly: by the best label, or by one of the best three (`best` is "3")."""
    errors: int | None = read.get(f"errors{best}")
    return round(read[f"top{best or 1}"] * read["n"]) if errors is None else read["n"] - errors


def interval(read: Figures) -> str:
    """The 95 % interval of top-1 in percent."""
    low, high = wilson(right(read), read["n"])
    return f"{100 * low:.1f}–{100 * high:.1f}"


def reading(read: Figures) -> str:
    """The cells of a table: pictures, top-1 right, top-1, its interval, top-3 right, top-3."""
    cells = (read["n"], right(read), percent(read["top1"]), interval(read), right(read, "3"), percent(read["top3"]))
    return cells_of(cells)


def unlike(read: Figures) -> str:
    """The cells of a table about pictures that show none of the labels."""
    shares = (percent(read[name], 1) for name in ("above_half", "above_nine_tenths"))
    return cells_of((read["n"], f"{read['median']:.2f}", *shares))


def conditions(read: Mapping[str, Figures]) -> str:
    """A row for each condition: right, top-1, and the loss in percentage points."""
    clean = read["clean"]["top1"]
    rows = ((c, right(r), percent(r["top1"], 1), f"{100 * (clean - r['top1']):+.1f}") for c, r in read.items())
    return "\n".join(f"| {cells_of(row)} |" for row in rows)


def ratio(alike: Figures) -> str:
    """Two distances and their ratio."""
    return f"{alike['ratio']:.2f} ({alike['within']:.3f} to {alike['between']:.3f})"


def wrong(found: Figures) -> str:
    """The share that is wrong with its 95 % interval, in percent."""
    low, high = found["interval"]
    return f"{found['share_wrong']:.1%} [{100 * low:.1f}, {100 * high:.1f}]".replace("%", " %")


def clips(texts: Mapping[str, Figures]) -> str:
    """A row for each clip: its text before and after."""
    return "\n".join(
        f"| {name} | {t['before'] or '(empty)'} | {t['after'] or '(empty)'} |" for name, t in texts.items()
    )


def cells_of(cells: Sequence[object]) -> str:
    """Cells of a Markdown table without its outer bars; a bar inside a cell is escaped."""
    return " | ".join(str(cell).replace("|", "\\|") for cell in cells)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    first, *others = (f"| {cells_of(row)} |" for row in (head, *rows))
    return "\n".join([first, "|" + "---|" * len(head), *others])


FORMS: dict[str, Callable[[Any], str]] = {
    "clips": clips,
    "conditions": conditions,
    "count": lambda values: str(len(values)),
    "drawers": lambda numbers: ", ".join(f"{number:02}" for number in numbers),
    "empty": lambda found: f"{found['empty']} of {found['recordings']}",
    "interval": interval,
    "list": lambda words: ", ".join(words) or "none",
    "quartiles": lambda numbers: ", ".join(f"{number:.3f}" for number in numbers),
    "ratio": ratio,
    "reading": reading,
    "right": lambda read: str(right(read)),
    "table": lambda rows: table(list(rows[0]), [list(row.values()) for row in rows]),
    "unlike": unlike,
    "with_text": lambda found: f"{found['recordings'] - found['empty']} of {found['recordings']}",
    "wrong": wrong,
}


class Template(string.Formatter):
    """Fills the places of a template."""

    def get_field(self, field_name: str, _args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        """The figure that the keys of a place lead to. Raises ValueError where there is none."""
        found: Any = kwargs
        for key in field_name.split("."):
            if not isinstance(found, Mapping) or key not in found:
                raise ValueError(f"there is no figure {field_name}: {key} is missing")
            found = found[key]
        return found, field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        """The figure in one of FORMS, or in a format of Python, with a space before a sign of percent."""
        form = FORMS.get(format_spec)
        if form:
            return form(value)
        written = format(value, format_spec)
        return written.replace("%", " %") if format_spec.endswith("%") else written


def handwriting(found: Figures, folder: Path) -> Figures:
    """What the generator's card says beside the figures: constants of the code, and what two figures make together."""
    from handwriting import basis, glyphs, hands, model, traits  # these need NumPy

    letters, digits = found["legibility"]["letters-pa"], found["legibility"]["digits-pa"]
    return {
        "constants": {
            "style": basis.STYLE,
            "variation": basis.VARIATION,
            "points": glyphs.POINTS,
            "simplified": traits.SIMPLE,
            "own_variance": hands.OWN_VARIANCE,
            "short_wave": hands.SHORT_WAVE,
            "extra_field": model.EXTRA_FIELD,
            "max_spread": model.MAX_SPREAD,
            "undrawn_waves": model.UNDRAWN_WAVES,
        },
        "glyphs": len(glyphs.table()),
        "size": (folder / "weights/handwriting-pa.onnx").stat().st_size,
        "drawings": found["realism"]["n"] // 2,
        "worst": [f"{label} {percent(top1, 1)}" for label, top1 in letters["worst"].items() if top1 < 1],
        "confusions": letters["confusions"] + digits["confusions"],
        "variety_ratio": round(found["variety"]["ratio"], 3),
    }


def recognition(found: Figures, _folder: Path) -> Figures:
    """The largest loss of top-1 under a condition."""
    read = found["robustness"]
    return {"worst_drop": read["clean"]["top1"] - min(figures["top1"] for figures in read.values())}


def directions(found: Figures, rows: Mapping[str, Sequence[str]]) -> str:
    """A row for each of `rows`, which are keys below a direction: the pairs and the scores of both directions."""
    cells: list[list[object]] = []
    for name, keys in rows.items():
        both = [reduce(getitem, keys, found[direction]) for direction in ("en-pa", "pa-en")]
        if both[0]["n"] != both[1]["n"]:
            raise ValueError(f"{name}: the directions have {both[0]['n']} and {both[1]['n']} pairs")
        cells.append([name, both[0]["n"], *(score for one in both for score in (one["chrf++"], one["bleu"]))])
    return table(("what", "pairs", "to Panjabi: chrF++", "BLEU", "to English: chrF++", "BLEU"), cells)


def examples(to_panjabi: Sequence[Sequence[str]], to_english: Sequence[Sequence[str]]) -> str:
    """The same pairs in both directions: each sentence beside its translation by the model.

    A row of either is source, output and reference. Raises ValueError where the rows are not of the same pairs.
    """
    cells = []
    for (en, panjabi_output, pa), (source, english_output, reference) in zip(to_panjabi, to_english, strict=True):
        if (source, reference) != (pa, en):
            raise ValueError(f"the directions have different pairs: {en} and {reference}")
        cells.append((en, panjabi_output, pa, english_output))
    return table(("English", "the model to Panjabi", "Panjabi", "the model to English"), cells)


def translation(found: Figures, _folder: Path) -> Figures:
    """The tables of both directions, and the settings of the search."""
    from translation import manifest

    a, b = found["en-pa"], found["pa-en"]
    spoken = "lower case, no punctuation, numbers in words"
    return {
        "generation": manifest.GENERATION,
        "held": directions(found, {"all": ["all"]} | {name: ["groups", name] for name in a["groups"]}),
        "daily": directions(found, {"as written": ["everyday"], spoken: ["everyday as recognised"]}),
        "drawn": examples(a["drawn"], b["drawn"]),
        "said": examples(a["daily"], b["daily"]),
    }


def total(sets: Sequence[Figures], count: str) -> int:
    """The sum of a count over sets."""
    return sum(one[count] for one in sets)


def english(found: Figures, _folder: Path) -> Figures:
    """How many texts come with a warning, and the starts of segments in seconds."""
    panjabi = [found["panjabi-digits"], found["another-language"]]
    people = [found["en-read"], found["en-misc"]]
    with_text = total(panjabi, "recordings") - total(panjabi, "empty")
    starts = found["segment-starts"]
    return {
        "doubted": {
            "panjabi": f"{total(panjabi, 'doubted')} of {with_text}",
            "english": f"{total(people, 'doubted')} of {total(people, 'recordings')}",
        },
        "segment_start": {"median_s": starts["median_ms"] / 1000, "p95_s": starts["p95_ms"] / 1000},
    }


def panjabi(found: Figures, _folder: Path) -> Figures:
    """How many digit strings come with a warning."""
    strings = [found["pa-digits-F04"], found["pa-digits-M01"]]
    return {"doubted": {"digits": f"{total(strings, 'doubted')} of {total(strings, 'recordings')}"}}


SETS = {
    "natural": "Panjabi, the next five sets together",
    "stories": "children's stories, in the order of the story",
    "prompts": "speech prompts: everyday, encyclopaedia, questions",
    "apps": "sentences of apps and web pages",
    "everyday": "everyday sentences written with the phrase book",
    "unseen": "health apps, a source that is not in the training",
    "templates": "speech prompts made from templates (shopping, payments, government)",
    "panjabi": "all of Panjabi together",
    "english": "English: sentences of Common Voice",
    "everyday-english": "English: the everyday sentences",
}
"""The sets that the tagger of punctuation is measured on, in the words of its card."""
TAGGED = {"text": "words alone", "pauses": "with pauses"} | {
    "errors": "wrong letters",
    "errors and pauses": "wrong letters, with pauses",
}
"""The conditions, likewise."""


def punctuation(found: Figures, _folder: Path) -> Figures:
    """A table of F1 for each mark, and one for recognised speech."""
    tables = {}
    for mark in ("danda", "question", "comma", "end"):
        rows = []
        for name, words in SETS.items():
            read = found["sets"][name]
            rows.append([words, read["text"][mark]["n"], *(f"{read[one][mark]['f1']:.2f}" for one in TAGGED)])
        tables[mark] = table(["texts", "marks", *TAGGED.values()], rows)
    rows = []
    for name, read in found["recognised"]["sets"].items():
        marks = [(read["text"][mark], read["pauses"][mark]) for mark in ("danda", "question", "end")]
        cells = [cell for one, timed in marks for cell in (one["n"], f"{one['f1']:.2f}", f"{timed['f1']:.2f}")]
        rows.append([SETS.get(name, "together"), *cells])
    head = ["danda", "question mark", "either"]
    tables["recognised"] = table(["texts", *(c for mark in head for c in (mark, "F1", "with pauses"))], rows)
    return {"f1": tables}


DERIVED: dict[str, Callable[[Figures, Path], Figures]] = {
    "digits-pa": recognition,
    "letters-pa": recognition,
    "handwriting-pa": handwriting,
    "translation-pa-en": translation,
    "speech-en": english,
    "speech-pa": panjabi,
    "punctuation-pa-en": punctuation,
}
"""What a card says beside the stored figures, by model."""


def scores(name: str, keys: str) -> dict[str, str]:
    """The metrics of one set of pictures."""
    return {f"{name}_top1": f"{keys}.top1", f"{name}_top3": f"{keys}.top3", f"{name}_ece": f"{keys}.ece"} | {
        f"{name}_images": f"{keys}.n"
    }


def error_rates() -> Iterator[tuple[str, str]]:
    """The metrics of speech-pa: where words and characters are counted, the characters have a set of their own."""
    for name in ("clean", "degraded", "telephone", "babble", "mp3-16", "kokoro", "words"):
        key = f"held_{name.replace('-', '_')}"
        yield f"{key}_cer", f"held-{name}-characters.share_wrong"
        yield f"{key}_wer", f"held-{name}.share_wrong"
    yield "pa_digits_F04_wer", "pa-digits-F04.share_wrong"
    yield "pa_digits_M01_wer", "pa-digits-M01.share_wrong"
    yield "pa_spontaneous_cer", "pa-spontaneous.share_wrong"
    yield "real_time_factor", "held-clean.real_time_factor"


PRINTED = {"printed_top1": "printed.top1", "printed_images": "printed.n", "scribble_median": "scribbles.median"}
METRICS: dict[str, dict[str, str]] = {
    "digits-pa": PRINTED | scores("dev", "handwriting") | {"robustness_worst_drop": "worst_drop"},
    "letters-pa": PRINTED
    | scores("fold", "handwriting")
    | {"pair_bindi_top1": "pair_bindi.top1", "labels41_top1": "labels41.top1", "labels41_images": "labels41.n"}
    | {"robustness_worst_drop": "worst_drop"},
    "handwriting-pa": {
        "legible_top1": "legibility.together.top1",
        "legible_top3": "legibility.together.top3",
        "legible_images": "legibility.together.n",
        "variety_ratio": "variety_ratio",
        "realism_accuracy": "realism.accuracy",
        "realism_accuracy_by_traits": "realism.by_traits",
        "realism_images": "realism.n",
    },
    "translation-pa-en": {"test_pairs": "en-pa.all.n"}
    | {
        f"{metric}_{direction.replace('-', '_')}": f"{direction}.{keys}"
        for direction in ("en-pa", "pa-en")
        for metric, keys in (("chrfpp", "all.chrf++"), ("bleu", "all.bleu"), ("chrfpp_everyday", "everyday.chrf++"))
    },
    "speech-en": {
        f"{name.replace('-', '_')}_wrong": f"{name}.share_wrong"
        for name in ("en-read", "en-misc", "en-numbers", "en-fsdd", "held-clean", "held-degraded")
    }
    | {
        "real_time_factor": "en-read.real_time_factor",
        "segment_start_median_s": "segment_start.median_s",
        "segment_start_95th_s": "segment_start.p95_s",
    },
    "speech-pa": dict(error_rates()),
    "punctuation-pa-en": {
        f"{mark}_f1{ending}": f"sets.natural.{condition}.{mark}.f1"
        for ending, condition in (("", "text"), ("_pauses", "pauses"), ("_errors_pauses", "errors and pauses"))
        for mark in ("danda", "question", "comma")
    }
    | {f"recognised_{mark}_f1": f"recognised.sets.all.pauses.{mark}.f1" for mark in ("danda", "question")},
}
"""By model, the name of each metric of the manifest and the keys that lead to its figure."""


def figures_path(model: str) -> Path:
    """Where a model's figures are stored."""
    return NOTES / f"{model}.json"


def stored(model: str) -> Figures:
    """The stored figures of a model; those of the letters include those of the folds' networks."""
    found: Figures = json.loads(figures_path(model).read_text("utf-8"))
    if model == "letters-pa":
        found |= json.loads(figures_path("letters-pa-folds").read_text("utf-8"))
    return found


def text(model: str, found: Figures, folder: Path) -> str:
    """A model's card; `folder`: the manifests', in which the model's file is."""
    template = (HERE / f"cards/{model}.md").read_text("utf-8")
    return Template().vformat(template, (), found | DERIVED[model](found, folder))


def metrics(model: str, found: Figures, folder: Path) -> dict[str, float]:
    """The metrics of a model's manifest, rounded to four decimals."""
    known = found | DERIVED[model](found, folder)
    return {name: round(float(Template().get_field(keys, (), known)[0]), 4) for name, keys in METRICS[model].items()}


def write(model: str, folder: Path) -> None:
    """Writes a model's card and the metrics of its manifest from the stored figures; `folder`: the manifests'."""
    found = stored(model)
    manifests.replace(folder / f"cards/{model}.md", text(model, found, folder).encode())
    manifests.measured(folder, model, metrics(model, found, folder))


def installed(folder: Path) -> list[str]:
    """The models that have figures, and a manifest in `folder`."""
    return [model for model in DERIVED if (folder / f"{model}.toml").exists()]


def main(models: tyro.conf.Positional[tuple[str, ...]] = (), models_dir: Path = manifests.MODELS) -> None:
    """Writes cards and metrics from the stored figures."""
    for model in models or installed(models_dir):
        write(model, models_dir)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
