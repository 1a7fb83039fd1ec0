//! Speech jobs of three workers beside those of one worker, in turns. The jobs are submitted while their queue is paused, so
//! the time is that of the workers alone: from the first claim until the last job has ended, by the clock of Postgres.

use std::{thread, time::Duration};

use akhar_tests::{Cluster, Form, Stack, figures::median, http, process::stop_all, speech::recordings};
use tokio::time::sleep;

use crate::{machine::Machine, report::Report, targets};

/// A number of workers with settings.
#[derive(Debug, Clone, Copy)]
struct Workers {
    name: &'static str,
    n: usize,
    /// Threads of one run of a model.
    threads: usize,
    /// Copies of each speech model.
    copies: usize,
}

/// Measures `rounds` turns of each, with `n_jobs` jobs in a turn.
pub(crate) async fn run(machine: Machine, n_jobs: u16, rounds: usize) -> Report {
    let n_cores = thread::available_parallelism().map_or(1, usize::from);
    let kinds = [
        Workers { name: "one worker, as by default", n: 1, threads: 1, copies: 1 },
        Workers { name: "one worker, a model runs on all cores", n: 1, threads: n_cores, copies: 1 },
        Workers { name: "one worker, copies for all cores", n: 1, threads: 1, copies: n_cores },
        Workers { name: "three workers, as by default", n: 3, threads: 1, copies: 1 },
    ];
    let about = format!("{n_jobs} Panjabi recordings in a turn, {rounds} turns of each, {n_cores} cores");
    let mut report = Report::new(machine, "workers", about);
    let cluster = Cluster::own();
    let mut stack = Stack::with().on(&cluster).workers(0).start().await;
    let mut speeds = kinds.map(|_| Vec::new());
    for _ in 0..rounds {
        for (workers, speeds) in kinds.iter().zip(&mut speeds) {
            report.machine.rest().await;
            speeds.push(turn(&mut stack, *workers, n_jobs).await);
        }
    }
    let speeds = speeds.map(median);
    let most_of_one = speeds[0].max(speeds[1]).max(speeds[2]);
    for (workers, speed) in kinds.iter().zip(speeds) {
        let row = vec![("hours_per_hour", speed), ("beside_the_best_one", speed / most_of_one)];
        report.row(workers.name, row);
    }
    let what =
        "speech jobs of one worker with copies of the models, beside the faster of both kinds with one";
    report.figure(
        what,
        "h of audio per hour",
        speeds[2],
        speeds[0].max(speeds[1]),
        targets::COPIES_OF_MODELS,
    );
    report
}

/// Runs the jobs with these workers. Returns the hours of audio in an hour.
async fn turn(stack: &mut Stack, workers: Workers, n_jobs: u16) -> f64 {
    stack.akhar(&["queues", "pause", "speech"]).await;
    let settings = [("AKHAR_INFERENCE_THREADS", workers.threads), ("AKHAR_SPEECH_COPIES", workers.copies)];
    stack.change(settings.map(|(name, n)| (name.to_owned(), n.to_string())).to_vec());
    for _ in 0..workers.n {
        stack.add_worker().await;
    }
    sqlx::raw_sql("truncate jobs, audio_usage").execute(&stack.db).await.expect("empty tables");
    let recordings: Vec<_> = recordings().into_iter().filter(|recording| recording.lang == "pa").collect();
    for nth in 0..n_jobs {
        let recording = &recordings[usize::from(nth) % recordings.len()];
        let form = Form::upload_and(&recording.bytes, "lang", "pa");
        http::send(stack.post("speech-recognition", &form).header("prefer", "respond-async")).await.job();
    }
    stack.akhar(&["queues", "resume", "speech"]).await;
    let statement = "select (select sum(seconds) from audio_usage)::float8,
        extract(epoch from max(ended_at) - min(started_at))::float8,
        count(*) filter (where state = 'succeeded') from jobs";
    let (audio_s, took_s) = loop {
        let seen: (Option<f64>, Option<f64>, i64) =
            sqlx::query_as(statement).fetch_one(&stack.db).await.expect("the times");
        match seen {
            (Some(audio_s), Some(took_s), n_ended) if n_ended == i64::from(n_jobs) => {
                break (audio_s, took_s);
            }
            _ => sleep(Duration::from_millis(200)).await,
        }
    };
    stop_all(std::mem::take(&mut stack.workers)).await;
    println!("  {}: {audio_s:.0} s of audio in {took_s:.1} s", workers.name);
    audio_s / took_s
}
