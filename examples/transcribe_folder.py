"""Transcribes the recordings of a call centre: transcribe_folder.py FOLDER

Four recordings are transcribed at a time. The text of call.wav is written to call.wav.txt, with the time of each
segment, and a line says which part of it is probably wrong. A recording that has its text is left out, so a run that
was interrupted can be repeated. The environment has AKHAR_KEY, and AKHAR_URL unless the service is on this machine.
"""

import asyncio
import hashlib
import sys
from pathlib import Path

from akhar_client import AkharError, AsyncClient, transcription


async def transcribe(akhar: AsyncClient, places: asyncio.Semaphore, recording: Path) -> str:
    """Writes the text of a recording; a line about it."""
    async with places:
        # With this key a request that is repeated, also by a later run, gets the job of the first one.
        key = hashlib.sha256(recording.read_bytes()).hexdigest()
        try:
            job = await akhar.submit_speech_recognition(
                recording, idempotency_key=key, lang="pa", with_timestamps=True, format="written"
            )
            job = await akhar.wait(job["id"])
            segments = transcription(job)["timestamps"]
        except AkharError as error:
            return f"{recording.name}: {error}"
    lines = [f"{segment['start']:8.3f} {segment['transcription']}\n" for segment in segments]
    recording.with_name(f"{recording.name}.txt").write_text("".join(lines))
    doubts = [f"{part['start']}-{part['end']} s" for part in job.get("probably_wrong", [])]
    return f"{recording.name}: {len(lines)} segments" + (f", look at {', '.join(doubts)}" if doubts else "")


async def main(folder: Path) -> None:
    """Transcribes what has no text yet, and prints a line about each recording."""
    recordings = sorted(path for path in folder.iterdir() if path.suffix in {".mp3", ".wav"})
    new = [recording for recording in recordings if not recording.with_name(f"{recording.name}.txt").exists()]
    places = asyncio.Semaphore(4)
    async with AsyncClient(max_retries=8) as akhar:
        for line in await asyncio.gather(*(transcribe(akhar, places, recording) for recording in new)):
            print(line)


asyncio.run(main(Path(sys.argv[1])))
