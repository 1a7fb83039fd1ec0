//! Parses a multipart/form-data body (RFC 7578) into the values of its fields.
//!
//! The body is parsed while it arrives, and is not read beyond a limit. A body that cannot be parsed is rejected at
//! once. Violated constraints are collected, so that one response lists all of them.

use akhar_jobs::{MediaType, Upload};
use axum::{
    extract::Request,
    http::{HeaderMap, header},
};
use bytes::Bytes;
use multer::Multipart;

use super::{
    body::{ArrivingBody, Refused, malformed},
    fields::{Field, Kind, quoted, unknown},
    memory::{BodyMemory, Buffer},
};
use crate::problems::{Code, Problem, ProblemType, Violation};

/// The most bytes that a body may have in addition to its files: boundaries, part headers and text fields.
const OVERHEAD: usize = 64 * 1024;
/// The most parts that a body may have.
const MAX_PARTS: usize = 16;
/// The most bytes that a text field may have.
const MAX_TEXT_BYTES: usize = 64;

/// The values of a form: at most one for each field that is no list.
#[derive(Debug, Default)]
pub(crate) struct Form {
    values: Vec<(&'static str, Bytes)>,
    /// Fields that were sent and are invalid.
    invalid: Vec<&'static str>,
    /// The violations found so far.
    pub(crate) violations: Vec<Violation>,
}

/// Reads a form with these fields, of which at most one is a file, from a request's body.
pub(crate) async fn read(request: Request, fields: &[Field], memory: &BodyMemory) -> Result<Form, Problem> {
    let (parts, body) = request.into_parts();
    let max_file_bytes = fields.iter().map(Field::max_file_bytes).sum();
    let body = ArrivingBody::new(&parts.headers, body, OVERHEAD + max_file_bytes)?;
    let boundary = boundary(&parts.headers)?;
    let mut file = Some(memory.take(body.announced, max_file_bytes)?);
    let mut multipart = Multipart::new(body, boundary);
    let mut form = Form::default();
    for _ in 0..=MAX_PARTS {
        let Some(part) = multipart.next_field().await.map_err(unreadable)? else { return Ok(form) };
        form.take(part, fields, &mut file).await?;
    }
    Err(malformed(format!("The body has more than {MAX_PARTS} parts.")))
}

impl Field {
    const fn max_file_bytes(&self) -> usize {
        match self.kind {
            Kind::File { max_bytes } => max_bytes,
            Kind::Text | Kind::Texts => 0,
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
        Some(Upload { media_type, bytes })
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

    /// Reads one part as the value of its field. Skips an unknown or repeated field and adds a violation. Takes `file`
    /// if the part is the file.
    async fn take(
        &mut self,
        part: multer::Field<'_>,
        fields: &[Field],
        file: &mut Option<Buffer>,
    ) -> Result<(), Problem> {
        let Some(name) = part.name().map(str::to_owned) else {
            return Err(malformed("A part of the body has no name in its Content-Disposition header."));
        };
        let Some(field) = fields.iter().find(|f| f.name == name) else {
            let known: Vec<&str> = fields.iter().map(|f| f.name).collect();
            self.violations.push(unknown("field", &name, &known));
            return skip(part).await;
        };
        if self.has(field.name) && !matches!(field.kind, Kind::Texts) {
            let detail = format!("{} is given more than once", field.name);
            self.violations.push(Violation::new(field.name, Code::Duplicated, detail));
            return skip(part).await;
        }
        match field.kind {
            Kind::File { max_bytes } => {
                let Some(mut buffer) = file.take() else {
                    return Err(Problem::internal("a form has more than one file"));
                };
                if !collect(part, &mut buffer).await? {
                    return Err(file_too_large(field.name, max_bytes));
                }
                self.values.push((field.name, buffer.into_bytes()));
            }
            Kind::Text | Kind::Texts => {
                if let Some(text) = short(part).await? {
                    self.values.push((field.name, text.into()));
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
        match String::from_utf8(self.bytes(name)?.into()) {
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

    /// Takes and parses the values of a list, in any order. Adds a violation for every value that is invalid.
    pub(crate) fn values<T>(
        &mut self,
        name: &'static str,
        read: impl Fn(&str, &str) -> Result<T, Violation>,
    ) -> Vec<T> {
        let mut values = Vec::new();
        while let Some(text) = self.text(name) {
            match read(name, &text) {
                Ok(value) => values.push(value),
                Err(violation) => self.violations.push(violation),
            }
        }
        values
    }

    /// Takes the bytes of a required file. Adds a violation if it is absent or empty.
    pub(crate) fn file(&mut self, name: &'static str) -> Option<Bytes> {
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

    fn bytes(&mut self, name: &str) -> Option<Bytes> {
        let index = self.values.iter().position(|(n, _)| *n == name)?;
        Some(self.values.swap_remove(index).1)
    }
}

/// Reads a file. `false` if it is larger than the buffer may be; then the rest is not read.
async fn collect(mut part: multer::Field<'_>, file: &mut Buffer) -> Result<bool, Problem> {
    while let Some(chunk) = part.chunk().await.map_err(unreadable)? {
        if !file.push(&chunk)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads a text. `None` if it is longer than [`MAX_TEXT_BYTES`]; then the rest is not read.
async fn short(mut part: multer::Field<'_>) -> Result<Option<Vec<u8>>, Problem> {
    let mut text = Vec::new();
    while let Some(chunk) = part.chunk().await.map_err(unreadable)? {
        if text.len() + chunk.len() > MAX_TEXT_BYTES {
            return Ok(None);
        }
        text.extend_from_slice(&chunk);
    }
    Ok(Some(text))
}

/// Reads and discards a part.
async fn skip(mut part: multer::Field<'_>) -> Result<(), Problem> {
    while part.chunk().await.map_err(unreadable)?.is_some() {}
    Ok(())
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

fn unreadable(error: multer::Error) -> Problem {
    let error = match error {
        multer::Error::StreamReadFailed(cause) => match cause.downcast::<Refused>() {
            Ok(refused) => return refused.0,
            Err(cause) => multer::Error::StreamReadFailed(cause),
        },
        other => other,
    };
    tracing::debug!(%error, "cannot read the body");
    match error {
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
