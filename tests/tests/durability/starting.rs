//! Starting: migrations by several processes, and errors with which a process refuses to start.

use std::{fs, path::Path};

use akhar_tests::{Cluster, process::command, root, serve::environment, stack::base_environment};
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinSet;

use crate::said;

#[tokio::test]
async fn four_processes_can_migrate_an_empty_database_at_the_same_time() {
    let options = Cluster::shared().empty_database().await;
    let environment = base_environment(&options);
    let runs: JoinSet<_> = (0..4).map(|_| command(&["migrate"], &environment).output()).collect();
    for output in runs.join_all().await {
        let output = output.expect("akhar migrate runs");
        assert!(output.status.success(), "{}", said(&output));
    }
    let again = command(&["migrate"], &environment).output().await.expect("akhar migrate runs");
    assert!(again.status.success(), "a second time: {}", said(&again));
    let mut db = PgConnection::connect_with(&options).await.expect("it answers");
    let n: i64 =
        sqlx::query_scalar("select count(*) from jobs").fetch_one(&mut db).await.expect("our tables");
    assert_eq!(n, 0);
}

#[tokio::test]
async fn a_process_does_not_start_on_the_schema_of_an_earlier_version() {
    let options = Cluster::shared().empty_database().await;
    let environment = base_environment(&options);
    for subcommand in ["api", "worker"] {
        let output = command(&[subcommand], &environment).output().await.expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{subcommand}");
        assert!(output.stdout.is_empty(), "{subcommand} does not say that it is ready");
        assert!(said(&output).contains("run `akhar migrate` first"), "{subcommand}: {}", said(&output));
    }
}

#[tokio::test]
async fn a_service_that_cannot_start_does_not_say_that_it_listens() {
    let options = Cluster::shared().empty_database().await;
    let mut environment = base_environment(&options);
    environment.retain(|(name, _)| name != "AKHAR_ORT_DYLIB");
    environment.push(("AKHAR_ORT_DYLIB".to_owned(), "/nowhere.so".to_owned()));
    let output = command(&["serve"], &environment).output().await.expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(said(&output).contains("/nowhere.so"), "{}", said(&output));
}

#[tokio::test]
async fn every_table_and_column_has_a_comment() {
    let options = Cluster::shared().database().await;
    let mut db = PgConnection::connect_with(&options).await.expect("it answers");
    // `_sqlx_migrations` belongs to sqlx.
    let without_comment: Vec<String> = sqlx::query_scalar(
        "select c.relname || coalesce('.' || a.attname, '') from pg_class c
         join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
         left join lateral (
             select attname, attnum from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped
             union all select null, 0) a on true
         where c.relkind in ('r', 'p', 'v', 'm') and c.relname <> '_sqlx_migrations'
             and col_description(c.oid, a.attnum) is null
             and (a.attnum > 0 or obj_description(c.oid, 'pg_class') is null)",
    )
    .fetch_all(&mut db)
    .await
    .expect("an answer");
    assert_eq!(without_comment, Vec::<String>::new());
}

#[tokio::test]
async fn an_unknown_setting_is_refused_by_name() {
    let options = Cluster::shared().empty_database().await;
    let mut environment = base_environment(&options);
    environment.push(("AKHAR_LISENT".to_owned(), "127.0.0.1:1".to_owned()));
    for subcommand in ["api", "worker", "serve", "migrate"] {
        let output = command(&[subcommand], &environment).output().await.expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{subcommand}");
        let expected = "there is no setting AKHAR_LISENT; did you mean AKHAR_LISTEN?";
        assert!(said(&output).contains(expected), "{subcommand}: {}", said(&output));
    }
}

#[tokio::test]
async fn a_database_that_cannot_be_reached_is_named_with_the_cause() {
    let mut environment = base_environment(&Cluster::shared().empty_database().await);
    environment.retain(|(name, _)| name != "AKHAR_DATABASE_URL");
    let url = "postgres://akhar:secret@127.0.0.1:1/akhar";
    environment.push(("AKHAR_DATABASE_URL".to_owned(), url.to_owned()));
    let output = command(&["api"], &environment).output().await.expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    for told in ["127.0.0.1:1", "refused"] {
        assert!(said(&output).contains(told), "{told}: {}", said(&output));
    }
    assert!(!said(&output).contains("secret"), "{}", said(&output));
}

