//! Load while processes are killed (-9) at random: the worker, the api, or Postgres with all its processes.
//! No accepted job may be lost, no job may end twice, and no answer may be that of another picture.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_tests::{Answer, Cluster, Form, Stack, http::try_send, images::fixtures};
use rand::RngExt as _;
use serde_json::Value;
use tokio::{task::JoinSet, time::sleep};

use crate::{
    load::warm_stack,
    report::{Figure, Report, count, quantiles},
};

/// One of this many clients sends asynchronous requests.
const ASYNCHRONOUS: usize = 4;

/// The delay before a client repeats a request that was refused or whose connection broke.
const PAUSE: Duration = Duration::from_millis(50);

/// The time after the load in which every job must end.
const TO_END: Duration = Duration::from_secs(60);

/// A request with a picture, and the label of the picture.
struct Question {
    request: reqwest::RequestBuilder,
    label: String,
}

impl Question {
    fn send(&self) -> reqwest::RequestBuilder {
        self.request.try_clone().expect("bytes")
    }
}

/// The results of one client.
#[derive(Debug, Default)]
struct Seen {
    /// The times from the first try to the answer.
    waits: Vec<Duration>,
    n_wrong: usize,
    /// Jobs that were accepted with a 202.
    n_accepted: usize,
    /// Accepted jobs that were missing or failed later.
    n_accepted_lost: usize,
    /// Connections that were refused or broke. The client tried again.
    n_cut: usize,
    /// Answers other than 200 and 202, by status. The client tried again.
    refused: BTreeMap<u16, usize>,
}

/// Kills one of the three every `every` seconds. The report fails if a job was lost or ended twice, or an
/// answer was wrong.
pub(crate) async fn run(seconds: u64, clients: usize, every: u64) -> Report {
    let cluster = Cluster::own();
    let (mut stack, _) = warm_stack(&cluster).await;
    record_ends(&stack).await;
    let questions = Arc::new(questions(&stack).await);
    let base = stack.base.clone();
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut load = JoinSet::new();
    for nth in 0..clients {
        let status = stack.request("GET", "/");
        load.spawn(client(Arc::clone(&questions), nth, base.clone(), status, end));
    }
    let kills = kill_at_random(&cluster, &mut stack, end, Duration::from_secs(every)).await;
    let seen = load.join_all().await;
    let about = format!(
        "{clients} clients for {seconds} s, one in {ASYNCHRONOUS} asynchronous; every {every} s one of worker, api and Postgres \
         was killed (-9) and started again: {kills:?} times"
    );
    let mut report = Report::new("chaos", about);
    account(&mut report, &stack, &seen).await;
    report
}

/// Records every end of a job with a trigger.
async fn record_ends(stack: &Stack) {
    let statement = "create table ends (job_id uuid not null);
        create function record_end() returns trigger language plpgsql as
        $$ begin insert into ends values (new.id); return null; end $$;
        create trigger record_end after update of state on jobs for each row
        when (new.state in ('succeeded', 'failed', 'cancelled')) execute function record_end();";
    sqlx::raw_sql(statement).execute(&stack.db).await.expect("a record of ends");
}

/// A request for every picture of a digit that the service recognises correctly without disturbance.
async fn questions(stack: &Stack) -> Vec<Question> {
    let mut questions = Vec::new();
    for fixture in fixtures().into_iter().filter(|f| f.operation == "digit-recognition") {
        let request = stack.post(fixture.operation, &Form::upload(&fixture.bytes));
        let question = Question { request, label: fixture.label };
        let answer = try_send(question.send()).await.expect("an undisturbed answer");
        if best_label(&answer).as_deref() == Some(&question.label) {
            questions.push(question);
        }
    }
    assert!(questions.len() > 1, "a single picture cannot show that two answers were exchanged");
    questions
}

fn best_label(answer: &Answer) -> Option<String> {
    let json: Value = serde_json::from_slice(&answer.body).ok()?;
    Some(json["predictions"][0]["label"].as_str()?.to_owned())
}

async fn kill_at_random(
    cluster: &Cluster,
    stack: &mut Stack,
    end: Instant,
    every: Duration,
) -> BTreeMap<&'static str, usize> {
    let mut kills = BTreeMap::new();
    let mut times = tokio::time::interval(every);
    times.tick().await;
    while Instant::now() + every < end {
        times.tick().await;
        let victim = ["worker", "api", "Postgres"][rand::rng().random_range(0..3)];
        match victim {
            "worker" => {
                let mut worker = stack.workers.remove(0);
                worker.kill().await;
                stack.add_worker().await;
            }
            "api" => stack.restart_api().await,
            _ => {
                cluster.kill().await;
                cluster.start_again().await;
            }
        }
        println!("{victim} was killed and is back");
        *kills.entry(victim).or_default() += 1;
    }
    kills
}

/// Sends requests until `end`, and repeats those that were refused or broke off.
async fn client(
    questions: Arc<Vec<Question>>,
    nth: usize,
    base: String,
    status: reqwest::RequestBuilder,
    end: Instant,
) -> Seen {
    let mut seen = Seen::default();
    let client = Client { base, status, end: end + TO_END };
    for question in questions.iter().cycle().skip(nth) {
        if Instant::now() >= end {
            break;
        }
        let started = Instant::now();
        let answer = if nth.is_multiple_of(ASYNCHRONOUS) {
            client.accepted(question, &mut seen).await
        } else {
            client.ask(question.send(), &mut seen).await
        };
        // A lost asynchronous job was counted in `Client::result`.
        let Some(answer) = answer else { continue };
        seen.n_wrong += usize::from(best_label(&answer).as_deref() != Some(&question.label));
        seen.waits.push(started.elapsed());
    }
    seen
}

