"""What the calls of a client take beside the fields of a request."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias, TypedDict

from .bodies import HandwritingFields, JobState, Operation, SpeechFields, TranslationFields

TextFormat: TypeAlias = Literal["text", "srt", "vtt"]


class JobOptions(TypedDict, total=False):
    """What every operation may say about its job."""

    idempotency_key: str | None
    """Requests with the same key have one job. Without it the client makes a key for the repetitions of one call."""
    group: str | None
    """In which the job is counted, in place of the client's group."""
    group_webhook: str | None
    """A URL to which the end of the group is announced."""
    labels: Mapping[str, str] | None
    """Beside the client's labels."""
    retain_s: int | None
    """For how many seconds after its end the job is kept. 0: until its result is delivered the first time."""
    webhook: str | None
    """A URL to which the end of the job is announced."""


class JobFilters(TypedDict, total=False):
    """Which jobs are listed: those that match all of these."""

    state: JobState | None
    operation: Operation | None
    since: datetime | str | None
    """Accepted at this time, as in RFC 3339, or later. A `datetime` without a zone is a local time."""
    until: datetime | str | None
    """Accepted before this time."""
    group: str | None
    label: str | None
    """With this label, such as `customer=42`."""
    before: str | None
    """Accepted before the job with this id: the `next` of the page before."""


class HandwritingCall(HandwritingFields, JobOptions, total=False):
    """The fields of a handwriting request beside its text, and options of its job."""


class SpeechCall(SpeechFields, JobOptions, total=False):
    """The fields of a speech recognition request beside its recording, and options of its job."""


class TranslationCall(TranslationFields, JobOptions, total=False):
    """The fields of a translation request beside its text, and options of its job."""
