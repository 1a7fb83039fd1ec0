//! multipart/form-data (RFC 7578): a request comes in; each field's bytes, within bounds, go out.
//!
//! The body is read as it arrives and never past a bound. What cannot be read at all is a problem at
//! once; what can be read but breaks a constraint is collected, so that a caller hears of all of it.

use akhar_jobs::{MediaType, Upload};
use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, header},
};
use multer::{Constraints, Multipart, SizeLimit};

use super::{
    body::{Arriving, malformed},
    fields::{Field, Kind, quoted, unknown},
};
use crate::problems::{Code, Problem, ProblemType, Violation};

/// Bytes a body may have beyond its files: boundaries, part headers, text fields.
const OVERHEAD: usize = 64 * 1024;
/// Parts a body may have.
const MAX_PARTS: usize = 16;
/// Bytes a text field may have.
const MAX_TEXT_BYTES: usize = 64;

/// The fields of a form, at most one value each.
#[derive(Debug, Default)]
pub(crate) struct Form {
    values: Vec<(&'static str, Vec<u8>)>,
    /// Fields that came but are already known to be wrong.
    spoilt: Vec<&'static str>,
    /// What is wrong with it so far.
    pub(crate) violations: Vec<Violation>,
}

/// Reads the form a request carries, of these fields.
pub(crate) async fn read(request: Request, fields: &[Field]) -> Result<Form, Problem> {
    let (parts, body) = request.into_parts();
    let max_bytes = OVERHEAD + fields.iter().map(Field::max_file_bytes).sum::<usize>();
    let arriving = Arriving::begin(&parts.headers, max_bytes)?;
    let mut multipart = open(body, boundary(&parts.headers)?, max_bytes);
    let mut form = Form::default();
    for _ in 0..=MAX_PARTS {
        let Some(part) = arriving.of(multipart.next_field()).await? else { return Ok(form) };
        form.take(arriving, part, fields).await?;
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
    /// The file in a field, where its first bytes are of a type that is taken; else what they are not is
    /// noted.
    pub(crate) fn upload(
        &mut self,
        name: &'static str,
        sniff: impl FnOnce(&[u8]) -> Option<MediaType>,
        taken: &str,
    ) -> Option<Upload> {
        let bytes = self.file(name)?;
        let Some(media_type) = sniff(&bytes) else {
            let detail = format!("{name} begins like neither {taken}");
            self.violations.push(Violation::new(name, Code::UnsupportedMediaType, detail));
            return None;
        };
        Some(Upload { media_type, bytes: bytes.into() })
    }

    /// A field's value, or its default where it is absent or wrong; what is wrong is noted.
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

    /// Reads one part: into its field, or past it.
    async fn take(
        &mut self,
        arriving: Arriving,
        part: multer::Field<'_>,
        fields: &[Field],
    ) -> Result<(), Problem> {
        let Some(name) = part.name().map(str::to_owned) else {
            return Err(malformed("A part of the body has no name."));
        };
        let Some(field) = fields.iter().find(|f| f.name == name) else {
            let known: Vec<&str> = fields.iter().map(|f| f.name).collect();
            self.violations.push(unknown("field", &name, &known));
            return arriving.skip(part).await;
        };
        if self.has(field.name) {
            let detail = format!("{} is given more than once", field.name);
            self.violations.push(Violation::new(field.name, Code::Duplicated, detail));
            return arriving.skip(part).await;
        }
        match field.kind {
            Kind::File { max_bytes } => {
                let file = arriving.collect(part, max_bytes).await?;
                self.values.push((field.name, file.ok_or_else(|| file_too_large(field.name, max_bytes))?));
            }
            Kind::Text => {
                if let Some(text) = arriving.collect(part, MAX_TEXT_BYTES).await? {
                    self.values.push((field.name, text));
                } else {
                    let detail = format!("{} has more than {MAX_TEXT_BYTES} bytes", field.name);
                    self.spoil(Violation::new(field.name, Code::TooLong, detail), field.name);
                }
            }
        }
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        self.spoilt.contains(&name) || self.values.iter().any(|(n, _)| *n == name)
    }

    fn spoil(&mut self, violation: Violation, name: &'static str) {
        self.violations.push(violation);
        self.spoilt.push(name);
    }

    /// A text field's value, if the caller gave a readable one.
    pub(crate) fn text(&mut self, name: &'static str) -> Option<String> {
        match String::from_utf8(self.bytes(name)?) {
            Ok(text) => Some(text),
            Err(e) => {
                let came = quoted(&String::from_utf8_lossy(e.as_bytes()));
                self.spoil(
                    Violation::new(name, Code::NotUtf8, format!("{name} is {came}, which is not UTF-8")),
                    name,
                );
                None
            }
        }
    }

    /// A required file's bytes; its absence or emptiness is noted.
    pub(crate) fn file(&mut self, name: &'static str) -> Option<Vec<u8>> {
        let is_spoilt = self.spoilt.contains(&name);
        let (code, detail) = match self.bytes(name) {
            Some(bytes) if bytes.is_empty() => (Code::Empty, format!("{name} has no bytes")),
            Some(bytes) => return Some(bytes),
            None if is_spoilt => return None,
            None => (Code::Missing, format!("{name} is required")),
        };
        self.violations.push(Violation::new(name, code, detail));
        None
    }

    fn bytes(&mut self, name: &str) -> Option<Vec<u8>> {
        let place = self.values.iter().position(|(n, _)| *n == name)?;
        Some(self.values.swap_remove(place).1)
    }
}

fn open(body: Body, boundary: String, max_bytes: usize) -> Multipart<'static> {
    let limit = SizeLimit::new().whole_stream(max_bytes as u64);
    Multipart::with_constraints(body.into_data_stream(), boundary, Constraints::new().size_limit(limit))
}

impl Arriving {
    /// The next piece, in time.
    async fn of<T>(self, piece: impl Future<Output = multer::Result<T>>) -> Result<T, Problem> {
        self.in_time(piece).await?.map_err(|error| unreadable(&error, self))
    }

