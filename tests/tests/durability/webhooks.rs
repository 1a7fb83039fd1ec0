//! A webhook is written with the outcome of its job and is delivered at least once, whichever process dies.

use std::collections::BTreeSet;

use akhar_jobs::{
    FreePlaces, GroupName, NewJob,
    store::{self, Ending, Guard},
};
use akhar_operators::webhooks;
use akhar_platform::database::Pool;
use akhar_requests::{QUEUES, QUICK};
use akhar_tests::{Cluster, Form, Seam, Stack, http::send, ops::actor, until, webhooks::Receiver};
use akhar_webhooks::store::{self as deliveries, Attempted, Delivery, LeaseLimits};
use uuid::Uuid;

use crate::{
    digit,
    queue::{insert, new_job},
};

async fn stack(n_workers: usize) -> (Stack, Receiver) {
    let stack = Stack::with().workers(n_workers).set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.0/8").start().await;
    let secret = stack.keys(&["webhook", &stack.key[3..11]]).await;
    let receiver = Receiver::start(&[&secret]).await;
    (stack, receiver)
}

pub(crate) async fn submit(stack: &Stack, url: &str) -> Uuid {
    let request = stack.post(digit().operation, &Form::upload(&digit().bytes));
    send(request.header("akhar-webhook", url).header("prefer", "respond-async")).await.job()
}

