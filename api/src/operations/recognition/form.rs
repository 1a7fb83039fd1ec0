//! The form of both recognition operations.

use akhar_jobs::Queue;
use akhar_requests::{MediaType, QUICK, TopK};
use serde_json::json;

use crate::{
    input::{
        field::{File, field},
        fields::fields,
        form::Form,
    },
    problems::Violation,
};

fields! {
    /// The fields of a recognition request.
    RecognitionForm {
        /// The number of predictions to return.
        top_k: TopK = field("top-k").or("3").wrong("6"),
    }
}

impl Form for RecognitionForm {
    const FILE: Option<File> = Some(File {
        text: "An image of one character, at most 15 × 1024 bytes.",
        max_bytes: Some(15 * 1024),
        types: MediaType::IMAGES,
        if_other: None,
        if_larger: Some(
            "200 × 200 pixels are enough. Cut the character out and make the picture smaller, for example with \
             `convert photo.jpg -auto-orient -resize 200x200 -strip small.jpg`",
        ),
        url: None,
    });
    const QUEUE: Queue = QUICK;
    type Checked = TopK;

    fn check(self, _: &mut Vec<Violation>) -> Option<TopK> {
        self.top_k
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"file": "(the bytes of a png or jpeg image)", "top-k": 3}))
    }
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
