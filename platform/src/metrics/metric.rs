//! The kinds of metrics: how a value is recorded, and the series that are read. Without an exporter nothing is recorded.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Mutex, OnceLock, PoisonError},
    time::{Duration, SystemTime},
};

use opentelemetry::{
    Context,
    trace::{SpanContext, TraceContextExt as _},
};

/// Upper bounds of buckets for durations: milliseconds to half an hour. Seconds.
pub(super) const SECONDS: &[f64] = &[
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
    1800.0,
];
/// Upper bounds of buckets for the number of items in a batch.
pub(super) const ITEMS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
/// Upper bounds of buckets for the time of work divided by the length of a recording.
pub(super) const REAL_TIME: &[f64] = &[0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0];

/// Since when an exporter reads what is recorded.
static SINCE: OnceLock<SystemTime> = OnceLock::new();

/// Starts recording.
pub(super) fn enable() {
    SINCE.get_or_init(SystemTime::now);
}

/// When recording started.
pub(super) fn since() -> Option<SystemTime> {
    SINCE.get().copied()
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

/// What one series has.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// That of a counter or a gauge.
    Number(f64),
    /// That of a histogram.
    Distribution(Distribution),
}

/// The values that a histogram got.
#[derive(Debug, Clone, Default)]
pub(super) struct Distribution {
    /// By their bounds. That of the last one is infinite.
    pub(super) buckets: Vec<Bucket>,
    pub(super) sum: f64,
}

/// The values above the bound of the bucket before, up to its own one.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    pub(super) bound: f64,
    pub(super) n: u64,
    /// The last one whose trace is exported.
    pub(super) exemplar: Option<Exemplar>,
}

/// One value, and the span in which it was recorded.
#[derive(Debug, Clone)]
pub(super) struct Exemplar {
    pub(super) value: f64,
    pub(super) at: SystemTime,
    pub(super) span: SpanContext,
}

/// The series of a metric, to read.
pub(super) trait Read: Debug + Sync {
    /// The values of the labels of each series and what it has, in the order of the labels' values.
    fn series(&self) -> Vec<(Vec<String>, Value)>;
}

/// What a metric has for each combination of the values of its labels.
#[derive(Debug)]
struct Series<const N: usize, V>(Mutex<BTreeMap<[String; N], V>>);

impl<const N: usize, V: Clone + Default> Series<N, V> {
    /// Changes what these values have, if an exporter reads it.
    fn change(&self, values: [&str; N], change: impl FnOnce(&mut V)) {
        if SINCE.get().is_some() {
            let values = values.map(str::to_owned);
            change(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(values).or_default());
        }
    }

    fn read(&self, value: impl Fn(V) -> Value) -> Vec<(Vec<String>, Value)> {
        let series = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        series.iter().map(|(labels, has)| (labels.to_vec(), value(has.clone()))).collect()
    }
}

macro_rules! kinds {
    ($($(#[$comment:meta])* $kind:ident of $value:ty as $variant:ident;)+) => {
        $(
            $(#[$comment])*
            #[derive(Debug)]
            pub struct $kind<const N: usize>(Series<N, $value>);

            impl<const N: usize> $kind<N> {
                pub(super) const fn new() -> Self {
                    Self(Series(Mutex::new(BTreeMap::new())))
                }
            }

            impl<const N: usize> Read for $kind<N> {
                fn series(&self) -> Vec<(Vec<String>, Value)> {
                    self.0.read(Value::$variant)
                }
            }
        )+
    };
}

kinds! {
    /// A number that only grows, for each combination of the values of `N` labels.
    Counter of f64 as Number;
    /// A number that grows and shrinks, for each combination of the values of `N` labels.
    Gauge of f64 as Number;
}

impl<const N: usize> Counter<N> {
    /// Adds 1.
    pub fn add_one(&self, values: [&str; N]) {
        self.add(values, 1);
    }

    /// Adds `n`. With 0, the series is exported from now on.
    pub fn add(&self, values: [&str; N], n: u64) {
        self.0.change(values, |number| *number += float(n));
    }

    /// Takes over a number that something else counts.
    pub(super) fn set_total(&self, values: [&str; N], total: f64) {
        self.0.change(values, |number| *number = total);
    }
}

impl<const N: usize> Gauge<N> {
    /// Sets the value.
    pub fn set(&self, values: [&str; N], value: f64) {
        self.0.change(values, |number| *number = value);
    }

    /// Sets the value to a number of things.
    pub fn set_count(&self, values: [&str; N], n: usize) {
        self.set(values, float(n as u64));
    }

    /// Adds to the value.
    pub fn add(&self, values: [&str; N], n: f64) {
        self.0.change(values, |number| *number += n);
    }
}

/// A distribution, for each combination of the values of `N` labels.
#[derive(Debug)]
pub struct Histogram<const N: usize> {
    bounds: &'static [f64],
    series: Series<N, Distribution>,
}

impl<const N: usize> Histogram<N> {
    pub(super) const fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, series: Series(Mutex::new(BTreeMap::new())) }
    }

    /// Records one value. If the span that is entered belongs to a trace that is exported, the value is its example.
    pub fn record(&self, values: [&str; N], value: f64) {
        self.series.change(values, |distribution| {
            let Distribution { buckets, sum } = distribution;
            if buckets.is_empty() {
                let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
                buckets.extend(bounds.map(|bound| Bucket { bound, n: 0, exemplar: None }));
            }
            *sum += value;
            let bucket = &mut buckets[self.bounds.partition_point(|bound| *bound < value)];
            bucket.n += 1;
            let span = Context::map_current(|context| context.span().span_context().clone());
            if span.is_sampled() {
                bucket.exemplar = Some(Exemplar { value, at: SystemTime::now(), span });
            }
        });
    }

    /// Records one duration.
    pub fn record_duration(&self, values: [&str; N], duration: Duration) {
        self.record(values, duration.as_secs_f64());
    }

    /// Records the number of items of one batch.
    pub fn record_items(&self, values: [&str; N], n: usize) {
        self.record(values, float(n as u64));
    }
}

impl<const N: usize> Read for Histogram<N> {
    fn series(&self) -> Vec<(Vec<String>, Value)> {
        self.series.read(Value::Distribution)
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of things and bytes are far below 2^53")]
pub(super) const fn float(n: u64) -> f64 {
    n as f64
}
