"""The programs that make tests/fixtures, and that the files there are what they make."""

import json
import struct
import unicodedata
import wave
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from fixtures import audio, golden, make, pieces, sentences, signals
from PIL import Image

FIXTURES = Path(__file__).parents[2] / "tests/fixtures"
GOLDENS = ["seq2seq/m2m100", "seq2seq/marian", "whisper", "whisper_ctc", "transducer/tdt", "transducer/rnnt"]


# Inputs that other languages compute again.


def test_draws_by_a_worked_example() -> None:
    """The first state of seed 1 is 6364136223846793005 + 1442695040888963407 = 7806831264735756412.

    Its upper 24 bits are 7806831264735756412 // 2**40 = 7100271.
    """
    assert 7806831264735756412 // 2**40 == 7100271
    assert signals.draws(1, 1)[0] == 7100271 / 2**23 - 1


def test_draws_are_uniform_exact_and_differ_by_seed() -> None:
    drawn = signals.draws(3, 20_000)
    assert drawn.min() >= -1
    assert drawn.max() < 1
    # Five deviations of the mean of 20,000 uniform draws, 1 / sqrt(3 x 20,000) each.
    assert abs(drawn.mean()) < 0.0205
    assert (drawn.astype(np.float32) == drawn).all()
    assert (signals.draws(4, 100) != drawn[:100]).any()