struct Client {
    base: String,
    /// A request with the key. Its address is replaced before it is sent.
    status: reqwest::RequestBuilder,
    end: Instant,
}

impl Client {
    /// Sends a request until there is a 200, or a 202 whose job it then waits for. `None` if the time is
    /// over.
    async fn ask(&self, request: reqwest::RequestBuilder, seen: &mut Seen) -> Option<Answer> {
        let answer = self.until_ok(&request, seen).await?;
        if answer.status == 202 { self.result(&answer, seen).await } else { Some(answer) }
    }

    /// Sends an asynchronous request and waits for its job.
    async fn accepted(&self, question: &Question, seen: &mut Seen) -> Option<Answer> {
        self.ask(question.send().header("prefer", "respond-async"), seen).await
    }

    async fn until_ok(&self, request: &reqwest::RequestBuilder, seen: &mut Seen) -> Option<Answer> {
        while Instant::now() < self.end {
            match try_send(request.try_clone().expect("bytes")).await {
                Ok(answer) if matches!(answer.status, 200 | 202) => return Some(answer),
                Ok(answer) => *seen.refused.entry(answer.status).or_default() += 1,
                Err(_) => seen.n_cut += 1,
            }
            sleep(PAUSE).await;
        }
        None
    }

    /// Waits for the result of an accepted job. `None` if the job is lost.
    async fn result(&self, accepted: &Answer, seen: &mut Seen) -> Option<Answer> {
        seen.n_accepted += 1;
        let location = accepted.header("location");
        while Instant::now() < self.end {
            match try_send(self.get(&format!("{location}?wait=10"))).await {
                Ok(answer) if answer.status == 200 => {
                    match answer.json()["state"].as_str().unwrap_or_default() {
                        "succeeded" => {
                            return self.until_ok(&self.get(&format!("{location}/result")), seen).await;
                        }
                        "queued" | "running" => continue,
                        _ => break,
                    }
                }
                Ok(answer) if answer.status == 404 => break,
                Ok(answer) => *seen.refused.entry(answer.status).or_default() += 1,
                Err(_) => seen.n_cut += 1,
            }
            sleep(PAUSE).await;
        }
        seen.n_accepted_lost += 1;
        None
    }

    fn get(&self, path: &str) -> reqwest::RequestBuilder {
        let (client, request) = self.status.try_clone().expect("no body").build_split();
        let mut request = request.expect("a request");
        *request.url_mut() = format!("{}{path}", self.base).parse().expect("a URL");
        reqwest::RequestBuilder::from_parts(client, request)
    }
}

/// Compares the results of the clients with the jobs table, and adds them to the report.
async fn account(report: &mut Report, stack: &Stack, seen: &[Seen]) {
    let scalar = async |query: &'static str| -> i64 {
        sqlx::query_scalar(query).fetch_one(&stack.db).await.expect(query)
    };
    let unfinished = async || scalar("select count(*) from jobs where state in ('queued', 'running')").await;
    let give_up = Instant::now() + TO_END;
    while unfinished().await > 0 && Instant::now() < give_up {
        sleep(PAUSE).await;
    }
    let whole = |n: i64| f64::from(i32::try_from(n).unwrap_or(i32::MAX));
    let sum = |of: fn(&Seen) -> usize| count(seen.iter().map(of).sum());
    let lost = whole(unfinished().await) + sum(|s| s.n_accepted_lost);
    let twice = "select count(*) from (select from ends group by job_id having count(*) > 1) t";
    let (twice, wrong) = (whole(scalar(twice).await), sum(|s| s.n_wrong));
    let waits: Vec<Duration> = seen.iter().flat_map(|s| s.waits.iter().copied()).collect();
    let longest_ms = waits.iter().max().map_or(0.0, |d| d.as_secs_f64() * 1e3);
    report.row("answers, from the first try", quantiles(&waits));
    let mut refused: BTreeMap<u16, usize> = BTreeMap::new();
    for (status, n) in seen.iter().flat_map(|s| &s.refused) {
        *refused.entry(*status).or_default() += n;
    }
    println!("answers that were neither 200 nor 202, each tried again: {refused:?}");
    report.row(
        "clients",
        vec![
            ("lost", lost),
            ("ended_twice", twice),
            ("wrong", wrong),
            ("accepted_202", sum(|s| s.n_accepted)),
            ("cut_and_tried_again", sum(|s| s.n_cut)),
            ("refused_and_tried_again", count(refused.values().sum())),
        ],
    );
    if lost + twice + wrong > 0.0 {
        report.fail(format!("kills: {lost} lost, {twice} ended twice, {wrong} wrong"));
    }
    let row = [
        ("jobs", "select count(*) from jobs"),
        ("failed", "select count(*) from jobs where state = 'failed'"),
        ("cancelled", "select count(*) from jobs where state = 'cancelled'"),
        ("claimed_twice", "select count(*) from jobs where attempt = 2"),
        ("claimed_thrice", "select count(*) from jobs where attempt > 2"),
    ];
    let mut numbers = Vec::new();
    for (name, query) in row {
        numbers.push((name, whole(scalar(query).await)));
    }
    report.row("jobs table", numbers);
    for (what, unit, ours, reach) in [
        ("kills: lost", "jobs", lost, "0"),
        ("kills: ended twice", "jobs", twice, "0"),
        ("kills: wrong", "answers", wrong, "0"),
        ("kills: longest wait", "ms", longest_ms, "stated"),
    ] {
        report.figure(Figure { what: what.to_owned(), unit, ours, other: None, reach });
    }
}