#[tokio::test]
async fn a_command_for_keys_makes_no_database() {
    let folder = Cluster::shared().folder().join("nowhere");
    let environment = environment(&folder).await;
    let output =
        command(&["keys", "create", "--name", "lost"], &environment).output().await.expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(output.stdout.is_empty(), "no key is printed");
    for told in ["AKHAR_DATA_DIR", "AKHAR_DATABASE_URL", &folder.to_string_lossy()] {
        assert!(said(&output).contains(told), "{told}: {}", said(&output));
    }
    assert!(!folder.exists(), "no folder is made");
}

#[tokio::test]
async fn a_command_whose_output_nobody_reads_ends_quietly() {
    let environment = base_environment(&Cluster::shared().database().await);
    for arguments in [["keys", "list"].as_slice(), &["models", "list"], &["openapi"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = command(arguments, &environment).stdout(writer).output().await.expect("it runs");
        assert!(output.status.success(), "{arguments:?}: {}", output.status);
        assert_eq!(said(&output), "", "{arguments:?}");
    }
}

#[tokio::test]
async fn a_log_filter_that_cannot_be_parsed_is_an_error() {
    let options = Cluster::shared().empty_database().await;
    let mut environment = base_environment(&options);
    environment.push(("RUST_LOG".to_owned(), "==".to_owned()));
    let output = command(&["migrate"], &environment).output().await.expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("RUST_LOG is \"==\""), "{}", said(&output));
}

#[tokio::test]
async fn a_whole_key_can_be_revoked_and_is_not_printed() {
    let options = Cluster::shared().database().await;
    let environment = base_environment(&options);
    let run = async |arguments: &[&str]| command(arguments, &environment).output().await.expect("it runs");
    let created = run(&["keys", "create", "--name", "pasted"]).await;
    let key = String::from_utf8(created.stdout).expect("text");
    let (key, secret) = (key.trim(), key.trim().rsplit('_').next().expect("a secret"));
    for (code, again) in [(0, "revoked"), (1, "no working key")] {
        let output = run(&["keys", "revoke", key]).await;
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(said(&output).contains(again) && !said(&output).contains(secret), "{}", said(&output));
    }
    let output = run(&["keys", "revoke", secret]).await;
    assert!(output.status.code() == Some(1) && !said(&output).contains(secret), "{}", said(&output));
}

#[tokio::test]
async fn a_usage_error_exits_with_2_and_help_with_0() {
    let output = command(&["--no-such-flag"], &[]).output().await.expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let output = command(&["--help"], &[]).output().await.expect("it runs");
    assert_eq!(output.status.code(), Some(0));
}

#[tokio::test]
async fn a_model_file_with_one_other_bit_is_refused() {
    let cluster = Cluster::shared();
    let options = cluster.database().await;
    let models = cluster.folder().join("models");
    copy(&root().join("models"), &models);
    let weights = find_onnx(&models).expect("a model in models/");
    let mut bytes = fs::read(&weights).expect("weights");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&weights, bytes).expect("a write");
    let mut environment = base_environment(&options);
    environment.retain(|(name, _)| name != "AKHAR_MODELS_DIR");
    environment.push(("AKHAR_MODELS_DIR".to_owned(), models.to_string_lossy().into_owned()));
    let output = command(&["worker"], &environment).output().await.expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let name = weights.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(said(&output).contains(&name) && said(&output).contains("SHA-256"), "{}", said(&output));
}

/// Copies a folder of models without pulled ones.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|e| e.expect("an entry")) {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() && entry.file_name() != "pulled" {
            copy(&path, &target);
        } else if path.is_file() {
            fs::copy(&path, &target).expect("a copy");
        }
    }
}

fn find_onnx(folder: &Path) -> Option<std::path::PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
    entries.sort();
    entries.into_iter().find_map(|path| {
        if path.is_dir() {
            find_onnx(&path)
        } else {
            path.extension().is_some_and(|e| e == "onnx").then_some(path)
        }
    })
}
