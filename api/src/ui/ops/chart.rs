//! Charts of a day as SVG: a value for each minute, with gaps where there is none. Colours are in the stylesheet.

use std::{collections::BTreeMap, fmt::Write as _};

use akhar_operators::marks::Mark;
use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use maud::{Markup, html};

/// The minutes of a chart. Each is one unit wide.
pub(super) const N_MINUTES: u16 = 1440;

/// The height of a chart in its own units.
const HEIGHT: u32 = 1000;

/// What a value other than 0 is at least as high as, so that it can be seen.
const LEAST: u32 = 20;

/// The hours from one label of the time to the next.
const LABEL_EVERY_H: i64 = 6;

/// Labels nearer to an edge than this part of the chart would be cut off.
const EDGE: f64 = 0.04;

/// How a series is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Style {
    /// A filled area, where the value is not 0.
    Area,
    /// A line.
    Line,
}

/// A value for each minute, and the class that gives it its colour.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) class: &'static str,
    pub(super) style: Style,
    /// `None` for a minute that was not recorded.
    pub(super) values: Vec<Option<i64>>,
}

/// A chart.
#[derive(Debug)]
pub(super) struct Chart<'a> {
    /// Begins the ids of the elements that describe it.
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    /// What a reader learns who cannot see it.
    pub(super) description: &'a str,
    pub(super) series: &'a [Series],
    /// The time at its right edge.
    pub(super) until: DateTime<Utc>,
    /// What changed, as thin lines with a text each.
    pub(super) marks: &'a [Mark],
    /// The value at its top, and its label and that of half of it.
    pub(super) scale: (i64, [String; 2]),
}

impl Chart<'_> {
    /// The chart. Its plot is stretched to the size that the page gives it, and its labels are not.
    pub(super) fn draw(&self) -> Markup {
        let (title, description) = (format!("{}-title", self.id), format!("{}-description", self.id));
        let (top, labels) = &self.scale;
        let missing = self.series.first().map(|series| missing(&series.values)).unwrap_or_default();
        html! {
            svg.chart role="img" aria-labelledby=(title) aria-describedby=(description) {
                title id=(title) { (self.title) }
                desc id=(description) { (self.description) }
                svg width="100%" height="100%" viewBox={ "0 0 " (N_MINUTES) " " (HEIGHT) } preserveAspectRatio="none" {
                    path.missing d=(missing) {}
                    @for series in self.series { path class=(series.class) d=(outline(series, *top)) {} }
                }
                @for (y, label) in ["0%", "50%"].into_iter().zip(labels) {
                    line x1="0" x2="100%" y1=(y) y2=(y) {}
                    text x="4" y=(y) dy="1.1em" { (label) }
                }
                line x1="0" x2="100%" y1="100%" y2="100%" {}
                @for (x, text) in self.places() {
                    line.mark x1=(x) x2=(x) y1="0%" y2="100%" { title { (text) } }
                }
                @for (x, label) in self.hours() {
                    line x1=(x) x2=(x) y1="100%" y2="98%" {}
                    text.hour x=(x) y="100%" dy="1.3em" { (label) }
                }
            }
        }
    }

    /// Where the marks lie that the chart reaches, and their texts. Those of one minute are one.
    fn places(&self) -> Vec<(String, String)> {
        let mut places: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
        for mark in self.marks {
            let ago = (self.until - mark.at).num_minutes().max(0);
            let minute = u16::try_from(ago).ok().and_then(|ago| N_MINUTES.checked_sub(ago));
            if let Some(minute) = minute {
                places.entry(minute).or_default().push(&mark.text);
            }
        }
        let x = |minute: u16| format!("{:.2}%", f64::from(minute) * 100.0 / f64::from(N_MINUTES));
        places.into_iter().map(|(minute, texts)| (x(minute), texts.join("; "))).collect()
    }

    /// Where the hours that are labelled lie, and their labels.
    fn hours(&self) -> Vec<(String, String)> {
        let every = TimeDelta::hours(LABEL_EVERY_H);
        let Ok(last) = self.until.duration_trunc(every) else { return Vec::new() };
        let hours = (0..5).map(|nth| last - every * nth).filter_map(|hour| {
            let x = 1.0 - (self.until - hour).as_seconds_f64() / 60.0 / f64::from(N_MINUTES);
            let label = hour.format("%H:%M").to_string();
            (EDGE..=1.0 - EDGE).contains(&x).then(|| (format!("{:.2}%", x * 100.0), label))
        });
        hours.collect()
    }
}

/// The outline of a series, if `top` is the value at the top.
fn outline(series: &Series, top: i64) -> String {
    let level = |value: i64| {
        let height = value.max(0).saturating_mul(HEIGHT.into()) / top.max(1);
        let height = u32::try_from(height).unwrap_or(HEIGHT).min(HEIGHT);
        HEIGHT - if value > 0 { height.max(LEAST) } else { 0 }
    };
    let levels = series.values.iter().map(|value| value.map(level));
    match series.style {
        Style::Area => steps(levels.map(|y| y.filter(|y| *y < HEIGHT)), true),
        Style::Line => steps(levels, false),
    }
}

/// The areas of the minutes without a value.
fn missing(values: &[Option<i64>]) -> String {
    steps(values.iter().map(|value| value.is_none().then_some(0)), true)
}

