//! Makes the faults of a schedule happen, one after another.

use std::{collections::BTreeMap, time::Duration};

use akhar_tests::clock::move_clock;
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    disk::Filling,
    schedule::{Fault, Planned},
    service::Service,
};

/// The time in which Postgres must answer after a fault. If it does not, it is started again.
const TO_RECOVER: Duration = Duration::from_secs(20);

/// The last part of the load, in which no fault begins.
const QUIET: Duration = Duration::from_secs(5);

/// Makes faults happen until `end`. Returns how often each happened.
pub(super) async fn happen(
    service: &mut Service,
    schedule: impl Iterator<Item = Planned>,
    end: Instant,
) -> BTreeMap<&'static str, usize> {
    let mut happened = BTreeMap::new();
    let started = Instant::now();
    for planned in schedule {
        let at = Instant::now() + planned.after;
        if at + planned.lasts + QUIET > end {
            break;
        }
        sleep_until(at).await;
        happen_once(service, &planned).await;
        println!(
            "{:6.1} s  {} ({} ms)",
            (at - started).as_secs_f64(),
            planned.name,
            at.elapsed().as_millis()
        );
        *happened.entry(planned.name).or_default() += 1;
    }
    sleep_until(end).await;
    happened
}

async fn happen_once(service: &mut Service, planned: &Planned) {
    let stack = &mut service.stack;
    let nth = planned.which % stack.workers.len();
    let worker = &mut stack.workers[nth];
    let lasts = planned.lasts;
    match planned.fault {
        Fault::KillWorker => {
            service.killed.push(worker.id());
            worker.restart(Signal::KILL).await;
        }
        Fault::StopWorker => pause(&[pid(worker.id())], lasts).await,
        Fault::KillApi => stack.restart_api().await,
        Fault::StopApi => pause(&[pid(stack.api.id())], lasts).await,
        Fault::KillPostgres => {
            service.cluster.kill().await;
            sleep(lasts).await;
            service.cluster.start_again().await;
        }
        Fault::RestartPostgres => {
            service.cluster.stop(Signal::INT).await;
            sleep(lasts).await;
            service.cluster.start_again().await;
        }
        Fault::PausePostgres => pause(&service.cluster.processes(), lasts).await,
        Fault::DropListeners => drop_listeners(service).await,
        Fault::ResetClients => service.to_clients.cut(),
        Fault::ResetDatabase => service.to_database.cut(),
        Fault::FillDisk => fill_disk(service, lasts).await,
        Fault::MoveClock => {
            service.move_clock(planned.jump_s);
            sleep(lasts).await;
            service.move_clock(0);
        }
        Fault::MoveDatabaseClock => {
            move_database_clock(service, planned.jump_s).await;
            sleep(lasts).await;
            move_database_clock(service, -planned.jump_s).await;
        }
        Fault::ResetStore => {
            if let Some(bucket) = &service.bucket {
                bucket.proxy.refuse(true);
                sleep(lasts).await;
                bucket.proxy.refuse(false);
            }
        }
        Fault::StopStore => {
            if let Some(bucket) = &service.bucket {
                pause(&[pid(bucket.server.process.id())], lasts).await;
            }
        }
    }
}

async fn move_database_clock(service: &Service, seconds: i64) {
    let moved = move_clock(&service.stack.db, &format!("{seconds} seconds")).await;
    moved.expect("no other fault disturbs Postgres");
}

fn pid(id: i32) -> Pid {
    Pid::from_raw(id).expect("a process id")
}

/// Stops these processes for a time, and lets them go on.
async fn pause(processes: &[Pid], lasts: Duration) {
    for process in processes {
        let _ = kill_process(*process, Signal::STOP); // it may have ended meanwhile
    }
    sleep(lasts).await;
    for process in processes {
        let _ = kill_process(*process, Signal::CONT); // it may have ended meanwhile
    }
}

/// Ends the connections that listen for notifications.
async fn drop_listeners(service: &Service) {
    let statement = "select count(pg_terminate_backend(pid)) from pg_stat_activity
        where query ilike 'listen%' and pid <> pg_backend_pid()";
    let dropped: Result<i64, _> = sqlx::query_scalar(statement).fetch_one(&service.stack.db).await;
    match dropped {
        Ok(n) => assert!(n > 0, "nobody listens for notifications"),
        Err(error) => println!("  the listeners could not be dropped: {error}"),
    }
}

/// Fills the disk, frees it again, and starts Postgres again if it did not survive that.
async fn fill_disk(service: &Service, lasts: Duration) {
    let folder = service.cluster.folder().to_owned();
    let filling = tokio::task::spawn_blocking(move || Filling::of(&folder)).await.expect("the disk is full");
    sleep(lasts).await;
    drop(filling);
    let deadline = Instant::now() + TO_RECOVER;
    while Instant::now() < deadline && !service.cluster.processes().is_empty() {
        if sqlx::query("select 1").execute(&service.stack.db).await.is_ok() {
            return;
        }
        sleep(Duration::from_millis(100)).await;
    }
    println!("  the full disk ended Postgres: it is started again");
    service.cluster.start_again().await;
}
