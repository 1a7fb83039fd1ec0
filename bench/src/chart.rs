//! Draws line charts as SVG: several panels, one below the other, with the same x axis.

use std::fmt::Write as _;

use crate::report::{count, short};

const WIDTH: f64 = 760.0;
const PANEL: f64 = 250.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 46.0;
const GAP: f64 = 62.0;
/// Colours that colour-blind readers can tell apart (Okabe and Ito, 2008).
const COLOURS: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

/// A chart: panels with one common x axis of categories.
#[derive(Debug)]
pub(crate) struct Chart {
    /// The title above all panels.
    pub(crate) title: String,
    /// The label of the x axis, with its unit.
    pub(crate) x_label: &'static str,
    /// The categories of the x axis, at equal distances.
    pub(crate) x: Vec<String>,
    /// The panels from top to bottom.
    pub(crate) panels: Vec<Panel>,
}

/// One panel. Its y axis begins at 0.
#[derive(Debug)]
pub(crate) struct Panel {
    /// The label of the y axis, with its unit.
    pub(crate) y_label: &'static str,
    /// The name of each line, and its value for each category. NaN stands for no value.
    pub(crate) series: Vec<(String, Vec<f64>)>,
}

impl Chart {
    /// The chart as a whole SVG document.
    pub(crate) fn svg(&self) -> String {
        let height = TOP + count(self.panels.len()) * (PANEL + GAP);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <text x=\"{LEFT}\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{}</text>\n",
            escape(&self.title)
        );
        for (nth, panel) in self.panels.iter().enumerate() {
            self.panel(&mut svg, panel, TOP + count(nth) * (PANEL + GAP));
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn x_of(&self, place: usize) -> f64 {
        let steps = count(self.x.len().saturating_sub(1).max(1));
        LEFT + 12.0 + count(place) / steps * (WIDTH - LEFT - RIGHT - 24.0)
    }

    fn panel(&self, svg: &mut String, panel: &Panel, top: f64) {
        let bottom = top + PANEL;
        let values = panel.series.iter().flat_map(|(_, values)| values);
        let (step, n_steps) = scale(values.copied().filter(|v| v.is_finite()).fold(0.0, f64::max));
        let y_of = |value: f64| bottom - value / (step * count(n_steps)) * PANEL;
        let end = WIDTH - RIGHT;
        let mut add = |line: std::fmt::Arguments<'_>| writeln!(svg, "{line}").expect("into memory");
        for nth in 0..=n_steps {
            let (value, y) = (step * count(nth), y_of(step * count(nth)));
            add(format_args!(
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{end}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y + 4.0,
                short(value)
            ));
        }
        for (place, name) in self.x.iter().enumerate() {
            add(format_args!(
                "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                self.x_of(place),
                bottom + 17.0,
                escape(name)
            ));
        }
        let (middle, axis) = (top + PANEL / 2.0, f64::midpoint(LEFT, end));
        add(format_args!(
            "<text x=\"{axis}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text x=\"16\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {middle})\">{}</text>",
            bottom + 36.0,
            escape(self.x_label),
            escape(panel.y_label)
        ));
        for (nth, (name, values)) in panel.series.iter().enumerate() {
            let colour = COLOURS[nth % COLOURS.len()];
            let at = |(place, value): (usize, &f64)| (self.x_of(place), y_of(*value));
            let points: Vec<_> = values.iter().enumerate().filter(|(_, v)| v.is_finite()).map(at).collect();
            let line: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            add(format_args!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                line.join(" ")
            ));
            for (x, y) in points {
                add(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>"));
            }
            let y = top + 10.0 + 19.0 * count(nth);
            add(format_args!(
                "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"4\" fill=\"{colour}\"/>\
                 <text x=\"{}\" y=\"{y}\">{}</text>",
                end + 14.0,
                y - 6.0,
                end + 32.0,
                escape(name)
            ));
        }
    }
}

/// The step of an axis up to `most`, and the number of steps. The step is 1, 2 or 5 times a power of ten, and
/// there are at most 6 steps.
fn scale(most: f64) -> (f64, usize) {
    let most = if most > 0.0 { most } else { 1.0 };
    let power = 10_f64.powf((most / 6.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| most / s <= 6.0);
    let step = step.unwrap_or(10.0 * power);
    let n_steps = (1..=6).find(|n| step * count(*n) >= most).unwrap_or(6);
    (step, n_steps)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
