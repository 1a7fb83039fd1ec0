"""Transcribes with LiteLLM and with OpenAI's client for Python. The environment has AKHAR_URL and AKHAR_KEY."""

import os
from pathlib import Path

import litellm
import openai

URL, KEY = os.environ["AKHAR_URL"] + "/v1", os.environ["AKHAR_KEY"]
RECORDING = Path(__file__).parents[1] / "fixtures/audio/pa-school.wav"

client = openai.OpenAI(base_url=URL, api_key=KEY)
plain = client.audio.transcriptions.create(model="gpt-transcribe", file=RECORDING)
assert plain.text.endswith("।"), plain
with RECORDING.open("rb") as file:
    passed = litellm.transcription(model="openai/gpt-transcribe", file=file, api_base=URL, api_key=KEY)
assert passed.text == plain.text, passed
