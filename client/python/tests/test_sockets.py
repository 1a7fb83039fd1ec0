"""What the clients do about refusals and broken connections, over real sockets and without a real pause."""

import asyncio
import socket
from collections.abc import Callable
from threading import Thread

import httpx
import pytest
from akhar_client import AsyncClient, Client, ProblemError
from scripted import (
    CUT_AFTER,
    CUT_BEFORE,
    CUT_WITHIN,
    DONE,
    PREDICTIONS,
    PROBLEM,
    Server,
    answer,
    refusal,
    served,
)

pytestmark = pytest.mark.usefixtures("pauses")

Ask = Callable[[str], object]


def asked(url: str) -> object:
    with Client(url, "ak_one") as akhar:
        return akhar.digit_recognition(b"png")["predictions"]


def asked_with_asyncio(url: str) -> object:
    async def ask() -> object:
        async with AsyncClient(url, "ak_one") as akhar:
            return (await akhar.digit_recognition(b"png"))["predictions"]

    return asyncio.run(ask())


BOTH = pytest.mark.parametrize("ask", [asked, asked_with_asyncio])


@BOTH
@pytest.mark.parametrize(
    "broken",
    [
        [CUT_BEFORE],
        [CUT_AFTER],
        [CUT_WITHIN],
        [CUT_AFTER, CUT_WITHIN],
        [CUT_AFTER, refusal(503, Retry_After="1")],
        [refusal(429, Retry_After="1"), CUT_AFTER],
        [refusal(500)],
        [refusal(408), refusal(502)],
    ],
)
def test_a_request_that_is_repeated_is_one_job(ask: Ask, broken: list[bytes], pauses: list[float]) -> None:
    with served(*broken, DONE) as server:
        assert ask(server.url) == PREDICTIONS["predictions"]
    assert len(server.jobs) == 1
    assert len(pauses) == len(broken)
    bodies = {body.partition(b"\r\n")[2].rpartition(b"\r\n--")[0] for _, body in server.requests}
    assert len(bodies) == 1


@BOTH
@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"Retry_After": "7"}, 7),
        ({"Retry_After": "300"}, 300),
        ({"Retry_After": "1.5"}, 2),
        ({"Retry_After": "Fri, 27 Nov 2026 12:00:30 GMT", "Date": "Fri, 27 Nov 2026 12:00:00 GMT"}, 30),
    ],
)
def test_nothing_is_sent_before_retry_after(
    ask: Ask, headers: dict[str, str], pause: float, pauses: list[float]
) -> None:
    with served(refusal(503, **headers), refusal(429, **headers), DONE) as server:
        ask(server.url)
    assert pauses == [pause, pause]


@BOTH
def test_without_a_time_from_the_server_the_pauses_grow(ask: Ask, pauses: list[float]) -> None:
    with served(refusal(503), refusal(503, Retry_After="0"), refusal(503)) as server, pytest.raises(ProblemError):
        ask(server.url)
    assert len(pauses) == 2
    assert 0.375 <= pauses[0] <= 0.5
    assert 0.75 <= pauses[1] <= 1


@BOTH
def test_a_request_that_gets_202_waits_for_its_job(ask: Ask) -> None:
    running, ended = ({"id": "a-job", "state": state} for state in ("running", "succeeded"))
    with served(
        CUT_AFTER,
        answer(202, running, Location="/v1/jobs/a-job", Retry_After="1"),
        refusal(503, Retry_After="3"),
        CUT_AFTER,
        answer(200, ended),
        CUT_WITHIN,
        answer(200, PREDICTIONS),
    ) as server:
        assert ask(server.url) == PREDICTIONS["predictions"]
    assert len(server.jobs) == 1
    waited = ["GET /v1/jobs/a-job?wait=60 HTTP/1.1"] * 3
    assert [line for line, _ in server.requests[2:]] == waited + ["GET /v1/jobs/a-job/result HTTP/1.1"] * 2


@BOTH
def test_a_job_that_fails_after_a_202_is_the_same_error_as_before_it(ask: Ask) -> None:
    failed = [answer(202, {"id": "a-job"}), answer(200, {"id": "a-job", "state": "failed"}), refusal(422)]
    for answers in [failed, [refusal(422, Akhar_Job="a-job")]]:
        with served(*answers) as server, pytest.raises(ProblemError) as raised:
            ask(server.url)
        assert [raised.value.status, raised.value.job_id] == [422, "a-job"]


