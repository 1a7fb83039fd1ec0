"""Tries the backups of deploy/backup: fills a database with the service's own jobs, backs it up, destroys it, restores
it and compares every row. Once by dump, and once by base backup and archived WAL, to the moment before an accident.

Needs about half a minute. Postgres runs as a user without rights, whoever runs this. Its programs are added to PATH.
"""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from problems import DEPLOY
from service import free_port, program, serve

# How long Postgres may take to archive or to recover.
LIMIT_S = 60
Snapshot = dict[str, str]


class Server:
    """A Postgres of this check, in a folder of its own."""

    def __init__(self, folder: Path, user: pwd.struct_passwd | None) -> None:
        self.folder = folder
        self.user = user
        self.bin = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        self.data = folder / "data"
        self.archive = folder / "wal"
        self.port = free_port()
        self.url = self.address("akhar")
        for place in (folder, self.archive, folder / "socket", folder / "backups"):
            place.mkdir()
            self.own(place)
        shutil.copytree(DEPLOY / "backup", folder / "scripts")

    def own(self, path: Path) -> None:
        """Gives a path to the user who runs Postgres."""
        if self.user:
            os.chown(path, self.user.pw_uid, self.user.pw_gid)

    def address(self, database: str) -> str:
        """The address of a database."""
        return f"postgres://akhar@localhost:{self.port}/{database}?host={self.folder / 'socket'}"

    def run(self, *command: str | Path) -> str:
        """Runs a command as the user who runs Postgres. Returns its standard output."""
        prefix: list[str] = []
        if self.user:
            prefix = ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups"]
        environment = {**os.environ, "PATH": f"{os.environ['PATH']}:{self.bin}", "HOME": str(self.folder)}
        environment |= {"AKHAR_DATABASE_URL": self.url, "ARCHIVE": str(self.archive)}
        ran = subprocess.run(
            [*prefix, *command], check=True, stdout=subprocess.PIPE, text=True, env=environment, cwd=self.folder
        )
        return ran.stdout.strip()

    def create(self) -> None:
        """Makes a new server that archives its WAL, with an empty database."""
        self.run(self.bin / "initdb", "--pgdata", self.data, "--username", "akhar", "--auth", "trust", "--no-sync")
        settings = (DEPLOY / "backup/postgresql.conf").read_text()
        settings = settings.replace("/opt/akhar/deploy/backup", str(self.folder / "scripts"))
        settings = settings.replace("/backup/wal", str(self.archive))
        settings += f"listen_addresses = '127.0.0.1'\nport = {self.port}\n"
        settings += f"unix_socket_directories = '{self.folder / 'socket'}'\n"
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(settings)
        self.start()
        self.query("create database akhar", "postgres")

    def start(self) -> None:
        """Starts Postgres, and waits until it has recovered."""
        self.run(
            self.bin / "pg_ctl", "start", "--silent", "--wait", "--pgdata", self.data, "--log", self.folder / "log"
        )
        self.until("select not pg_is_in_recovery()")

    def stop(self, mode: str = "fast") -> None:
        """Stops Postgres."""
        self.run(self.bin / "pg_ctl", "stop", "--silent", "--wait", "--pgdata", self.data, "--mode", mode)

    def query(self, query: str, database: str = "akhar") -> str:
        """Runs one query. Returns what it prints."""
        options = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        return self.run("psql", *options, "--dbname", self.address(database), "--command", query)

    def until(self, query: str) -> None:
        """Waits until a query gives true."""
        deadline = time.monotonic() + LIMIT_S
        while self.query(query, "postgres") != "t":
            if time.monotonic() > deadline:
                raise SystemExit(f"backup: not within {LIMIT_S} s: {query}")
            time.sleep(0.1)

    def snapshot(self) -> Snapshot:
        """The number of rows of each table and a hash of them."""
        tables = self.query("select tablename from pg_tables where schemaname = 'public' order by 1").split()
        summary = (
            "select count(*) || ' rows ' || coalesce(md5(string_agg(t::text, ';' order by t::text)), '') from {} t"
        )
        return {table: self.query(summary.format(table)) for table in tables}


