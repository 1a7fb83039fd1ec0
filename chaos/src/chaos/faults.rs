//! Makes the faults of the schedules happen. The parts of the service have theirs independently of each other.

use std::{collections::BTreeMap, time::Duration};

use akhar_platform::database::Pool;
use akhar_tests::{Cluster, Passing, Process, Proxy, Stack, clock::move_clock, hostile::Hostility};
use rand::rngs::StdRng;
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    disk::Filling,
    schedule::{self, Fault, Part, Planned},
    service::{Bucket, N_APIS, N_WORKERS, Service, Surroundings},
};

/// The time in which Postgres must answer after a fault. If it does not, it is started again.
const TO_RECOVER: Duration = Duration::from_secs(20);

/// The time in which a killed process must work again. It may need Postgres for that, which may be down meanwhile.
const TO_RESTART: Duration = Duration::from_secs(120);

/// The last part of the load, in which no fault begins.
const QUIET: Duration = Duration::from_secs(5);

/// What the connections to a hostile store have, in turns. Some are as they should be.
const HOSTILITIES: [Hostility; 7] = [
    Hostility::Status(500),
    Hostility::Truncated,
    Hostility::Slow(Duration::ZERO),
    Hostility::Flipped,
    Hostility::Status(503),
    Hostility::Slow(Duration::from_millis(200)),
    Hostility::Redirect,
];

/// What happened to a part of the service.
#[derive(Debug)]
pub(super) struct Suffered {
    pub(super) name: &'static str,
    /// How often each fault happened.
    pub(super) faults: BTreeMap<&'static str, usize>,
    /// The ids of its processes that were killed, or that were silent for so long that they counted as dead.
    pub(super) dead: Vec<i32>,
    /// Whether it is a process that ended by itself.
    pub(super) has_ended: bool,
}

/// A part of the service, and what its faults need.
enum Target<'a> {
    Process {
        process: &'a mut Process,
        of: &'a Surroundings,
        /// The proxy in front of it, if it is an api.
        to_clients: Option<&'a Proxy>,
    },
    Postgres {
        /// The last one works.
        clusters: &'a mut Vec<Cluster>,
        db: &'a mut Pool,
        /// The proxies in front of it.
        to_database: [&'a Proxy; N_APIS + N_WORKERS],
    },
    Store(&'a Bucket),
}

/// Makes faults happen until `end`.
pub(super) async fn happen(service: &mut Service, rng: &mut StdRng, end: Instant) -> Vec<Suffered> {
    let impossible = service.impossible();
    let Service { clusters, stack, second_api, surroundings, to_apis, bucket, .. } = service;
    let Stack { api, workers, db, .. } = stack;
    let [worker, second_worker] = &mut workers[..] else { unreachable!("two workers were started") };
    let to_database = surroundings.each_ref().map(|of| &of.to_database);
    let [of_api, of_second_api, of_worker, of_second_worker] = &*surroundings;
    let [(to_api, _), (to_second_api, _)] = to_apis;
    let process = |process, of, to_clients| Target::Process { process, of, to_clients };
    let started = Instant::now();
    let mut disturb = |name, part, target| {
        let schedule = schedule::draw(rng, part, &impossible);
        disturb(name, schedule, target, started, end)
    };
    let store = bucket.as_ref().map(|bucket| disturb("store", Part::Store, Target::Store(bucket)));
    let (one, two, three, four, five, six) = tokio::join!(
        disturb("api 0", Part::Api, process(api, of_api, Some(to_api))),
        disturb("api 1", Part::Api, process(second_api, of_second_api, Some(to_second_api))),
        disturb("worker 0", Part::Worker, process(worker, of_worker, None)),
        disturb("worker 1", Part::Worker, process(second_worker, of_second_worker, None)),
        disturb("Postgres", Part::Postgres, Target::Postgres { clusters, db, to_database }),
        async {
            match store {
                Some(store) => Some(store.await),
                None => None,
            }
        },
    );
    sleep_until(end).await;
    [one, two, three, four, five].into_iter().chain(six).collect()
}

/// Makes the faults of one part happen, one after another.
async fn disturb(
    name: &'static str,
    schedule: impl Iterator<Item = Planned>,
    mut target: Target<'_>,
    started: Instant,
    end: Instant,
) -> Suffered {
    let mut suffered = Suffered { name, faults: BTreeMap::new(), dead: Vec::new(), has_ended: false };
    for planned in schedule {
        let at = Instant::now() + planned.after;
        if at + planned.lasts + QUIET > end {
            break;
        }
        sleep_until(at).await;
        if let Target::Process { process, .. } = &mut target {
            suffered.has_ended |= process.has_ended();
            if planned.is_deadly() {
                suffered.dead.push(process.id());
            }
        }
        target.suffer(&planned).await;
        let ms = at.elapsed().as_millis();
        println!("{:6.1} s  {name}: {planned} ({ms} ms)", (at - started).as_secs_f64());
        *suffered.faults.entry(planned.name).or_default() += 1;
    }
    if let Target::Process { process, .. } = &mut target {
        suffered.has_ended |= process.has_ended();
    }
    suffered
}

impl Target<'_> {
    async fn suffer(&mut self, planned: &Planned) {
        match self {
            Self::Process { process, of, to_clients } => {
                disturb_process(process, of, *to_clients, planned).await;
            }
            Self::Postgres { clusters, db, to_database } if planned.fault == Fault::FailOver => {
                fail_over(clusters, db, &*to_database, planned.lasts).await;
            }
            Self::Postgres { clusters, db, .. } => {
                disturb_postgres(clusters.last().expect("a server"), db, planned).await;
            }
            Self::Store(bucket) => disturb_store(bucket, planned).await,
        }
    }
}

