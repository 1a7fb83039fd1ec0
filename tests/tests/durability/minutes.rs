//! What happened in each minute is recorded once, by whichever process comes first.

use std::time::Duration;

use akhar_operators::minutes::{self, QueueMinute};
use akhar_platform::database::Pool;
use akhar_tests::Cluster;
use futures::future::try_join_all;

/// Jobs of two minutes: of the last one that has ended, and of the next in case that ends while the test runs. Each has the
/// times of its creation, start and end, in seconds from the start of the minute.
const JOBS: &str = "
    with minutes as (
        select date_trunc('minute', now() - interval '2 seconds') + make_interval(mins => nth - 1) as at
        from generate_series(0, 1) as nth),
    jobs_of as (
        select gen_random_uuid() as id, at, job.*
        from minutes, (values
            ('quick', 'succeeded', 1, 9.75, 10.0, 20.0),
            ('quick', 'failed', 2, -20.0, 30.0, 40.0),
            ('quick', 'running', 1, -60.0, 30.0, null),
            ('quick', 'cancelled', 0, 1.0, null, 50.0),
            ('quick', 'succeeded', 1, -600.0, -300.0, 1.0),
            ('quick', 'succeeded', 1, -600.0, -300.0, -200.0),
            ('speech', 'succeeded', 1, 0.0, 1.0, 59.0),
            ('speech', 'queued', 0, -900.0, null, null)
        ) as job (queue, state, attempt, created, started, ended)),
    inserted as (
        insert into jobs (id, account_id, operation, queue, priority, parameters, max_attempts, request_id, state, attempt,
            created_at, started_at, ended_at, worker, outcome)
        select id, id, 'test', queue, 0, '{}', 3, 'test', state, attempt,
            at + make_interval(secs => created), at + make_interval(secs => started), at + make_interval(secs => ended),
            case state when 'running' then 'test' end,
            case when state in ('succeeded', 'failed') then '{\"seconds\": 30}'::jsonb end
        from jobs_of),
    attempts as (
        insert into failed_attempts (job_id, attempt, started_at, error)
        select id, failed.attempt, at + make_interval(secs => failed.started), 'test'
        from jobs_of, (values (1, 5.0), (2, 30.0)) as failed (attempt, started) where state = 'failed')
    insert into deleted_jobs (id, account_id, operation, queue, state, created_at, started_at, ended_at)
    select gen_random_uuid(), gen_random_uuid(), 'test', 'quick', 'succeeded', at, at, at from minutes";

async fn minutes(db: &Pool) -> Vec<QueueMinute> {
    minutes::recorded_minutes(db).await.expect("minutes")
}

#[tokio::test]
async fn several_processes_record_a_minute_once_with_what_happened_in_it() {
    let db = Pool::new(Cluster::shared().database().await.into(), 10);
    sqlx::query(JOBS).execute(&db).await.expect("jobs");
    sqlx::query(
        "insert into queue_minutes select now() - make_interval(hours => hours), 'quick', 0, 0, 0, 0, 0
         from (values (23), (25)) as old (hours)",
    )
    .execute(&db)
    .await
    .expect("old minutes");

    let next = try_join_all((0..8).map(|_| minutes::record_minute(&db))).await.expect("they are recorded");
    assert!(next.iter().all(|pause| *pause <= Duration::from_secs(60)), "{next:?}");
    let all: i64 =
        sqlx::query_scalar("select count(*) from queue_minutes").fetch_one(&db).await.expect("a count");
    let found = minutes(&db).await;
    let minute = found.last().expect("a minute").minute;
    let last: Vec<_> = found.iter().filter(|of| of.minute == minute).collect();
    let of = |queue: &str| {
        let of = last.iter().find(|of| of.queue == queue).expect("a row");
        (of.n_started, of.n_ended, of.n_failed, of.oldest_wait_ms, of.audio_s)
    };
    let oldest: f64 = sqlx::query_scalar(
        "select extract(epoch from $1 + interval '1 minute' - min(created_at))::float8 from jobs where state = 'queued'",
    )
    .bind(minute)
    .fetch_one(&db)
    .await
    .expect("a wait");
    assert_eq!(of("quick"), (5, 5, 1, 90_000, 0.0));
    let (n_started, n_ended, n_failed, oldest_wait_ms, audio_s) = of("speech");
    assert_eq!((n_started, n_ended, n_failed, audio_s), (1, 1, 0, 30.0));
    assert_eq!(Duration::from_millis(oldest_wait_ms.unsigned_abs()), Duration::from_secs_f64(oldest));
    // One of 23 hours ago, and three rows for each minute that was recorded: two minutes if one has just ended.
    assert!(
        last.len() == 3 && all == i64::try_from(found.len()).expect("a few") && found.len() % 3 == 1,
        "{found:?}"
    );
}