/// Steps from one level to the next, as the data of a path. An area reaches down to the base.
fn steps(levels: impl Iterator<Item = Option<u32>>, is_area: bool) -> String {
    let mut path = String::new();
    let mut last = None;
    for (x, level) in levels.chain([None]).enumerate() {
        if level == last {
            continue;
        }
        if last.is_some() {
            let _ = write!(path, "H{x}"); // writing to a string cannot fail
        }
        let _ = match (last, level) {
            (None, Some(y)) if is_area => write!(path, "M{x} {HEIGHT}V{y}"),
            (None, Some(y)) => write!(path, "M{x} {y}"),
            (_, Some(y)) => write!(path, "V{y}"),
            (_, None) if is_area => write!(path, "V{HEIGHT}z"),
            (_, None) => Ok(()),
        };
        last = level;
    }
    path
}

/// The scale of a number of events in a minute: its top is 2, 4 or 10 times a power of 10.
pub(super) fn rate_scale(most: i64) -> (i64, [String; 2]) {
    let tops = (0..).map_while(|power| 10_i64.checked_pow(power)).flat_map(|ten| [2, 4, 10].map(|n| n * ten));
    let top = tops.into_iter().find(|top| *top >= most).unwrap_or(most);
    (top, [top, top / 2].map(|n| format!("{}/min", super::format::number(n))))
}

/// The scale of a duration in milliseconds. Its top and half of it are whole in their units.
pub(super) fn duration_scale(most_ms: i64) -> (i64, [String; 2]) {
    const UNITS: [(&str, i64, &[i64]); 5] = [
        ("ms", 1, &[10, 20, 40, 100, 200, 400]),
        ("s", 1000, &[1, 2, 4, 10, 20, 40]),
        ("min", 60_000, &[1, 2, 4, 10, 20, 40]),
        ("h", 3_600_000, &[1, 2, 4, 8, 12]),
        ("d", 86_400_000, &[1, 2, 4, 10, 20, 40, 100]),
    ];
    let mut tops = UNITS.into_iter().flat_map(|(_, unit, counts)| counts.iter().map(move |n| n * unit));
    let top = tops.find(|top| *top >= most_ms).unwrap_or(most_ms);
    let label = |ms: i64| {
        let whole = UNITS.iter().rev().find(|(_, unit, _)| ms % unit == 0);
        whole.map(|(name, unit, _)| format!("{} {name}", ms / unit)).unwrap_or_default()
    };
    (top, [label(top), label(top / 2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_without_a_value_is_a_gap_and_no_zero() {
        let values = vec![Some(4), Some(4), None, Some(0), Some(8)];
        let series = |style| Series { class: "", style, values: values.clone() };
        assert_eq!(outline(&series(Style::Line), 8), "M0 500H2M3 1000H4V0H5");
        assert_eq!(outline(&series(Style::Area), 8), "M0 1000V500H2V1000zM4 1000V0H5V1000z");
        assert_eq!(missing(&values), "M2 1000V0H3V1000z");
    }

    #[test]
    fn a_small_value_can_be_seen_and_one_above_the_top_is_cut_off() {
        let series = Series { class: "", style: Style::Area, values: vec![Some(1), Some(30_000)] };
        assert_eq!(outline(&series, 10_000), "M0 1000V980H1V0H2V1000z");
    }

    #[test]
    fn scales_have_whole_numbers() {
        for (most, top, labels) in [
            (0, 2, ["2/min", "1/min"]),
            (3, 4, ["4/min", "2/min"]),
            (4001, 10_000, ["10,000/min", "5,000/min"]),
        ] {
            assert_eq!(rate_scale(most), (top, labels.map(str::to_owned)), "{most}");
        }
        for (most_ms, labels) in [
            (0, ["10 ms", "5 ms"]),
            (401, ["1 s", "500 ms"]),
            (59_000, ["1 min", "30 s"]),
            (2_400_001, ["1 h", "30 min"]),
            (3_600_001, ["2 h", "1 h"]),
            (43_200_001, ["1 d", "12 h"]),
        ] {
            assert_eq!(duration_scale(most_ms).1, labels, "{most_ms}");
        }
    }

    #[test]
    fn hours_and_changes_are_labelled_where_they_are() {
        let until = DateTime::from_timestamp(1_700_000_000, 0).unwrap(); // 22:13:20
        let chart = Chart {
            id: "",
            title: "",
            description: "",
            series: &[],
            until,
            marks: &[
                Mark { at: until - TimeDelta::minutes(720), text: "a".to_owned() },
                Mark { at: until - TimeDelta::seconds(720 * 60 + 30), text: "b".to_owned() },
                Mark { at: until - TimeDelta::days(2), text: "too old".to_owned() },
            ],
            scale: (2, [String::new(), String::new()]),
        };
        assert_eq!(chart.places(), [("50.00%".to_owned(), "a; b".to_owned())]);
        let hours = chart.hours();
        let hours: Vec<_> = hours.iter().map(|(x, label)| (x.as_str(), label.as_str())).collect();
        assert_eq!(
            hours,
            [("82.41%", "18:00"), ("57.41%", "12:00"), ("32.41%", "06:00"), ("7.41%", "00:00")]
        );
    }
}
