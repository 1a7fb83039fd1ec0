"""A client for Akhar, a server for Panjabi handwriting and speech.

`Client` sends requests and waits for their answers, and `AsyncClient` does the same for asyncio.
"""

from .answers import Answer, HandwritingAnswer, PredictionsAnswer, Text, TranscriptionAnswer, TranslationAnswer
from .async_client import AsyncClient
from .bodies import (
    Group,
    Groups,
    Handwriting,
    Job,
    JobResult,
    Jobs,
    JobState,
    Points,
    Prediction,
    Predictions,
    ProbablyWrong,
    Problem,
    Segment,
    Transcription,
    Translation,
    Violation,
    Word,
)
from .calls import HandwritingCall, JobFilters, JobOptions, SpeechCall, TextFormat, TranslationCall
from .client import Client
from .errors import AkharError, JobError, ProblemError, transcription
from .events import DoneEvent, Event, ProgressEvent, SegmentEvent, StateEvent
from .steps import File

__version__ = "0.2.0"

__all__ = [
    "AkharError",
    "Answer",
    "AsyncClient",
    "Client",
    "DoneEvent",
    "Event",
    "File",
    "Group",
    "Groups",
    "Handwriting",
    "HandwritingAnswer",
    "HandwritingCall",
    "Job",
    "JobError",
    "JobFilters",
    "JobOptions",
    "JobResult",
    "JobState",
    "Jobs",
    "Points",
    "Prediction",
    "Predictions",
    "PredictionsAnswer",
    "ProbablyWrong",
    "Problem",
    "ProblemError",
    "ProgressEvent",
    "Segment",
    "SegmentEvent",
    "SpeechCall",
    "StateEvent",
    "Text",
    "TextFormat",
    "Transcription",
    "TranscriptionAnswer",
    "Translation",
    "TranslationAnswer",
    "TranslationCall",
    "Violation",
    "Word",
    "__version__",
    "transcription",
]
