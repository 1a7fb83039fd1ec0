"""When a request is repeated, with a server that answers as a test says."""

import asyncio
import json
from collections.abc import Callable

import httpx
import pytest
from akhar_client import (
    AsyncClient,
    Client,
    DoneEvent,
    Job,
    JobError,
    ProblemError,
    Retries,
    Segment,
    SegmentEvent,
    transcription,
)
from akhar_client.errors import may_pass

Answer = httpx.Response | Exception
PROBLEM = {"type": "/problems/busy", "title": "busy", "detail": "", "instance": "", "request_id": ""}
DONE: Job = {
    "id": "a-job",
    "operation": "speech-recognition",
    "state": "succeeded",
    "attempt": 1,
    "created_at": "2026-11-26T09:00:00Z",
}


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses, which take no time."""
    made: list[float] = []

    async def slept(seconds: float) -> None:
        made.append(seconds)

    monkeypatch.setattr("akhar_client.client.time.sleep", made.append)
    monkeypatch.setattr("akhar_client.async_client.asyncio.sleep", slept)
    return made


def refusal(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(
        status, json={**PROBLEM, "status": status}, headers={"content-type": "application/problem+json", **headers}
    )


def stream(*events: tuple[str, str, object]) -> httpx.Response:
    text = "".join(f"id: {number}\nevent: {name}\ndata: {json.dumps(data)}\n\n" for number, name, data in events)
    return httpx.Response(200, text=text)


class Server:
    """Gives these answers one after the other, and keeps the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def client(server: Server, within_s: float | None = 60, on_error: Callable[[Exception], None] = print) -> Client:
    retries = None if within_s is None else Retries(within_s, on_error)
    return Client("http://akhar", "ak_one", retries=retries, http=httpx.Client(transport=httpx.MockTransport(server)))


def test_a_request_about_a_job_is_repeated_until_it_succeeds(pauses: list[float]) -> None:
    errors: list[Exception] = []
    server = Server(
        refusal(503), httpx.ReadTimeout("late"), refusal(429, **{"retry-after": "7"}), httpx.Response(200, json=DONE)
    )
    assert client(server, on_error=errors.append).job("a-job") == DONE
    assert [type(error) for error in errors] == [ProblemError, httpx.ReadTimeout, ProblemError]
    assert 0.025 <= pauses[0] <= 0.25
    assert 0.05 <= pauses[1] <= 0.5
    assert pauses[2] == 7


def test_an_operation_is_repeated_with_its_idempotency_key_and_never_without() -> None:
    server = Server(refusal(503), httpx.Response(200, json={"predictions": []}))
    client(server).digit_recognition(b"png", idempotency_key="a-key")
    assert [request.headers["idempotency-key"] for request in server.requests] == ["a-key"] * 2
    bodies = [request.read().split(b"\r\n", 1)[1] for request in server.requests]
    assert b"png" in bodies[0]
    server = Server(refusal(503))
    with pytest.raises(ProblemError):
        client(server).digit_recognition(b"png")
    server = Server(refusal(503))
    with pytest.raises(ProblemError):
        client(server).delete("a-job")


@pytest.mark.parametrize(
    ("within_s", "answer"),
    [(None, refusal(503)), (0, refusal(503)), (60, refusal(422)), (60, refusal(503, **{"retry-after": "61"}))],
)
def test_an_error_is_raised_where_a_repetition_cannot_help(within_s: float | None, answer: httpx.Response) -> None:
    with pytest.raises(ProblemError) as raised:
        client(Server(answer), within_s).jobs()
    assert raised.value.status == answer.status_code


def test_the_same_statuses_pass_as_in_the_rust_client() -> None:
    passing = [408, 429, 500, 502, 503, 504, 507, 599]
    lasting = [400, 401, 404, 409, 413, 422, 501, 505]
    assert [may_pass(ProblemError(status, None, None)) for status in passing + lasting] == [True] * 8 + [False] * 8
    assert not may_pass(httpx.UnsupportedProtocol("ftp"))


def test_an_operation_follows_the_job_of_a_202() -> None:
    running = httpx.Response(200, json={"id": "a-job", "state": "running"})
    result = {"predictions": [{"label": "੫", "score": 0.9}]}
    server = Server(
        httpx.Response(202, json={"id": "a-job"}),
        running,
        httpx.Response(200, json=DONE),
        httpx.Response(200, json=result),
    )
    assert client(server).digit_recognition(b"png") == result
    assert [request.url.path for request in server.requests[1:]] == [
        "/v1/jobs/a-job",
        "/v1/jobs/a-job",
        "/v1/jobs/a-job/result",
    ]
    failed = {"id": "a-job", "state": "failed", "error": {**PROBLEM, "title": "too hard"}}
    with pytest.raises(JobError, match="too hard"):
        client(Server(httpx.Response(202, json={"id": "a-job"}), httpx.Response(200, json=failed))).digit_recognition(
            b""
        )
    with pytest.raises(JobError, match="the job is succeeded"):
        transcription(DONE)


def test_waiting_has_a_limit() -> None:
    running = httpx.Response(200, json={"id": "a-job", "state": "running"})
    with pytest.raises(TimeoutError, match="/v1/jobs/a-job has not ended after 0 s"):
        client(Server(running)).wait("a-job", timeout_s=0)


def test_the_events_of_a_group_are_its_counts() -> None:
    counts = [{"name": "run", "has_ended": has_ended} for has_ended in (False, True)]
    server = Server(stream(("1.0.0.0.0", "counts", counts[0])), stream(("0.0.1.0.0", "ended", counts[1])))
    assert list(client(server).group_events("run")) == counts
    assert [request.headers.get("last-event-id") for request in server.requests] == [None, "1.0.0.0.0"]


def test_a_stream_that_breaks_goes_on_where_it_was(pauses: list[float]) -> None:
    first: Segment = {"start": 0, "end": 1, "transcription": "ਇੱਕ"}
    second: Segment = {"start": 2, "end": 3, "transcription": "ਦੋ"}

    def answering() -> Server:
        rest = stream(("1.2", "segment", second), ("end", "done", DONE))
        return Server(stream(("1.1", "segment", first)), httpx.ConnectError("refused"), rest)

    server = answering()
    events = list(client(server).events("a-job"))
    assert events == [SegmentEvent(first, 1), SegmentEvent(second, 1), DoneEvent(DONE)]
    assert [request.headers.get("last-event-id") for request in server.requests] == [None, "1.1", "1.1"]
    assert min(pauses) >= 1

    async def followed() -> list[object]:
        http = httpx.AsyncClient(transport=httpx.MockTransport(answering()))
        akhar = AsyncClient("http://akhar", "ak_one", retries=Retries(60), http=http)
        return [event async for event in akhar.events("a-job")]

    assert asyncio.run(followed()) == events
    with pytest.raises(httpx.RemoteProtocolError):
        list(client(Server(stream(("1.1", "segment", first))), None).events("a-job"))
