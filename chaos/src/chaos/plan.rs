//! The requests of the load and what their clients do, drawn from the seed.

use std::time::Duration;

use akhar_tests::load::exponential;
use rand::{Rng, RngExt as _};

/// A request that will be sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// Its `X-Request-Id`.
    pub(super) request_id: String,
    /// When it is sent, after the start of the load.
    pub(super) at: Duration,
    /// Which of the cases it is.
    pub(super) case: usize,
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
    /// It sends its request in pieces, during this time.
    SlowToSend(Duration),
    /// It reads its answer in pieces with these pauses.
    SlowToRead(Duration),
    /// It closes the connection so long after the request, whole or cut off.
    HangUp {
        after: Duration,
        whole: bool,
    },
}

impl Behaviour {
    /// The name in the report, if it is a fault of the client.
    pub(super) const fn fault(self) -> Option<&'static str> {
        match self {
            Self::Plain | Self::Proxied => None,
            Self::SlowToSend(_) => Some("slow_to_send"),
            Self::SlowToRead(_) => Some("slow_to_read"),
            Self::HangUp { .. } => Some("hang_up"),
        }
    }

    fn draw(rng: &mut impl Rng) -> Self {
        let ms = Duration::from_millis(rng.random_range(0..4_000));
        match rng.random_range(0..100) {
            0..60 => Self::Plain,
            60..82 => Self::Proxied,
            82..88 => Self::SlowToSend(ms),
            88..94 => Self::SlowToRead(ms / 20),
            _ => Self::HangUp { after: ms / 50, whole: rng.random_range(0..4) > 0 },
        }
    }
}

/// The requests of the whole load.
pub(super) fn draw(rng: &mut impl Rng, rate: f64, length: Duration, n_cases: usize) -> Vec<Plan> {
    let mut plans = Vec::new();
    let mut at = Duration::ZERO;
    loop {
        at += exponential(rng.random(), rate);
        if at >= length {
            return plans;
        }
        let prefer = match rng.random_range(0..10) {
            0..6 => None,
            6..8 => Some("respond-async".to_owned()),
            _ => Some(format!("wait={}", rng.random_range(0..4))),
        };
        let case = rng.random_range(0..n_cases);
        let request_id = format!("chaos-{}", plans.len());
        plans.push(Plan { request_id, at, case, prefer, behaviour: Behaviour::draw(rng) });
    }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng as _, rngs::StdRng};

    use super::*;

    #[test]
    fn a_seed_gives_the_same_requests_again() {
        let drawn = |seed| draw(&mut StdRng::seed_from_u64(seed), 20.0, Duration::from_secs(10), 9);
        assert_eq!(drawn(11), drawn(11));
        assert_ne!(drawn(11), drawn(12));
        assert!((100..300).contains(&drawn(11).len()));
    }
}
