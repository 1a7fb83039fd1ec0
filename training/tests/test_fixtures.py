"""The programs that make tests/fixtures, and that the files there are what they make."""

import unicodedata
import wave
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from fixtures import audio, make, pieces, sentences, signals
from PIL import Image

FIXTURES = Path(__file__).parents[2] / "tests/fixtures"


# Inputs that other languages compute again.


def test_draws_by_a_worked_example() -> None:
    """The first state of seed 1 is 6364136223846793005 + 1442695040888963407 = 7806831264735756412.

    Its upper 24 bits are 7806831264735756412 // 2**40 = 7100271.
    """
    assert 7806831264735756412 // 2**40 == 7100271
    assert signals.draws(1, 1)[0] == 7100271 / 2**23 - 1


# Sentences and pieces.


def test_sentences_are_pairs_and_none_that_is_learnt_is_tested() -> None:
    assert len(sentences.PANJABI_TEXTS) == len(sentences.ENGLISH_TEXTS)
    learnt = {*sentences.PANJABI, *sentences.ENGLISH}
    assert learnt.isdisjoint({*sentences.PANJABI_TEXTS, *sentences.ENGLISH_TEXTS})
    for text in sentences.PANJABI:
        assert sum("\u0a00" <= c <= "\u0a7f" for c in text) > len(text) / 2


def test_a_small_vocabulary_normalises_and_reads_back(tmp_path: Path) -> None:
    model = sentencepiece.SentencePieceProcessor(model_file=str(pieces.train(tmp_path, 220)))
    assert model.get_piece_size() == 220
    for text in sentences.PANJABI + sentences.ENGLISH:
        assert model.decode(model.encode(text)) == unicodedata.normalize("NFKC", text)
    assert model.encode("ＷＩＤＥ　ﬁne") == model.encode("WIDE fine")


# Sound.


def test_the_mean_of_two_channels_is_the_chirp(tmp_path: Path) -> None:
    audio.write(tmp_path / "two.wav", 8000, 2)
    with wave.open(str(tmp_path / "two.wav")) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, 8000)
        x = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2).astype(float)
    expected = 32767 * np.array(list(audio.chirp(audio.SECONDS, 8000)))
    # Each channel is rounded to a whole number, so their mean is off by half at most.
    assert abs(x.mean(axis=1) - expected).max() <= 0.5
    assert abs(x[:, 0] - x[:, 1]).max() > 10_000


def test_the_shipped_chirp_is_what_is_written(tmp_path: Path) -> None:
    audio.write(tmp_path / "chirp.wav", 16000, 1)
    assert (tmp_path / "chirp.wav").read_bytes() == (FIXTURES / "audio/chirp.wav").read_bytes()


def test_every_recording_is_in_the_table_and_on_disk() -> None:
    head, *lines = (FIXTURES / "audio/spoken.tsv").read_text().splitlines()
    assert head == "file\tstart\tend\ttext"
    rows = [line.split("\t") for line in lines]
    assert [(row[0], row[3]) for row in rows] == [
        (name, text) for name, _, _, parts in audio.SPOKEN for _, text in parts
    ]
    assert all(0 <= float(start) < float(end) for _, start, end, _ in rows)
    names = [row[0] for row in (*audio.SPOKEN, *audio.MP3, *audio.WAV)]
    assert max(Counter(names).values()) == 1
    assert all((FIXTURES / "audio" / name).is_file() for name in names)


# Pictures.


@pytest.mark.parametrize("picture", [row for row in make.PICTURES if row[0].endswith(".png")], ids=lambda row: row[0])
def test_the_shipped_pictures_are_what_is_drawn(picture: tuple) -> None:
    name, label, which, seed, width, size, effects = picture
    drawn = make.draw(label, which, seed, width, size, effects, make.INKS.get(name))
    shipped = np.asarray(Image.open(FIXTURES / "images" / name).convert("RGB"))
    assert drawn.shape == shipped.shape == (size[1], size[0], 3)
    # A level of 255 either way: sums of floats may be rounded otherwise on another processor.
    assert abs(drawn.astype(int) - shipped).max() <= 1


def test_each_picture_is_small_and_listed_once() -> None:
    files = {path.name: path.stat().st_size for path in (FIXTURES / "images").iterdir() if path.suffix != ".md"}
    assert sorted(files) == sorted(row[0] for row in make.PICTURES)
    assert max(files.values()) <= 15 * 1024
