//! A restored backup is quiet: processes that are started on it send no webhook and run no job until an operator lets it go on.

use std::{collections::BTreeSet, process::Output};

use akhar_operators::restores;
use akhar_platform::database::{Pool, PrivatePostgres};
use akhar_tests::{
    Cluster, Process, Stack, binary,
    ops::{Operator, actor},
    root, until,
    webhooks::Receiver,
};
use sqlx::postgres::PgConnectOptions;
use tokio::process::Command;

use crate::queue::{insert, new_job};

/// The address of a database, as programs of Postgres take it too.
fn url(options: &PgConnectOptions) -> String {
    let socket = options.get_socket().expect("a private Postgres has a socket").display();
    let name = options.get_database().expect("a database");
    format!("postgres://{}@localhost:{}/{name}?host={socket}", options.get_username(), options.get_port())
}

/// Runs a script of `deploy/backup` on a database. Returns the last line of what it printed.
async fn script(name: &str, options: &PgConnectOptions, arguments: &[&str]) -> String {
    let (postgres, _) = PrivatePostgres::programs().expect("the programs of Postgres");
    let folders = [binary().parent().expect("a folder").to_owned(), postgres];
    let path = std::env::var_os("PATH").expect("a PATH");
    let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&path))).expect("a PATH");
    let mut command = Command::new(root().join("deploy/backup").join(name));
    command.args(arguments).env("PATH", path).env("AKHAR_DATABASE_URL", url(options));
    let Output { status, stdout, stderr } = command.output().await.expect("the script runs");
    assert!(status.success(), "{name}: {}", String::from_utf8_lossy(&stderr));
    let said = String::from_utf8(stdout).expect("UTF-8");
    said.lines().last().unwrap_or_default().to_owned()
}

/// Backs the stack's database up and restores it into another one.
async fn restored(stack: &Stack, what: &[&str]) -> PgConnectOptions {
    let of_stack = stack.db.servers().options()[0].clone();
    let folder = stack.folder().join(format!("backups of {}", of_stack.get_database().expect("a name")));
    let folder = folder.to_str().expect("UTF-8");
    let dump = script("dump.sh", &of_stack, &[&[folder], what].concat()).await;
    let restored = Cluster::shared().empty_database().await;
    let said = script("restore-dump.sh", &restored, &[&dump]).await;
    assert!(said.contains("akhar database go"), "{said}");
    restored
}

async fn number(db: &Pool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(db).await.expect(query)
}

