//! Lists are read from a replica while it is close behind.

use akhar_platform::database::Pool;
use akhar_tests::{Cluster, Form, Stack, cluster, http::send, until};
use rustix::process::Signal;
use uuid::Uuid;

use crate::digit;

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_read_from_a_replica_while_it_is_close_behind() {
    let primary = Cluster::own();
    let stack = Stack::with().on(&primary).start().await;
    let replica = primary.replica().await;
    primary.configure(&[("synchronous_standby_names", "")]).await;
    let database = stack.db.servers().options()[0].get_database().expect("a database").to_owned();
    let options = replica.options().database(&database);
    let url = cluster::url(&options);
    let on_replica = Pool::new(options.into(), 10);
    let (api, base) = stack.start_api_with(&[("AKHAR_DATABASE_READ_URL".to_owned(), url.clone())]).await;
    let jobs =
        async || send(stack.request("GET", &format!("{base}/v1/jobs?limit=1"))).await.json()["jobs"].clone();
    let submit = async || {
        let image = digit();
        let request =
            stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "respond-async");
        send(request).await.job()
    };

    let first = submit().await;
    until("the list comes from the replica", async || {
        let has_job = jobs().await[0]["id"] == first.to_string();
        // A connection shows its last statement.
        let n: i64 = sqlx::query_scalar(
            "select count(*) from pg_stat_activity where application_name = 'akhar-api' and query like '%from jobs%'",
        )
        .fetch_one(&on_replica)
        .await
        .expect("a count");
        (has_job && n > 0).then_some(())
    })
    .await;
    let doctor = async || stack.run_with(&["doctor"], &[("AKHAR_DATABASE_READ_URL", &url)]).await.1;
    assert!(doctor().await.contains("replica"), "{}", doctor().await);

    let listed = async |job: Uuid| {
        until("the list has the job", async || (jobs().await[0]["id"] == job.to_string()).then_some(()))
            .await;
    };
    sqlx::query("select pg_wal_replay_pause()").execute(&on_replica).await.expect("it pauses");
    listed(submit().await).await;
    replica.stop(Signal::INT).await;
    listed(submit().await).await;
    assert!(api.log().iter().any(|line| line.contains("the replica is far behind")), "{:?}", api.log());
}
