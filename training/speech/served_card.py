"""Writes the card of speech-pa or speech-en and the metrics of its manifest from the figures of `speech.served`.

    python -m speech.served_card --language pa --models-dir ../models

It reads the figures `notes/speech-pa.json` and the card's words `notes/speech-pa.md`, in which places in braces, such
as `{figures}`, stand for tables and numbers. Beside the sets of `speech.served`, the figures of Panjabi may have:

`unheard-pa-digits-F04`, `-M01`   what `speech.served --prefix unheard-` prints for a network that never heard them
`clips`      by clip, the texts `before` and `after` (`speech.served --clips`)
`training`   numbers of the training; `{training.steps}` stands for its `steps`
`memory`     numbers of `akhar-bench long`, in the same way
`peers`      rows of the table of other programs, each from a column's title to what stands there
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manifests import lines, replace

HERE = Path(__file__).resolve().parents[1]
# The name of a set, and what is counted in it, as the card says it. Every word that is written for a sound without
# speech is wrong, so of these the answers with any text are counted.
ENGLISH = {
    "en-read": ("sentences of books read by one person (en-read-matthes)", "words"),
    "en-misc": ("short clips of about 30 people: commands, numbers, sentences (en-misc-tests)", "words"),
    "en-numbers": ("ten-digit numbers by 22 people, most of them with Indian accents (en-accented)", "digits"),
    "en-fsdd": ("single digits cut tight, 8 kHz (every tenth of en-fsdd)", "digits"),
    "held-clean": ("sentences read by synthetic voices, espeak-ng and festival", "words"),
    "held-worn": ("the same in a room, with noise 10 dB below the speech, through an mp3 of 32 kb/s", "words"),
}
# The name of each set of Panjabi; where words and characters are counted, the characters have a set of their own.
PANJABI = {
    "held-clean": "sentences by synthetic voices",
    "held-worn": "the same in a room, with noise 10 dB below the speech, through an mp3 of 32 kb/s",
    "held-telephone": "the same over a telephone (300 to 3400 Hz, 8 kHz)",
    "held-babble": "the same with four other voices 10 dB below the speech",
    "held-mp3-16": "the same through an mp3 of 16 kb/s",
    "held-kokoro": "sentences by two natural synthetic voices (Kokoro)",
    "held-words": "single words and numbers by synthetic voices",
    "pa-digits-F04": "strings of seven digits by F04",
    "pa-digits-M01": "strings of seven digits by M01",
    "pa-spontaneous": "spontaneous speech, three clips with an approximate transcript, without spaces",
}
SPOKEN = ("held-clean", "held-worn", "held-telephone", "held-babble", "held-mp3-16")  # by several synthesisers
SYNTHESISERS = {"espeak": "espeak-ng", "flite": "flite, awb"}
UNHEARD = ("pa-digits-F04", "pa-digits-M01")
NOTHING = "Not measured."
Figures = dict[str, Any]


def of(figures: Figures, name: str) -> dict[str, Any]:
    """Return the figures of a set. Raises ValueError where there are none."""
    if name not in figures:
        raise ValueError(f"there are no figures of {name}: expected what `speech.served` prints, or what its card adds")
    return figures[name]


def percent(share: float) -> str:
    """Return a share as percent with one digit."""
    return f"{100 * share:.1f}"


def wrong(found: dict[str, Any]) -> str:
    """Return the share that is wrong with its 95 % interval."""
    low, high = found["interval"]
    return f"{percent(found['share_wrong'])} % [{percent(low)}, {percent(high)}]"


def english_table(figures: Figures) -> str:
    """Return the table of what is wrong, with 95 % intervals and real-time factors."""
    out = ["| speech | wrong | of | real-time factor |", "|---|---|---|---|"]
    for name, (title, unit) in ENGLISH.items():
        found = of(figures, name)
        out.append(f"| {title} | {wrong(found)} | {found[unit]:,} {unit} | {found['real_time_factor']:.3f} |")
    return "\n".join(out)


def counted(figures: Figures, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("cer", figures) and ("wer", figures) of a set of Panjabi, as far as they are counted."""
    if name.startswith("held-"):
        yield "cer", of(figures, f"{name}-characters")
    yield ("cer" if "characters" in of(figures, name) else "wer"), figures[name]


def panjabi_table(figures: Figures) -> str:
    """Return the table of whole sets."""
    out = ["| speech | CER | WER | of | real-time factor |", "|---|---|---|---|---|"]
    for name, title in PANJABI.items():
        rates = dict(counted(figures, name))
        cells = [wrong(rates[rate]) if rate in rates else "" for rate in ("cer", "wer")]
        size = ", ".join(
            f"{found[unit]:,} {unit}" for found in rates.values() for unit in ("characters", "words") if unit in found
        )
        out.append(f"| {title} | {cells[0]} | {cells[1]} | {size} | {figures[name]['real_time_factor']:.3f} |")
    return "\n".join(out)


def kinds_table(figures: Figures) -> str:
    """Return the table of each synthesiser's voices."""
    out = ["| speech | voices | CER | characters |", "|---|---|---|---|"]
    for name in SPOKEN:
        for synthesiser, title in SYNTHESISERS.items():
            found = of(figures, f"{name}-characters-{synthesiser}")
            out.append(f"| {name.removeprefix('held-')} | {title} | {wrong(found)} | {found['characters']:,} |")
    return "\n".join(out)


def unheard_table(figures: Figures) -> str:
    """Return the table of digits by a network that was not trained on their speakers."""
    if not all(f"unheard-{name}" in figures for name in UNHEARD):
        return NOTHING
    out = ["| speaker | WER | words |", "|---|---|---|"]
    for name in UNHEARD:
        found = figures[f"unheard-{name}"]
        out.append(f"| {name.rsplit('-', 1)[1]} | {wrong(found)} | {found['words']:,} |")
    return "\n".join(out)


