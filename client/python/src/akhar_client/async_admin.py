"""What operators see and change, for asyncio."""

from collections.abc import Awaitable, Callable
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


class AsyncAdmin:
    """The routes below `/v1/admin/`, for asyncio. The key must be that of an operator.

    A list has at most `limit` entries (1 to 100). `before` is `next` of the former page, and for jobs `start` is.
    """

    def __init__(self, ask: Callable[[Send], Awaitable[object]]) -> None:
        self._ask = ask

    async def accounts(self, *, before: str | None = None, limit: int = 20) -> AdminAccounts:
        """The accounts, the newest first, with their quotas and their jobs that have not ended."""
        return cast(AdminAccounts, await self._get("accounts", before=before, limit=limit))

    async def keys(self, *, before: str | None = None, limit: int = 20) -> AdminKeys:
        """The keys, the newest first, with the quotas of their accounts."""
        return cast(AdminKeys, await self._get("keys", before=before, limit=limit))

    async def create_key(self, name: str, **fields: Unpack[NewKeyFields]) -> AdminNewKey:
        """Makes an account with a key."""
        return cast(AdminNewKey, await self._post("keys", name=name, **fields))

    async def limit_key(self, prefix: str, **quotas: Unpack[QuotasFields]) -> None:
        """Replaces the quotas of a key's account."""
        await self._put(f"keys/{quote(prefix, safe='')}/quotas", **quotas)

    async def rotate_key(self, prefix: str, *, overlap_s: int = 0) -> AdminNewKey:
        """Replaces a key. The old one works for `overlap_s` seconds more."""
        path = f"keys/{quote(prefix, safe='')}/rotate"
        return cast(AdminNewKey, await self._post(path, overlap_s=overlap_s))

    async def revoke_key(self, prefix: str) -> None:
        """Revokes a key."""
        path = f"/v1/admin/keys/{quote(prefix, safe='')}"
        await self._ask(Send("DELETE", path, {"Accept": steps.JSON}, is_safe=False))

    async def queues(self) -> AdminQueues:
        """The queues, with the number of their jobs in each state."""
        return cast(AdminQueues, await self._get("queues"))

    async def set_queue(self, queue: Queue, mode: QueueMode) -> None:
        """Pauses a queue, drains or resumes it."""
        await self._put(f"queues/{queue}", mode=mode)

    async def load(self) -> AdminLoad:
        """What happens in the queues now, and the workers. A program may ask for it every second."""
        return cast(AdminLoad, await self._get("load"))

    async def workers(self) -> AdminWorkers:
        """The workers."""
        return cast(AdminWorkers, await self._get("workers"))

    async def drain_worker(self, name: str, *, drain: bool = True) -> None:
        """Makes a worker claim no more jobs, or claim jobs again."""
        await self._put(f"workers/{quote(name, safe='')}", drain=drain)

    async def models(self) -> AdminModels:
        """The models that workers serve, with their versions."""
        return cast(AdminModels, await self._get("models"))

    async def jobs(
        self, *, start: str | None = None, limit: int = 20, **conditions: Unpack[JobConditions]
    ) -> AdminJobs:
        """Jobs of all accounts that match all conditions."""
        return cast(AdminJobs, await self._get("jobs", **{"from": start}, limit=limit, **conditions))

    async def count_jobs(self, *, change: Change | None = None, **conditions: Unpack[JobConditions]) -> AdminJobCounts:
        """The number of jobs by account, operation and state; with `change`, of those to which it is possible."""
        return cast(AdminJobCounts, await self._get("jobs/count", change=change, **conditions))

    async def job(self, job_id: str) -> AdminJobLife:
        """A job of any account with its failed attempts."""
        return cast(AdminJobLife, await self._get(f"jobs/{quote(job_id, safe='')}"))

    async def change_jobs(self, change: Change, **fields: Unpack[ChangeFields]) -> AdminChanged:
        """Retries, cancels or deletes jobs, at most 10,000."""
        return cast(AdminChanged, await self._post("jobs/change", change=change, **fields))

    async def webhooks(
        self,
        *,
        state: Literal["pending", "delivered", "dead"] | None = None,
        before: str | None = None,
        limit: int = 20,
    ) -> AdminWebhooks:
        """Webhooks of all accounts, the newest first."""
        return cast(AdminWebhooks, await self._get("webhooks", state=state, before=before, limit=limit))

    async def redeliver(self, ids: list[str] | None = None) -> AdminRedelivered:
        """Sends webhooks again: those with the `ids`, or else all that were given up."""
        fields: dict[str, object] = {"all_dead": True} if ids is None else {"ids": ids}
        return cast(AdminRedelivered, await self._post("webhooks/redeliver", **fields))

    async def audit(
        self, *, action: str | None = None, actor: str | None = None, before: str | None = None, limit: int = 20
    ) -> AdminAudit:
        """What operators changed, the newest first."""
        return cast(AdminAudit, await self._get("audit", action=action, actor=actor, before=before, limit=limit))

    async def _get(self, path: str, **params: object) -> object:
        given = {name: str(value) for name, value in steps.named(params).items() if value is not None}
        return await self._ask(steps.get(f"/v1/admin/{path}", given))

    async def _put(self, path: str, **fields: object) -> None:
        await self._ask(Send("PUT", f"/v1/admin/{path}", {"Accept": steps.JSON}, {"json": steps.named(fields)}))

    async def _post(self, path: str, **fields: object) -> object:
        more = {"json": steps.named(fields)}
        return await self._ask(Send("POST", f"/v1/admin/{path}", {"Accept": steps.JSON}, more, is_safe=False))
