//! Attacks on a running service, one after another, with the requests of an innocent caller beside each of them.
//!
//! The attacker connects from 127.0.0.2 and has keys of its own, or none. The innocent caller connects from
//! 127.0.0.1. An attack succeeds, and the check fails, if an innocent request gets another answer than its right one, if jobs are left
//! over, if the service does not rest soon afterwards or keeps memory, or if a value is above its limit ([`check`]). Further attacks are
//! drawn from a seed: requests of any form ([`drawn`]), and those of [`PREPARED`].

mod attacker;
mod check;
mod connections;
mod drawn;
mod files;
mod forms;
mod innocents;
mod pictures;
mod prepared;
mod recordings;
mod requests;

use std::time::Instant;

use akhar_tests::figures::line;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};

use attacker::{Answers, Attacker};
use check::Check;
use drawn::{Account, Drawn};
use prepared::PREPARED;

/// Everything that an attack can do.
type Attack =
    for<'a> fn(&'a Attacker, Instant) -> std::pin::Pin<Box<dyn Future<Output = Answers> + Send + 'a>>;

/// All attacks with their names.
const ATTACKS: [(&str, Attack); 20] = [
    ("newcomers", |a, end| Box::pin(pictures::newcomers(a, end))),
    ("picture-bombs", |a, end| Box::pin(pictures::bombs(a, end))),
    ("damaged-pictures", |a, end| Box::pin(pictures::damaged(a, end))),
    ("uploads", |a, end| Box::pin(recordings::uploads(a, end))),
    ("one-account", |a, end| Box::pin(recordings::one_account(a, end))),
    ("long-recordings", |a, end| Box::pin(recordings::long(a, end))),
    ("hang-ups", |a, end| Box::pin(recordings::hang_ups(a, end))),
    ("broken-recordings", |a, end| Box::pin(recordings::broken(a, end))),
    ("never-read", |a, end| Box::pin(connections::never_read(a, end))),
    ("large-heads", |a, end| Box::pin(connections::large_heads(a, end))),
    ("slow-heads", |a, end| Box::pin(connections::slow_heads(a, end))),
    ("slow-bodies", |a, end| Box::pin(connections::slow_bodies(a, end))),
    ("idle-connections", |a, end| Box::pin(connections::idle(a, end))),
    ("endless-heads", |a, end| Box::pin(forms::endless_heads(a, end))),
    ("small-chunks", |a, end| Box::pin(forms::small_chunks(a, end))),
    ("malformed-requests", |a, end| Box::pin(connections::malformed(a, end))),
    ("hang-ups-anywhere", |a, end| Box::pin(requests::hang_ups(a, end))),
    ("wrong-keys", |a, end| Box::pin(requests::wrong_keys(a, end))),
    ("deep-json", |a, end| Box::pin(requests::deep_json(a, end))),
    ("long-texts", |a, end| Box::pin(requests::long_texts(a, end))),
];

/// The name that stands for all attacks that are drawn, and the share of those of them that are [`PREPARED`].
const DRAWN: &str = "drawn";
const PREPARED_SHARE: f64 = 0.3;

/// Requests of the account that has used the service before the attacks.
const N_HISTORY: usize = 200;

/// Which attacks are made.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Options {
    /// The name of one attack, or `drawn`; without it, all
    #[arg(long)]
    only: Option<String>,
    /// Seconds of each attack
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Draws the attacks without a name
    #[arg(long, default_value_t = 11)]
    seed: u64,
    /// How many are drawn
    #[arg(long, default_value_t = 10)]
    rounds: usize,
}

/// Makes the attacks. Returns what failed.
pub(crate) async fn run(options: Options) -> Vec<String> {
    akhar_platform::open_files::raise_limit();
    let mut check = Check::start(options.seconds).await;
    let chosen = |name: &str| options.only.as_deref().is_none_or(|only| only == name);
    for (name, attack) in ATTACKS.iter().filter(|(name, _)| chosen(name)) {
        let attacker = Attacker::new(&check.stack, name).await;
        check.observe(name, name, |end| attack(&attacker, end)).await;
    }
    for name in PREPARED.into_iter().filter(|name| chosen(name)) {
        check.prepared(name, name, options.seed).await;
    }
    if chosen(DRAWN) {
        drawn_from(options.seed, options.rounds, &mut check).await;
    }
    println!("{}", line("the highest of all attacks", &check.highest));
    check.failures
}

/// Makes attacks that are drawn from a seed.
async fn drawn_from(seed: u64, rounds: usize, check: &mut Check) {
    let old = Attacker::new(&check.stack, "old").await;
    old.use_service(N_HISTORY).await;
    let mut rng = StdRng::seed_from_u64(seed);
    for nth in 0..rounds {
        let name = format!("attack {nth} of seed {seed}");
        if rng.random_bool(PREPARED_SHARE) {
            let kind = PREPARED.choose(&mut rng).expect("it is not empty");
            check.prepared(kind, &format!("{name}, {kind}"), rng.random()).await;
            continue;
        }
        let drawn = Drawn::draw(&mut rng);
        println!("{name}: {drawn}");
        let new = Attacker::new(&check.stack, &name).await;
        let attacker = if drawn.account == Account::Old { &old } else { &new };
        check.observe(DRAWN, &name, |end| drawn.attack(attacker, end)).await;
    }
}
