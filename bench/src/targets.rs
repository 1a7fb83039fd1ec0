//! The targets of the figures. [`crate::report::Report::figure`] takes them from here, and no other place has them.

use std::fmt;

use akhar_tests::figures::short;
use serde::{Deserialize, Serialize};

use Target::{AtLeastTimes, AtMost, AtMostTimes, Lower, Measured};

/// What a figure should reach.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Target {
    /// At least so many times the number that it is compared with.
    AtLeastTimes(f64),
    /// At most so many times the number that it is compared with.
    AtMostTimes(f64),
    /// At most so much, in the figure's unit.
    AtMost(f64),
    /// Lower than the number that it is compared with.
    Lower,
    /// The figure has no target.
    Measured,
}

/// Overhead of a request, p50, beside the hand-written loop.
pub(crate) const OVERHEAD_P50: Target = AtMostTimes(1.05);
/// The same, p99.
pub(crate) const OVERHEAD_P99: Target = AtMostTimes(0.9);

/// Digits a second with 32 clients, beside `LitServe`.
pub(crate) const DIGITS_BESIDE_LITSERVE: Target = AtLeastTimes(3.0);
/// The same, beside `BentoML`.
pub(crate) const DIGITS_BESIDE_BENTOML: Target = AtLeastTimes(2.5);
/// Their response times, beside either.
pub(crate) const RESPONSE_TIME_BESIDE_PEERS: Target = Lower;
/// CPU time of a digit request in the api and the worker together, ms.
pub(crate) const CPU_OF_A_DIGIT: Target = AtMost(0.42);
/// The same in Postgres, ms.
pub(crate) const CPU_OF_A_DIGIT_IN_POSTGRES: Target = AtMost(0.3);

/// Empty jobs, drained or flowing, beside graphile-worker with a local queue of 100.
pub(crate) const JOBS_BESIDE_GRAPHILE_WORKER: [Target; 2] = [AtLeastTimes(2.0), AtLeastTimes(1.4)];
/// The same beside graphile-worker with a local queue of 500, and beside `graphile_worker`.
pub(crate) const JOBS_BESIDE_LOCAL_QUEUES_OF_500: [Target; 2] = [AtLeastTimes(1.0), AtLeastTimes(1.5)];

/// The end of jobs in a group, beside that of jobs without one.
pub(crate) const END_IN_A_GROUP: Target = AtMostTimes(1.05);
/// The counts of a group of 10,000 jobs, and its cancellation, ms.
pub(crate) const STATEMENT_ON_A_GROUP: Target = AtMost(50.0);
/// What the followers of a group cost, percent of a core.
pub(crate) const FOLLOWERS_OF_A_GROUP: Target = AtMost(5.0);

/// Resident memory of a worker with all models, MiB.
pub(crate) const MEMORY_OF_A_WORKER: Target = AtMost(300.0);
/// More memory for a recording of hours than for a clip of ten seconds, in the api and in the worker, MiB.
pub(crate) const MEMORY_OF_HOURS: [Target; 2] = [AtMost(10.0), AtMost(60.0)];

/// A statement on a full table, beside an empty one.
pub(crate) const FULL_TABLE: Target = AtMostTimes(1.3);
/// `/ops`, and its slowest statement, on a full table, ms.
pub(crate) const OPS: Target = AtMost(100.0);

/// Speech jobs of one worker with copies of the models, beside one worker without.
pub(crate) const COPIES_OF_MODELS: Target = AtLeastTimes(0.95);
/// `akhar transcribe`, beside the model alone.
pub(crate) const BULK: Target = AtLeastTimes(0.95);

/// Figures without a target.
pub(crate) const NONE: Target = Measured;

impl Target {
    /// Whether a number reaches it. `None` if that cannot be told.
    pub(crate) fn is_reached(self, ours: f64, other: Option<f64>) -> Option<bool> {
        match self {
            AtLeastTimes(least) => Some(ours >= least * other?),
            AtMostTimes(most) => Some(ours <= most * other?),
            AtMost(most) => Some(ours <= most),
            Lower => Some(ours < other?),
            Measured => None,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AtLeastTimes(least) => write!(f, "≥ {} ×", short(*least)),
            AtMostTimes(most) => write!(f, "≤ {} ×", short(*most)),
            AtMost(most) => write!(f, "≤ {}", short(*most)),
            Lower => f.write_str("lower"),
            Measured => f.write_str("none"),
        }
    }
}
