"""The clients and the real service."""

import asyncio
import base64
import io
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from akhar_client import (
    AsyncClient,
    Client,
    DoneEvent,
    File,
    Handwriting,
    Job,
    ProblemError,
    ProgressEvent,
    SegmentEvent,
    StateEvent,
)
from running_service import ROOT, Service

FIXTURES = ROOT / "tests/fixtures"
RECORDING = FIXTURES / "audio/pa-two-sentences.wav"
SENTENCES = ["ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ", "ਅਸੀਂ ਬਾਜ਼ਾਰ ਜਾ ਰਹੇ ਹਾਂ"]


@pytest.fixture
def akhar(service: Service) -> Iterator[Client]:
    with Client(service.url, service.key) as client:
        yield client


def test_every_operation_is_answered(akhar: Client) -> None:
    digits = akhar.digit_recognition(FIXTURES / "images/digit-5.png", top_k=2)["predictions"]
    assert [len(digits), digits[0]["label"]] == [2, "੫"]
    letters = akhar.alphabet_recognition(Path(FIXTURES / "images/letter-ka.png").read_bytes())["predictions"]
    assert [len(letters), letters[0]["label"]] == [3, "ਕ"]
    terms = ["ਮੌਸਮ", "ਬਾਜ਼ਾਰ"]
    channels = akhar.speech_recognition(RECORDING, with_timestamps=True, channels="split", keyterms=terms)
    assert [segment["channel"] for segment in channels["timestamps"]] == [1, 1]
    spoken = akhar.speech_recognition(RECORDING, with_timestamps=True, with_words=True)
    assert [segment["transcription"] for segment in spoken["timestamps"]] == SENTENCES
    assert [word["word"] for word in spoken["timestamps"][0]["words"]] == SENTENCES[0].split()


def test_a_text_is_translated(akhar: Client) -> None:
    answer = akhar.translate("ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\nਖਗਘਙ ਠਝਢ ਞਙਘ ਫਛਥ ਢਠਝ", group="texts")
    assert [answer["translation"].split("\n")[0], answer["language"]] == ["Hello", "pa"]
    assert 0 <= answer["confidence"] < 0.4
    assert "in line 2" in answer["warnings"][0]
    job = akhar.job(answer["job_id"])
    assert [job["operation"], job["group"]] == ["translation", "texts"]
    written = akhar.translate("I have fifty rupees.", format="written", digits="gurmukhi")
    assert "੫੦" in written["translation"]


def test_an_answer_has_the_job_and_its_warnings(akhar: Client) -> None:
    spoken = akhar.speech_recognition(FIXTURES / "audio/en-weather.wav", script="shahmukhi")
    job = akhar.job(spoken["job_id"])
    assert spoken["probably_wrong"] == job["probably_wrong"] != []
    assert spoken["warnings"] == [text for text in job["warnings"] if not text.startswith("low confidence")] != []
    subtitles = akhar.speech_text(FIXTURES / "audio/en-weather.wav", "srt")
    assert subtitles.probably_wrong == akhar.job(subtitles.job_id)["probably_wrong"] != []
    written = akhar.handwriting_generator("ਸਤਿ")
    assert akhar.job(written["job_id"])["operation"] == "handwriting-generator"
    assert akhar.job(akhar.handwriting_svg("ਸਤਿ").job_id)["state"] == "succeeded"


def test_a_recording_is_text_or_subtitles(akhar: Client) -> None:
    assert akhar.speech_text(RECORDING, "text").splitlines() == [" ".join(SENTENCES)]
    assert akhar.speech_text(RECORDING, "vtt").startswith("WEBVTT\n\n00:00:00.")
    job = akhar.submit_speech_recognition(RECORDING, with_timestamps=True, format="written")
    akhar.wait(job["id"])
    subtitles = akhar.job_text(job["id"], "srt")
    assert subtitles.startswith("1\n00:00:00,")
    assert subtitles == akhar.speech_text(RECORDING, "srt", max_line_length=42)
    assert subtitles.job_id == job["id"]


def test_files_are_bytes_paths_or_open(akhar: Client) -> None:
    path = FIXTURES / "images/digit-5.png"
    with path.open("rb") as opened:
        files: list[File] = [path, str(path), path.read_bytes(), io.BytesIO(path.read_bytes()), opened, opened]
        for file in files:
            assert akhar.digit_recognition(file, top_k=1)["predictions"][0]["label"] == "੫"