def clips_table(figures: Figures) -> str:
    """Return the table of the spontaneous clips, before and after."""
    out = ["| clip | before | now |", "|---|---|---|"]
    for name, texts in of(figures, "clips").items():
        out.append(f"| {name} | {texts['before'] or '(empty)'} | {texts['after'] or '(empty)'} |")
    return "\n".join(out)


def peers_table(figures: Figures) -> str:
    """Return the table of other programs; the first one's columns are those of all."""
    rows = figures.get("peers", [])
    if not rows:
        return NOTHING
    head = f"| {' | '.join(rows[0])} |"
    return "\n".join(
        [head, "|---" * len(rows[0]) + "|", *(f"| {' | '.join(map(str, row.values()))} |" for row in rows)]
    )


def any_text(noise: dict[str, Any]) -> str:
    """Return how many recordings without speech have any text."""
    return f"{noise['recordings'] - noise['empty']} of {noise['recordings']}"


def total(sets: list[dict[str, Any]], count: str) -> int:
    """Return the sum of a count over sets."""
    return sum(one[count] for one in sets)


def english_places(figures: Figures) -> dict[str, str]:
    """Return what stands for each place of the English card's words."""
    starts = of(figures, "segment-starts")
    digits, clips = of(figures, "panjabi-digits"), of(figures, "another-language")
    foreign, people = [digits, clips], [of(figures, name) for name in ("en-read", "en-misc")]
    return {
        "figures": english_table(figures),
        "noise": any_text(of(figures, "noise")),
        "panjabi": f"{digits['empty']} of {digits['recordings']}",
        "spontaneous": f"{clips['empty']} of {clips['recordings']}",
        "panjabi-doubted": f"{total(foreign, 'doubted')} of {total(foreign, 'recordings') - total(foreign, 'empty')}",
        "english-doubted": f"{total(people, 'doubted')} of {total(people, 'recordings')}",
        "starts": f"{starts['median_ms']:.0f} ms (95th percentile {starts['p95_ms']:.0f} ms)",
    }


def panjabi_places(figures: Figures) -> dict[str, str]:
    """Return what stands for each place of the Panjabi card's words."""
    foreign, strings = of(figures, "another-language"), [of(figures, name) for name in UNHEARD]
    numbers = {
        f"{part}.{name}": f"{value:,}" for part in ("training", "memory") for name, value in of(figures, part).items()
    }
    return numbers | {
        "figures": panjabi_table(figures),
        "kinds": kinds_table(figures),
        "unheard": unheard_table(figures),
        "clips": clips_table(figures),
        "peers": peers_table(figures),
        "noise": any_text(of(figures, "noise")),
        "foreign-empty": f"{foreign['empty']} of {foreign['recordings']}",
        "foreign-doubted": str(foreign["doubted"]),
        "digits-doubted": f"{total(strings, 'doubted')} of {total(strings, 'recordings')}",
        "clean-wrong": percent(of(figures, "held-clean")["share_wrong"]),
    }


PLACES = {"pa": panjabi_places, "en": english_places}


def text(language: str, words: str, figures: Figures) -> str:
    """Return the card: its words with each place in braces replaced. Raises ValueError for a place without content."""
    for place, content in PLACES[language](figures).items():
        words = words.replace(f"{{{place}}}", content)
    if left := re.findall(r"\{[a-z_.-]+\}", words):
        raise ValueError(f"nothing stands for {', '.join(left)} in the card's words")
    return words


def english_metrics(figures: Figures) -> dict[str, float]:
    """Return the metrics of speech-en: shares that are wrong, and times in seconds."""
    out = {f"{name.replace('-', '_')}_wrong": figures[name]["share_wrong"] for name in ENGLISH}
    out["real_time_factor"] = figures["en-read"]["real_time_factor"]
    out["segment_start_median_s"] = round(figures["segment-starts"]["median_ms"] / 1000, 4)
    out["segment_start_95th_s"] = round(figures["segment-starts"]["p95_ms"] / 1000, 4)
    return out


def panjabi_metrics(figures: Figures) -> dict[str, float]:
    """Return the metrics of speech-pa: error rates as shares."""
    out = {
        f"{name.replace('-', '_')}_{rate}": found["share_wrong"]
        for name in PANJABI
        for rate, found in counted(figures, name)
    }
    out["real_time_factor"] = figures["held-clean"]["real_time_factor"]
    return out


METRICS = {"pa": panjabi_metrics, "en": english_metrics}


def with_metrics(manifest: str, metrics: dict[str, float]) -> str:
    """Return a manifest, as TOML, with these metrics in place of its own; they are its last table."""
    head = re.split(r"(?m)^\[metrics\]$", manifest)[0].rstrip("\n")
    return "\n".join([head, "", "[metrics]", *lines({name: float(value) for name, value in metrics.items()})]) + "\n"


def main() -> None:
    """Write the card and the metrics."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--language", choices=PLACES, required=True)
    parser.add_argument("--models-dir", type=Path, required=True)
    arguments = parser.parse_args()
    language, folder, model = arguments.language, arguments.models_dir, f"speech-{arguments.language}"
    figures = json.loads((HERE / f"notes/{model}.json").read_text())
    card = text(language, (HERE / f"notes/{model}.md").read_text(), figures)
    path = folder / f"{model}.toml"
    manifest = with_metrics(path.read_text(), METRICS[language](figures))
    replace(folder / f"cards/{model}.md", card.encode())
    replace(path, manifest.encode())


if __name__ == "__main__":
    main()
