"""What a call of a client does, step by step, without sending anything: the clients send, and wait.

A call is a generator. It yields a `Send`, and gets the response or the error of the connection; or it yields a `Pause`.
AKHAR_URL and AKHAR_KEY are the address and the key of a client that is made without them.
"""

import io
import json
import math
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import IO, Any, TypeAlias, TypeVar
from urllib.parse import quote

import httpx

from .errors import AkharError, ProblemError, raise_for_problem, retry_after_s
from .retries import pause

T = TypeVar("T")
JSON = "application/json"
SVG = "image/svg+xml"
TEXTS = {"text": "text/plain", "srt": "application/x-subrip", "vtt": "text/vtt"}
LONGEST_WAIT_S = 60
WAIT, DO_NOT_WAIT = f"wait={LONGEST_WAIT_S}", "respond-async"
OPTIONS = {
    "idempotency_key": "Idempotency-Key",
    "group": "Akhar-Group",
    "group_webhook": "Akhar-Group-Webhook",
    "labels": "Akhar-Label",
    "retain_s": "Akhar-Retain",
    "webhook": "Akhar-Webhook",
}
"""The headers of the options of a job."""
PART = 1024 * 1024
"""How much of a file is sent at a time, bytes."""
ENDED = {"succeeded", "failed", "cancelled"}

File: TypeAlias = bytes | str | os.PathLike[str] | IO[bytes]
"""A file: its bytes, its path, or open for binary reading. One that is open is read from its beginning if it can be."""


@dataclass(frozen=True)
class Send:
    """A request to be sent."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    """Other arguments of `httpx.Client.build_request`."""
    is_safe: bool = True
    """Whether a repetition has no further effect."""
    file: "File | None" = None
    """What is sent to the path, which is then a whole URL of another server."""


@dataclass(frozen=True)
class Pause:
    """A time to be waited."""

    seconds: float


Steps: TypeAlias = Generator[Send | Pause, httpx.Response, T]


def server(base: str | None, key: str | None) -> tuple[str, str]:
    """The address and the API key of a client: those that are given, or those of the environment."""
    base = base or os.environ.get("AKHAR_URL") or "http://127.0.0.1:8080"
    key = key or os.environ.get("AKHAR_KEY")
    if not key:
        raise AkharError("there is no API key: set AKHAR_KEY, or give the client a `key`")
    return base.rstrip("/"), key


def response(request: Send, max_retries: int, deadline: float = math.inf) -> Steps[httpx.Response]:
    """The successful response to a request, which is repeated after errors that may pass.

    Raises TimeoutError if a repetition would begin after the deadline, a time of the monotonic clock.
    """
    n_before = 0
    while True:
        try:
            got = yield request
            raise_for_problem(got)
            return got
        except (ProblemError, httpx.TransportError) as error:
            left_s = deadline - monotonic()
            seconds = pause(error, n_before, max_retries, is_safe=request.is_safe, left_s=left_s)
        n_before += 1
        yield Pause(seconds)


def document(request: Send, max_retries: int) -> Steps[Any]:
    """The JSON document that answers a request, or None if the answer is empty."""
    got = yield from response(request, max_retries)
    return got.json() if got.content else None


def job_path(job_id: str) -> str:
    """The path of a job."""
    return f"/v1/jobs/{quote(job_id, safe='')}"


def group_path(name: str) -> str:
    """The path of a group."""
    return f"/v1/groups/{quote(name, safe='')}"


def get(path: str, params: Mapping[str, Any] | None = None, accept: str = JSON) -> Send:
    """A request that changes nothing. Parameters that are None are left out."""
    given = {name: _parameter(value) for name, value in (params or {}).items() if value is not None}
    return Send("GET", path, {"Accept": accept}, {"params": given} if given else {})


def _parameter(value: object) -> object:
    return value.astimezone().isoformat() if isinstance(value, datetime) else value


def post(
    operation: str, call: Mapping[str, Any], defaults: Mapping[str, Any], accept: str = JSON, prefer: str = WAIT
) -> Send:
    """A request that makes a job. `call`: its fields, with the `file`, and options of its job beside the defaults."""
    fields = {name: value for name, value in call.items() if value is not None}
    options = {**defaults, **{name: fields.pop(name) for name in OPTIONS if name in fields}}
    labels = {**(defaults.get("labels") or {}), **(options.pop("labels", None) or {})}
    for name, value in labels.items():
        if "," in name + value:
            raise ValueError(f"the label {name}={value} has a comma")
    if labels:
        options["labels"] = ",".join(f"{name}={value}" for name, value in labels.items())
    headers = {OPTIONS[name]: str(value) for name, value in options.items() if value is not None}
    fields = {name.replace("_", "-"): value for name, value in fields.items()}
    more = {"json": fields} if "text" in fields else form(fields)
    return Send("POST", f"/v1/models/{operation}", {"Accept": accept, "Prefer": prefer, **headers}, more)


def form(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A form with a `file`, or with its URL or upload among the fields, as arguments of a request."""
    fields = {**fields}
    file = fields.pop("file", None)
    # A list is sent as a field for each of its texts.
    texts = {name: value if isinstance(value, str | list) else json.dumps(value) for name, value in fields.items()}
    if file is not None:
        return {"files": {"file": ("file", content(file))}, "data": texts}
    # Only with files is it sent as multipart/form-data.
    name = "upload" if "upload" in texts else "url"
    return {"files": {name: (None, texts.pop(name, ""))}, "data": texts}


