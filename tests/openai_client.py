"""Uses the service with the official client of OpenAI's API, unmodified. Prints what it got as one JSON object.

The environment has OPENAI_BASE_URL and OPENAI_API_KEY, which the client reads itself. The arguments are a recording in
English and one in Panjabi.
"""

import json
import sys
from pathlib import Path

import openai

english, panjabi = (Path(path) for path in sys.argv[1:])
client = openai.OpenAI(max_retries=0)
audio = client.audio
models = [model.id for model in client.models.list()]
assert [client.models.retrieve(name).id for name in models] == models
plain = audio.transcriptions.create(model="whisper-1", language="en", file=english)
verbose = audio.transcriptions.create(
    model="speech-en",
    file=english,
    response_format="verbose_json",
    timestamp_granularities=["word", "segment"],
    temperature=0,
)
subtitles = {
    name: audio.transcriptions.create(model="speech-pa", file=panjabi, response_format=name)
    for name in ("text", "srt", "vtt")
}
events = list(audio.transcriptions.create(model="speech-pa", file=panjabi, stream=True))
translation = audio.translations.create(model="speech-pa", file=panjabi)


def refused(**options: object) -> dict[str, object]:
    """The error for a request with these options."""
    request = {"model": "speech-en", "file": english, **options}
    try:
        audio.transcriptions.create(**request)
    except openai.APIStatusError as error:
        return {
            "class": type(error).__name__,
            "status": error.status_code,
            "param": error.body["param"],
            "code": error.code,
            "type": error.type,
        }
    raise AssertionError(f"accepted: {options}")


errors = [
    refused(model="llama-3"),
    refused(language="pa"),
    refused(language="fr"),
    refused(temperature=1.4),
    refused(response_format="lrc"),
    refused(extra_body={"known_speaker_names": ["agent"]}),
    refused(file=("notes.txt", b"no recording")),
]
try:
    client.models.retrieve("llama-3")
    raise AssertionError("an unknown model is found")
except openai.NotFoundError as error:
    errors.append({"class": "NotFoundError", "status": error.status_code, "code": error.code})
stranger = openai.OpenAI(api_key="ak_unknown", max_retries=0)
try:
    stranger.models.list()
    raise AssertionError("an unknown key is accepted")
except openai.AuthenticationError as error:
    errors.append({"class": "AuthenticationError", "status": error.status_code, "code": error.code})

result = {
    "models": models,
    "plain": {"text": plain.text, "seconds": plain.usage.seconds},
    "verbose": {
        "text": verbose.text,
        "language": verbose.language,
        "duration": float(verbose.duration),
        "segments": [[s.id, s.start, s.end, s.text] for s in verbose.segments],
        "words": [[w.start, w.end, w.word] for w in verbose.words],
    },
    "subtitles": subtitles,
    "deltas": [event.delta for event in events[:-1]],
    "done": {"type": events[-1].type, "text": events[-1].text, "seconds": events[-1].usage.seconds},
    "translation": translation.text,
    "errors": errors,
}
print(json.dumps(result, ensure_ascii=False))
