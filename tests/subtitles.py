"""Reads subtitles with parsers that are not part of this project.

The arguments are files in the formats SubRip (.srt) and WebVTT (.vtt). Prints a JSON array with one array per file. It
holds each cue as its start and its end in milliseconds and its text.
"""

import html
import json
import sys
from datetime import timedelta
from pathlib import Path

import srt
import webvtt

Cue = tuple[int, int, str]


def read_srt(text: str) -> list[Cue]:
    """The cues of SubRip. Fails unless they are numbered from 1."""
    cues = list(srt.parse(text))
    numbers = [cue.index for cue in cues]
    if numbers != list(range(1, len(cues) + 1)):
        raise ValueError(f"the cues have the numbers {numbers}, expected 1 to {len(cues)}")
    ms = timedelta(milliseconds=1)
    return [(cue.start // ms, cue.end // ms, cue.content) for cue in cues]


def read_vtt(text: str) -> list[Cue]:
    """The cues of WebVTT, which may have no tags."""
    captions = webvtt.WebVTT.from_string(text, strict=True).captions
    for caption in captions:
        if caption.text != caption.raw_text:
            raise ValueError(f"a tag in {caption.raw_text!r}")
    times = [(caption.start_time.in_milliseconds(), caption.end_time.in_milliseconds()) for caption in captions]
    return [(*time, html.unescape(caption.text)) for time, caption in zip(times, captions, strict=True)]


READERS = {".srt": read_srt, ".vtt": read_vtt}
# Bytes, so that line breaks reach the parsers as they are.
print(json.dumps([READERS[path.suffix](path.read_bytes().decode()) for path in map(Path, sys.argv[1:])]))