    /// A part's bytes. `None`: they are more than `max_bytes`, and the rest of them is unread.
    async fn collect(
        self,
        mut part: multer::Field<'_>,
        max_bytes: usize,
    ) -> Result<Option<Vec<u8>>, Problem> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.of(part.chunk()).await? {
            if bytes.len() + chunk.len() > max_bytes {
                return Ok(None);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Some(bytes))
    }

    /// Reads past a part.
    async fn skip(self, mut part: multer::Field<'_>) -> Result<(), Problem> {
        while self.of(part.chunk()).await?.is_some() {}
        Ok(())
    }
}

fn boundary(headers: &HeaderMap) -> Result<String, Problem> {
    let unsupported = || {
        Problem::of(ProblemType::UnsupportedContentType).detailed("This operation reads multipart/form-data.")
    };
    let content_type = headers.get(header::CONTENT_TYPE).ok_or_else(unsupported)?;
    match multer::parse_boundary(content_type.to_str().map_err(|_| unsupported())?) {
        Ok(boundary) => Ok(boundary),
        Err(multer::Error::NoBoundary) => Err(malformed("The Content-Type names no boundary.")),
        Err(_) => Err(unsupported()),
    }
}

fn file_too_large(name: &str, max_bytes: usize) -> Problem {
    let detail = format!("{name} has more than {max_bytes} bytes");
    Problem::violations(vec![Violation::new(name, Code::TooLarge, detail)])
}

fn unreadable(error: &multer::Error, arriving: Arriving) -> Problem {
    tracing::debug!(%error, "a body that cannot be read");
    match error {
        multer::Error::StreamSizeExceeded { .. } => arriving.too_large(),
        multer::Error::IncompleteStream | multer::Error::IncompleteFieldData { .. } => {
            malformed("The body ends before its closing boundary.")
        }
        multer::Error::LockFailure => Problem::internal(error),
        _ => malformed("A part of the body cannot be read."),
    }
}

#[cfg(test)]
#[path = "multipart_tests.rs"]
mod tests;
