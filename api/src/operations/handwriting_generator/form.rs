//! The form of a handwriting request: parses and checks its fields.

use std::ops::RangeInclusive;

use akhar_jobs::{HandwritingParameters, Picture, Queue, StrokeColor};
use axum::extract::{FromRequest, Request};

use crate::{
    app::App,
    input::{
        object::{self, Object},
        panjabi_text, query,
    },
    problems::Problem,
};

/// A field that holds a length in pixels.
struct Measure {
    name: &'static str,
    range: RangeInclusive<f64>,
    default: f64,
}

const TEXT: &str = "text";
const LINE_SPACE: Measure = Measure { name: "line-space", range: 120.0..=150.0, default: 125.0 };
const CHAR_SPACE: Measure = Measure { name: "char-space", range: 30.0..=50.0, default: 35.0 };
const WORD_SPACE: Measure = Measure { name: "word-space", range: 70.0..=100.0, default: 75.0 };
const PAGE_WIDTH: Measure = Measure { name: "page-width", range: 300.0..=950.0, default: 550.0 };
const PAGE_LENGTH: Measure = Measure { name: "page-length", range: 300.0..=950.0, default: 550.0 };
const WITH_IMAGE: &str = "with-image";
const STROKE_COLOR: &str = "stroke-color";
const STROKE_WIDTH: Measure = Measure { name: "stroke-width", range: 1.0..=8.0, default: 2.5 };
const FIELDS: [&str; 9] = [
    TEXT,
    LINE_SPACE.name,
    CHAR_SPACE.name,
    WORD_SPACE.name,
    PAGE_WIDTH.name,
    PAGE_LENGTH.name,
    WITH_IMAGE,
    STROKE_COLOR,
    STROKE_WIDTH.name,
];

/// The checked parameters of a handwriting request. No later code checks them again.
#[derive(Debug)]
pub(crate) struct HandwritingForm(pub(crate) HandwritingParameters);

impl FromRequest<App> for HandwritingForm {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let unexpected = query::unexpected(request.uri());
        let mut form = object::read(request, &FIELDS, &app.body_memory(Queue::Quick)).await?;
        form.violations.extend(unexpected);
        let text = text(&mut form);
        let mut measure =
            |measure: Measure| form.number(measure.name, &measure.range).unwrap_or(measure.default);
        let mut handwriting = HandwritingParameters {
            text: text.unwrap_or_default(),
            line_space: measure(LINE_SPACE),
            char_space: measure(CHAR_SPACE),
            word_space: measure(WORD_SPACE),
            page_width: measure(PAGE_WIDTH),
            page_length: measure(PAGE_LENGTH),
            picture: None,
        };
        handwriting.picture = picture(&mut form);
        Problem::reject_if_any(form.violations)?;
        Ok(Self(handwriting))
    }
}

/// Takes the text. Adds the violations to the form if it is not valid.
fn text(form: &mut Object) -> Option<String> {
    let sent = form.required_string(TEXT)?;
    panjabi_text::parse(TEXT, &sent).map_err(|violations| form.violations.extend(violations)).ok()
}

/// Takes the fields of the picture. Returns `None` if no picture is requested, but checks the fields in any case.
fn picture(form: &mut Object) -> Option<Picture> {
    let with_image = form.boolean(WITH_IMAGE).unwrap_or(false);
    let picture = Picture {
        stroke_color: form
            .one_of(STROKE_COLOR, &StrokeColor::ALL.map(|color| (color.name(), color)))
            .unwrap_or(StrokeColor::Black),
        stroke_width: form.number(STROKE_WIDTH.name, &STROKE_WIDTH.range).unwrap_or(STROKE_WIDTH.default),
    };
    with_image.then_some(picture)
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
