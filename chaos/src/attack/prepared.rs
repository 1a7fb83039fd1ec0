//! Attacks that need more than an attacker with a new account: a load balancer, a job, a quota or the innocent caller's key.

use akhar_tests::{load_balancer::Program, results::long_result};

use super::{
    attacker::Attacker,
    check::{Check, OWN, STORED},
    connections, files,
    innocents::Innocents,
    recordings, requests,
};

/// The attack behind the load balancers of `deploy/`: what the attacker is refused must not make them take the apis for away.
const REFUSALS: &str = "refusals";

/// The attack with large answers that nobody reads.
const UNREAD: &str = "unread-answers";
/// The length of such an answer.
const N_UNREAD_CHARS: usize = 950_000;

/// The attack with changed files of every format.
const MUTATED: &str = "mutated-files";

/// The attack with keys that must be looked for, beside callers whose keys must be looked for too.
const PREFIXES: &str = "wrong-prefixes";
/// Those callers.
const N_NEWCOMERS: usize = 20;

/// What the account of [`STORED`] may store, megabytes.
const STORED_MB: &str = "10";

/// All of them.
pub(super) const PREPARED: [&str; 6] = [REFUSALS, UNREAD, MUTATED, PREFIXES, STORED, OWN];

impl Check {
    /// Prepares and makes one of the attacks [`PREPARED`].
    pub(super) async fn prepared(&mut self, kind: &str, name: &str, seed: u64) {
        if kind == REFUSALS {
            return self.refusals(name).await;
        }
        let attacker = match kind {
            OWN => Attacker::with_key(&self.stack, self.innocents.key.clone()),
            STORED => {
                let limit = ["create", "--name", name, "--stored-mb", STORED_MB];
                Attacker::with_key(&self.stack, self.stack.keys(&limit).await)
            }
            _ => Attacker::new(&self.stack, name).await,
        };
        match kind {
            OWN => self.observe(kind, name, |end| recordings::long_asynchronous(&attacker, end)).await,
            STORED => self.observe(kind, name, |end| requests::stored_bytes(&attacker, end)).await,
            UNREAD => {
                let job = long_result(&self.stack, &attacker.key, N_UNREAD_CHARS).await;
                self.observe(kind, name, |end| connections::unread_answers(&attacker, job, end)).await;
            }
            PREFIXES => {
                self.innocents.add_newcomers(&self.stack, N_NEWCOMERS).await;
                self.observe(kind, name, |end| requests::wrong_prefixes(&attacker, end)).await;
                self.innocents.newcomers.clear();
            }
            _ => self.observe(kind, name, |end| files::mutated(&attacker, seed, end)).await,
        }
    }

    /// Makes the attack [`REFUSALS`], in which all requests go through a load balancer to two apis.
    async fn refusals(&mut self, name: &str) {
        let (_second, second) = self.stack.start_api().await;
        let first = self.stack.base.clone();
        for program in Program::ALL {
            let balancer = program.start(self.stack.folder(), [&first, &second]).await;
            let name = format!("{name}, {program:?}");
            let attacker = Attacker::new(&self.stack, &name).await;
            self.stack.base.clone_from(&balancer.base);
            let innocents = Innocents::new(&self.stack).await;
            let direct = std::mem::replace(&mut self.innocents, innocents);
            self.observe(REFUSALS, &name, |end| recordings::refusals(&attacker, &balancer.base, end)).await;
            self.innocents = direct;
            self.stack.base.clone_from(&first);
        }
    }
}
