"""The JSON documents of the routes of operators, and the fields of their requests, as types.

Their names and members are those of `docs/openapi.json`. A server of a newer version may send more members.
"""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from .bodies import JobState, Operation

Queue: TypeAlias = Literal["quick", "speech"]
QueueMode: TypeAlias = Literal["open", "paused", "draining"]
Change: TypeAlias = Literal["retry", "cancel", "purge"]


class AdminAccount(TypedDict):
    """An account, with its quotas and its jobs that have not ended."""

    id: str
    name: str
    created_at: str
    n_keys: int
    """The keys that work."""
    rpm: NotRequired[int | None]
    max_queued: NotRequired[int | None]
    audio_minutes: NotRequired[int | None]
    stored_mb: NotRequired[int | None]
    retain_s: NotRequired[int | None]
    max_retain_s: NotRequired[int | None]
    webhook_url: NotRequired[str | None]
    queued: int
    running: int


class AdminAccounts(TypedDict):
    """A page of accounts, the newest first."""

    accounts: list[AdminAccount]
    next: NotRequired[str]


class AdminKey(TypedDict):
    """A key, with the quotas and the webhook of its account."""

    id: str
    prefix: str
    name: str
    account_id: str
    role: NotRequired[str | None]
    state: str
    created_at: str
    last_used_at: NotRequired[str | None]
    expires_at: NotRequired[str | None]
    revoked_at: NotRequired[str | None]
    is_replaced: bool
    rpm: NotRequired[int | None]
    max_queued: NotRequired[int | None]
    audio_minutes: NotRequired[int | None]
    stored_mb: NotRequired[int | None]
    retain_s: NotRequired[int | None]
    max_retain_s: NotRequired[int | None]
    webhook_url: NotRequired[str | None]


class AdminKeys(TypedDict):
    """A page of keys, the newest first."""

    keys: list[AdminKey]
    next: NotRequired[str]


class AdminNewKey(TypedDict):
    """A new key. This is its only copy."""

    key: str
    prefix: str


class AdminQueueJobs(TypedDict):
    """The number of jobs of a queue in each state."""

    queued: int
    running: int
    succeeded: int
    failed: int
    cancelled: int


class AdminQueue(TypedDict):
    """A queue."""

    queue: str
    mode: str
    changed_at: NotRequired[str | None]
    jobs: AdminQueueJobs


class AdminQueues(TypedDict):
    """All queues."""

    queues: list[AdminQueue]


class AdminQueueLoad(TypedDict):
    """What happens in a queue now."""

    queue: str
    mode: str
    queued: int
    running: int
    oldest_s: NotRequired[float | None]
    ended_per_minute: float
    failed_per_minute: float


class AdminWorker(TypedDict):
    """A worker process."""

    name: str
    state: str
    started_at: str
    seen_at: str
    is_alive: bool
    is_draining: bool
    n_jobs: int


class AdminWorkers(TypedDict):
    """All workers."""

    workers: list[AdminWorker]


class AdminLoad(TypedDict):
    """What happens now."""

    queues: list[AdminQueueLoad]
    workers: list[AdminWorker]


class AdminModel(TypedDict):
    """A model that workers serve."""

    operation: str
    language: NotRequired[str | None]
    id: str
    version: str
    workers: list[str]
    since: str
    is_mixed: bool


class AdminModels(TypedDict):
    """The models that workers serve."""

    models: list[AdminModel]


class AdminJob(TypedDict):
    """A job of any account, without what its caller sent and got."""

    id: str
    operation: str
    queue: str
    state: JobState
    attempt: int
    max_attempts: int
    priority: int
    account_id: str
    account: NotRequired[str | None]
    group: NotRequired[str | None]
    request_id: str
    worker: NotRequired[str | None]
    created_at: str
    run_at: str
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    decode_us: NotRequired[int | None]
    infer_us: NotRequired[int | None]
    transcribed_s: NotRequired[float | None]
    last_error: NotRequired[str | None]
    rejection: NotRequired[str | None]
    upload_bytes: NotRequired[int | None]
    can_be_retried: bool


class AdminJobs(TypedDict):
    """A page of jobs."""

    jobs: list[AdminJob]
    next: NotRequired[str]


class AdminAttempt(TypedDict):
    """An attempt that failed."""

    attempt: int
    worker: NotRequired[str | None]
    started_at: NotRequired[str | None]
    ended_at: str
    error: str


class AdminJobLife(TypedDict):
    """A job with the attempts that failed."""

    job: AdminJob
    failed_attempts: list[AdminAttempt]


class AdminJobGroup(TypedDict):
    """Jobs of one account, operation and state."""

    account: NotRequired[str | None]
    operation: str
    state: JobState
    n_jobs: int
    oldest_s: float


class AdminJobCounts(TypedDict):
    """The numbers of jobs."""

    groups: list[AdminJobGroup]


class AdminChanged(TypedDict):
    """What a change of jobs did."""

    n_changed: int


class AdminWebhook(TypedDict):
    """A webhook that announces the end of a job or a group."""

    id: str
    group: NotRequired[str | None]
    account_id: str
    url: str
    state: str
    attempts: int
    created_at: str
    due_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    last_error: NotRequired[str | None]


class AdminWebhooks(TypedDict):
    """A page of webhooks, the newest first."""

    webhooks: list[AdminWebhook]
    next: NotRequired[str]


class AdminRedelivered(TypedDict):
    """The webhooks that are sent again."""

    n_redelivered: int
    unknown: list[str]


class AdminAuditRow(TypedDict):
    """A change that an operator made."""

    id: str
    at: str
    action: str
    target: str
    n_changed: int
    actor: str
    key_prefix: NotRequired[str | None]
    address: NotRequired[str | None]


class AdminAudit(TypedDict):
    """A page of the audit trail, the newest first."""

    rows: list[AdminAuditRow]
    next: NotRequired[str]


class QuotasFields(TypedDict, total=False):
    """The quotas of an account. Without one there is no limit."""

    rpm: int
    max_queued: int
    audio_minutes: int
    stored_mb: int
    retain_s: int
    max_retain_s: int


class NewKeyFields(QuotasFields, total=False):
    """The fields of a new key beside its name."""

    role: Literal["view", "operate", "admin"]
    expires_s: int
    webhook: str


class JobConditions(TypedDict, total=False):
    """Which jobs are meant: those that match all of these."""

    state: JobState
    queue: Queue
    operation: Operation
    account: str
    group: str
    request_id: str
    error: str
    older_than_s: int
    ended_before_s: int


class ChangeFields(JobConditions, total=False):
    """Which jobs are changed. At least one condition must be there, or `all`."""

    ids: list[str]
    all: bool
    limit: int
