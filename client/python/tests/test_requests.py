"""What is sent for a call, and what comes of its response."""

import io
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from akhar_client import AkharError, Client, File, Job, JobError, JobOptions, ProblemError

PREDICTIONS = {"predictions": [{"label": "੫", "score": 0.9}]}


class Server:
    """Gives this answer to every request, and keeps the requests."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self.answer

    def client(self, group: str | None = None, labels: dict[str, str] | None = None) -> Client:
        http = httpx.Client(transport=httpx.MockTransport(self))
        return Client("http://akhar", "ak_one", group=group, labels=labels, http=http)

    def headers(self) -> dict[str, str]:
        """Those of the last request that are about its job, without the key for repetitions."""
        names = ("akhar-", "prefer")
        return {name: value for name, value in self.requests[-1].headers.items() if name.startswith(names)}


def test_the_address_and_the_key_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(httpx.Response(200, json={"jobs": []}))
    http = httpx.Client(transport=httpx.MockTransport(server))
    monkeypatch.delenv("AKHAR_URL", raising=False)
    monkeypatch.setenv("AKHAR_KEY", "ak_two")
    Client(http=http).jobs()
    monkeypatch.setenv("AKHAR_URL", "https://akhar.example/below/")
    Client(http=http).jobs()
    Client("http://other", "ak_one", http=http).jobs()
    sent = [(str(request.url.copy_with(query=None)), request.headers["authorization"]) for request in server.requests]
    assert sent == [
        ("http://127.0.0.1:8080/v1/jobs", "Bearer ak_two"),
        ("https://akhar.example/below/v1/jobs", "Bearer ak_two"),
        ("http://other/v1/jobs", "Bearer ak_one"),
    ]
    monkeypatch.setenv("AKHAR_KEY", "")
    with pytest.raises(AkharError, match="AKHAR_KEY"):
        Client()


def test_a_call_has_options_for_its_job() -> None:
    server = Server(httpx.Response(200, json={**PREDICTIONS, "points": {}, "transcription": "", "id": "a-job"}))
    akhar = server.client(group="monday", labels={"customer": "42", "shift": "early"})
    akhar.digit_recognition(b"png")
    assert server.headers() == {
        "prefer": "wait=60",
        "akhar-group": "monday",
        "akhar-label": "customer=42,shift=early",
    }
    expected = {
        "prefer": "wait=60",
        "akhar-group": "tuesday",
        "akhar-group-webhook": "https://a.example/group",
        "akhar-label": "customer=43,shift=early,file=a",
        "akhar-retain": "0",
        "akhar-webhook": "https://a.example/job",
    }
    options: JobOptions = {
        "group": "tuesday",
        "group_webhook": "https://a.example/group",
        "labels": {"customer": "43", "file": "a"},
        "retain_s": 0,
        "webhook": "https://a.example/job",
        "idempotency_key": "a-key",
    }
    calls: list[Callable[[], object]] = [
        lambda: akhar.digit_recognition(b"png", **options),
        lambda: akhar.alphabet_recognition(b"png", top_k=1, **options),
        lambda: akhar.handwriting_generator("ਸਤਿ", seed=7, **options),
        lambda: akhar.handwriting_svg("ਸਤਿ", seed=7, **options),
        lambda: akhar.speech_recognition(b"wav", lang="pa", **options),
        lambda: akhar.speech_text(b"wav", "srt", lang="pa", **options),
        lambda: akhar.translate("ਸਤਿ", lang="pa", **options),
    ]
    for call in calls:
        call()
        assert server.headers() == expected
        assert server.requests[-1].headers["idempotency-key"] == "a-key"
        assert b"a-key" not in server.requests[-1].content
    akhar.submit_speech_recognition(b"wav", **options)
    assert server.headers() == {**expected, "prefer": "respond-async"}
    akhar.job("a-job")
    assert server.headers() == {}
    with pytest.raises(ValueError, match="customer"):
        akhar.digit_recognition(b"png", labels={"customer": "42,shift=late"})


def test_a_field_that_is_none_is_not_sent() -> None:
    server = Server(httpx.Response(200, json={"transcription": "", "points": {}}))
    server.client().speech_recognition(b"wav", lang=None, with_words=True)  # type: ignore[arg-type]
    assert b'name="lang"' not in server.requests[-1].content
    assert b'name="with-words"' in server.requests[-1].content
    server.client().handwriting_generator("ਸਤਿ", seed=None)
    assert server.requests[-1].content == '{"text":"ਸਤਿ"}'.encode()


def test_a_file_is_bytes_a_path_or_open(tmp_path: Path) -> None:
    path = tmp_path / "digit.png"
    path.write_bytes(b"of a file")
    server = Server(httpx.Response(200, json=PREDICTIONS))
    akhar = server.client()
    written = io.BytesIO()
    written.write(b"of a file")
    source, sink = os.pipe()
    os.write(sink, b"of a file")
    os.close(sink)
    with path.open("rb") as opened, open(source, "rb", buffering=0) as pipe:  # noqa: PTH123 - a pipe has no path
        opened.read(3)
        files: list[File] = [b"of a file", path, str(path), opened, written, pipe]
        for file in files:
            akhar.digit_recognition(file)
            assert b"\r\n\r\nof a file\r\n--" in server.requests[-1].content
        akhar.digit_recognition(opened)
        assert b"\r\n\r\nof a file\r\n--" in server.requests[-1].content
    with path.open() as text, pytest.raises(TypeError, match='"rb"'):
        akhar.digit_recognition(text)  # type: ignore[arg-type]


def test_an_upload_is_a_file_of_any_kind(tmp_path: Path) -> None:
    path = tmp_path / "call.wav"
    path.write_bytes(b"a recording")
    reserved = {"id": "an-upload", "url": "http://bucket/key?signature=1", "expires_at": ""}
    server = Server(httpx.Response(201, json=reserved))
    akhar = server.client()
    with path.open("rb") as opened:
        opened.read(3)
        files: list[File] = [b"a recording", path, str(path), opened, io.BytesIO(b"a recording")]
        for file in files:
            assert akhar.upload(file) == "an-upload"
            reservation, sent = server.requests[-2:]
            assert reservation.read() == b'{"size":11}'
            assert [sent.url, sent.headers["content-length"]] == [reserved["url"], "11"]
            assert b"".join(sent.stream) == b"a recording"  # type: ignore[arg-type]
            assert "authorization" not in sent.headers
        assert not opened.closed


def test_an_answer_has_its_job_and_warnings() -> None:
    header = (
        r'"the file, \"a\\b\"; is cut off", "probably-wrong;text=transcription;start=9;end=9",'
        " probably-wrong;text=transcription;start=0.0;end=12.5, probably-wrong;end=9.07;start=9;text=translation,"
        " other;text=transcription;start=1;end=2;more=3"
    )
    response = httpx.Response(200, json=PREDICTIONS, headers={"akhar-job": "a-job", "akhar-warnings": header})
    parts = [
        {"text": "transcription", "start": 0, "end": 12.5},
        {"text": "translation", "start": 9, "end": 9.07},
    ]
    sentences = [
        r'the file, "a\b"; is cut off',
        "probably-wrong;text=transcription;start=9;end=9",
        "there are 3 more warnings, which the document of the job has",
    ]
    beside = {"job_id": "a-job", "warnings": sentences, "probably_wrong": parts}
    assert Server(response).client().digit_recognition(b"png") == {**PREDICTIONS, **beside}
    text = Server(response).client().handwriting_svg("ਸਤਿ")
    assert text == response.text
    assert vars(text) == beside
    plain = Server(httpx.Response(200, json=PREDICTIONS, headers={"akhar-job": "a-job"})).client()
    assert plain.digit_recognition(b"png") == {**PREDICTIONS, "job_id": "a-job", "warnings": [], "probably_wrong": []}


def test_the_pages_of_jobs_have_filters() -> None:
    server = Server(httpx.Response(200, json={"jobs": [], "groups": []}))
    akhar = server.client()
    akhar.jobs()
    assert str(server.requests[-1].url) == "http://akhar/v1/jobs?limit=50"
    akhar.jobs(
        5,
        state="failed",
        operation="speech-recognition",
        since=datetime(2026, 11, 26, 9, tzinfo=UTC),
        until="2026-11-27T00:00:00Z",
        group="monday",
        label="customer=42",
        before="a-job",
    )
    assert dict(server.requests[-1].url.params) == {
        "limit": "5",
        "state": "failed",
        "operation": "speech-recognition",
        "since": "2026-11-26T09:00:00+00:00",
        "until": "2026-11-27T00:00:00Z",
        "group": "monday",
        "label": "customer=42",
        "before": "a-job",
    }
    akhar.jobs(since=datetime(2026, 11, 26, 9))
    assert datetime.fromisoformat(server.requests[-1].url.params["since"]) == datetime(2026, 11, 26, 9).astimezone()
    akhar.groups(5, after="monday")
    assert dict(server.requests[-1].url.params) == {"limit": "5", "after": "monday"}


def test_all_jobs_are_those_of_all_pages() -> None:
    pages = [{"jobs": [{"id": "c"}, {"id": "b"}], "next": "b"}, {"jobs": [{"id": "a"}]}]
    asked: list[dict[str, str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(dict(request.url.params))
        return httpx.Response(200, json=pages[len(asked) - 1])

    akhar = Client("http://akhar", "ak_one", http=httpx.Client(transport=httpx.MockTransport(answer)))
    assert [job["id"] for job in akhar.all_jobs(group="monday")] == ["c", "b", "a"]
    first = {"limit": "100", "group": "monday"}
    assert asked == [first, {**first, "before": "b"}]


@pytest.mark.parametrize(
    ("name", "quoted"), [("a/b", "a%2Fb"), ("a?b=c", "a%3Fb%3Dc"), ("a#b", "a%23b"), ("%2F", "%252F")]
)
def test_a_name_is_one_part_of_a_path(name: str, quoted: str) -> None:
    server = Server(httpx.Response(200, json={"has_ended": True, "state": "succeeded"}))
    akhar = server.client()
    groups: list[Callable[[str], object]] = [akhar.group, akhar.wait_for_group, akhar.cancel_group, akhar.delete_group]
    jobs: list[Callable[[str], object]] = [akhar.job, akhar.wait, akhar.job_result, akhar.job_text, akhar.delete]
    for call in groups + jobs:
        call(name)
    sent = [str(request.url.copy_with(query=None)) for request in server.requests]
    result = f"http://akhar/v1/jobs/{quoted}/result"
    job = f"http://akhar/v1/jobs/{quoted}"
    assert sent == [f"http://akhar/v1/groups/{quoted}"] * 4 + [job, job, result, result, job]


def test_the_text_of_an_error_lists_what_is_wrong() -> None:
    document = {
        "type": "/problems/invalid-input",
        "title": "The input breaks a constraint",
        "status": 422,
        "detail": "2 constraints are violated; `errors` lists them.",
        "instance": "/v1/models/speech-recognition",
        "request_id": "a-request",
        "errors": [
            {"field": "lang", "code": "not_a_choice", "detail": 'lang is "hi", expected one of pa, en, auto'},
            {"field": "file", "code": "undecodable", "detail": "unexpected end of file"},
        ],
    }
    kind = {"content-type": "application/problem+json", "akhar-job": "a-job"}
    with pytest.raises(ProblemError) as raised:
        Server(httpx.Response(422, json=document, headers=kind)).client().speech_recognition(b"wav")
    said = (
        "The input breaks a constraint\n"
        '  lang: lang is "hi", expected one of pa, en, auto\n'
        "  file: unexpected end of file"
    )
    assert str(raised.value) == said
    assert [raised.value.status, raised.value.job_id] == [422, "a-job"]
    job: Job = {
        "id": "a-job",
        "operation": "speech-recognition",
        "state": "failed",
        "attempt": 1,
        "created_at": "",
        "error": document,  # type: ignore[typeddict-item]
    }
    assert str(JobError(job)) == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<html>", "HTTP status 502"),
        ("[]", "HTTP status 502"),
        ("{}", "HTTP status 502"),
        ('{"title": "too much", "detail": "wait"}', "HTTP status 502"),
        ('{"type": "/problems/busy", "title": "busy", "detail": "wait"}', "busy: wait"),
    ],
)
def test_an_error_of_a_proxy_is_an_error_of_its_status(body: str, said: str) -> None:
    answer = httpx.Response(502, text=body, headers={"content-type": "application/problem+json"})
    http = httpx.Client(transport=httpx.MockTransport(lambda _: answer))
    with pytest.raises(ProblemError) as raised:
        Client("http://akhar", "ak_one", max_retries=0, http=http).jobs()
    assert [str(raised.value), raised.value.status] == [said, 502]
