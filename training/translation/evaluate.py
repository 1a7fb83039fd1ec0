"""chrF++ and BLEU of the shipped files on the held-out part, by source, into the card, the manifest and the notes.

    python -m translation.evaluate --data DATA --models-dir ../models

The search is the service's: beam 4, by transformers on the weights of the files. `--part dev --dry` is for choosing
between trainings; the test part is for the card alone.
"""

import argparse
import json
import random
from pathlib import Path

import sacrebleu
from manifests import replace

from . import card, corpus, manifest
from .phrases import FOLDER
from .reference import Reference
from .variants import spoken
from .words import sections

GROUPS = {
    "aosp-settings": "Android settings",
    "aosp-frameworks": "Android framework",
    "aosp-messaging": "Android messaging",
    "wikipedia-android": "Wikipedia app",
    "mozorg": "mozilla.org",
    "common-voice-ui": "Common Voice site",
    "govuk": "GOV.UK components",
    "pb": "Pratham stories",
    "pb-page": "Pratham stories",
    "everyday": "everyday",
}
NOTES = Path(__file__).parent.parent / "notes/translation-pa-en.json"
DIRECTIONS = (("en", "pa"), ("pa", "en"))


def scores(said, wanted):
    """chrF++ and BLEU (sacrebleu's defaults: 13a), in points of a hundred."""
    return {
        "n": len(said),
        "chrf++": round(sacrebleu.CHRF(word_order=2).corpus_score(said, [wanted]).score, 1),
        "bleu": round(sacrebleu.BLEU().corpus_score(said, [wanted]).score, 1),
    }


def everyday():
    return [
        tuple(corpus.clean(side) for side in line.split(" = ")) + ("everyday",)
        for line in sections(FOLDER / "held.txt")[""]
    ]


def measured(reference, pairs, source, target, heard=False):
    """One direction: (all, {group: scores}, [(source, output, wanted, group)])."""
    side = (("en", "pa").index(source), ("en", "pa").index(target))
    given = [spoken(p[side[0]], source) or p[side[0]] if heard else p[side[0]] for p in pairs]
    said = reference.translate(given, source, target, batch=32)
    rows = [(a, b, p[side[1]], GROUPS[p[2].split(":")[0]]) for a, b, p in zip(given, said, pairs)]
    groups = {
        name: scores(*zip(*((b, c) for _, b, c, group in rows if group == name)))
        for name in dict.fromkeys(GROUPS.values())
        if any(row[3] == name for row in rows)
    }
    return scores(said, [row[2] for row in rows]), groups, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--models-dir", required=True)
    parser.add_argument("--part", choices=("dev", "test"), default="test")
    parser.add_argument("--card", action="store_true", help="write the card anew from the notes, measure nothing")
    parser.add_argument("--dry", action="store_true", help="print, write nothing")
    arguments = parser.parse_args()
    models = Path(arguments.models_dir)
    if arguments.card:
        figures = json.loads(NOTES.read_text())
        replace(models / f"cards/{manifest.MODEL}.md", card.text(figures).encode())
        return
    reference, pairs = Reference(models / "weights"), corpus.pairs(arguments.data)[arguments.part]
    figures, metrics = {}, {"test_pairs": len(pairs)}
    for source, target in DIRECTIONS:
        name = f"{source}-{target}"
        whole, groups, rows = measured(reference, pairs, source, target)
        daily, _, daily_rows = measured(reference, everyday(), source, target)
        as_heard, _, _ = measured(reference, everyday(), source, target, heard=True)
        figures[name] = {
            "all": whole,
            "groups": groups,
            "everyday": daily,
            "everyday as heard": as_heard,
            "drawn": [row[:3] for row in random.Random(20).sample(rows, 20)],
            "daily": [row[:3] for row in daily_rows],
        }
        key = name.replace("-", "_")
        metrics.update(
            {f"chrfpp_{key}": whole["chrf++"], f"bleu_{key}": whole["bleu"], f"chrfpp_everyday_{key}": daily["chrf++"]}
        )
        print(name, json.dumps({k: v for k, v in figures[name].items() if k not in ("drawn", "daily")}), flush=True)
        for row in figures[name]["drawn"] + figures[name]["daily"] if arguments.dry else []:
            print("  " + " | ".join(row))
    if not arguments.dry:
        replace(NOTES, (json.dumps(figures, ensure_ascii=False, indent=1) + "\n").encode())
        replace(models / f"cards/{manifest.MODEL}.md", card.text(figures).encode())
        manifest.write(models, metrics)


if __name__ == "__main__":
    main()
