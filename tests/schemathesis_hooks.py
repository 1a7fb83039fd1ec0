"""What the OpenAPI document cannot say: an image is only accepted when it shows something."""

from pathlib import Path

import schemathesis
from hypothesis import strategies as st

IMAGES = Path(__file__).parent / "fixtures" / "images"


def files(pattern: str) -> st.SearchStrategy[bytes]:
    """The repository's own images of one kind."""
    return st.sampled_from([path.read_bytes() for path in sorted(IMAGES.glob(pattern))])


schemathesis.openapi.media_type("image/png", files("*.png"))
schemathesis.openapi.media_type("image/jpeg", files("*.jpg"))
