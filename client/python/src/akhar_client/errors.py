"""Why a request failed, or a job has no result."""

from typing import cast

import httpx

from .bodies import Job, Problem, Transcription

# Of the statuses of the service, and of proxies before it.
PASSING = {408, 429, 500, *range(502, 505), *range(506, 600)}


class AkharError(Exception):
    """The service did not give what was asked for. A connection that fails raises an error of httpx instead."""


class ProblemError(AkharError):
    """The service answered with an error."""

    def __init__(self, status: int, problem: Problem | None, retry_after_s: int | None) -> None:
        said = f"{problem['title']}: {problem['detail']}" if problem else f"HTTP status {status}"
        super().__init__(said)
        self.status = status
        self.problem = problem
        """The error document. None if the response had none, as those of proxies."""
        self.retry_after_s = retry_after_s
        """Seconds after which the same request may succeed, if the service said so."""


class JobError(AkharError):
    """A job has no result, because it failed or was cancelled."""

    def __init__(self, job: Job) -> None:
        problem = job.get("error")
        super().__init__(f"{problem['title']}: {problem['detail']}" if problem else f"the job is {job['state']}")
        self.job = job


def may_pass(error: Exception) -> bool:
    """Whether the same request may succeed later: the connection broke, or the status says so."""
    if isinstance(error, ProblemError):
        return error.status in PASSING
    return isinstance(error, httpx.TransportError) and not isinstance(error, httpx.UnsupportedProtocol)


def transcription(job: Job) -> Transcription:
    """The result of a job of speech recognition. Raises JobError if it has none."""
    result = job.get("result")
    if result is None or "transcription" not in result:
        raise JobError(job)
    return cast(Transcription, result)
