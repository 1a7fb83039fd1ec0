//! Writes the metrics as a message of [OTLP](https://opentelemetry.io/docs/specs/otlp/): totals since the process started, under
//! the names of the table.

use std::time::SystemTime;

use opentelemetry::KeyValue;
use opentelemetry_proto::tonic::{
    collector::metrics::v1::ExportMetricsServiceRequest,
    common::v1::InstrumentationScope,
    metrics::v1::{
        self as otlp, AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
        ResourceMetrics, ScopeMetrics, Sum, metric::Data,
    },
};
use opentelemetry_sdk::Resource;
use prost::Message as _;

use super::{
    metric::{Distribution, Exemplar, Kind, Value, since},
    table::{Description, TABLE},
};

/// All series.
pub(super) fn message(resource: &Resource) -> Vec<u8> {
    let now = nanoseconds(SystemTime::now());
    let since = since().map_or(now, nanoseconds);
    let scope = InstrumentationScope { name: "akhar".to_owned(), ..InstrumentationScope::default() };
    let metrics = TABLE.iter().filter_map(|row| metric(row, since, now)).collect();
    let of_scope = ScopeMetrics { scope: Some(scope), metrics, schema_url: String::new() };
    let of_resource = ResourceMetrics {
        resource: Some(resource.into()),
        scope_metrics: vec![of_scope],
        schema_url: String::new(),
    };
    ExportMetricsServiceRequest { resource_metrics: vec![of_resource] }.encode_to_vec()
}

/// A metric, if it has series.
fn metric(row: &Description, since: u64, now: u64) -> Option<Metric> {
    let mut numbers = Vec::new();
    let mut distributions = Vec::new();
    for (values, value) in row.metric.series() {
        let labels = row.labels.iter().zip(values);
        let attributes = labels.map(|(name, value)| (&KeyValue::new(*name, value)).into()).collect();
        match value {
            Value::Number(number) => numbers.push(NumberDataPoint {
                attributes,
                start_time_unix_nano: since,
                time_unix_nano: now,
                value: Some(number.into()),
                ..NumberDataPoint::default()
            }),
            Value::Distribution(Distribution { buckets, sum }) => distributions.push(HistogramDataPoint {
                attributes,
                start_time_unix_nano: since,
                time_unix_nano: now,
                count: buckets.iter().map(|bucket| bucket.n).sum(),
                sum: Some(sum),
                bucket_counts: buckets.iter().map(|bucket| bucket.n).collect(),
                explicit_bounds: buckets
                    .iter()
                    .map(|bucket| bucket.bound)
                    .filter(|bound| bound.is_finite())
                    .collect(),
                exemplars: buckets
                    .iter()
                    .filter_map(|bucket| bucket.exemplar.as_ref())
                    .map(exemplar)
                    .collect(),
                ..HistogramDataPoint::default()
            }),
        }
    }
    if numbers.is_empty() && distributions.is_empty() {
        return None;
    }
    let aggregation_temporality = AggregationTemporality::Cumulative.into();
    let data = match row.kind {
        Kind::Counter => Data::Sum(Sum { data_points: numbers, aggregation_temporality, is_monotonic: true }),
        Kind::Gauge => Data::Gauge(Gauge { data_points: numbers }),
        Kind::Histogram(_) => {
            Data::Histogram(Histogram { data_points: distributions, aggregation_temporality })
        }
    };
    Some(Metric {
        name: row.name.to_owned(),
        description: row.help.trim_ascii().to_owned(),
        unit: unit(row.name).to_owned(),
        metadata: Vec::new(),
        data: Some(data),
    })
}

/// The [unit](https://ucum.org/ucum) that the end of the name says.
fn unit(name: &str) -> &'static str {
    match name.trim_end_matches("_total").rsplit('_').next() {
        Some("seconds") => "s",
        Some("bytes") => "By",
        _ => "",
    }
}

fn exemplar(Exemplar { value, at, span }: &Exemplar) -> otlp::Exemplar {
    otlp::Exemplar {
        filtered_attributes: Vec::new(),
        time_unix_nano: nanoseconds(*at),
        span_id: span.span_id().to_bytes().to_vec(),
        trace_id: span.trace_id().to_bytes().to_vec(),
        value: Some((*value).into()),
    }
}

/// Since 1970.
fn nanoseconds(time: SystemTime) -> u64 {
    let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}
