"""When a request is repeated, with a server that answers as a test says."""

import asyncio
import json

import httpx
import pytest
from akhar_client import (
    AsyncClient,
    Client,
    DoneEvent,
    Job,
    JobError,
    ProblemError,
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


pytestmark = pytest.mark.usefixtures("pauses")


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


def client(server: Server, max_retries: int = 2) -> Client:
    http = httpx.Client(transport=httpx.MockTransport(server))
    return Client("http://akhar", "ak_one", max_retries=max_retries, http=http)


def test_an_operation_is_repeated_with_its_own_idempotency_key_or_a_new_one() -> None:
    def keys(key: str | None) -> list[str | None]:
        server = Server(refusal(503), httpx.Response(200, json={"predictions": []}))
        client(server).digit_recognition(b"png", idempotency_key=key)
        return [request.headers.get("idempotency-key") for request in server.requests]

    assert keys("a-key") == ["a-key"] * 2
    first, second = keys(None), keys(None)
    assert len({*first}) == len({*second}) == 1
    assert None not in [*first, *second]
    assert first != second
    server = Server(httpx.Response(200, json={"predictions": []}))
    client(server, max_retries=0).digit_recognition(b"png")
    assert "idempotency-key" not in server.requests[0].headers


def test_the_number_of_repetitions_is_chosen(pauses: list[float]) -> None:
    server = Server(*(httpx.ReadTimeout("late") for _ in range(1100)), httpx.Response(200, json=DONE))
    assert client(server, max_retries=1100).job("a-job") == DONE
    assert max(pauses) <= 8
    assert min(pauses[4:]) >= 6


@pytest.mark.parametrize("answer", [refusal(422), refusal(409), refusal(501), httpx.UnsupportedProtocol("ftp")])
def test_an_error_is_raised_where_a_repetition_cannot_help(answer: Answer) -> None:
    with pytest.raises((ProblemError, httpx.TransportError)):
        client(Server(answer)).jobs()


def test_the_same_statuses_pass_as_in_the_rust_client() -> None:
    passing = [408, 429, 500, 502, 503, 504, 507, 599]
    lasting = [400, 401, 404, 409, 413, 422, 501, 505]
    assert [may_pass(ProblemError(status, None, None)) for status in passing + lasting] == [True] * 8 + [False] * 8
    assert may_pass(ProblemError(409, None, 1))
    assert not may_pass(httpx.LocalProtocolError("a header has a line break"))


def test_a_pause_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "akhar_client")
    client(Server(refusal(503), refusal(429, **{"retry-after": "61"}), httpx.Response(200, json=DONE))).job("a-job")
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]
    assert "in 61.0 s, after: busy" in caplog.records[1].message


def test_a_job_without_a_result_has_no_transcription() -> None:
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
        akhar = AsyncClient("http://akhar", "ak_one", http=http)
        return [event async for event in akhar.events("a-job")]

    assert asyncio.run(followed()) == events
    with pytest.raises(httpx.RemoteProtocolError):
        list(client(Server(stream(("1.1", "segment", first))), max_retries=0).events("a-job"))


def test_a_stream_that_is_cut_while_nothing_happens_goes_on() -> None:
    cuts = [httpx.Response(200, text=":\n\n") for _ in range(20)]
    server = Server(*cuts, stream(("end", "done", DONE)))
    assert list(client(server).events("a-job")) == [DoneEvent(DONE)]
    with pytest.raises(httpx.RemoteProtocolError):
        list(client(Server(*(httpx.Response(200, text="") for _ in range(3)))).events("a-job"))
