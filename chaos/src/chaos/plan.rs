//! The requests of the load and what their clients do, drawn from the seed.

use std::time::Duration;

use akhar_tests::load::exponential;
use rand::{Rng, RngExt as _};

use super::service::N_APIS;

/// The share of the requests with a key that two clients send at the same time, each to another api.
const SHARED_KEYS: f64 = 0.3;

/// A request that will be sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// Its `X-Request-Id`. Requests with the same one are the same request.
    pub(super) request_id: String,
    /// When it is sent, after the start of the load.
    pub(super) at: Duration,
    /// Which of the cases it is.
    pub(super) case: usize,
    /// Which api gets it. Its client asks about the job at the other one first, and then in turns.
    pub(super) api: usize,
    /// The `Prefer` header.
    pub(super) prefer: Option<String>,
    pub(super) behaviour: Behaviour,
}

/// How a client behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    Plain,
    /// Its connection goes through the proxy that breaks connections.
    Proxied,
    /// Its request has an `Idempotency-Key`. If its connection breaks or it is refused, it sends the request again, to
    /// the apis in turns.
    Repeating,
    /// It asks for a job, and cancels it so long afterwards.
    Cancelling(Duration),
    /// It closes the connection so long after a request, whole or cut off.
    HangUp {
        of: HungUp,
        after: Duration,
        whole: bool,
    },
}

/// The request of a client that hangs up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HungUp {
    /// The planned one.
    Planned,
    /// One that cancels the job of the planned one.
    Cancel,
    /// A probe of the readiness.
    Probe,
    /// A change of an operator, which changes nothing.
    OpenQueue,
}

impl HungUp {
    const ALL: [Self; 4] = [Self::Planned, Self::Cancel, Self::Probe, Self::OpenQueue];
}

impl Behaviour {
    /// The name in the report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Proxied => "proxied",
            Self::Repeating => "repeating",
            Self::Cancelling(_) => "cancelling",
            Self::HangUp { .. } => "hang_up",
        }
    }

    fn draw(rng: &mut impl Rng) -> Self {
        let ms = Duration::from_millis(rng.random_range(0..4_000));
        match rng.random_range(0..100) {
            0..45 => Self::Plain,
            45..60 => Self::Proxied,
            60..78 => Self::Repeating,
            78..84 => Self::Cancelling(ms / 8),
            _ => Self::HangUp {
                of: HungUp::ALL[rng.random_range(0..HungUp::ALL.len())],
                // Most statements take less than a millisecond, and the longest wait is for a model.
                after: Duration::from_micros(rng.random_range(50..100_u64) << rng.random_range(0..11_u32)),
                whole: rng.random_range(0..4) > 0,
            },
        }
    }
}

/// The requests of the whole load.
pub(super) fn draw(rng: &mut impl Rng, rate: f64, length: Duration, n_cases: usize) -> Vec<Plan> {
    let mut plans = Vec::new();
    let mut at = Duration::ZERO;
    for nth in 0.. {
        at += exponential(rng.random(), rate);
        if at >= length {
            break;
        }
        let behaviour = Behaviour::draw(rng);
        let prefer = match rng.random_range(0..10) {
            _ if matches!(behaviour, Behaviour::Cancelling(_)) => Some("respond-async".to_owned()),
            _ if matches!(behaviour, Behaviour::HangUp { of: HungUp::Cancel, .. }) => {
                Some("respond-async".to_owned())
            }
            0..6 => None,
            6..8 => Some("respond-async".to_owned()),
            _ => Some(format!("wait={}", rng.random_range(0..4))),
        };
        let case = rng.random_range(0..n_cases);
        let api = rng.random_range(0..N_APIS);
        let request_id = format!("chaos-{nth}");
        let plan = Plan { request_id, at, case, api, prefer, behaviour };
        if behaviour == Behaviour::Repeating && rng.random_bool(SHARED_KEYS) {
            plans.push(Plan { api: (api + 1) % N_APIS, ..plan.clone() });
        }
        plans.push(plan);
    }
    plans
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::{SeedableRng as _, rngs::StdRng};

    use super::*;

    fn drawn(seed: u64) -> Vec<Plan> {
        draw(&mut StdRng::seed_from_u64(seed), 20.0, Duration::from_secs(10), 9)
    }

    #[test]
    fn a_seed_gives_the_same_requests_again() {
        assert_eq!(drawn(11), drawn(11));
        assert_ne!(drawn(11), drawn(12));
        assert!((100..300).contains(&drawn(11).len()));
    }

    #[test]
    fn both_apis_get_requests_and_only_those_with_a_key_are_sent_twice() {
        let plans = drawn(11);
        let apis: BTreeSet<_> = plans.iter().map(|plan| plan.api).collect();
        assert_eq!(apis.len(), N_APIS);
        let twice: Vec<_> = plans.windows(2).filter(|two| two[0].request_id == two[1].request_id).collect();
        assert!(!twice.is_empty());
        for two in twice {
            assert!(two[0].api != two[1].api && two[0].behaviour == Behaviour::Repeating, "{two:?}");
        }
    }
}
