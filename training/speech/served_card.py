"""Writes the card of speech-en and the metrics of its manifest from the figures of `speech.served`.

    python -m speech.served_card --models-dir ../models

It reads the figures `notes/speech-en.json` and the card's words `notes/speech-en.md`, in which `{figures}` stands for
the table.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

from manifests import lines, replace

HERE = Path(__file__).resolve().parents[1]
MODEL = "speech-en"
# The name of a set, and what is counted in it, as the card says it. Every word that is written for a sound without
# speech is wrong, so of these the answers with any text are counted.
ROWS = {
    "en-read": ("sentences of books read by one person (en-read-matthes)", "words"),
    "en-misc": ("short clips of about 30 people: commands, numbers, sentences (en-misc-tests)", "words"),
    "en-numbers": ("ten-digit numbers by 22 people, most of them with Indian accents (en-accented)", "digits"),
    "en-fsdd": ("single digits cut tight, 8 kHz (every tenth of en-fsdd)", "digits"),
    "held-clean": ("sentences read by synthetic voices, espeak-ng and festival", "words"),
    "held-worn": ("the same in a room, with noise 10 dB below the speech, through an mp3 of 32 kb/s", "words"),
}
Figures = dict[str, dict[str, Any]]


def percent(share: float) -> str:
    """Return a share as percent with one digit."""
    return f"{100 * share:.1f}"


def table(figures: Figures) -> str:
    """Return the table of what is wrong, with 95 % intervals and real-time factors."""
    out = ["| speech | wrong | of | real-time factor |", "|---|---|---|---|"]
    for name, (title, unit) in ROWS.items():
        found = figures[name]
        low, high = found["interval"]
        share = f"{percent(found['share_wrong'])} % [{percent(low)}, {percent(high)}]"
        out.append(f"| {title} | {share} | {found[unit]:,} {unit} | {found['real_time_factor']:.3f} |")
    return "\n".join(out)


def places(figures: Figures) -> dict[str, str]:
    """Return what stands for each place of the card's words."""
    noise, starts = figures["noise"], figures["segment-starts"]
    digits, clips = figures["panjabi-digits"], figures["another-language"]
    return {
        "figures": table(figures),
        "noise": f"{noise['recordings'] - noise['empty']} of {noise['recordings']}",
        "panjabi": f"{digits['empty']} of {digits['recordings']}",
        "spontaneous": f"{clips['empty']} of {clips['recordings']}",
        "starts": f"{starts['median_ms']:.0f} ms (95th percentile {starts['p95_ms']:.0f} ms)",
    }


def text(words: str, figures: Figures) -> str:
    """Return the card: its words with each place in braces replaced."""
    for place, content in places(figures).items():
        words = words.replace(f"{{{place}}}", content)
    return words


def named(figures: Figures) -> dict[str, float]:
    """Return the manifest's metrics: shares that are wrong, and times in seconds."""
    out = {f"{name.replace('-', '_')}_wrong": figures[name]["share_wrong"] for name in ROWS}
    out["real_time_factor"] = figures["en-read"]["real_time_factor"]
    out["segment_start_median_s"] = round(figures["segment-starts"]["median_ms"] / 1000, 4)
    out["segment_start_95th_s"] = round(figures["segment-starts"]["p95_ms"] / 1000, 4)
    return out


def with_metrics(manifest: str, metrics: dict[str, float]) -> str:
    """Return a manifest, as TOML, with these metrics in place of its own; they are its last table."""
    head = re.split(r"(?m)^\[metrics\]$", manifest)[0].rstrip("\n")
    return "\n".join([head, "", "[metrics]", *lines({name: float(value) for name, value in metrics.items()})]) + "\n"


def main() -> None:
    """Write the card and the metrics."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models-dir", type=Path, required=True)
    folder = parser.parse_args().models_dir
    figures = json.loads((HERE / f"notes/{MODEL}.json").read_text())
    replace(folder / f"cards/{MODEL}.md", text((HERE / f"notes/{MODEL}.md").read_text(), figures).encode())
    path = folder / f"{MODEL}.toml"
    replace(path, with_metrics(path.read_text(), named(figures)).encode())


if __name__ == "__main__":
    main()
