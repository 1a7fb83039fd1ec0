"""When a request is repeated."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .errors import ProblemError, may_pass

SHORTEST_S, LONGEST_S = 0.25, 15.0


@dataclass(frozen=True)
class Retries:
    """Repeats a request after errors that may pass, for `within_s` seconds from its first attempt on.

    A pause has a random length up to 0.25 s, 0.5 s, 1 s and so on up to 15 s, so that many clients do not come back at
    the same time. It is as long as the server's `Retry-After` says, if it sent one. If that is longer than the time
    that is left, the error is raised at once. `on_error` gets each error before the pause.
    """

    within_s: float
    on_error: Callable[[Exception], None] = lambda _: None

    def pauses(self) -> "Pauses":
        """The pauses of one request, whose first attempt begins now."""
        return Pauses(self)


class Pauses:
    """The pauses between the attempts of one request."""

    def __init__(self, retries: Retries) -> None:
        self._retries = retries
        self._deadline = time.monotonic() + retries.within_s
        self._longest = _longest()

    def after(self, error: Exception) -> float:
        """Seconds until the next attempt. Raises the error if there is none."""
        pause = next(self._longest) * random.uniform(0.1, 1)
        if not may_pass(error):
            raise error
        self._retries.on_error(error)
        if isinstance(error, ProblemError) and error.retry_after_s is not None:
            pause = error.retry_after_s
        if pause >= self._deadline - time.monotonic():
            raise error
        return pause


def _longest() -> Iterator[float]:
    """The longest that each pause may be, unless the server asks for more."""
    longest = SHORTEST_S
    while True:
        yield longest
        longest = min(2 * longest, LONGEST_S)