def test_features_and_signals_have_their_shapes() -> None:
    x = signals.features(5, 8, 30)
    assert (x.shape, x.dtype) == ((8, 30), np.float32)
    assert (x.ravel() == 2 * signals.draws(5, 240)).all()
    wave_ = signals.signal(6, 4001)
    assert (wave_.shape, wave_.dtype) == ((4001,), np.float32)
    assert abs(wave_).max() < 0.25 + 0.15
    # The noise swells by steps of 50 ms: 1/20 of full scale at first, 5/20 in the fifth.
    saw = wave_ - signals.draws(6, 4001) * (np.arange(4001) // 800 % 5 + 1) / 20
    assert abs(saw).max() <= 0.15 + 1e-6


# Golden files.


@pytest.mark.parametrize("name", GOLDENS)
def test_a_golden_file_is_written_one_case_a_line(name: str, tmp_path: Path) -> None:
    shipped = json.loads((FIXTURES / name / "golden.json").read_text())
    golden.write(tmp_path / "golden.json", shipped)
    text = (tmp_path / "golden.json").read_text()
    assert json.loads(text) == shipped
    n_cases = sum(len(value) for value in shipped.values() if isinstance(value, list))
    cases = [json.loads(line.rstrip(",")) for line in text.splitlines() if line.startswith(('{"', "["))]
    assert len(cases) == n_cases > 0


def test_a_golden_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        golden.write(tmp_path / "a.json", {"cases": ["x" * golden.MAX_BYTES]})


def test_values_have_six_decimals() -> None:
    assert golden.rounded(np.array([1 / 3, 2, 1e-9], np.float32)) == [0.333333, 2.0, 0.0]


@pytest.mark.parametrize("name", ["seq2seq/m2m100", "seq2seq/marian"])
def test_golden_translations_are_of_our_sentences(name: str) -> None:
    content = json.loads((FIXTURES / name / "golden.json").read_text())
    ours = {"pan_Guru": set(sentences.PANJABI_TEXTS), "eng_Latn": set(sentences.ENGLISH_TEXTS)}
    for case in content["cases"]:
        assert case["text"] in ours[case["source"]]
        assert case["source"] != case["target"]
    assert len(content["cases"]) == len({(case["text"], case["source"]) for case in content["cases"]})


# Sentences and pieces.


def test_sentences_are_pairs_and_none_that_is_learnt_is_tested() -> None:
    assert len(sentences.PANJABI_TEXTS) == len(sentences.ENGLISH_TEXTS)
    learnt = {*sentences.PANJABI, *sentences.ENGLISH}
    assert learnt.isdisjoint({*sentences.PANJABI_TEXTS, *sentences.ENGLISH_TEXTS})
    for text in sentences.PANJABI:
        assert sum("\u0a00" <= c <= "\u0a7f" for c in text) > len(text) / 2


def test_rules_are_those_of_nfkc() -> None:
    rules = dict(line.split("\t") for line in pieces.rules().splitlines())
    assert len(rules) == len(pieces.SPACES) + len(pieces.NOTHING) + len(pieces.FOLDED)
    decoded = {chr(int(a, 16)): "".join(chr(int(c, 16)) for c in b.split()) for a, b in rules.items()}
    assert decoded["\u3000"] == " "
    assert decoded["\u00ad"] == ""
    assert decoded["Ａ"] == "A"
    for code in pieces.FOLDED:
        assert decoded[chr(code)] == unicodedata.normalize("NFKC", chr(code))


@pytest.mark.parametrize(("kind", "n_pieces"), [("bpe", 220), ("unigram", 240)])
def test_a_small_vocabulary_normalises_and_reads_back(kind: str, n_pieces: int, tmp_path: Path) -> None:
    model = sentencepiece.SentencePieceProcessor(model_file=str(pieces.train(tmp_path, kind, n_pieces)))
    assert model.get_piece_size() == n_pieces
    for text in sentences.PANJABI + sentences.ENGLISH:
        assert model.decode(model.encode(text)) == unicodedata.normalize("NFKC", text)
    assert model.encode("ＷＩＤＥ　ﬁne") == model.encode("WIDE fine")


def test_the_vocabulary_of_the_marian_fixture_is_of_our_sentences(tmp_path: Path) -> None:
    model = sentencepiece.SentencePieceProcessor(model_file=str(pieces.train(tmp_path, "unigram", 240)))
    shipped = json.loads((FIXTURES / "seq2seq/marian/tokenizer.json").read_text())["model"]["vocab"]
    learnt = [model.id_to_piece(k) for k in range(3, model.get_piece_size())]
    assert [piece for piece, _ in shipped] == ["</s>", "<unk>", *learnt, "<pad>"]


# Sound.


def test_a_chirp_is_in_range_and_rises() -> None:
    rate = 16000
    x = np.array(list(audio.chirp(audio.SECONDS, rate)))
    assert len(x) == audio.SECONDS * rate
    assert abs(x).max() <= 0.5
    third = len(x) // 3
    crossings = [int((np.diff(np.sign(part)) != 0).sum()) for part in (x[:third], x[-third:])]
    # Two a period: at the middle of the first and the last third about 408 and 1442 Hz, for a quarter of a second.
    assert crossings == pytest.approx([2 * 408 * 0.25, 2 * 1442 * 0.25], rel=0.03)


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


def test_an_id3_tag_says_its_size_in_seven_bits_a_byte() -> None:
    tag = audio.id3_with_picture(20_000)
    assert tag[:6] == b"ID3\x03\0\0"
    size = 0
    for byte in tag[6:10]:
        assert byte < 0x80
        size = size << 7 | byte
    assert size == len(tag) - 10
    (picture,) = struct.unpack(">I", tag[14:18])
    assert (tag[10:14], picture) == (b"APIC", len(tag) - 20)


def test_frames_have_the_length_of_their_header() -> None:
    """At 64 kbit/s and 44.1 kHz a frame of 1,152 samples has 208 bytes, with padding 209."""
    plain, padded = b"\xff\xfb\x50\x00".ljust(208, b"a"), b"\xff\xfb\x52\x00".ljust(209, b"b")
    assert audio.frames(plain + padded + plain, 64, 44100, 1152) == [plain, padded, plain]


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


def test_pictures_are_encoded_by_their_name() -> None:
    pixels = np.zeros((4, 6, 3), np.uint8)
    assert make.encoded(pixels, "a.png")[:4] == b"\x89PNG"
    assert make.encoded(pixels, "a.jpg")[:2] == b"\xff\xd8"


def test_each_picture_is_small_and_listed_once() -> None:
    files = {path.name: path.stat().st_size for path in (FIXTURES / "images").iterdir() if path.suffix != ".md"}
    assert sorted(files) == sorted(row[0] for row in make.PICTURES)
    assert max(files.values()) <= 15 * 1024
