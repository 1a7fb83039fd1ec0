"""The answers of operations: their documents or texts, with what the headers say about their jobs."""

import re
from typing import Any, TypedDict, cast

import httpx

from .bodies import Handwriting, Predictions, ProbablyWrong, Transcription, Translation

# An item of a list of RFC 9651: a string or a token, and its parameters.
ITEM = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^",;\s]+))((?:;[^",]*)?)')
PARAMETER = re.compile(r";\s*([^;=]+)=([^;\s]+)")


class Answer(TypedDict):
    """What the answers of all operations have."""

    job_id: str
    warnings: list[str]
    """What is unusual about the request or the recording, beside `probably_wrong`."""
    probably_wrong: list[ProbablyWrong]


class PredictionsAnswer(Predictions, Answer):
    """What an image shows, the most likely first."""


class HandwritingAnswer(Handwriting, Answer):
    """A text as handwriting."""


class TranscriptionAnswer(Transcription, Answer):
    """What is said in a recording."""


class TranslationAnswer(Translation, Answer):
    """A text in the other language."""


class Text(str):
    """An answer that is a text, with the same beside it."""

    job_id: str
    warnings: list[str]
    probably_wrong: list[ProbablyWrong]


def document(job_id: str, got: httpx.Response) -> Any:
    """The JSON document of a response, as an answer."""
    return {**got.json(), **_beside(job_id, got)}


def text(job_id: str, got: httpx.Response) -> Text:
    """The text of a response, as an answer."""
    answer = Text(got.text)
    vars(answer).update(_beside(job_id, got))
    return answer


def _beside(job_id: str, got: httpx.Response) -> Answer:
    """The warnings are a list of RFC 9651. Items of other kinds are left out."""
    answer = Answer(job_id=job_id, warnings=[], probably_wrong=[])
    n_more = 0
    for string, token, rest in ITEM.findall(got.headers.get("Akhar-Warnings", "")):
        parameters = dict(PARAMETER.findall(rest))
        n_more += int(parameters.get("more", 0))
        if not token:
            answer["warnings"].append(re.sub(r"\\(.)", r"\1", string))
        elif token == "probably-wrong":
            start, end = float(parameters["start"]), float(parameters["end"])
            answer["probably_wrong"].append(
                cast(ProbablyWrong, {"text": parameters["text"], "start": start, "end": end})
            )
    if n_more:
        answer["warnings"].append(f"there are {n_more} more warnings, which the document of the job has")
    return answer