def content(file: File) -> bytes:
    """All bytes of a file."""
    with opened(file) as source:
        read = source.read()
    if isinstance(read, str):
        raise TypeError('the file is open for text: open it with the mode "rb"')
    return read


def reservation(file: File) -> Send:
    """A request for an upload of a file."""
    return Send("POST", "/v1/uploads", {"Accept": JSON}, {"json": {"size": size(file)}}, is_safe=False)


def put(url: str, file: File) -> Send:
    """A request that sends a file to the URL of an upload, without the key."""
    return Send("PUT", url, {"Content-Length": str(size(file))}, file=file)


def size(file: File) -> int:
    """The number of bytes of a file, which is a whole one."""
    with opened(file) as source:
        return source.seek(0, os.SEEK_END)


def opened(file: File) -> AbstractContextManager[IO[bytes]]:
    """The content of a file, from its beginning. The caller's own is not closed at the end."""
    if isinstance(file, bytes):
        return io.BytesIO(file)
    if isinstance(file, str | os.PathLike):
        return Path(file).open("rb")
    if file.seekable():
        file.seek(0)
    return nullcontext(file)


def result(request: Send, max_retries: int) -> Steps[tuple[str, httpx.Response]]:
    """The id of the job of an operation, and the operation's response, however long the job takes."""
    got = yield from response(request, max_retries)
    if got.status_code != httpx.codes.ACCEPTED:
        return got.headers.get("Akhar-Job", ""), got
    job_id = got.json()["id"]
    # Without a time for which it is kept, a job is gone after the first response that says how it ended.
    if request.headers.get("Akhar-Retain") != "0":
        yield from ended(job_id, None, max_retries)
    while True:
        try:
            accept = request.headers["Accept"]
            return job_id, (yield from response(get(f"{job_path(job_id)}/result", accept=accept), max_retries))
        except ProblemError as error:
            error.job_id = job_id
            if error.problem is None or not error.problem["type"].endswith("/job-not-finished"):
                raise
            seconds = error.retry_after_s or 1
        yield Pause(seconds)


def ended(job_id: str, timeout_s: float | None, max_retries: int) -> Steps[Any]:
    """The document of a job that has ended. Raises TimeoutError after `timeout_s` seconds."""
    return (yield from _ended(job_path(job_id), lambda job: job["state"] in ENDED, timeout_s, max_retries))


def ended_group(name: str, timeout_s: float | None, max_retries: int) -> Steps[Any]:
    """The document of a group whose jobs have ended. Raises TimeoutError after `timeout_s` seconds."""
    return (yield from _ended(group_path(name), lambda group: group["has_ended"], timeout_s, max_retries))


def _ended(path: str, has_ended: Callable[[Any], bool], timeout_s: float | None, max_retries: int) -> Steps[Any]:
    deadline = monotonic() + (math.inf if timeout_s is None else timeout_s)
    while True:
        asked_at = monotonic()
        wait_s = int(max(0, min(LONGEST_WAIT_S, deadline - asked_at)))
        got = yield from response(get(path, {"wait": wait_s}), max_retries, deadline)
        found = got.json()
        if has_ended(found):
            return found
        now = monotonic()
        if now >= deadline:
            raise TimeoutError(f"{path} has not ended after {timeout_s} s")
        if now < asked_at + max(1, wait_s):
            # It was not asked to wait, or does not, as one that stops.
            yield Pause(min(retry_after_s(got) or 1, deadline - now))