def test_a_call_has_options_for_its_job(akhar: Client) -> None:
    group, key = f"run-{uuid.uuid4()}", str(uuid.uuid4())
    image = FIXTURES / "images/digit-5.png"
    first, second = (
        akhar.digit_recognition(image, group=group, labels={"page": "7"}, idempotency_key=key) for _ in range(2)
    )
    assert first == second
    job = akhar.job(first["job_id"])
    assert [job["group"], job["labels"]] == [group, {"page": "7"}]
    with pytest.raises(ProblemError, match=r"\n  Akhar-Webhook: .*\n  Akhar-Retain: "):
        akhar.speech_recognition(RECORDING, retain_s=10**9, webhook="ftp://a.example")


def test_jobs_are_filtered_and_paged(akhar: Client) -> None:
    group = f"run-{uuid.uuid4()}"
    image = FIXTURES / "images/digit-5.png"
    labels = [{"page": str(page)} for page in (1, 2, 2)]
    ids = [akhar.digit_recognition(image, group=group, labels=label)["job_id"] for label in labels]
    newest = akhar.jobs(2, group=group)
    assert [job["id"] for job in newest["jobs"]] == ids[:0:-1]
    rest = akhar.jobs(2, group=group, before=newest["next"])
    assert [[job["id"] for job in rest["jobs"]], "next" in rest] == [ids[:1], False]
    assert [job["id"] for job in akhar.all_jobs(group=group, label="page=2")] == ids[:0:-1]
    assert list(akhar.all_jobs(group=group, operation="speech-recognition")) == []
    accepted = datetime.fromisoformat(akhar.job(ids[1])["created_at"])
    assert [job["id"] for job in akhar.all_jobs(group=group, since=accepted)] == ids[:0:-1]
    assert [job["id"] for job in akhar.all_jobs(group=group, until=accepted)] == ids[:1]
    first = akhar.groups(1)
    assert akhar.groups(100, after=first["groups"][0]["name"])["groups"] == akhar.groups(100)["groups"][1:]


