//! Databases that hosts give: a role without further rights and with a time limit for statements, and TLS.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

use akhar_tests::{
    Cluster, Form, Process,
    http::{client, send},
    process::command,
    stack::base_environment,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use sqlx::{Connection as _, PgConnection};

use crate::{digit, said};

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_only_owns_its_database_is_enough() {
    let options = Cluster::shared().empty_database().await;
    let database = options.get_database().expect("a database").to_owned();
    let role = format!("owner_of_{database}");
    let mut db = PgConnection::connect_with(&options).await.expect("it answers");
    for statement in [
        format!("create role {role} login"),
        format!("alter database {database} owner to {role}"),
        format!("alter role {role} set statement_timeout = '2s'"),
    ] {
        sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&mut db).await.expect("it is allowed");
    }
    let environment = base_environment(&options.clone().username(&role));
    succeeds(&["migrate"], &environment).await;
    let key = succeeds(&["keys", "create", "--name", "test"], &environment).await;
    let mut api = Process::start("api", &environment);
    let mut worker = Process::start("worker", &environment);
    assert_eq!(worker.first_line().await, "ready");
    let url = format!("{}/v1/models/{}", api.address().await, digit().operation);
    let request = Form::upload(&digit().bytes).send_with(client().post(url).bearer_auth(key.trim()));
    assert_eq!(send(request).await.predictions()[0].0, digit().label);
    let n_settings: i64 = sqlx::query_scalar(
        "select count(*) from pg_db_role_setting s, unnest(s.setconfig) as setting
         where s.setrole = $1::regrole and setting in ('enable_seqscan=off', 'plan_cache_mode=force_generic_plan')",
    )
    .bind(&role)
    .fetch_one(&mut db)
    .await
    .expect("a count");
    assert_eq!(n_settings, 2, "the planner's settings are the role's");
    let doctor = async |environment: &[(String, String)]| {
        let report = command(&["doctor"], environment).output().await.expect("it runs");
        let report = String::from_utf8_lossy(&report.stdout).into_owned();
        report.lines().find(|line| line.contains(" role ")).expect("a check").to_owned()
    };
    assert!(doctor(&environment).await.starts_with("ok "), "the role is the service's own");
    assert!(doctor(&base_environment(&options)).await.starts_with("warning "), "a superuser is not");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_says_that_all_connections_are_taken() {
    let options = Cluster::shared().database().await;
    let mut db = PgConnection::connect_with(&options).await.expect("it answers");
    let role = format!("one_of_{}", options.get_database().expect("a database"));
    let make = format!("create role {role} login connection limit 0");
    sqlx::query(sqlx::AssertSqlSafe(make)).execute(&mut db).await.expect("a role");
    let refused =
        command(&["doctor"], &base_environment(&options.username(&role))).output().await.expect("it runs");
    let report = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert!(
        report.contains("all connections that it accepts are taken") && !report.contains("start Postgres"),
        "{report}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_of_the_role_are_taken_off_again() {
    let options = Cluster::shared().database().await;
    let environment = base_environment(&options);
    let mut db = PgConnection::connect_with(&options).await.expect("it answers");
    let mut settings = async || -> Vec<String> {
        let settings =
            "select unnest(setconfig) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
             where d.datname = current_database()";
        sqlx::query_scalar(settings).fetch_all(&mut db).await.expect("settings")
    };
    succeeds(&["migrate"], &environment).await;
    assert!(settings().await.contains(&"enable_seqscan=off".to_owned()));
    succeeds(&["migrate", "--reset-role"], &environment).await;
    assert_eq!(settings().await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_in_another_encoding_is_refused() {
    let environment = base_environment(&Cluster::shared().latin_database().await);
    for name in ["migrate", "api", "worker", "doctor"] {
        let refused = command(&[name], &environment).output().await.expect("it runs");
        let said = said(&refused) + &String::from_utf8_lossy(&refused.stdout);
        assert!(!refused.status.success(), "{name}: {said}");
        for part in ["the encoding of the database is LATIN1", "encoding 'UTF8' template template0"] {
            assert!(said.contains(part), "{name}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_connections_refuse_a_certificate_of_another_authority() {
    let cluster = Cluster::own();
    let address = "127.0.77.1"; // no other server listens at it
    let (ours, other) = (authority("ours"), authority("another"));
    let key = KeyPair::generate().expect("a key");
    let certificate = CertificateParams::new([address.to_owned()])
        .and_then(|parameters| parameters.signed_by(&key, &ours))
        .expect("a certificate");
    let data = cluster.folder().join("postgres/cluster");
    write_for_server(&data, "server.crt", &certificate.pem());
    write_for_server(&data, "server.key", &key.serialize_pem());
    cluster.configure(&[("ssl", "on"), ("listen_addresses", address)]).await;
    let options = cluster.empty_database().await;
    let migrated = async |authority: &CertifiedIssuer<'_, KeyPair>| {
        let file = cluster.folder().join("authority.pem");
        fs::write(&file, authority.pem()).expect("a file");
        let url = format!(
            "postgres://akhar@{address}/{}?sslmode=verify-full&sslrootcert={}",
            options.get_database().expect("a database"),
            file.display()
        );
        let mut environment = base_environment(&options);
        environment.push(("AKHAR_DATABASE_URL".to_owned(), url));
        command(&["migrate"], &environment).output().await.expect("it runs")
    };
    let refused = migrated(&other).await;
    assert!(!refused.status.success() && said(&refused).contains("certificate"), "{}", said(&refused));
    let accepted = migrated(&ours).await;
    assert!(accepted.status.success(), "{}", said(&accepted));
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
    CertifiedIssuer::self_signed(parameters, KeyPair::generate().expect("a key")).expect("a certificate")
}

/// Writes a file that only the server's user may read.
fn write_for_server(folder: &Path, name: &str, text: &str) {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    let owner = fs::metadata(folder).expect("the cluster");
    let file = folder.join(name);
    fs::write(&file, text).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("its mode");
    chown(&file, Some(owner.uid()), Some(owner.gid())).expect("its owner");
}

async fn succeeds(arguments: &[&str], environment: &[(String, String)]) -> String {
    let output = command(arguments, environment).output().await.expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}
