"""The events of a job or a group, from the lines of a stream of Server-Sent Events."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from .bodies import Group, Job, ProgressData, Segment, StateData


@dataclass(frozen=True)
class StateEvent:
    """The state or the place in the queue has changed."""

    data: StateData


@dataclass(frozen=True)
class ProgressEvent:
    """More of the recording is transcribed."""

    data: ProgressData


@dataclass(frozen=True)
class SegmentEvent:
    """A segment is finished. When `attempt` grows, the recording is transcribed again: discard the segments before."""

    data: Segment
    attempt: int


@dataclass(frozen=True)
class DoneEvent:
    """The job has ended. No event follows."""

    data: Job


Event: TypeAlias = StateEvent | ProgressEvent | SegmentEvent | DoneEvent
E = TypeVar("E")

Kinds: TypeAlias = dict[str, Callable[[Any, str], E]]

OF_JOB: Kinds[Event] = {
    "state": lambda data, _: StateEvent(data),
    "progress": lambda data, _: ProgressEvent(data),
    "segment": lambda data, last_id: SegmentEvent(data, int(last_id.split(".")[0])),
    "done": lambda data, _: DoneEvent(data),
}

OF_GROUP: Kinds[Group] = {
    "counts": lambda data, _: data,
    "ended": lambda data, _: data,
}


@dataclass
class EventReader(Generic[E]):
    """Lines in; events of these kinds out. It remembers what a stream that continues another needs."""

    kinds: Kinds[E]
    last_id: str = ""
    """Of the last event, for `Last-Event-ID`."""
    retry_s: float = 1.0
    """The pause before the stream is opened again."""
    _fields: dict[str, str] = field(default_factory=dict)

    def opened(self) -> dict[str, str]:
        """Begins a stream; its headers."""
        self._fields = {}
        return {"Last-Event-ID": self.last_id} if self.last_id else {}

    def read(self, line: str) -> E | None:
        """The event that this line ends, if it ends one of a known kind."""
        name, _, value = line.partition(":")
        if name:
            self._fields[name] = value.removeprefix(" ")
            return None
        fields, self._fields = self._fields, {}
        self.last_id = fields.get("id", self.last_id)
        self.retry_s = int(fields["retry"]) / 1000 if "retry" in fields else self.retry_s
        kind = self.kinds.get(fields.get("event", ""))
        return kind(json.loads(fields["data"]), self.last_id) if kind and "data" in fields else None