/// Waits until every api has looked for due webhooks after this call: each look first marks the groups that have ended.
async fn webhooks_are_looked_for(db: &Pool) {
    for name in ["one", "two"] {
        let insert = "insert into job_groups (account_id, name) select id, $1 from accounts";
        sqlx::query(insert).bind(name).execute(db).await.expect("a group");
        until("the end of the group is found", async || {
            let open = number(db, "select count(*) from job_groups where ended_at is null").await;
            (open == 0).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_backup_sends_no_webhook_and_starts_no_job_until_it_is_let_go() {
    let mut stack = Stack::with().workers(0).set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.0/8").start().await;
    let secret = stack.keys(&["webhook", &stack.key[3..11]]).await;
    let receiver = Receiver::start(&[&secret]).await;
    let ended = crate::webhooks::submit(&stack, &format!("{}/ok", receiver.base)).await;
    stack.api.kill().await;
    stack.add_worker().await;
    stack.job_is(ended, "succeeded").await;
    stack.workers[0].kill().await;
    insert(&stack.db, &[&new_job(true)]).await;

    let restored = restored(&stack, &[]).await;
    let url = ("AKHAR_DATABASE_URL".to_owned(), url(&restored));
    let database = [(url.0.as_str(), url.1.as_str())];
    let db = Pool::new(restored.into(), 2);
    let (_api, base) = stack.start_api_with(std::slice::from_ref(&url)).await;
    let mut worker = Process::start("worker", stack.environment().iter().chain([&url]));
    assert_eq!(worker.first_line().await, "ready");
    webhooks_are_looked_for(&db).await;
    let beats = "select count(*) from workers where seen_at > started_at + interval '2 seconds'";
    until("the worker has looked for jobs", async || (number(&db, beats).await == 1).then_some(())).await;
    assert_eq!(receiver.received("/ok"), Vec::<serde_json::Value>::new());
    assert_eq!(number(&db, "select sum(attempt) from jobs where ended_at is null").await, 0);
    let (_, said, log) = stack.run_with(&["doctor"], &database).await;
    assert!((said.clone() + &log).contains("akhar database go"), "{said}{log}");
    let (_, key, _) = stack.run_with(&["keys", "create", "--name", "n", "--role", "view"], &database).await;
    let mut operator = Operator::at(&base);
    operator.sign_in(key.trim()).await;
    let page = operator.get("/ops").await.text();
    assert!(page.contains("akhar database go"), "{page}");

    assert_eq!(stack.run_with(&["database", "go"], &database).await.0, Some(0));
    receiver.receives(1, "/ok").await;
    until("the job has ended", async || {
        (number(&db, "select count(*) from jobs where ended_at is null").await == 0).then_some(())
    })
    .await;
    let trail = sqlx::query_scalar("select action from audit where action like 'database.%' order by id");
    let trail: Vec<String> = trail.fetch_all(&db).await.expect("the trail");
    assert_eq!(trail, ["database.quiet", "database.go"]);
}

#[tokio::test]
async fn a_dump_of_the_accounts_has_nothing_else() {
    let stack = Stack::with().workers(0).start().await;
    stack.keys(&["webhook", &stack.key[3..11]]).await;
    crate::webhooks::submit(&stack, "https://receiver.example/").await;
    let job = "update jobs set state = 'failed', ended_at = now()";
    let webhook = "insert into webhook_deliveries (job_id, account_id, url) select id, account_id, webhook_url from jobs";
    for row in [job, webhook] {
        sqlx::raw_sql(row).execute(&stack.db).await.expect(row);
    }
    let db = Pool::new(restored(&stack, &["accounts"]).await.into(), 1);
    let tables: Vec<String> = sqlx::query_scalar(
        "select relname::text from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
    )
    .fetch_all(&db)
    .await
    .expect("tables");
    let mut filled = BTreeSet::new();
    for table in tables {
        let any = format!("select exists (select from {table})");
        if sqlx::query_scalar(sqlx::AssertSqlSafe(any)).fetch_one(&db).await.expect("an answer") {
            filled.insert(table);
        }
    }
    let expected = ["_sqlx_migrations", "accounts", "api_keys", "audit", "restores", "schema_compatibility"];
    assert_eq!(filled, expected.map(str::to_owned).into());
    let keys = "select prefix from api_keys";
    let [before, after] = [&stack.db, &db].map(|db| sqlx::query_scalar::<_, String>(keys).fetch_all(db));
    assert_eq!(before.await.expect("keys"), after.await.expect("keys"));
}

#[tokio::test]
async fn each_restore_of_a_data_folder_is_quiet_until_it_is_let_go() {
    let options = Cluster::shared().database().await;
    let pool = || Pool::new(options.clone().into(), 1);
    let is_quiet = async |db: &Pool| akhar_jobs::store::is_quiet(db).await.expect("an answer");
    // The script writes the setting for the whole server. For one database it is the same.
    let restore = async |name: &str| {
        let set = format!(
            "alter database {} set akhar.restored = '{name}'",
            options.get_database().expect("a name")
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(set)).execute(&pool()).await.expect("a setting");
        pool()
    };
    assert!(!is_quiet(&pool()).await);
    for name in ["base 1", "base 2"] {
        let db = restore(name).await;
        assert!(is_quiet(&db).await, "{name}");
        assert!(!restores::make_quiet(&db, &actor()).await.expect("a change"), "it is quiet already");
        assert!(restores::go_on(&db, &actor()).await.expect("a change"));
        assert!(!is_quiet(&db).await && !restores::go_on(&db, &actor()).await.expect("no change"));
    }
    let db = pool();
    assert!(restores::make_quiet(&db, &actor()).await.expect("a change") && is_quiet(&db).await);
    assert!(restores::go_on(&db, &actor()).await.expect("a change") && !is_quiet(&db).await);
    let script = std::fs::read_to_string(root().join("deploy/backup/restore-base.sh")).expect("the script");
    assert!(script.contains("akhar.restored = "), "{script}");
}