async fn delivery_is(stack: &Stack, id: Uuid, state: &str) {
    until(&format!("the webhook is {state}"), async || {
        let found: String = stack.row("select state from webhook_deliveries where job_id = $1", id).await;
        (found == state).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_webhook_survives_the_death_of_every_api_process() {
    let (mut stack, receiver) = stack(0).await;
    let ended_alone = submit(&stack, &format!("{}/ok", receiver.base)).await;
    stack.api.kill().await;
    stack.add_worker().await;
    stack.job_is(ended_alone, "succeeded").await;
    delivery_is(&stack, ended_alone, "pending").await;
    stack.restart_api().await;
    delivery_is(&stack, ended_alone, "delivered").await;
    assert_eq!(receiver.receives(1, "/ok").await.len(), 1);

    // The process dies while the receiver has the webhook and has not answered.
    let interrupted = submit(&stack, &format!("{}/hang", receiver.base)).await;
    receiver.receives(1, "/hang").await;
    stack.api.kill().await;
    delivery_is(&stack, interrupted, "pending").await;
    stack.restart_api().await;
    let lease_ends = "update webhook_deliveries set due_at = now() where job_id = $1";
    sqlx::query(lease_ends).bind(interrupted).execute(&stack.db).await.expect("an update");
    let attempts = receiver.receives(2, "/hang").await;
    assert_eq!(attempts[0]["headers"]["webhook-id"], attempts[1]["headers"]["webhook-id"]);
    assert_eq!(attempts[0]["body"], attempts[1]["body"]);
}

#[tokio::test]
async fn a_webhook_exists_as_soon_as_the_outcome_and_not_before() {
    let (stack, receiver) = stack(1).await;
    let count = async || -> i64 {
        let count = sqlx::query_scalar("select count(*) from webhook_deliveries");
        count.fetch_one(&stack.db).await.expect("a count")
    };
    let mut held = Seam::Finish.hold(&stack.db).await;
    let id = submit(&stack, &format!("{}/ok", receiver.base)).await;
    held.holds(1).await;
    held.disconnect().await; // the worker writes the outcome again
    held.holds(1).await;
    assert_eq!((count().await, receiver.received("/ok").len()), (0, 0));
    held.release().await;
    stack.job_is(id, "succeeded").await;
    assert_eq!(count().await, 1);
    delivery_is(&stack, id, "delivered").await;
    assert_eq!(receiver.receives(1, "/ok").await.len(), 1);
    sqlx::query("delete from jobs").execute(&stack.db).await.expect("a deletion");
    assert_eq!(count().await, 0, "it is deleted with its job");
}

#[tokio::test]
async fn the_webhook_of_a_group_is_that_of_its_last_end_whichever_process_dies() {
    let (mut stack, receiver) = stack(0).await;
    let group = GroupName::parse("run-1").expect("a name");
    let submit = async |stack: &Stack| {
        let request = stack.post(digit().operation, &Form::upload(&digit().bytes));
        let request = request.header("akhar-group", "run-1").header("prefer", "respond-async");
        send(request.header("akhar-group-webhook", format!("{}/ok", receiver.base))).await.job()
    };
    let first = submit(&stack).await;
    let account: Uuid = stack.row("select account_id from jobs where id = $1", first).await;
    let cancel = async |stack: &Stack| {
        store::cancel_group(&stack.db, &QUEUES, account, &group).await.expect("a write").jobs.len()
    };
    let delivery = async |stack: &Stack| -> Option<(Uuid, String)> {
        let row = sqlx::query_as("select id, state from webhook_deliveries where group_name = 'run-1'");
        row.fetch_optional(&stack.db).await.expect("a row")
    };
    let make_due = async |stack: &Stack| {
        let due = sqlx::query("update webhook_deliveries set due_at = now()");
        due.execute(&stack.db).await.expect("an update");
    };

    // The group ends, is opened again and ends again, before any process can send a webhook.
    stack.api.kill().await;
    assert_eq!((cancel(&stack).await, cancel(&stack).await), (1, 0));
    let (first_end, state) = delivery(&stack).await.expect("it is written with the end");
    assert_eq!(state, "pending");
    let job = |asynchronous| NewJob {
        account_id: account,
        group: Some(group.clone()),
        group_webhook_url: None,
        ..new_job(asynchronous)
    };
    insert(&stack.db, &[&job(true), &job(false)]).await;
    make_due(&stack).await;
    stack.restart_api().await;
    until("the webhook is withdrawn", async || delivery(&stack).await.is_none().then_some(())).await;
    stack.api.kill().await;
    assert_eq!(cancel(&stack).await, 2);
    let (second_end, _) = delivery(&stack).await.expect("it is written with the end");
    assert_ne!(first_end, second_end);
    stack.restart_api().await;
    let webhook = &receiver.receives(1, "/ok").await[0];
    assert_eq!(webhook["headers"]["webhook-id"], second_end.to_string());
    assert_eq!(webhook["body"]["data"]["cancelled"], 3);
    until("it is delivered", async || {
        delivery(&stack).await.filter(|(_, state)| state == "delivered").map(|_| ())
    })
    .await;
    assert_eq!(receiver.received("/ok").len(), 1, "the first end was not announced");
}

/// Makes jobs of one account that have ended, with webhooks of these hosts.
async fn end_jobs(db: &Pool, account_id: Uuid, hosts: &[&str]) {
    let urls: Vec<String> = hosts.iter().map(|host| format!("https://{host}/a/b?c")).collect();
    end_jobs_for(db, account_id, &urls).await;
}

/// Makes jobs of one account that have ended, with these webhooks.
async fn end_jobs_for(db: &Pool, account_id: Uuid, urls: &[String]) {
    for url in urls {
        let webhook_url = Some(url.clone().into());
        insert(db, &[&NewJob { account_id, webhook_url, ..new_job(true) }]).await;
    }
    let claimed = store::claim(db, "a", &[FreePlaces::any(QUICK, urls.len())]).await.expect("claims");
    assert!(claimed.iter().all(|claimed| claimed.has_webhook));
    let ending = |claimed: &store::Claimed| Ending {
        guard: Guard::Claimed(claimed.fence),
        end: akhar_tests::queue::answer(),
        timing: None,
        error: None,
        may_have_webhook: claimed.has_webhook,
    };
    let endings: Vec<Ending> = claimed.iter().map(ending).collect();
    assert!(akhar_tests::queue::end(db, &endings).await.expect("a write").met.into_iter().all(|ended| ended));
}

#[tokio::test]
async fn processes_share_due_webhooks_and_a_late_result_changes_nothing() {
    let db = Pool::new(Cluster::shared().database().await.into(), 10);
    let (one, other) = (Uuid::now_v7(), Uuid::now_v7());
    end_jobs(&db, one, &["a.example", "a.example", "a.example", "b.example:8443"]).await;
    end_jobs(&db, other, &["c.example"]).await;
    let lease = async |limits: LeaseLimits| {
        let mut leased = deliveries::lease(&db, &limits).await.expect("a lease");
        leased.sort_unstable_by(|a, b| a.host.cmp(&b.host));
        leased
    };
    let hosts = |leased: &[Delivery]| leased.iter().map(|delivery| delivery.host.clone()).collect::<Vec<_>>();
    let limits = LeaseLimits { n_free: 10, per_host: 1, per_account: 1, ..LeaseLimits::default() };
    let first = lease(limits.clone()).await;
    assert_eq!(hosts(&first).len(), 2, "one of each account: {first:?}");
    let (hosts_of, accounts) = (vec![("a.example".to_owned(), 1)], vec![(one, 1)]);
    let busy = LeaseLimits { per_account: 2, hosts: hosts_of, accounts, ..limits };
    let second = lease(busy).await;
    assert_eq!(hosts(&second), ["b.example:8443"]);
    let all = LeaseLimits { n_free: 10, per_host: 10, per_account: 10, ..LeaseLimits::default() };
    assert_eq!(hosts(&lease(LeaseLimits { n_free: 1, ..all.clone() }).await), ["a.example"]);
    assert_eq!(lease(all.clone()).await.len(), 1);
    assert!(lease(all.clone()).await.is_empty(), "all are leased");

    let late = &second[0];
    sqlx::query("update webhook_deliveries set due_at = now()").execute(&db).await.expect("an update");
    let again = lease(all).await;
    let again = again.iter().find(|delivery| delivery.id == late.id).expect("it is leased again");
    assert_eq!((late.attempt, again.attempt), (1, 2));
    let settle =
        async |delivery| deliveries::settle(&db, delivery, &Attempted::Delivered).await.expect("a write");
    assert!(!settle(late).await);
    assert!(settle(again).await);
    assert!(!settle(again).await, "it is settled");
    let unknown = Uuid::now_v7();
    let redelivered = webhooks::redeliver(&db, &actor(), &[again.id, unknown]).await.expect("a write");
    assert_eq!((redelivered.n_redelivered, redelivered.unknown), (1, vec![unknown]), "there is no such job");
}

#[tokio::test]
async fn slow_paths_of_a_host_leave_places_to_another_path() {
    let db = Pool::new(Cluster::shared().database().await.into(), 10);
    let account = Uuid::now_v7();
    let slow: Vec<String> = (0..60).map(|n| format!("https://a.example/slow{}?job={n}", n % 6)).collect();
    end_jobs_for(&db, account, &slow).await;
    end_jobs_for(&db, account, &["https://a.example/healthy".to_owned()]).await;
    let earlier =
        "update webhook_deliveries set due_at = now() - interval '1 minute' where url like '%slow%'";
    sqlx::query(earlier).execute(&db).await.expect("an update");

    // No attempt ends, and the healthy receiver's delivery is the last one that is due.
    let mut running: Vec<Delivery> = Vec::new();
    loop {
        let count = |key: fn(&Delivery) -> String| {
            let keys: BTreeSet<String> = running.iter().map(key).collect();
            let n = |of: &String| running.iter().filter(|delivery| key(delivery) == *of).count();
            keys.into_iter()
                .map(|key| (key.clone(), i64::try_from(n(&key)).expect("few")))
                .collect::<Vec<_>>()
        };
        let receivers = count(|delivery| delivery.receiver().to_owned());
        let limits = LeaseLimits {
            n_free: 64,
            per_host: 12,
            per_account: 64,
            hosts: count(|delivery| delivery.host.clone()),
            receivers: receivers.into_iter().map(|(of, n)| (of, "a.example".to_owned(), n)).collect(),
            accounts: Vec::new(),
        };
        let leased = deliveries::lease(&db, &limits).await.expect("a lease");
        if leased.is_empty() {
            break;
        }
        running.extend(leased);
    }
    let n_of = |path: &str| running.iter().filter(|delivery| delivery.receiver().ends_with(path)).count();
    assert_eq!(n_of("/healthy"), 1, "{running:?}");
    assert!(
        (0..6).all(|n| (1..=4).contains(&n_of(&format!("/slow{n}")))) && running.len() <= 12,
        "{running:?}"
    );
}
