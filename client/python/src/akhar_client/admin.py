"""What operators see and change."""

from collections.abc import Callable
from typing import Literal, Unpack, cast
from urllib.parse import quote

from . import steps
from .admin_bodies import (
    AdminAccounts,
    AdminAudit,
    AdminChanged,
    AdminJobCounts,
    AdminJobLife,
    AdminJobs,
    AdminKeys,
    AdminLoad,
    AdminModels,
    AdminNewKey,
    AdminQueues,
    AdminRedelivered,
    AdminWebhooks,
    AdminWorkers,
    Change,
    ChangeFields,
    JobConditions,
    NewKeyFields,
    Queue,
    QueueMode,
    QuotasFields,
)
from .steps import Send


class Admin:
    """The routes below `/v1/admin/`. The key must be that of an operator.

    A list has at most `limit` entries (1 to 100). `before` is `next` of the former page, and for jobs `start` is.
    """

    def __init__(self, ask: Callable[[Send], object]) -> None:
        self._ask = ask

    def accounts(self, *, before: str | None = None, limit: int = 20) -> AdminAccounts:
        """The accounts, the newest first, with their quotas and their jobs that have not ended."""
        return cast(AdminAccounts, self._get("accounts", before=before, limit=limit))

    def keys(self, *, before: str | None = None, limit: int = 20) -> AdminKeys:
        """The keys, the newest first, with the quotas of their accounts."""
        return cast(AdminKeys, self._get("keys", before=before, limit=limit))

    def create_key(self, name: str, **fields: Unpack[NewKeyFields]) -> AdminNewKey:
        """Makes an account with a key."""
        return cast(AdminNewKey, self._post("keys", name=name, **fields))

    def limit_key(self, prefix: str, **quotas: Unpack[QuotasFields]) -> None:
        """Replaces the quotas of a key's account."""
        self._put(f"keys/{quote(prefix, safe='')}/quotas", **quotas)

    def rotate_key(self, prefix: str, *, overlap_s: int = 0) -> AdminNewKey:
        """Replaces a key. The old one works for `overlap_s` seconds more."""
        path = f"keys/{quote(prefix, safe='')}/rotate"
        return cast(AdminNewKey, self._post(path, overlap_s=overlap_s))

    def revoke_key(self, prefix: str) -> None:
        """Revokes a key."""
        path = f"/v1/admin/keys/{quote(prefix, safe='')}"
        self._ask(Send("DELETE", path, {"Accept": steps.JSON}, is_safe=False))

    def queues(self) -> AdminQueues:
        """The queues, with the number of their jobs in each state."""
        return cast(AdminQueues, self._get("queues"))

    def set_queue(self, queue: Queue, mode: QueueMode) -> None:
        """Pauses a queue, drains or resumes it."""
        self._put(f"queues/{queue}", mode=mode)

    def load(self) -> AdminLoad:
        """What happens in the queues now, and the workers. A program may ask for it every second."""
        return cast(AdminLoad, self._get("load"))

    def workers(self) -> AdminWorkers:
        """The workers."""
        return cast(AdminWorkers, self._get("workers"))

    def drain_worker(self, name: str, *, drain: bool = True) -> None:
        """Makes a worker claim no more jobs, or claim jobs again."""
        self._put(f"workers/{quote(name, safe='')}", drain=drain)

    def models(self) -> AdminModels:
        """The models that workers serve, with their versions."""
        return cast(AdminModels, self._get("models"))

    def jobs(self, *, start: str | None = None, limit: int = 20, **conditions: Unpack[JobConditions]) -> AdminJobs:
        """Jobs of all accounts that match all conditions."""
        return cast(AdminJobs, self._get("jobs", **{"from": start}, limit=limit, **conditions))

    def count_jobs(self, *, change: Change | None = None, **conditions: Unpack[JobConditions]) -> AdminJobCounts:
        """The number of jobs by account, operation and state; with `change`, of those to which it is possible."""
        return cast(AdminJobCounts, self._get("jobs/count", change=change, **conditions))

    def job(self, job_id: str) -> AdminJobLife:
        """A job of any account with its failed attempts."""
        return cast(AdminJobLife, self._get(f"jobs/{quote(job_id, safe='')}"))

    def change_jobs(self, change: Change, **fields: Unpack[ChangeFields]) -> AdminChanged:
        """Retries, cancels or deletes jobs, at most 10,000."""
        return cast(AdminChanged, self._post("jobs/change", change=change, **fields))

    def webhooks(
        self,
        *,
        state: Literal["pending", "delivered", "dead"] | None = None,
        before: str | None = None,
        limit: int = 20,
    ) -> AdminWebhooks:
        """Webhooks of all accounts, the newest first."""
        return cast(AdminWebhooks, self._get("webhooks", state=state, before=before, limit=limit))

    def redeliver(self, ids: list[str] | None = None) -> AdminRedelivered:
        """Sends webhooks again: those with the `ids`, or else all that were given up."""
        fields: dict[str, object] = {"all_dead": True} if ids is None else {"ids": ids}
        return cast(AdminRedelivered, self._post("webhooks/redeliver", **fields))

    def audit(
        self, *, action: str | None = None, actor: str | None = None, before: str | None = None, limit: int = 20
    ) -> AdminAudit:
        """What operators changed, the newest first."""
        return cast(AdminAudit, self._get("audit", action=action, actor=actor, before=before, limit=limit))

    def _get(self, path: str, **params: object) -> object:
        given = {name: str(value) for name, value in steps.named(params).items() if value is not None}
        return self._ask(steps.get(f"/v1/admin/{path}", given))

    def _put(self, path: str, **fields: object) -> None:
        self._ask(Send("PUT", f"/v1/admin/{path}", {"Accept": steps.JSON}, {"json": steps.named(fields)}))

    def _post(self, path: str, **fields: object) -> object:
        more = {"json": steps.named(fields)}
        return self._ask(Send("POST", f"/v1/admin/{path}", {"Accept": steps.JSON}, more, is_safe=False))
