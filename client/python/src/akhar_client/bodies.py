"""The JSON documents of the service, and the fields of its requests, as types.

Their names and members are those of `docs/openapi.json`. A server of a newer version may send more members.
"""

from typing import Literal, NotRequired, TypeAlias, TypedDict

SpokenLanguage: TypeAlias = Literal["pa", "en", "auto"]
JobState: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]
Operation: TypeAlias = Literal[
    "alphabet-recognition", "digit-recognition", "handwriting-generator", "speech-recognition", "translation"
]


class Prediction(TypedDict):
    """One prediction of what an image shows."""

    label: str
    score: float


class Predictions(TypedDict):
    """What an image shows, the most likely first."""

    predictions: list[Prediction]


class Points(TypedDict):
    """The strokes of a pen: the coordinates of the points of each stroke, in pixels from the top left."""

    x: list[list[float]]
    y: list[list[float]]


class Handwriting(TypedDict):
    """A text as handwriting."""

    points: Points
    image: NotRequired[str]
    """A PNG in base64, with `with_image`."""


class Word(TypedDict):
    """A word of a recording, with its times in seconds."""

    word: str
    start: float
    end: float
    confidence: NotRequired[float]


class Segment(TypedDict):
    """A part of a recording, with its times in seconds."""

    start: float
    end: float
    transcription: str
    translation: NotRequired[str]
    confidence: NotRequired[float]
    channel: NotRequired[int]
    words: NotRequired[list[Word]]


class Transcription(TypedDict):
    """What is said in a recording."""

    transcription: str
    translation: NotRequired[str]
    timestamps: NotRequired[list[Segment]]
    confidence: NotRequired[float]
    language: NotRequired[str]
    """The language that was detected, with `lang="auto"`."""


class Translation(TypedDict):
    """A text in the other language."""

    translation: str
    language: str
    """The language that it is translated from."""
    confidence: NotRequired[float]


class ProbablyWrong(TypedDict):
    """A part of a recording of which a text is probably wrong, in seconds."""

    text: Literal["transcription", "translation"]
    start: float
    end: float


class Violation(TypedDict):
    """Why a field was refused."""

    field: str
    code: str
    detail: str


class Problem(TypedDict):
    """An error document."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    request_id: str
    errors: NotRequired[list[Violation]]


JobResult: TypeAlias = Predictions | Handwriting | Transcription | Translation


class Job(TypedDict):
    """What has become of a request. Times are in UTC, as in RFC 3339."""

    id: str
    operation: str
    state: JobState
    group: NotRequired[str]
    labels: NotRequired[dict[str, str]]
    attempt: int
    created_at: str
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    transcribed_s: NotRequired[float]
    warnings: NotRequired[list[str]]
    probably_wrong: NotRequired[list[ProbablyWrong]]
    confidence: NotRequired[float]
    result: NotRequired[JobResult]
    result_url: NotRequired[str]
    error: NotRequired[Problem]


class Jobs(TypedDict):
    """A page of jobs, the newest first."""

    jobs: list[Job]
    next: NotRequired[str]


class Group(TypedDict):
    """A group, with the number of its jobs in each state."""

    name: str
    has_ended: bool
    queued: int
    running: int
    succeeded: int
    failed: int
    cancelled: int
    created_at: str
    last_ended_at: NotRequired[str | None]


class Groups(TypedDict):
    """A page of groups, in the order of their names."""

    groups: list[Group]
    next: NotRequired[str]


class Upload(TypedDict):
    """A recording that may be sent to the server's bucket, at the URL."""

    id: str
    url: str
    expires_at: str


class StateData(TypedDict):
    """The data of a `state` event."""

    state: JobState
    attempt: int
    place: NotRequired[int]


class ProgressData(TypedDict):
    """The data of a `progress` event."""

    transcribed_s: float


class HandwritingFields(TypedDict, total=False):
    """The fields of a handwriting request beside its text. Lengths are in pixels."""

    figures: Literal["gurmukhi", "latin"]
    line_space: float
    char_space: float
    word_space: float
    page_width: float
    page_length: float
    with_image: bool
    stroke_color: Literal["black", "blue", "pink", "green", "yellow", "brown"]
    stroke_width: float
    seed: int | None


class SpeechFields(TypedDict, total=False):
    """The fields of a speech recognition request beside its recording."""

    url: str
    upload: str
    lang: SpokenLanguage
    with_translation: bool
    with_timestamps: bool
    with_words: bool
    with_confidence: bool
    format: Literal["spoken", "written"]
    digits: Literal["latin", "gurmukhi"]
    script: Literal["gurmukhi", "latin", "shahmukhi"]
    max_line_length: int
    max_lines: int
    channels: Literal["mixed", "split"]
    keyterms: list[str]


class TranslationFields(TypedDict, total=False):
    """The fields of a translation request beside its text."""

    lang: SpokenLanguage
    format: Literal["spoken", "written"]
    digits: Literal["latin", "gurmukhi"]
    script: Literal["gurmukhi", "latin", "shahmukhi"]
