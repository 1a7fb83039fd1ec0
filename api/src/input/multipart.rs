//! Parses a multipart/form-data body (RFC 7578) into the values of its fields.
//!
//! The body is parsed while it arrives, and is not read beyond a limit. A body that cannot be parsed is rejected at
//! once. Violated constraints are collected, so that one response lists all of them.

use akhar_jobs::{MediaType, Upload};
use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, header},
};
use multer::{Constraints, Multipart, SizeLimit};

use super::{
    body::{BodyLimits, malformed},
    fields::{Field, Kind, quoted, unknown},
};
use crate::problems::{Code, Problem, ProblemType, Violation};

/// The most bytes that a body may have in addition to its files: boundaries, part headers and text fields.
const OVERHEAD: usize = 64 * 1024;
/// The most parts that a body may have.
const MAX_PARTS: usize = 16;
/// The most bytes that a text field may have.
const MAX_TEXT_BYTES: usize = 64;

/// The values of a form: at most one for each field.
#[derive(Debug, Default)]
pub(crate) struct Form {
    values: Vec<(&'static str, Vec<u8>)>,
    /// Fields that were sent and are invalid.
    invalid: Vec<&'static str>,
    /// The violations found so far.
    pub(crate) violations: Vec<Violation>,
}

/// Reads a form with these fields from a request's body.
pub(crate) async fn read(request: Request, fields: &[Field]) -> Result<Form, Problem> {
    let (parts, body) = request.into_parts();
    let max_bytes = OVERHEAD + fields.iter().map(Field::max_file_bytes).sum::<usize>();
    let limits = BodyLimits::new(&parts.headers, max_bytes)?;
    let mut multipart = open(body, boundary(&parts.headers)?, max_bytes);
    let mut form = Form::default();
    for _ in 0..=MAX_PARTS {
        let Some(part) = limits.next(multipart.next_field()).await? else { return Ok(form) };
        form.take(limits, part, fields).await?;
    }
    Err(malformed(format!("The body has more than {MAX_PARTS} parts.")))
}

impl Field {
    const fn max_file_bytes(&self) -> usize {
        match self.kind {
            Kind::File { max_bytes } => max_bytes,
            Kind::Text => 0,
        }
    }
}

impl Form {
    /// Takes the file of a required field. `sniff` finds its type in its first bytes. Adds a violation if the file is
    /// missing, empty or of no accepted type; `expected` names the accepted types.
    pub(crate) fn upload(
        &mut self,
        name: &'static str,
        sniff: impl FnOnce(&[u8]) -> Option<MediaType>,
        expected: &str,
    ) -> Option<Upload> {
        let bytes = self.file(name)?;
        let Some(media_type) = sniff(&bytes) else {
            let detail = format!("{name} is not {expected}");
            self.violations.push(Violation::new(name, Code::UnsupportedMediaType, detail));
            return None;
        };
        Some(Upload { media_type, bytes: bytes.into() })
    }

