"""Example files for schemathesis, as the OpenAPI document cannot say that an upload must be a real picture or sound."""

from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import strategies as st

FIXTURES = Path(__file__).parent / "fixtures"


def files(pattern: str) -> st.SearchStrategy[bytes]:
    """The fixtures whose path below tests/fixtures matches the pattern."""
    return st.sampled_from([path.read_bytes() for path in sorted(FIXTURES.glob(pattern))])


schemathesis.openapi.media_type("image/png", files("images/*.png"))
schemathesis.openapi.media_type("image/jpeg", files("images/*.jpg"))
schemathesis.openapi.media_type("audio/mpeg", files("audio/[ep]*.mp3"))
schemathesis.openapi.media_type("audio/wav", files("audio/[ep][an]*-*.wav"))


@schemathesis.hook
def before_load_schema(_context: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Leaves out headers whose valid values are refused, as they should be.

    They are a key that an earlier request had, a webhook of an account that has no secret, a time for which the
    server keeps no job, and labels of which two have one key.
    """
    left_out = {"Idempotency-Key", "Akhar-Webhook", "Akhar-Group-Webhook", "Akhar-Retain", "Akhar-Label"}
    for path in raw_schema["paths"].values():
        for route in path.values():
            parameters = route.get("parameters", [])
            route["parameters"] = [p for p in parameters if p.get("name") not in left_out]
