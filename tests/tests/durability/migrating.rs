//! The migration of jobs from an earlier version, which is refused while processes of that version still run.

use std::fs;

use akhar_tests::{Cluster, Stack, images::fixture_of, process::command, root, stack::base_environment};
use sqlx::{Connection as _, PgConnection, migrate::Migrator, postgres::PgConnectOptions};

/// The migrations of the earlier version.
const EARLIER: [&str; 3] = ["0001_jobs.sql", "0002_artifacts.sql", "0003_progress.sql"];

/// The columns of the earlier queue's table that the migration reads, and jobs in every state.
const JOBS: &str = r#"
create schema apalis;
create table apalis.jobs (id text primary key, job bytea, job_type text, status text, run_at timestamptz);
insert into jobs (id, caller_id, operation, queue, priority, parameters, state, attempt, max_attempts, worker, request_id, ended_at, outcome)
values
    ('00000000-0000-7000-8000-000000000001', gen_random_uuid(), 'digit-recognition', 'quick', 1,
     '{"operation": "digit-recognition", "top-k": 3}', 'queued', 0, 3, null, 'r1', null, null),
    ('00000000-0000-7000-8000-000000000002', gen_random_uuid(), 'digit-recognition', 'quick', 0,
     '{"operation": "digit-recognition", "top-k": 3}', 'queued', 1, 3, null, 'r2', null, null),
    ('00000000-0000-7000-8000-000000000003', gen_random_uuid(), 'digit-recognition', 'quick', 0,
     '{"operation": "digit-recognition", "top-k": 3}', 'running', 1, 3, 'gone', 'r3', null, null),
    ('00000000-0000-7000-8000-000000000004', gen_random_uuid(), 'digit-recognition', 'quick', 1,
     '{"operation": "digit-recognition", "top-k": 3}', 'succeeded', 1, 3, null, 'r4', now(), '{"kind": "failed"}');
insert into uploads select id, 'image/png', 'a picture' from jobs where state <> 'succeeded';
insert into apalis.jobs
select id::text, convert_to(to_json(id::text)::text, 'UTF8'), queue, 'Pending',
    now() + case attempt when 1 then interval '1 hour' else interval '0' end
from jobs where state = 'queued';
"#;

/// A database of the earlier version.
async fn earlier_database() -> PgConnectOptions {
    let cluster = Cluster::shared();
    let options = cluster.empty_database().await;
    let folder = cluster.folder().join(options.get_database().expect("a name"));
    fs::create_dir(&folder).expect("a folder");
    for name in EARLIER {
        fs::copy(root().join("migrations/sql").join(name), folder.join(name)).expect("a migration");
    }
    let mut db = PgConnection::connect_with(&options).await.expect("it answers");
    Migrator::new(folder.as_path()).await.expect("migrations").run(&mut db).await.expect("they apply");
    sqlx::raw_sql(JOBS).execute(&mut db).await.expect("jobs");
    db.close().await.expect("it answers");
    options
}

async fn migrate(options: &PgConnectOptions) -> (bool, String) {
    let output = command(&["migrate"], &base_environment(options)).output().await.expect("it runs");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[tokio::test]
async fn waiting_jobs_of_the_earlier_version_are_migrated() {
    let options = earlier_database().await;
    let (is_migrated, said) = migrate(&options).await;
    assert!(is_migrated, "{said}");
    let mut db = PgConnection::connect_with(&options).await.expect("it answers");
    let rows: Vec<(String, String, bool, bool, bool)> = sqlx::query_as(
        "select request_id, state, coalesce(upload = 'a picture', false), run_at > now(), acknowledged from jobs order by id",
    )
    .fetch_all(&mut db)
    .await
    .unwrap_or_else(|error| panic!("{error}"));
    let row = |id: &str, state: &str, is_later, is_acknowledged| {
        (id.to_owned(), state.to_owned(), true, is_later, is_acknowledged)
    };
    assert_eq!(
        rows[..3],
        [
            row("r1", "queued", false, false),
            row("r2", "queued", true, true),
            row("r3", "running", false, true)
        ]
    );
    let is_gone: bool =
        sqlx::query_scalar("select to_regclass('apalis.jobs') is null and to_regclass('uploads') is null")
            .fetch_one(&mut db)
            .await
            .expect("an answer");
    assert!(is_gone, "tables of the earlier queue still exist");
}

#[tokio::test]
async fn the_migration_is_refused_while_processes_of_the_earlier_version_run() {
    let options = earlier_database().await;
    let named = options.clone().application_name("akhar-tickets");
    let earlier = PgConnection::connect_with(&named).await.expect("it answers");
    let (is_migrated, said) = migrate(&options).await;
    assert!(!is_migrated && said.contains("earlier version are open"), "{said}");
    earlier.close().await.expect("a close");
    let (is_migrated, said) = migrate(&options).await;
    assert!(is_migrated, "{said}");
}

#[tokio::test]
async fn a_program_runs_with_the_schema_of_a_newer_version_that_allows_it() {
    let mut stack = Stack::with().workers(0).start().await;
    // What a newer version would do that only adds something.
    sqlx::raw_sql(
        "alter table jobs add column of_a_newer_version text not null default 'x';
         create table of_a_newer_version (id int primary key);
         insert into _sqlx_migrations (version, description, success, checksum, execution_time)
         values (9999, 'newer', true, '\\x00', 0)",
    )
    .execute(&stack.db)
    .await
    .expect("a newer schema");
    stack.restart_api().await;
    stack.add_worker().await;
    let picture = fixture_of("੫");
    assert_eq!(stack.recognise(picture.operation, &picture.bytes).await.status, 200);
    let (code, _, log) = stack.run(&["migrate"]).await;
    assert_eq!(code, Some(0), "{log}");

    sqlx::query("update schema_compatibility set oldest_version = 9999")
        .execute(&stack.db)
        .await
        .expect("a row");
    for command in ["migrate", "worker", "api"] {
        let (code, _, log) = stack.run(&[command]).await;
        assert_eq!(code, Some(1), "{command}: {log}");
        assert!(log.contains("too new for this version of akhar: migration 9999"), "{command}: {log}");
    }
    let report = stack.akhar_json(&["doctor"]).await;
    let schema = report["checks"].as_array().expect("checks").iter().find(|check| check["name"] == "schema");
    assert_eq!(schema.expect("a check")["status"], "failed", "{report}");
}
