//! The last day of each queue on the overview: charts, and the same numbers as tables.

use std::collections::BTreeMap;

use akhar_operators::{marks::Mark, minutes::QueueMinute};
use akhar_requests::QUEUES;
use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use maud::{Markup, html};

use super::{
    chart::{Chart, N_MINUTES, Series, Style, duration_scale, rate_scale},
    format::{exact_duration, number, time},
    layout,
};

/// The last day of one queue.
struct Day<'a> {
    queue: &'static str,
    /// A place for each minute.
    minutes: Vec<Option<&'a QueueMinute>>,
    /// The end of the last minute.
    until: DateTime<Utc>,
    marks: &'a [Mark],
}

/// The part of the overview about the day before `at`.
pub(super) fn section(recorded: &[QueueMinute], marks: &[Mark], at: DateTime<Utc>) -> Markup {
    let minute = TimeDelta::minutes(1);
    // The minute before `at` may not be recorded yet.
    let begun = at.duration_trunc(minute).unwrap_or(at) - minute;
    let until = recorded.last().map_or(begun, |last| begun.max(last.minute + minute));
    html! {
        h2 { "The last day" }
        @if recorded.is_empty() { p { "No minute was recorded yet. The first is about a minute after the start." } } @else {
            ul.legend {
                @for (class, word) in [("started", "started"), ("ended", "ended"), ("failed", "failed"),
                    ("waited", "longest wait"), ("missing", "not recorded"), ("mark", "something changed")] {
                    li { span.key.(class) aria-hidden="true" {} " " (word) }
                }
            }
            @for queue in QUEUES { (Day::of(queue.name(), recorded, marks, until).show()) }
            (changes(marks, until))
        }
    }
}

impl<'a> Day<'a> {
    fn of(queue: &'static str, recorded: &'a [QueueMinute], marks: &'a [Mark], until: DateTime<Utc>) -> Self {
        let mut minutes = vec![None; N_MINUTES.into()];
        let from = until - TimeDelta::minutes(N_MINUTES.into());
        for minute in recorded.iter().filter(|minute| minute.queue == queue) {
            let place = usize::try_from((minute.minute - from).num_minutes()).ok();
            if let Some(place) = place.and_then(|nth| minutes.get_mut(nth)) {
                *place = Some(minute);
            }
        }
        Self { queue, minutes, until, marks }
    }

    fn show(&self) -> Markup {
        let (rates, wait) =
            (format!("{}: jobs a minute", self.queue), format!("{}: longest wait", self.queue));
        html! {
            div.charts {
                figure { figcaption aria-hidden="true" { (rates) } (self.rates(&rates)) }
                figure { figcaption aria-hidden="true" { (wait) } (self.wait(&wait)) }
                details { summary { (self.queue) ": as a table" } (self.table()) }
            }
        }
    }

    fn series(&self, class: &'static str, style: Style, of: impl Fn(&QueueMinute) -> i64) -> Series {
        Series { class, style, values: self.minutes.iter().map(|minute| minute.map(&of)).collect() }
    }

    fn rates(&self, title: &str) -> Markup {
        let series = [
            self.series("ended", Style::Area, |minute| minute.n_ended.into()),
            self.series("failed", Style::Area, |minute| minute.n_failed.into()),
            self.series("started", Style::Line, |minute| minute.n_started.into()),
        ];
        let [ended, failed, started] = [0, 1, 2].map(|nth: usize| most(&series[nth]));
        let description = format!(
            "Most in a minute: started {}, ended {}, failed {}. {}",
            number(started),
            number(ended),
            number(failed),
            self.missing()
        );
        Chart {
            id: &format!("{}-rates", self.queue),
            title,
            description: &description,
            series: &series,
            until: self.until,
            marks: self.marks,
            scale: rate_scale(started.max(ended)),
        }
        .draw()
    }

    fn wait(&self, title: &str) -> Markup {
        let series = [self.series("waited", Style::Area, |minute| minute.oldest_wait_ms)];
        let longest = most(&series[0]);
        let description = format!("longest wait: {}. {}", milliseconds(longest), self.missing());
        Chart {
            id: &format!("{}-wait", self.queue),
            title,
            description: &description,
            series: &series,
            until: self.until,
            marks: self.marks,
            scale: duration_scale(longest),
        }
        .draw()
    }

    fn missing(&self) -> String {
        let n = self.minutes.iter().filter(|minute| minute.is_none()).count();
        format!("not recorded: {n} min.")
    }

    fn table(&self) -> Markup {
        let heads = ["Hour", "Started", "Ended", "Failed", "Longest wait", "Recordings", "Minutes recorded"];
        let mut hours: BTreeMap<DateTime<Utc>, Vec<&QueueMinute>> = BTreeMap::new();
        for minute in self.minutes.iter().flatten() {
            let hour = minute.minute.duration_trunc(TimeDelta::hours(1)).unwrap_or(minute.minute);
            hours.entry(hour).or_default().push(minute);
        }
        let rows = html! {
            @for (hour, minutes) in hours.iter().rev() {
                @let sum = |of: fn(&QueueMinute) -> i32| number(minutes.iter().map(|minute| i64::from(of(minute))).sum());
                @let longest = minutes.iter().map(|minute| minute.oldest_wait_ms).max().unwrap_or_default();
                @let audio_s: f64 = minutes.iter().map(|minute| minute.audio_s).sum();
                (layout::row(&heads, &[
                    html! { time datetime=(hour.format("%FT%TZ")) { (hour.format("%F %H:%M")) } },
                    html! { (sum(|minute| minute.n_started)) },
                    html! { (sum(|minute| minute.n_ended)) },
                    html! { (sum(|minute| minute.n_failed)) },
                    html! { (milliseconds(longest)) },
                    html! { (format!("{:.1} min", audio_s / 60.0)) },
                    html! { (minutes.len()) },
                ]))
            }
        };
        layout::table(
            &format!("{}: by hour, without hours that were not recorded", self.queue),
            &heads,
            &rows,
        )
    }
}

/// The changes that the charts mark, the newest first.
fn changes(marks: &[Mark], until: DateTime<Utc>) -> Markup {
    let from = until - TimeDelta::minutes(N_MINUTES.into());
    html! {
        details {
            summary { "What changed" }
            ul { @for mark in marks.iter().rev().filter(|mark| mark.at > from) { li { (time(mark.at)) " " (mark.text) } } }
        }
    }
}

/// The greatest value of a series.
fn most(series: &Series) -> i64 {
    series.values.iter().flatten().copied().max().unwrap_or_default()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a wait of more than 2^53 ms is longer than any queue has existed"
)]
fn milliseconds(ms: i64) -> String {
    exact_duration(ms as f64 / 1e3)
}
