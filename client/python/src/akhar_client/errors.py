"""Why a request failed, or a job has no result."""

import math
import sys
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import cast

import httpx

from .bodies import Job, Problem, Transcription

# Of the statuses of the service, and of proxies before it.
PASSING = {408, 429, 500, *range(502, 505), *range(506, 600)}


class AkharError(Exception):
    """The service did not give what was asked for. A connection that fails raises an error of httpx instead."""


class ProblemError(AkharError):
    """The service answered with an error. Its text has a line for each field that is wrong."""

    def __init__(
        self, status: int, problem: Problem | None, retry_after_s: int | None, job_id: str | None = None
    ) -> None:
        super().__init__(_text(problem) or f"HTTP status {status}")
        self.status = status
        self.problem = problem
        """The error document. None if the response had none, as those of proxies."""
        self.retry_after_s = retry_after_s
        """Seconds after which the same request may succeed, if the service said so."""
        self.job_id = job_id
        """The job of the request, if it made one."""


class JobError(AkharError):
    """A job that was submitted has no result, because it failed or was cancelled."""

    def __init__(self, job: Job) -> None:
        super().__init__(_text(job.get("error")) or f"the job is {job['state']}")
        self.job = job


def _text(problem: Problem | None) -> str:
    """What is wrong: each field with what was expected and what came, or the detail."""
    if not problem:
        return ""
    if errors := problem.get("errors"):
        return "\n".join([problem["title"], *(f"  {error['field']}: {error['detail']}" for error in errors)])
    return f"{problem['title']}: {problem['detail']}"


def raise_for_problem(got: httpx.Response) -> None:
    """Raises the error that a response is."""
    if not got.is_success:
        raise ProblemError(got.status_code, _problem(got), retry_after_s(got), got.headers.get("akhar-job"))


def _problem(got: httpx.Response) -> Problem | None:
    """The error document of the service, which not every proxy sends."""
    try:
        document = got.json()
    except ValueError:
        return None
    is_problem = isinstance(document, dict) and {"type", "title", "detail"} <= {*document}
    return cast(Problem, document) if is_problem else None


def retry_after_s(got: httpx.Response) -> int | None:
    """Whole seconds until a request may be repeated, from `Retry-After`, which is a number or a date."""
    said = got.headers.get("retry-after", "")
    try:
        return max(0, math.ceil(float(said)))
    except OverflowError:
        return sys.maxsize
    except ValueError:
        pass
    try:
        now = parsedate_to_datetime(got.headers["date"]) if "date" in got.headers else datetime.now(UTC)
        return max(0, math.ceil((parsedate_to_datetime(said) - now).total_seconds()))
    except (ValueError, TypeError):
        return None


def may_pass(error: Exception) -> bool:
    """Whether the same request may succeed later: the connection broke, or the server says so."""
    if isinstance(error, ProblemError):
        return error.status in PASSING or error.retry_after_s is not None
    lasting = httpx.UnsupportedProtocol | httpx.LocalProtocolError
    return isinstance(error, httpx.TransportError) and not isinstance(error, lasting)


def is_refusal(error: Exception) -> bool:
    """Whether the same request may succeed later, and the server has certainly not done what it asks for."""
    if isinstance(error, ProblemError):
        return error.status == 429 or (error.status == 503 and error.retry_after_s is not None)
    return isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)


def transcription(job: Job) -> Transcription:
    """The result of a job of speech recognition. Raises JobError if it has none."""
    result = job.get("result")
    if result is None or "transcription" not in result:
        raise JobError(job)
    return cast(Transcription, result)
