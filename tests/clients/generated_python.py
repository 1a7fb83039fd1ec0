"""Uses the clients that openapi-python-client and OpenAPI Generator have made: generated_python.py NAME.

The environment has AKHAR_URL and AKHAR_KEY. The clients lie in the working folder.
"""

import os
import sys
from pathlib import Path

URL, KEY = os.environ["AKHAR_URL"], os.environ["AKHAR_KEY"]
FIXTURES = Path(__file__).parents[1] / "fixtures"
DIGIT, LETTER = FIXTURES / "images/digit-5.png", FIXTURES / "images/letter-ka.png"
RECORDING = FIXTURES / "audio/pa-school.wav"
TEXT = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"


def openapi_python_client() -> None:
    """Asks each operation, two of OpenAI's routes, and for jobs."""
    from akhar_python import AuthenticatedClient, models
    from akhar_python.api.jobs import get_job, list_jobs
    from akhar_python.api.models import (
        alphabet_recognition,
        digit_recognition,
        handwriting_generator,
        speech_recognition,
    )
    from akhar_python.api.openai import create_transcription, create_translation
    from akhar_python.types import File

    client = AuthenticatedClient(URL, KEY, raise_on_unexpected_status=True)

    def file(path: Path) -> File:
        return File(path.open("rb"), path.name)

    digits = digit_recognition.sync(client=client, body=models.RecognitionForm(file(DIGIT)))
    assert digits.predictions[0].label == "੫", digits
    letters = alphabet_recognition.sync(client=client, body=models.RecognitionForm(file(LETTER), top_k=1))
    assert [letter.label for letter in letters.predictions] == ["ਕ"], letters
    written = handwriting_generator.sync(client=client, body=models.HandwritingForm(TEXT, seed=7))
    assert written.points.x, written
    spoken = speech_recognition.sync(client=client, body=models.SpeechForm(file(RECORDING), with_timestamps=True))
    assert spoken.timestamps[0].transcription == spoken.transcription, spoken
    form = models.AudioTranscriptionForm("speech-pa", file(RECORDING))
    assert create_transcription.sync(client=client, body=form).text.endswith("।")
    form = models.AudioTranslationForm("speech-pa", file(RECORDING))
    assert create_translation.sync(client=client, body=form).text
    job = speech_recognition.sync(
        client=client, body=models.SpeechForm(file(RECORDING)), prefer="respond-async", akhar_label="from=clients,n=1"
    )
    ended = get_job.sync(job.id, client=client, wait=60)
    assert (ended.state, ended.labels.to_dict()) == ("succeeded", {"from": "clients", "n": "1"}), ended
    assert list_jobs.sync(client=client, label="from=clients").jobs


def openapi_generator() -> None:
    """The same."""
    import akhar_generated as akhar

    with akhar.ApiClient(akhar.Configuration(URL, access_token=KEY)) as client:
        models, openai, jobs = akhar.ModelsApi(client), akhar.OpenaiApi(client), akhar.JobsApi(client)
        assert models.digit_recognition(str(DIGIT)).predictions[0].label == "੫"
        assert [letter.label for letter in models.alphabet_recognition(str(LETTER), top_k=1).predictions] == ["ਕ"]
        assert models.handwriting_generator(akhar.HandwritingForm(text=TEXT, seed=7)).points.x
        spoken = models.speech_recognition(file=str(RECORDING), with_timestamps=True)
        assert spoken.timestamps[0].transcription == spoken.transcription, spoken
        assert openai.create_transcription("speech-pa", file=str(RECORDING)).actual_instance.text.endswith("।")
        assert openai.create_translation("speech-pa", file=str(RECORDING)).actual_instance.text
        job = models.speech_recognition(file=str(RECORDING), prefer="respond-async", akhar_label="from=clients,n=1")
        ended = jobs.get_job(job.id, wait=60)
        assert (ended.state, ended.labels) == ("succeeded", {"from": "clients", "n": "1"}), ended
        assert jobs.list_jobs(label="from=clients").jobs


if __name__ == "__main__":
    {"openapi_python_client": openapi_python_client, "openapi_generator": openapi_generator}[sys.argv[1]]()
