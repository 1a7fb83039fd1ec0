//! The form of both recognition operations: parses and checks its fields.

use akhar_jobs::{Queue, TopK, Upload};
use axum::extract::{FromRequest, Request};
use utoipa::ToSchema;

use crate::{
    app::App,
    input::{
        fields::{Field, Kind},
        multipart, query, sniff, whole_number,
    },
    problems::{Code, Problem, Violation, responses::Examples},
};

/// The size limit of an image, inclusive: 15 × 1024 bytes.
pub(crate) const MAX_IMAGE_BYTES: usize = 15 * 1024;
const FILE: &str = "file";
const TOP_K: &str = "top-k";
const FIELDS: [Field; 2] = [
    Field { name: FILE, kind: Kind::File { max_bytes: MAX_IMAGE_BYTES } },
    Field { name: TOP_K, kind: Kind::Text },
];

/// The details in the examples of problems.
pub(crate) const EXAMPLES: Examples = Examples {
    file: Some(["file is larger than 15360 bytes", "file is not a PNG or JPEG image"]),
    invalid: ("top-k", Code::OutOfRange, "top-k is 6, expected an integer from 1 to 5"),
};

/// The checked fields of a recognition request. No later code checks them again.
#[derive(Debug)]
pub(crate) struct RecognitionForm {
    pub(crate) upload: Upload,
    pub(crate) top_k: TopK,
}

/// The fields of a recognition request.
#[derive(ToSchema)]
#[schema(as = RecognitionForm, example = json!({"file": "(the bytes of a png or jpeg image)", "top-k": 3}))]
#[expect(dead_code, reason = "describes the form to the OpenAPI document")]
pub(crate) struct RecognitionFormSchema {
    /// A png or jpeg image of one character, at most 15 × 1024 bytes.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// The number of predictions to return.
    #[schema(rename = "top-k", minimum = 1, maximum = 5, default = 3, required = false)]
    top_k: u8,
}

impl FromRequest<App> for RecognitionForm {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let unexpected = query::unexpected(request.uri());
        let mut form = multipart::read(request, &FIELDS, &app.body_memory(Queue::Quick)).await?;
        form.violations.extend(unexpected);
        let upload = form.upload(FILE, sniff::image, "a PNG or JPEG image");
        let top_k = form.value(TOP_K, top_k);
        match upload {
            Some(upload) if form.violations.is_empty() => Ok(Self { upload, top_k }),
            _ => Err(Problem::violations(form.violations)),
        }
    }
}

fn top_k(field: &str, text: &str) -> Result<TopK, Violation> {
    let k = whole_number::parse(field, text, 1..=5)?;
    TopK::try_from(k).map_err(|e| Violation::new(field, Code::OutOfRange, e.to_string()))
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