def test_a_job_that_is_not_kept_is_asked_only_for_its_result(pauses: list[float]) -> None:
    document = {**PROBLEM, "type": "/problems/job-not-finished"}
    unfinished = answer(409, document, Retry_After="1")
    for max_retries in [0, 2]:
        with served(answer(202, {"id": "a-job"}), *[unfinished] * 9, answer(200, PREDICTIONS)) as server:
            Client(server.url, "ak_one", max_retries=max_retries).digit_recognition(b"png", retain_s=0)
        assert [line for line, _ in server.requests[1:]] == ["GET /v1/jobs/a-job/result HTTP/1.1"] * 10
    assert pauses == [1] * 18


@BOTH
def test_a_server_that_answers_early_is_not_asked_again_at_once(ask: Ask, pauses: list[float]) -> None:
    running, ended = ({"id": "a-job", "state": state} for state in ("running", "succeeded"))
    with served(
        answer(202, running),
        answer(200, running, Retry_After="4"),
        answer(200, running),
        answer(200, ended),
        answer(200, PREDICTIONS),
    ) as server:
        ask(server.url)
    assert pauses == [4, 1]


@BOTH
def test_a_server_that_is_gone_is_an_error_after_two_repetitions(ask: Ask, pauses: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(httpx.ConnectError):
        ask(f"http://127.0.0.1:{port}")
    assert len(pauses) == 2


def test_a_server_that_starts_during_a_pause_gets_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(DONE)
    address = server.socket.getsockname()
    server.socket.close()
    threads: list[Thread] = []

    def start(_: float) -> None:
        server.socket = socket.create_server(address)
        server.socket.settimeout(20)
        threads.append(Thread(target=server.serve))
        threads[0].start()

    monkeypatch.setattr("akhar_client.client.time.sleep", start)
    assert asked(server.url) == PREDICTIONS["predictions"]
    threads[0].join()
    server.socket.close()


def test_a_wait_is_over_in_its_time(pauses: list[float]) -> None:
    for broken in [refusal(503, Retry_After="300"), refusal(429, Retry_After="6")]:
        with served(broken) as server, pytest.raises(TimeoutError):
            Client(server.url, "ak_one").wait("a-job", timeout_s=5)
    assert pauses == []
    with served(refusal(503, Retry_After="1"), answer(200, {"state": "succeeded"})) as server:
        Client(server.url, "ak_one").wait("a-job", timeout_s=50)
    assert pauses == [1]


def test_a_wait_longer_than_a_day_is_an_error_at_once(pauses: list[float]) -> None:
    for seconds in ["86401", "1" + "0" * 400, "inf"]:
        with served(refusal(429, Retry_After=seconds)) as server, pytest.raises(ProblemError):
            Client(server.url, "ak_one").jobs()
    assert pauses == []


def test_a_job_is_deleted_again_only_if_the_server_has_refused(pauses: list[float]) -> None:
    with served(refusal(503, Retry_After="2"), answer(200, {"id": "a-job", "state": "cancelled"})) as server:
        job = Client(server.url, "ak_one").delete("a-job")
    assert job is not None
    assert job["state"] == "cancelled"
    assert pauses == [2]
    for broken in [CUT_AFTER, refusal(500)]:
        with served(broken) as server, pytest.raises((httpx.TransportError, ProblemError)):
            Client(server.url, "ak_one").delete("a-job")


def test_without_retries_a_request_is_sent_once(pauses: list[float]) -> None:
    for broken in [CUT_AFTER, refusal(503, Retry_After="1"), refusal(429)]:
        with served(broken) as server, pytest.raises((httpx.TransportError, ProblemError)):
            Client(server.url, "ak_one", max_retries=0).digit_recognition(b"png")
    assert pauses == []


def test_a_recording_is_sent_to_the_bucket_again_from_its_beginning(pauses: list[float]) -> None:
    with served(CUT_AFTER, answer(200, None)) as bucket:
        reserved = {"id": "an-upload", "url": f"{bucket.url}/key", "expires_at": ""}
        with served(refusal(429, Retry_After="60"), answer(201, reserved)) as server, Client(server.url, "ak") as akhar:
            assert akhar.upload(b"a recording") == "an-upload"
    assert bucket.requests == [("PUT /key HTTP/1.1", b"a recording")] * 2
    assert pauses[0] == 60