async fn disturb_store(bucket: &Bucket, planned: &Planned) {
    let lasts = planned.lasts;
    match planned.fault {
        Fault::SilenceStore => {
            bucket.proxy.silence();
            bucket.proxy.pass_for(Passing::Held, lasts).await;
        }
        Fault::RefuseStore => bucket.proxy.pass_for(Passing::Refused, lasts).await,
        Fault::MakeStoreHostile => {
            bucket.hostile.turn_to(&HOSTILITIES);
            sleep(lasts).await;
            bucket.hostile.turn_to(&[]);
        }
        other => unreachable!("{other:?} is no fault of the store"),
    }
}

async fn disturb_process(
    process: &mut Process,
    of: &Surroundings,
    to_clients: Option<&Proxy>,
    planned: &Planned,
) {
    let lasts = planned.lasts;
    let delayed = Passing::Delayed(planned.delay);
    match planned.fault {
        Fault::Kill => restart(process).await,
        Fault::Stop => pause(&[pid(process.id())], lasts).await,
        Fault::CutDatabase => of.to_database.cut(),
        Fault::HoldDatabase => of.to_database.pass_for(Passing::Held, lasts).await,
        Fault::SilenceDatabase => of.to_database.silence(),
        Fault::DelayDatabase => of.to_database.pass_for(delayed, lasts).await,
        Fault::CutClients => to_clients.expect("an api").cut(),
        Fault::DelayClients => to_clients.expect("an api").pass_for(delayed, lasts).await,
        other => unreachable!("{other:?} is no fault of a process"),
    }
}

/// Kills a process and starts it again, as a supervisor does, until it works.
async fn restart(process: &mut Process) {
    let deadline = Instant::now() + TO_RESTART;
    process.start_again(Signal::KILL).await;
    while process.lines().is_empty() {
        assert!(Instant::now() < deadline, "a process does not start: {:?}", process.log());
        if process.has_ended() {
            // It cannot start while Postgres is down.
            process.start_again(Signal::KILL).await;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

async fn disturb_postgres(cluster: &Cluster, db: &Pool, planned: &Planned) {
    let lasts = planned.lasts;
    match planned.fault {
        Fault::KillPostgres => {
            cluster.kill().await;
            sleep(lasts).await;
            cluster.start_again().await;
        }
        Fault::RestartPostgres => {
            cluster.stop(Signal::INT).await;
            sleep(lasts).await;
            cluster.start_again().await;
        }
        Fault::PausePostgres => pause(&cluster.processes(), lasts).await,
        Fault::DropListeners => drop_listeners(db).await,
        Fault::FillDisk => fill_disk(cluster, db, lasts).await,
        Fault::MoveDatabaseClock => {
            move_database_clock(db, planned.jump_s).await;
            sleep(lasts).await;
            move_database_clock(db, -planned.jump_s).await;
        }
        Fault::MakeReadOnly => {
            cluster.set_read_only(true).await;
            sleep(lasts).await;
            cluster.set_read_only(false).await;
        }
        other => unreachable!("{other:?} is no fault of Postgres"),
    }
}

/// Lets a replica take the place of the server at another address, after a time without a server. The connections to the old
/// one fall silent.
async fn fail_over(clusters: &mut Vec<Cluster>, db: &mut Pool, to_database: &[&Proxy], lasts: Duration) {
    let old = clusters.last().expect("a server");
    let new = old.replica().await;
    for proxy in to_database {
        proxy.lead_to_nowhere();
        proxy.silence();
    }
    // No process is told of anything that happens from now on.
    new.catch_up(old).await;
    old.destroy().await;
    sleep(lasts).await;
    new.promote().await;
    let database = db.servers().options()[0].get_database().expect("a database").to_owned();
    *db = Pool::new(new.options().database(&database).into(), 10);
    for proxy in to_database {
        proxy.lead_to_postgres(&new);
    }
    clusters.push(new);
}

async fn move_database_clock(db: &Pool, seconds: i64) {
    let moved = move_clock(db, &format!("{seconds} seconds")).await;
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
async fn drop_listeners(db: &Pool) {
    let statement = "select count(pg_terminate_backend(pid)) from pg_stat_activity
        where query ilike 'listen%' and pid <> pg_backend_pid()";
    let dropped: Result<i64, _> = sqlx::query_scalar(statement).fetch_one(db).await;
    match dropped {
        Ok(n) => println!("  {n} listeners are dropped"),
        Err(error) => println!("  the listeners could not be dropped: {error}"),
    }
}

/// Fills the disk, frees it again, and starts Postgres again if it did not survive that.
async fn fill_disk(cluster: &Cluster, db: &Pool, lasts: Duration) {
    let folder = cluster.folder().to_owned();
    let filling = tokio::task::spawn_blocking(move || Filling::of(&folder)).await.expect("the disk is full");
    sleep(lasts).await;
    drop(filling);
    let deadline = Instant::now() + TO_RECOVER;
    while Instant::now() < deadline && !cluster.processes().is_empty() {
        if sqlx::query("select 1").execute(db).await.is_ok() {
            return;
        }
        sleep(Duration::from_millis(100)).await;
    }
    println!("  the full disk ended Postgres: it is started again");
    cluster.start_again().await;
}