def test_the_key_and_the_address_may_be_in_the_environment(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AKHAR_URL", service.url)
    monkeypatch.setenv("AKHAR_KEY", service.key)
    with Client() as akhar:
        assert akhar.jobs()["jobs"] is not None


def test_handwriting_is_strokes_a_png_or_an_svg(akhar: Client) -> None:
    plain = akhar.handwriting_generator("ਸਤਿ", seed=7, page_width=300)
    picture = akhar.handwriting_generator("ਸਤਿ", seed=7, page_width=300, with_image=True, stroke_color="blue")
    assert picture["points"] == plain["points"]
    assert "image" not in plain
    assert base64.b64decode(picture["image"]).startswith(b"\x89PNG")
    svg = akhar.handwriting_svg("ਸਤਿ", seed=7, page_width=300, stroke_color="blue")
    assert svg.count("<g>") == len(plain["points"]["x"])
    assert 'stroke="#1f3fa8"' in svg


def test_a_job_is_submitted_once_followed_listed_and_deleted(akhar: Client) -> None:
    key = str(uuid.uuid4())
    job, again = (akhar.submit_speech_recognition(RECORDING, idempotency_key=key) for _ in range(2))
    assert job["id"] == again["id"]
    ended = akhar.wait(job["id"], timeout_s=60)
    assert ended["state"] == "succeeded"
    assert ended["result"] == akhar.job_result(job["id"]) == {"transcription": " ".join(SENTENCES)}
    assert akhar.job(job["id"]) == ended
    assert job["id"] in [listed["id"] for listed in akhar.jobs(limit=5)["jobs"]]
    assert akhar.delete(job["id"]) is None
    with pytest.raises(ProblemError) as gone:
        akhar.job(job["id"])
    assert gone.value.status == 410


def test_the_events_of_a_job_are_its_segments_and_its_end(akhar: Client) -> None:
    job = akhar.submit_speech_recognition(RECORDING)
    events = list(akhar.events(job["id"]))
    said = [event.data["transcription"] for event in events if isinstance(event, SegmentEvent)]
    assert said == SENTENCES
    assert all(isinstance(event, StateEvent | ProgressEvent | SegmentEvent) for event in events[:-1])
    assert isinstance(events[-1], DoneEvent)
    assert events[-1].data["state"] == "succeeded"


def test_the_jobs_of_a_client_are_one_group(service: Service) -> None:
    name = f"run-{uuid.uuid4()}"
    with Client(service.url, service.key, group=name, labels={"customer": "42"}) as akhar:
        jobs = [akhar.submit_speech_recognition(RECORDING) for _ in range(2)]
        counts = list(akhar.group_events(name))
        ended = akhar.wait_for_group(name, timeout_s=60)
        assert [group["has_ended"] for group in counts] == [False] * (len(counts) - 1) + [True]
        assert counts[-1] == ended
        assert [ended["has_ended"], ended["succeeded"]] == [True, 2]
        assert akhar.group(name) == ended
        assert name in [group["name"] for group in akhar.groups(limit=100)["groups"]]
        job = akhar.job(jobs[0]["id"])
        assert [job["group"], job["labels"]] == [name, {"customer": "42"}]
        assert akhar.cancel_group(name)["cancelled"] == 0
        akhar.delete_group(name)
        with pytest.raises(ProblemError) as gone:
            akhar.group(name)
        assert gone.value.status == 404


def test_an_error_says_what_is_wrong(akhar: Client) -> None:
    with pytest.raises(ProblemError, match="text has 'h'") as refused:
        akhar.handwriting_generator("ਸਤਿ h")
    assert refused.value.status == 422
    assert refused.value.problem is not None
    assert [violation["code"] for violation in refused.value.problem["errors"]] == ["character_not_allowed"]
    with Client(akhar._base, "ak_wrong") as stranger, pytest.raises(ProblemError) as unknown:
        stranger.jobs()
    assert unknown.value.status == 401
    with pytest.raises(ProblemError) as several:
        akhar.speech_recognition(RECORDING, lang="hi", max_lines=9)  # type: ignore[arg-type]
    assert str(several.value).splitlines()[1:] == [
        '  lang: lang is "hi", expected one of pa, en, auto',
        "  max-lines: max-lines is 9, expected an integer from 1 to 4",
    ]
    assert several.value.job_id is None
    with pytest.raises(ProblemError, match="\n  file: ") as damaged:
        akhar.digit_recognition((FIXTURES / "images/digit-5.png").read_bytes()[:300])
    assert damaged.value.job_id is not None
    assert akhar.job(damaged.value.job_id)["state"] == "failed"


def test_asyncio_has_the_same(service: Service) -> None:
    async def followed(akhar: AsyncClient, job: Job) -> list[str]:
        events = [event async for event in akhar.events(job["id"])]
        return [event.data["transcription"] for event in events if isinstance(event, SegmentEvent)]

    async def asked() -> tuple[Handwriting, list[list[str]]]:
        async with AsyncClient(service.url, service.key) as akhar:
            jobs = await asyncio.gather(*(akhar.submit_speech_recognition(RECORDING) for _ in range(3)))
            written = await akhar.handwriting_generator("ਸਤਿ", seed=7)
            heard = await asyncio.gather(*(followed(akhar, job) for job in jobs))
            assert [(await akhar.wait(job["id"]))["state"] for job in jobs] == ["succeeded"] * 3
            listed = [job["id"] async for job in akhar.all_jobs(state="succeeded")]
            assert {job["id"] for job in jobs} <= {*listed}
            assert await akhar.job_text(jobs[0]["id"]) == await akhar.speech_text(RECORDING)
            return written, heard

    written, heard = asyncio.run(asked())
    assert written["points"]["x"]
    assert heard == [SENTENCES] * 3


def test_a_recording_can_be_named_by_its_url(akhar: Client) -> None:
    with pytest.raises(ProblemError) as refused:
        akhar.speech_recognition(url="https://10.0.0.1/call.mp3", lang="pa", keyterms=["ਮੌਸਮ", "ਬਾਜ਼ਾਰ"])
    assert refused.value.problem
    assert [(error["field"], error["code"]) for error in refused.value.problem["errors"]] == [("url", "not_allowed")]
