//! The kinds of metrics, and how a value is recorded. Without an exporter nothing is recorded.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use metrics::{Key, Label, Level, Metadata, Recorder, with_recorder};

/// Upper bounds of buckets for durations: milliseconds to half an hour. Seconds.
pub(super) const SECONDS: &[f64] = &[
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
    1800.0,
];
/// Upper bounds of buckets for the number of items in a batch.
pub(super) const ITEMS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
/// Upper bounds of buckets for the time of work divided by the length of a recording.
pub(super) const REAL_TIME: &[f64] = &[0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0];

static METADATA: Metadata<'_> = Metadata::new(module_path!(), Level::INFO, None);

/// Whether an exporter reads what is recorded.
static IS_EXPORTED: AtomicBool = AtomicBool::new(false);

/// Starts recording.
pub(super) fn enable() {
    IS_EXPORTED.store(true, Ordering::Relaxed);
}

/// The kind of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A number that only grows.
    Counter,
    /// A number that grows and shrinks.
    Gauge,
    /// The distribution of values in buckets with these upper bounds.
    Histogram(&'static [f64]),
}

impl Kind {
    /// The name in the exposition format of Prometheus.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram(_) => "histogram",
        }
    }
}

/// A name with the names of its labels.
#[derive(Debug)]
pub(super) struct Series<const N: usize> {
    name: &'static str,
    labels: [&'static str; N],
}

impl<const N: usize> Series<N> {
    /// Calls `record` with the key of these values, if an exporter reads it.
    fn record(&self, values: [&str; N], record: impl FnOnce(&dyn Recorder, &Key)) {
        if !IS_EXPORTED.load(Ordering::Relaxed) {
            return;
        }
        let labels = self.labels.into_iter().zip(values);
        let labels: Vec<Label> = labels.map(|(name, value)| Label::new(name, value.to_owned())).collect();
        let key = Key::from_parts(self.name, labels);
        with_recorder(|recorder| record(recorder, &key));
    }
}

macro_rules! kinds {
    ($($(#[$comment:meta])* $kind:ident;)+) => {
        $(
            $(#[$comment])*
            #[derive(Debug)]
            pub struct $kind<const N: usize>(Series<N>);

            impl<const N: usize> $kind<N> {
                pub(super) const fn new(name: &'static str, labels: [&'static str; N]) -> Self {
                    Self(Series { name, labels })
                }
            }
        )+
    };
}

kinds! {
    /// A number that only grows, for each combination of the values of `N` labels.
    Counter;
    /// A number that grows and shrinks, for each combination of the values of `N` labels.
    Gauge;
    /// A distribution, for each combination of the values of `N` labels.
    Histogram;
}

impl<const N: usize> Counter<N> {
    /// Adds 1.
    pub fn add_one(&self, values: [&str; N]) {
        self.add(values, 1);
    }

    /// Adds `n`. With 0, the series is exported from now on.
    pub fn add(&self, values: [&str; N], n: u64) {
        self.0.record(values, |recorder, key| recorder.register_counter(key, &METADATA).increment(n));
    }
}

impl<const N: usize> Gauge<N> {
    /// Sets the value.
    pub fn set(&self, values: [&str; N], value: f64) {
        self.0.record(values, |recorder, key| recorder.register_gauge(key, &METADATA).set(value));
    }

    /// Sets the value to a number of things.
    pub fn set_count(&self, values: [&str; N], n: usize) {
        self.set(values, f64::from(u32::try_from(n).unwrap_or(u32::MAX)));
    }

    /// Adds to the value.
    pub fn add(&self, values: [&str; N], n: f64) {
        self.0.record(values, |recorder, key| recorder.register_gauge(key, &METADATA).increment(n));
    }
}

impl<const N: usize> Histogram<N> {
    /// Records one value.
    pub fn record(&self, values: [&str; N], value: f64) {
        self.0.record(values, |recorder, key| recorder.register_histogram(key, &METADATA).record(value));
    }

    /// Records one duration.
    pub fn record_duration(&self, values: [&str; N], duration: Duration) {
        self.record(values, duration.as_secs_f64());
    }

    /// Records the number of items of one batch.
    pub fn record_items(&self, values: [&str; N], n: usize) {
        self.record(values, f64::from(u32::try_from(n).unwrap_or(u32::MAX)));
    }
}
