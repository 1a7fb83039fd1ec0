"""When a request is repeated."""

import logging
import math
import random

from .errors import ProblemError, is_refusal, may_pass

MAX_RETRIES = 2
SHORTEST_S, LONGEST_S = 0.5, 8.0
LONGEST_RETRY_AFTER_S = 24 * 60 * 60
"""Every quota of the service is free again after a day at most. A longer wait is an error."""
LOUD_S = 60
LOG = logging.getLogger("akhar_client")


def pause(
    error: Exception, n_before: int, max_retries: int, *, is_safe: bool = True, left_s: float = math.inf
) -> float:
    """Seconds until a request that failed is repeated, after `n_before` repetitions.

    Raises the error if it is not repeated, and TimeoutError if that would be after the `left_s` seconds that are left.

    The pause is as long as the server's `Retry-After` says. Without one it is 0.5 s, 1 s, 2 s and so on up to 8 s, less
    a random part up to a quarter, so that many clients do not come back at the same time. A request that is not safe
    is repeated only if the server has refused it.
    """
    retry_after_s = error.retry_after_s if isinstance(error, ProblemError) else None
    is_worth_it = may_pass(error) if is_safe else is_refusal(error)
    if n_before >= max_retries or not is_worth_it or (retry_after_s or 0) > LONGEST_RETRY_AFTER_S:
        raise error
    # After four repetitions it is the longest.
    seconds = retry_after_s or min(SHORTEST_S * 2 ** min(n_before, 4), LONGEST_S) * random.uniform(0.75, 1)
    if seconds > left_s:
        raise TimeoutError(f"there are {left_s:.1f} s left to wait {seconds:.1f} s") from error
    level = logging.WARNING if seconds > LOUD_S else logging.INFO
    LOG.log(level, "the request is repeated in %.1f s, after: %s", seconds, str(error) or repr(error))
    return seconds
