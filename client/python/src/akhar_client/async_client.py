"""The client for asyncio. `generate.py` makes `client.py` of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Self, TypeVar, Unpack, cast
from uuid import uuid4

import httpx

from . import answers, steps
from .answers import HandwritingAnswer, PredictionsAnswer, Text, TranscriptionAnswer, TranslationAnswer
from .bodies import (
    Group,
    Groups,
    Job,
    JobResult,
    Jobs,
    Upload,
)
from .calls import HandwritingCall, JobFilters, JobOptions, SpeechCall, TextFormat, TranslationCall
from .errors import ProblemError, raise_for_problem
from .events import OF_GROUP, OF_JOB, DoneEvent, E, Event, EventReader, Kinds
from .retries import MAX_RETRIES, pause
from .steps import File, Pause, Send, Steps

T = TypeVar("T")
# An operation waits for 60 seconds, and a stream has a comment every 15 seconds.
TIMEOUT = httpx.Timeout(10, read=90, write=90)


class AsyncClient:
    """A client for one server and one API key.

    `base`: the server's address, or else that of the environment variable AKHAR_URL, or http://127.0.0.1:8080.
    `key`: an API key, or else that of AKHAR_KEY. Raises AkharError if there is none.
    `http`: sends the requests, with its own limits of time. It is not closed.

    After an error that may pass, a request is repeated up to `max_retries` times. Repetitions of an operation get the
    job of its first request.

    The jobs of all operations are in the `group` and have the `labels` that are given, unless a call says otherwise.

    Every operation waits until its job has ended, however long that takes, and raises `ProblemError` if it has no
    result.
    """

    def __init__(
        self,
        base: str | None = None,
        key: str | None = None,
        *,
        max_retries: int = MAX_RETRIES,
        group: str | None = None,
        labels: Mapping[str, str] | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._http = http or httpx.AsyncClient(timeout=TIMEOUT)
        self._is_own = http is None
        self._base, key = steps.server(base, key)
        self._headers = {"Authorization": f"Bearer {key}"}
        self._options: JobOptions = {"group": group, "labels": labels}
        self._max_retries = max_retries

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._is_own:
            await self._http.aclose()

    async def digit_recognition(
        self, image: File, *, top_k: int | None = None, **options: Unpack[JobOptions]
    ) -> PredictionsAnswer:
        """The digit in a PNG or JPEG image: the `top_k` most likely ones, 1 to 5."""
        call = {"file": image, "top_k": top_k, **options}
        return cast(PredictionsAnswer, answers.document(*await self._result("digit-recognition", call)))

    async def alphabet_recognition(
        self, image: File, *, top_k: int | None = None, **options: Unpack[JobOptions]
    ) -> PredictionsAnswer:
        """The letter in a PNG or JPEG image: the `top_k` most likely ones, 1 to 5."""
        call = {"file": image, "top_k": top_k, **options}
        return cast(PredictionsAnswer, answers.document(*await self._result("alphabet-recognition", call)))

    async def handwriting_generator(self, text: str, **call: Unpack[HandwritingCall]) -> HandwritingAnswer:
        """The strokes of a pen that writes a text, and a PNG of them with `with_image`."""
        got = await self._result("handwriting-generator", {"text": text, **call})
        return cast(HandwritingAnswer, answers.document(*got))

    async def handwriting_svg(self, text: str, **call: Unpack[HandwritingCall]) -> Text:
        """The same as an SVG."""
        got = await self._result("handwriting-generator", {"text": text, **call, "with_image": True}, steps.SVG)
        return answers.text(*got)

    async def speech_recognition(
        self, recording: File | None = None, **call: Unpack[SpeechCall]
    ) -> TranscriptionAnswer:
        """What is said in an MP3 or WAV recording, or in one that the server fetches from `url` or has as `upload`."""
        got = await self._result("speech-recognition", {"file": recording, **call})
        return cast(TranscriptionAnswer, answers.document(*got))

    async def speech_text(
        self, recording: File | None = None, response_format: TextFormat = "text", **call: Unpack[SpeechCall]
    ) -> Text:
        """The same as plain text, or as subtitles in the format SubRip or WebVTT."""
        with_timestamps = {} if response_format == "text" else {"with_timestamps": True}
        request = {"file": recording, **with_timestamps, **call}
        return answers.text(*await self._result("speech-recognition", request, steps.TEXTS[response_format]))

    async def translate(self, text: str, **call: Unpack[TranslationCall]) -> TranslationAnswer:
        """A text in the other language, line by line: Panjabi in English, or English in Panjabi."""
        got = await self._result("translation", {"text": text, **call})
        return cast(TranslationAnswer, answers.document(*got))

    async def submit_speech_recognition(self, recording: File | None = None, **call: Unpack[SpeechCall]) -> Job:
        """The job of a recording, which `wait` and `events` follow. It comes after those of callers that wait."""
        request = self._post("speech-recognition", {"file": recording, **call}, prefer=steps.DO_NOT_WAIT)
        return cast(Job, await self._document(request))

    async def upload(self, recording: File) -> str:
        """Sends a recording to the server's bucket; its id, for the field `upload` of one request within a day.

        It may be larger than a request. Raises ProblemError if the server has no bucket.
        """
        reserved = cast(Upload, await self._document(steps.reservation(recording)))
        await self._run(steps.response(steps.put(reserved["url"], recording), self._max_retries))
        return reserved["id"]

    async def job(self, job_id: str) -> Job:
        """The job as it is now."""
        return cast(Job, await self._document(steps.get(steps.job_path(job_id))))

    async def wait(self, job_id: str, timeout_s: float | None = None) -> Job:
        """The job when it has ended. Raises TimeoutError if it has not after `timeout_s` seconds."""
        return cast(Job, await self._run(steps.ended(job_id, timeout_s, self._max_retries)))

    async def jobs(self, limit: int = 50, **filters: Unpack[JobFilters]) -> Jobs:
        """A page of the account's jobs, the newest first, at most `limit` (1 to 100), without their results."""
        return cast(Jobs, await self._document(steps.get("/v1/jobs", {"limit": limit, **filters})))

    async def all_jobs(self, **filters: Unpack[JobFilters]) -> AsyncIterator[Job]:
        """The jobs of all pages, which are requested one after the other."""
        while True:
            page = await self.jobs(100, **filters)
            for job in page["jobs"]:
                yield job
            if "next" not in page:
                return
            filters["before"] = page["next"]

    async def group(self, name: str) -> Group:
        """The group as it is now."""
        return cast(Group, await self._document(steps.get(steps.group_path(name))))

    async def wait_for_group(self, name: str, timeout_s: float | None = None) -> Group:
        """The group when its jobs have ended. Raises TimeoutError if they have not after `timeout_s` seconds."""
        return cast(Group, await self._run(steps.ended_group(name, timeout_s, self._max_retries)))

    async def groups(self, limit: int = 50, after: str | None = None) -> Groups:
        """A page of the account's groups by their names, at most `limit` (1 to 100), from the one after `after` on."""
        return cast(Groups, await self._document(steps.get("/v1/groups", {"limit": limit, "after": after})))

    def group_events(self, name: str) -> AsyncIterator[Group]:
        """The group each time that its counts have changed, at most once a second, until it has ended."""
        return self._follow(f"{steps.group_path(name)}/events", OF_GROUP, lambda group: group["has_ended"])

    async def cancel_group(self, name: str) -> Group:
        """Cancels the jobs of a group that have not ended, and returns the group."""
        return cast(Group, await self._document(Send("DELETE", steps.group_path(name), {"Accept": steps.JSON})))

    async def delete_group(self, name: str) -> None:
        """Cancels the jobs of a group that have not ended, and deletes all of them."""
        request = Send("DELETE", steps.group_path(name), {"Accept": steps.JSON}, {"params": {"purge": "true"}})
        await self._run(steps.response(request, self._max_retries))

    async def job_result(self, job_id: str) -> JobResult:
        """The result of a job that has succeeded."""
        return cast(JobResult, await self._document(steps.get(f"{steps.job_path(job_id)}/result")))

    async def job_text(self, job_id: str, response_format: TextFormat = "text") -> Text:
        """The same of speech recognition as plain text. As subtitles, if the job has timestamps."""
        request = steps.get(f"{steps.job_path(job_id)}/result", accept=steps.TEXTS[response_format])
        return answers.text(job_id, await self._run(steps.response(request, self._max_retries)))

    async def delete(self, job_id: str) -> Job | None:
        """Cancels a job that is queued or running, and returns it. Deletes a job that has ended."""
        request = Send("DELETE", steps.job_path(job_id), {"Accept": steps.JSON}, is_safe=False)
        got = await self._run(steps.response(request, self._max_retries))
        return None if got.status_code == httpx.codes.NO_CONTENT else cast(Job, got.json())

    def events(self, job_id: str) -> AsyncIterator[Event]:
        """What happens to a job, until it has ended. A stream that breaks goes on where it was."""
        return self._follow(f"{steps.job_path(job_id)}/events", OF_JOB, lambda event: isinstance(event, DoneEvent))

    async def _follow(self, path: str, kinds: Kinds[E], is_last: Callable[[E], bool]) -> AsyncIterator[E]:
        """The events of a stream up to its last one."""
        reader, n_broken = EventReader(kinds), 0
        while True:
            headers = {"Accept": "text/event-stream", **reader.opened()}
            try:
                async with self._stream(path, headers) as lines:
                    async for line in lines:
                        n_broken = 0
                        if (event := reader.read(line)) is None:
                            continue
                        yield event
                        if is_last(event):
                            return
                raise httpx.RemoteProtocolError("the stream ended before its last event")
            except (ProblemError, httpx.TransportError) as error:
                seconds = max(reader.retry_s, pause(error, n_broken, self._max_retries))
            n_broken += 1
            await asyncio.sleep(seconds)

    def _post(
        self, operation: str, call: Mapping[str, object], accept: str = steps.JSON, prefer: str = steps.WAIT
    ) -> Send:
        # A request that may be repeated needs a key.
        key = {"idempotency_key": str(uuid4())} if self._max_retries > 0 else {}
        return steps.post(operation, call, {**self._options, **key}, accept, prefer)

    async def _result(
        self, operation: str, call: Mapping[str, object], accept: str = steps.JSON
    ) -> tuple[str, httpx.Response]:
        return await self._run(steps.result(self._post(operation, call, accept), self._max_retries))

    async def _document(self, request: Send) -> object:
        return await self._run(steps.document(request, self._max_retries))

    async def _run(self, call: Steps[T]) -> T:
        """Takes the steps of a call; its result."""
        try:
            step = next(call)
            while True:
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    step = next(call)
                    continue
                try:
                    got = await self._send(step)
                except httpx.TransportError as error:
                    step = call.throw(error)
                else:
                    step = call.send(got)
        except StopIteration as end:
            return cast(T, end.value)

    async def _send(self, step: Send) -> httpx.Response:
        if step.file is not None:
            return await self._http.request(step.method, step.path, content=_parts(step.file), headers=step.headers)
        headers = {**self._headers, **step.headers}
        return await self._http.request(step.method, self._base + step.path, headers=headers, **step.more)

    @asynccontextmanager
    async def _stream(self, path: str, headers: dict[str, str]) -> AsyncIterator[AsyncIterator[str]]:
        async with self._http.stream("GET", self._base + path, headers={**self._headers, **headers}) as got:
            if not got.is_success:
                await got.aread()
            raise_for_problem(got)
            yield got.aiter_lines()


async def _parts(file: File) -> AsyncIterator[bytes]:
    with steps.opened(file) as content:
        while part := content.read(steps.PART):
            yield part
