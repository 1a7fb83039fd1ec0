"""The text that English answers are compared by, and what a service's answers are counted as."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import numpy as np
import pytest
from speech.data import clips, shards
from speech.measure import client, served
from speech.texts import english


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Forty-nine, please!", "forty nine please"),
        ("49 please", "forty nine please"),
        ("In 1850, not 1905 or 1900.", "in eighteen fifty not nineteen oh five or nineteen hundred"),
        ("6,439 and 2000 and 100", "six thousand four hundred thirty nine and two thousand and one hundred"),
        ("the 1480s, the 16th, the 21st", "the fourteen eighties the sixteenth the twenty first"),
        ("0071 9876543210", "zero zero seven one nine eight seven six five four three two one zero"),
        ("Mr. John’s at 9 a.m. on St. James", "mister johns at nine am on saint james"),
        ("50% & more", "fifty percent and more"),
        ("♪ …", ""),
    ],
)
def test_texts_that_say_the_same_are_the_same(written: str, said: str) -> None:
    assert " ".join(english.words(written)) == said


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("One to three, 4 five", "1345"),
        ("nine eight, double two, triple 7", "98227 77".replace(" ", "")),
        ("Oh, 5-5-5", "0555"),
        ("double trouble", ""),
        ("double agent nine", "9"),
    ],
)
def test_digits_count_as_numerals_and_as_words(written: str, expected: str) -> None:
    assert english.digits(written) == expected


def test_the_workers_time_is_decoding_and_inference() -> None:
    assert client.work_s("queue;dur=7.5, decode;dur=12.0, infer;dur=30.5") == pytest.approx(0.0425)
    assert client.work_s("") == 0


def test_wrong_words_are_counted_with_their_share_and_speed() -> None:
    figures = served.Figures("words")
    answer = client.Answer("a x c", [], 0.1)
    figures.add(["a", "b", "c"], ["a", "x", "c"], answer, 2.0)
    figures.add(["d"], [], client.Answer("", [], 0.1), 2.0)
    summary = figures.summary()
    assert (summary["words"], summary["wrong"], summary["share_wrong"], summary["empty"]) == (4, 2, 0.5, 1)
    assert summary["real_time_factor"] == 0.05


def test_every_word_of_a_sound_without_speech_is_wrong() -> None:
    figures = served.Figures("words")
    figures.add([], ["you"], client.Answer("You", [], 0.1), 1.0)
    assert figures.summary() == {
        "recordings": 1,
        "empty": 0,
        "words": 0,
        "wrong": 1,
        "seconds": 1.0,
        "real_time_factor": 0.1,
    }


class Deaf(client.Client):
    """Answers every recording with the same text."""

    def transcribe(self, *_: object) -> client.Answer:
        return client.Answer("ਪਾਣੀ ਹੇ", [], 0.1)

    def doubts(self, samples: np.ndarray, _: str) -> bool:
        return bool(samples.any())


def test_warnings_are_counted_where_the_set_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("a", np.zeros(160), "ਪਾਣੀ"), ("b", np.ones(160), "ਪਾਣੀ")]
    asked = ("words", lambda _: iter(rows), str.split)
    monkeypatch.setitem(served.PANJABI, "another-language", asked)
    monkeypatch.setitem(served.PANJABI, "noise", asked)
    deaf = Deaf("http://nowhere", "key")
    assert served.measure(deaf, "pa", Path(), "another-language").summary()["doubted"] == 1
    assert "doubted" not in served.measure(deaf, "pa", Path(), "noise").summary()
    monkeypatch.setitem(served.ENGLISH, "panjabi-digits", asked)
    assert served.measure(deaf, "en", Path(), "panjabi-digits").summary()["doubted"] == 1


class Service(BaseHTTPRequestHandler):
    """Answers one recording as a job that has ended when it is asked for."""

    warnings: ClassVar[list[str]] = []
    seen: ClassVar[list[tuple[str, str | None]]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer({"state": "queued"}, self.headers["Prefer"])

    def do_GET(self) -> None:
        warnings = {"warnings": self.warnings} if self.warnings else {}
        self.answer({"state": "succeeded", **warnings}, self.headers["Authorization"])

    def answer(self, document: dict[str, object], header: str | None) -> None:
        self.seen.append((self.path, header))
        self.send_response(200)
        self.send_header("Location", "/v1/jobs/7")
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def log_message(self, *_: object) -> None: ...


@pytest.mark.parametrize(
    ("warnings", "doubted"),
    [([], False), (["frame 3 is broken"], False), (["low confidence: the transcription is probably wrong"], True)],
)
def test_the_document_of_a_job_says_whether_the_text_is_doubted(warnings: list[str], doubted: bool) -> None:
    Service.warnings, Service.seen = warnings, []
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/"
        assert client.Client(url, "key").doubts(np.zeros(160), "pa") == doubted
        server.shutdown()
        thread.join()
    assert Service.seen == [
        ("/v1/models/speech-recognition", "respond-async"),
        ("/v1/jobs/7?wait=60", "Bearer key"),
    ]


def test_synthetic_voices_are_counted_together_and_apart(tmp_path: Path) -> None:
    silence = np.zeros(1600, np.float32)
    rows = [clips.Clip("0.wav", silence, "ਪਾਣੀ ਹੇ"), clips.Clip("1.wav", silence, "ਪਾਣੀ", [(0, 0.5)])]
    clips.write(tmp_path / "wav", rows)
    writer = shards.Writer(tmp_path / served.WHOLE)
    for voice in ("espeak:pa+f4", "flite:awb"):
        writer.add(np.zeros((2, 80), np.float32), text="ਪਾਣੀ", voice=voice)
    writer.close()
    found = served.held(Deaf("http://nowhere", "key"), "pa", tmp_path)
    assert {name: (figures.n_wrong, figures.n_units) for name, figures in found.items()} == {
        "words": (1, 3),
        "characters": (3, 11),
        "characters-espeak": (0, 7),
        "characters-flite": (3, 4),
    }
    assert list(served.held(Deaf("http://nowhere", "key"), "en", tmp_path)) == ["words"]


def test_sentences_are_joined_with_pauses_and_their_starts_move() -> None:
    rows = [clips.Clip(str(k), np.ones(16_000, np.float32), "x", [(0, 0.25)] if k else []) for k in range(4)]
    ((samples, starts),) = served.joined(rows)
    assert len(samples) == 3 * (16_000 + int(served.PAUSE_S * 16_000))
    assert starts == pytest.approx([0.25, 2.45, 4.65])
