"""Figures and templates in; the cards of the recognisers and the metrics of their manifests out.

    python -m cards --models-dir ../models              # all of them
    python -m cards letters-pa --models-dir ../models

The template of a model is `cards/MODEL.md`. The figures are `notes/MODEL.json`, which the measuring programs write. A
place `{keys:form}` in a template stands for a figure: `keys` lead from the outermost to the figure, with points between
them, and `form` is one of FORMS or a format of Python. Neither the data nor the models are needed.
"""

import json
import string
from collections.abc import Callable, Mapping, Sequence
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


def cells_of(cells: Sequence[object]) -> str:
    """Cells of a Markdown table without its outer bars; a bar inside a cell is escaped."""
    return " | ".join(str(cell).replace("|", "\\|") for cell in cells)


FORMS: dict[str, Callable[[Any], str]] = {
    "conditions": conditions,
    "count": lambda values: str(len(values)),
    "interval": interval,
    "list": lambda words: ", ".join(words) or "none",
    "reading": reading,
    "right": lambda read: str(right(read)),
    "unlike": unlike,
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


def recognition(found: Figures, _folder: Path) -> Figures:
    """The largest loss of top-1 under a condition."""
    read = found["robustness"]
    return {"worst_drop": read["clean"]["top1"] - min(figures["top1"] for figures in read.values())}


DERIVED: dict[str, Callable[[Figures, Path], Figures]] = {
    "digits-pa": recognition,
    "letters-pa": recognition,
}
"""What a card says beside the stored figures, by model."""


def scores(name: str, keys: str) -> dict[str, str]:
    """The metrics of one set of pictures."""
    return {f"{name}_top1": f"{keys}.top1", f"{name}_top3": f"{keys}.top3", f"{name}_ece": f"{keys}.ece"} | {
        f"{name}_images": f"{keys}.n"
    }


PRINTED = {"printed_top1": "printed.top1", "printed_images": "printed.n", "scribble_median": "scribbles.median"}
METRICS: dict[str, dict[str, str]] = {
    "digits-pa": PRINTED | scores("dev", "handwriting") | {"robustness_worst_drop": "worst_drop"},
    "letters-pa": PRINTED
    | scores("fold", "handwriting")
    | {"pair_bindi_top1": "pair_bindi.top1", "labels41_top1": "labels41.top1", "labels41_images": "labels41.n"}
    | {"robustness_worst_drop": "worst_drop"},
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
