"""chrF++ and BLEU of the shipped files on the held-out part, by source, as lines of JSON.

    python -m translation.evaluate --pairs WORK/pairs

`akhar translate` translates. `--part dev` compares trainings; the test part is for the card alone.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import sacrebleu
import tyro
from figures import Figures
from program import translated

from . import corpus, prepared
from .corpus import Pair
from .phrases import FOLDER, rows
from .variants import spoken

LINEAGE = (
    *("Dialer", "Contacts", "Telephony", "ManagedProvisioning", "DocumentsUI", "CellBroadcast", "Gallery2"),
    *("CarSettings", "TvSettings", "Permission"),
)
GROUPS = {
    "indicvoices:everyday": "speech prompts: everyday",
    "indicvoices:wikipedia": "speech prompts: encyclopaedia",
    "indicvoices:domain": "speech prompts: questions",
    "indicvoices:topic": "speech prompts: questions",
    "indicvoices:icebreaker": "speech prompts: questions",
    "indicvoices:district": "speech prompts: questions",
    "indicvoices:customercare": "speech prompts: questions",
    "indicvoices": "speech prompts: shopping, payments, government",
    "aosp-settings": "Android settings",
    "aosp-frameworks": "Android framework",
    "aosp-messaging": "Android messaging",
    **dict.fromkeys(LINEAGE, "LineageOS apps"),
    "wikipedia-android": "Wikipedia app",
    "mozorg": "mozilla.org",
    **dict.fromkeys(("fenix", "android-components", "focus"), "Firefox for Android"),
    "common-voice-ui": "Common Voice site",
    "govuk": "GOV.UK components",
    **dict.fromkeys(("nhs-covid19-app", "simple-android"), "NHS and Simple apps"),
    **dict.fromkeys(("sunbird", "wikiedu"), "Sunbird and Wiki Education"),
    "pb": "Pratham stories",
    "pb-page": "Pratham stories",
    "everyday": "everyday",
}
DIRECTIONS = (("en", "pa"), ("pa", "en"))

Translated = tuple[str, str, str, str]
"""Source, output, reference, group."""


def scores(outputs: Sequence[str], references: Sequence[str]) -> Figures:
    """chrF++ (Popović, 2017) and BLEU (Papineni and others, 2002) of a set of `n` pairs, 0 to 100, with one decimal.

    sacrebleu computes them with its defaults: characters to 6 and words to 2 for chrF++; tokens by 13a, one reference.
    `chrf++ ±` is half of the 95 % interval of chrF++, by bootstrap.
    """
    chrf = sacrebleu.CHRF(word_order=2).corpus_score(outputs, [references], n_bootstrap=1000)
    return {
        "n": len(outputs),
        "chrf++": round(chrf.score, 1),
        "chrf++ ±": round(float(chrf._ci), 1),
        "bleu": round(sacrebleu.BLEU().corpus_score(outputs, [references]).score, 1),
    }


def group(source: str) -> str:
    """The name of the group that a source belongs to."""
    return GROUPS.get(source) or GROUPS[source.split(":")[0]]


def everyday() -> list[Pair]:
    """The everyday sentences that are held out of the phrase book."""
    return [(corpus.clean(en), corpus.clean(pa), "everyday") for en, pa in rows(FOLDER / "held.txt")]


def measured(
    pairs: Sequence[Pair], source: str, target: str, recognised: bool = False
) -> tuple[Figures, Figures, list[Translated]]:
    """One direction: the scores of all pairs, the scores of each group, and the translations.

    With `recognised`, the sources are as speech recognition would give them.
    """
    a, b = ("en", "pa").index(source), ("en", "pa").index(target)
    given = [spoken(p[a], source) or p[a] if recognised else p[a] for p in pairs]
    said = [text for _, text in translated(given, source, target)]
    done = [(x, y, p[b], group(p[2])) for x, y, p in zip(given, said, pairs, strict=True)]
    groups = {}
    for name in dict.fromkeys(GROUPS.values()):
        if members := [row for row in done if row[3] == name]:
            groups[name] = scores([row[1] for row in members], [row[2] for row in members])
    return scores(said, [row[2] for row in done]), groups, done


def main(pairs: Path, part: Literal["dev", "test"] = "test") -> None:
    """Measures both directions. A row of `daily` is source, output and reference."""
    held = prepared.read(pairs)[part]
    for source, target in DIRECTIONS:
        name = f"{source}-{target}"
        whole, groups, _ = measured(held, source, target)
        daily, _, daily_rows = measured(everyday(), source, target)
        as_recognised, _, _ = measured(everyday(), source, target, recognised=True)
        figures = {
            "all": whole,
            "groups": groups,
            "everyday": daily,
            "everyday as recognised": as_recognised,
            "daily": [list(row[:3]) for row in daily_rows],
        }
        print(json.dumps({name: figures}, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