    /// Takes and parses the value of a field. Returns the default if the field is absent or invalid. Adds a violation
    /// if it is invalid.
    pub(crate) fn value<T: Default>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str, &str) -> Result<T, Violation>,
    ) -> T {
        let Some(text) = self.text(name) else { return T::default() };
        read(name, &text).unwrap_or_else(|violation| {
            self.violations.push(violation);
            T::default()
        })
    }

    /// Reads one part as the value of its field. Skips an unknown or repeated field and adds a violation.
    async fn take(
        &mut self,
        limits: BodyLimits,
        part: multer::Field<'_>,
        fields: &[Field],
    ) -> Result<(), Problem> {
        let Some(name) = part.name().map(str::to_owned) else {
            return Err(malformed("A part of the body has no name in its Content-Disposition header."));
        };
        let Some(field) = fields.iter().find(|f| f.name == name) else {
            let known: Vec<&str> = fields.iter().map(|f| f.name).collect();
            self.violations.push(unknown("field", &name, &known));
            return limits.skip(part).await;
        };
        if self.has(field.name) {
            let detail = format!("{} is given more than once", field.name);
            self.violations.push(Violation::new(field.name, Code::Duplicated, detail));
            return limits.skip(part).await;
        }
        match field.kind {
            Kind::File { max_bytes } => {
                let file = limits.collect(part, max_bytes).await?;
                self.values.push((field.name, file.ok_or_else(|| file_too_large(field.name, max_bytes))?));
            }
            Kind::Text => {
                if let Some(text) = limits.collect(part, MAX_TEXT_BYTES).await? {
                    self.values.push((field.name, text));
                } else {
                    let detail = format!("{} is longer than {MAX_TEXT_BYTES} bytes", field.name);
                    self.reject(Violation::new(field.name, Code::TooLong, detail), field.name);
                }
            }
        }
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        self.invalid.contains(&name) || self.values.iter().any(|(n, _)| *n == name)
    }

    fn reject(&mut self, violation: Violation, name: &'static str) {
        self.violations.push(violation);
        self.invalid.push(name);
    }

    /// Takes the value of a text field. `None` if it was not sent. Adds a violation if it is not UTF-8.
    pub(crate) fn text(&mut self, name: &'static str) -> Option<String> {
        match String::from_utf8(self.bytes(name)?) {
            Ok(text) => Some(text),
            Err(e) => {
                let sent = quoted(&String::from_utf8_lossy(e.as_bytes()));
                self.reject(
                    Violation::new(
                        name,
                        Code::NotUtf8,
                        format!("{name} is {sent}, which is not valid UTF-8"),
                    ),
                    name,
                );
                None
            }
        }
    }

    /// Takes the bytes of a required file. Adds a violation if it is absent or empty.
    pub(crate) fn file(&mut self, name: &'static str) -> Option<Vec<u8>> {
        let is_invalid = self.invalid.contains(&name);
        let (code, detail) = match self.bytes(name) {
            Some(bytes) if bytes.is_empty() => (Code::Empty, format!("{name} is empty")),
            Some(bytes) => return Some(bytes),
            None if is_invalid => return None,
            None => (Code::Missing, format!("{name} is required")),
        };
        self.violations.push(Violation::new(name, code, detail));
        None
    }

    fn bytes(&mut self, name: &str) -> Option<Vec<u8>> {
        let index = self.values.iter().position(|(n, _)| *n == name)?;
        Some(self.values.swap_remove(index).1)
    }
}

fn open(body: Body, boundary: String, max_bytes: usize) -> Multipart<'static> {
    let limit = SizeLimit::new().whole_stream(max_bytes as u64);
    Multipart::with_constraints(body.into_data_stream(), boundary, Constraints::new().size_limit(limit))
}

impl BodyLimits {
    /// Waits for the next part or chunk.
    async fn next<T>(self, frame: impl Future<Output = multer::Result<T>>) -> Result<T, Problem> {
        self.in_time(frame).await?.map_err(|error| unreadable(&error, self))
    }

    /// Reads the bytes of a part. `None` if they are more than `max_bytes`; then the rest is not read.
    async fn collect(
        self,
        mut part: multer::Field<'_>,
        max_bytes: usize,
    ) -> Result<Option<Vec<u8>>, Problem> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.next(part.chunk()).await? {
            if bytes.len() + chunk.len() > max_bytes {
                return Ok(None);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Some(bytes))
    }

    /// Reads and discards a part.
    async fn skip(self, mut part: multer::Field<'_>) -> Result<(), Problem> {
        while self.next(part.chunk()).await?.is_some() {}
        Ok(())
    }
}

fn boundary(headers: &HeaderMap) -> Result<String, Problem> {
    let unsupported = || {
        Problem::of(ProblemType::UnsupportedContentType)
            .with_detail("This operation accepts only the Content-Type multipart/form-data.")
    };
    let content_type = headers.get(header::CONTENT_TYPE).ok_or_else(unsupported)?;
    match multer::parse_boundary(content_type.to_str().map_err(|_| unsupported())?) {
        Ok(boundary) => Ok(boundary),
        Err(multer::Error::NoBoundary) => {
            Err(malformed("The Content-Type multipart/form-data has no boundary parameter."))
        }
        Err(_) => Err(unsupported()),
    }
}

fn file_too_large(name: &str, max_bytes: usize) -> Problem {
    let detail = format!("{name} is larger than {max_bytes} bytes");
    Problem::violations(vec![Violation::new(name, Code::TooLarge, detail)])
}

fn unreadable(error: &multer::Error, limits: BodyLimits) -> Problem {
    tracing::debug!(%error, "cannot read the body");
    match error {
        multer::Error::StreamSizeExceeded { .. } => limits.too_large(),
        multer::Error::IncompleteStream | multer::Error::IncompleteFieldData { .. } => {
            malformed("The body ends before its closing boundary.")
        }
        multer::Error::LockFailure => Problem::internal(error),
        _ => malformed("A part of the body cannot be parsed."),
    }
}

#[cfg(test)]
#[path = "multipart_tests.rs"]
mod tests;