def postgres_user() -> pwd.struct_passwd | None:
    """Who runs Postgres, which refuses root. None: whoever runs this."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return pwd.getpwnam("postgres" if "postgres" in names else "nobody")


def main() -> None:
    """Runs the check."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        server = Server(Path(name) / "postgres", postgres_user())
        server.create()
        try:
            job = check_dump(server)
            check_base(server, job)
        finally:
            server.stop("immediate")
    print(f"backup: restored by dump and by base backup and WAL, {time.monotonic() - began:.0f} s", file=sys.stderr)


def compare(what: str, before: Snapshot, after: Snapshot) -> None:
    """Stops with an error unless a restored database is equal."""
    tables = [table for table in before | after if before.get(table) != after.get(table)]
    different = [f"{table}: {before.get(table)} became {after.get(table)}" for table in tables]
    if different:
        raise SystemExit(f"backup: {what}: " + "; ".join(different))
    print(f"backup: {what}: equal: " + ", ".join(f"{t} {s.split()[0]}" for t, s in before.items()), file=sys.stderr)


def check_dump(server: Server) -> tuple[str, str]:
    """Fills, dumps, drops and restores the database. Returns a key and the path of a result that it can read."""
    with serve({"AKHAR_DATABASE_URL": server.url}) as service:
        for _ in range(20):
            service.upload("digit-recognition", "images/digit-5.png")
        service.handwriting("ਅੱਖਰ ਪੰਜਾਬੀ")
        job = service.upload("speech-recognition", "audio/pa-two-sentences.wav", Prefer="respond-async")
        service.opened(f"/v1/jobs/{job['id']}?wait=60").close()
    before = server.snapshot()
    dump = server.run(server.folder / "scripts/dump.sh", server.folder / "backups")
    server.query("drop database akhar", "postgres")
    server.query("create database akhar", "postgres")
    path = f"{Path(program()).parent}:{os.environ['PATH']}:{server.bin}"
    environment = {**os.environ, "AKHAR_DATABASE_URL": server.url, "PATH": path}
    subprocess.run([server.folder / "scripts/restore-dump.sh", dump], env=environment, check=True)
    let_go(server, environment)
    server.query("delete from restores; delete from audit where action like 'database.%'")
    compare("dump", before, server.snapshot())
    again = subprocess.run(
        [server.folder / "scripts/restore-dump.sh", dump],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if "expected none" not in again.stderr:
        raise SystemExit(f"backup: a dump was loaded into a database with tables: {again.stderr}")
    return service.key, f"/v1/jobs/{job['id']}/result"


def let_go(server: Server, environment: dict[str, str]) -> None:
    """Lets a restored database go on, which must be quiet until then."""
    before = server.query("select is_quiet()")
    subprocess.run([program(), "database", "go"], env=environment, check=True, stdout=subprocess.DEVNULL)
    after = server.query("select is_quiet()")
    if (before, after) != ("t", "f"):
        raise SystemExit(f"backup: a restored database is quiet: {before}, and after `akhar database go`: {after}")


def check_base(server: Server, job: tuple[str, str]) -> None:
    """Backs the server up, fills it, drops a table, destroys the server, and restores it to the moment before."""
    base = server.run(
        server.folder / "scripts/base.sh", server.folder / "backups", "--dbname", server.address("postgres")
    )
    with serve({"AKHAR_DATABASE_URL": server.url}) as service:
        for _ in range(10):
            service.upload("digit-recognition", "images/digit-5.png")
        service.key = job[0]
        service.opened(job[1]).close()  # the restored key reads the restored result
    before = server.snapshot()
    moment = server.query("select now()")
    server.query("drop table jobs cascade")
    last = server.query("select pg_walfile_name(pg_switch_wal())")
    server.until(f"select last_archived_wal >= '{last}' from pg_stat_archiver")
    server.stop("immediate")
    shutil.rmtree(server.data)
    restore: list[str | Path] = [server.folder / "scripts/restore-base.sh", base, server.archive, server.data]
    server.run(*restore)
    server.start()
    if "jobs" in server.snapshot():
        raise SystemExit("backup: the end of the archive still has the table that was dropped")
    server.stop("immediate")
    shutil.rmtree(server.data)
    server.run(*restore, moment)
    server.start()
    compare(f"base backup and WAL until {moment}", before, server.snapshot())
    let_go(server, {**os.environ, "AKHAR_DATABASE_URL": server.url})
    with serve({"AKHAR_DATABASE_URL": server.url}) as service:
        service.key = job[0]
        service.opened(job[1]).close()


if __name__ == "__main__":
    main()
