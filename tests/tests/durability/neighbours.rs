//! Jobs that a worker runs beside one that kills it.

use std::time::Instant;

use akhar_jobs::MAX_ATTEMPTS;
use akhar_platform::database::Pool;
use akhar_tests::{Process, Stack, until};
use sqlx::Row as _;
use uuid::Uuid;

use crate::{INVALID_ROWS, submit};

/// The jobs that a worker claims at a time.
const PLACES: usize = 32;

/// The deaths of which a job dies: the first two could be due to any job of the worker.
const DEADLY: i32 = 2 + MAX_ATTEMPTS;

/// No job ends until two workers have died with this one, and after that none of a worker that runs it: the worker dies before.
async fn poison(db: &Pool, job: Uuid) {
    let statement = format!(
        "create function dies() returns trigger language plpgsql as $$ begin
             if exists (
                 select from jobs where id = '{job}'
                     and (deaths < 2 or state = 'running' and worker = old.worker)) then
                 raise exception using errcode = '57P03', message = 'the worker dies now';
             end if;
             return new;
         end $$;
         create trigger dies before update on jobs
         for each row when (old.state = 'running' and new.state = 'succeeded') execute function dies();"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(db).await.expect("a trigger");
}

/// Waits until a worker that lives runs the job and as many others, and kills it. Returns `None` if the job has failed.
async fn death(stack: &mut Stack, poison: Uuid, n_others: i64) -> Option<()> {
    let worker = until("the job runs or has failed", async || {
        let query = "select state, worker, (select count(*) from jobs o where o.state = 'running' and o.worker = j.worker) as n
            from jobs j where id = $1";
        let job = sqlx::query(query).bind(poison).fetch_one(&stack.db).await.expect("a row");
        if job.get::<&str, _>("state") == "failed" {
            return Some(None);
        }
        let name: Option<String> = job.get("worker");
        let runs = |process: &Process| name.as_ref()?.contains(&format!("-{}-", process.id())).then_some(());
        let worker = stack.workers.iter().position(|process| runs(process).is_some())?;
        (job.get::<i64, _>("n") > n_others).then_some(Some(worker))
    })
    .await?;
    stack.workers.remove(worker).kill().await;
    Some(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_kills_its_workers_fails_alone() {
    let mut stack = Stack::with().workers(0).start().await;
    let mut jobs = Vec::new();
    for _ in 0..PLACES {
        jobs.push(submit(&stack).await);
    }
    let poisoned = jobs.remove(PLACES / 2);
    poison(&stack.db, poisoned).await;
    let began = Instant::now();
    let mut n_deaths = 0;
    for _ in 0..2 {
        stack.add_worker().await;
        death(&mut stack, poisoned, 31).await.expect("it runs");
        n_deaths += 1;
    }
    stack.add_worker().await;
    while death(&mut stack, poisoned, 0).await.is_some() {
        n_deaths += 1;
        let n_suspects = "select count(*) from jobs where state = 'running' and deaths >= 2";
        let n_suspects: i64 = sqlx::query_scalar(n_suspects).fetch_one(&stack.db).await.expect("a count");
        assert_eq!(n_suspects, 1, "only it");
        jobs.push(submit(&stack).await);
        stack.add_worker().await;
    }
    println!("the job had failed {:?} after its first claim", began.elapsed());
    assert_eq!(n_deaths, DEADLY);
    stack.jobs_are(i64::try_from(jobs.len()).expect("few"), "succeeded").await;
    for job in jobs {
        let n_left: i32 = stack.row("select max_attempts - attempt from jobs where id = $1", job).await;
        assert_eq!(n_left, MAX_ATTEMPTS - 1, "no attempt of job {job} was spent");
    }
    let problem = stack.refused(stack.request("GET", &format!("/v1/jobs/{poisoned}/result")), 500).await;
    let document = problem.json.to_string();
    assert!(!document.contains("worker died"), "the caller was told the internal cause: {document}");
    assert_eq!(sqlx::query_scalar::<_, i64>(INVALID_ROWS).fetch_one(&stack.db).await.expect("a count"), 0);
}
