"""The cards of speech-pa and speech-en, and the metrics of their manifests, from the figures of the service."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from speech import served_card

ROOT = Path(__file__).resolve().parents[2]
FROM_SERVICE = {"moonshine", "whisper-ctc"}  # layouts of the models whose figures `speech.served` measured
MANIFESTS = {language: ROOT / f"models/speech-{language}.toml" for language in served_card.PLACES}
SHIPPED = [name for name, path in MANIFESTS.items() if tomllib.loads(path.read_text())["layout"] in FROM_SERVICE]


def invented() -> dict[str, Any]:
    """Figures of Panjabi, each other than the next."""
    names = [
        name + unit
        for name in served_card.PANJABI
        for unit in (("", "-characters") if name.startswith("held-") else ("",))
    ]
    names += [f"{name}-characters-{kind}" for name in served_card.SPOKEN for kind in served_card.SYNTHESISERS]
    names += ["another-language", "noise"]
    figures: dict[str, Any] = {}
    for k, name in enumerate(names):
        unit = "characters" if "characters" in name or name == "pa-spontaneous" else "words"
        share = round(0.01 * (k + 1), 4)
        figures[name] = {"recordings": 80, "empty": k, "doubted": 3, unit: 1000 + k, "share_wrong": share}
        figures[name] |= {"interval": [share - 0.005, share + 0.005], "real_time_factor": 0.06}
    clips = {"Punjabi_1": {"before": "ਉਹ", "after": "ਉਹ ਸਾਰੇ"}, "Punjabi_2": {"before": "", "after": "ਤੇ"}}
    training, memory = {"steps": 2850, "heard_h": 30.5}, {"minutes": 34.5, "clip_mib": 300, "long_mib": 1400}
    peers = [{"program": "one", "CER": "1 %"}, {"program": "two", "CER": "2 %"}]
    return figures | {"clips": clips, "training": training, "memory": memory, "peers": peers}


def invented_english() -> dict[str, Any]:
    """Figures of English: 5 recordings a set, of which 2 have an empty text and 1 a warning."""
    figures: dict[str, Any] = {}
    for name in (*served_card.ENGLISH, "another-language", "panjabi-digits", "noise"):
        unit = served_card.ENGLISH[name][1] if name in served_card.ENGLISH else "words"
        figures[name] = {"recordings": 5, "empty": 2, "doubted": 1, unit: 100, "share_wrong": 0.1}
        figures[name] |= {"interval": [0.05, 0.15], "real_time_factor": 0.04}
    return figures | {"segment-starts": {"segments": 9, "median_ms": 21.4, "p95_ms": 48.8}}


def words_of(language: str) -> str:
    return (ROOT / f"training/notes/speech-{language}.md").read_text()


@pytest.mark.parametrize("language", SHIPPED)
def test_card_and_metrics_are_those_that_the_figures_give(language: str) -> None:
    figures = json.loads((ROOT / f"training/notes/speech-{language}.json").read_text())
    card = (ROOT / f"models/cards/speech-{language}.md").read_text()
    assert served_card.text(language, words_of(language), figures) == card
    manifest = MANIFESTS[language].read_text()
    metrics = served_card.METRICS[language](figures)
    assert tomllib.loads(manifest)["metrics"] == metrics
    assert served_card.with_metrics(manifest, metrics) == manifest


def test_the_panjabi_card_names_its_checkpoint_first_and_has_no_place_left() -> None:
    card = served_card.text("pa", words_of("pa"), invented())
    assert card.splitlines()[0].endswith("initialised from Whisper base (OpenAI, MIT)")
    assert not re.search(r"[{}]", card)
    assert "for 2,850 steps of 40 s, 30.5 h" in card
    assert "and 1,400 MiB after the mp3" in card


def test_warnings_are_counted_among_texts_of_panjabi_and_recordings_of_english() -> None:
    places = served_card.english_places(invented_english())
    assert (places["panjabi"], places["panjabi-doubted"], places["english-doubted"]) == ("2 of 5", "2 of 6", "2 of 10")


def test_whole_sets_come_with_characters_and_words() -> None:
    head, _, first, *_, spontaneous = served_card.panjabi_table(invented()).splitlines()
    assert head == "| speech | CER | WER | of | real-time factor |"
    cells = [cell.strip() for cell in first.split("|")[1:-1]]
    assert cells[1:] == ["2.0 % [1.5, 2.5]", "1.0 % [0.5, 1.5]", "1,001 characters, 1,000 words", "0.060"]
    assert spontaneous.endswith("| 17.0 % [16.5, 17.5] |  | 1,016 characters | 0.060 |")


def test_clips_and_other_programs_are_tables() -> None:
    assert served_card.clips_table(invented()).splitlines()[2:] == [
        "| Punjabi_1 | ਉਹ | ਉਹ ਸਾਰੇ |",
        "| Punjabi_2 | (empty) | ਤੇ |",
    ]
    assert served_card.peers_table(invented()).splitlines() == [
        "| program | CER |",
        "|---|---|",
        "| one | 1 % |",
        "| two | 2 % |",
    ]
    assert served_card.peers_table({}) == "Not measured."


def test_people_who_were_not_heard_are_another_networks_figures() -> None:
    figures = invented()
    assert served_card.unheard_table(figures) == "Not measured."
    figures |= {f"unheard-{name}": figures[name] for name in served_card.UNHEARD}
    assert served_card.unheard_table(figures).splitlines()[2:] == [
        "| F04 | 15.0 % [14.5, 15.5] | 1,014 |",
        "| M01 | 16.0 % [15.5, 16.5] | 1,015 |",
    ]


def test_metrics_of_panjabi_are_rates_by_set() -> None:
    metrics = served_card.panjabi_metrics(invented())
    assert (metrics["held_clean_cer"], metrics["held_clean_wer"]) == (0.02, 0.01)
    assert (metrics["pa_digits_F04_wer"], metrics["pa_spontaneous_cer"]) == (0.15, 0.17)
    assert metrics["real_time_factor"] == 0.06
    assert not any(name.endswith("_wer") for name in metrics if "spontaneous" in name)


def test_metrics_replace_the_last_table_of_a_manifest() -> None:
    manifest = 'id = "a"\n\n[alignment]\nlatency_s = 0.05\n'
    once = served_card.with_metrics(manifest, {"wrong": 0.5})
    assert once == manifest + "\n[metrics]\nwrong = 0.5\n"
    assert served_card.with_metrics(once, {"wrong": 0.25}) == manifest + "\n[metrics]\nwrong = 0.25\n"


def test_a_missing_set_and_a_place_without_content_are_named() -> None:
    figures = invented()
    with pytest.raises(ValueError, match=r"nothing stands for \{training.hours\} in the card's words"):
        served_card.text("pa", "{training.hours} {figures}", figures)
    del figures["held-babble-characters"]
    with pytest.raises(ValueError, match="no figures of held-babble-characters"):
        served_card.text("pa", "{figures}", figures)
