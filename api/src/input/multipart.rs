//! Parses a multipart/form-data body (RFC 7578) into the values of its fields.
//!
//! The body is parsed while it arrives, and is not read beyond a limit. A body that cannot be parsed is rejected at
//! once. Violated constraints are collected, so that one response lists all of them.

use axum::{
    extract::Request,
    http::{HeaderMap, header},
};
use multer::Multipart;

use super::{
    body::{ArrivingBody, Refused, malformed},
    field::{File, Slot},
    memory::{BodyMemory, Buffer},
    values::{Sent, Values},
};
use crate::problems::{Code, Problem, ProblemType};

/// The most bytes that a body may have in addition to its files: boundaries, part headers and text fields.
const OVERHEAD: usize = 64 * 1024;
/// The most parts that a body may have.
const MAX_PARTS: usize = 16;
/// The most bytes that a text field may have.
const MAX_TEXT_BYTES: usize = 64;

/// Reads the values of a form from a request's body. One field may be a file, of at most `max_file_bytes`.
pub(super) async fn read(
    request: Request,
    slots: &[Slot],
    max_file_bytes: usize,
    memory: &BodyMemory,
) -> Result<Values, Problem> {
    let (parts, body) = request.into_parts();
    let body = ArrivingBody::new(&parts.headers, body, OVERHEAD + max_file_bytes)?;
    let boundary = boundary(&parts.headers)?;
    let mut file = Some(memory.take(body.announced, max_file_bytes)?);
    let mut multipart = Multipart::new(body, boundary);
    let mut values = Values::default();
    for _ in 0..=MAX_PARTS {
        let Some(part) = multipart.next_field().await.map_err(unreadable)? else { return Ok(values) };
        let Some(name) = part.name() else {
            return Err(malformed("A part of the body has no name in its Content-Disposition header."));
        };
        match values.slot("field", name, slots) {
            None => skip(part).await?,
            Some(slot) if slot.name == File::NAME => {
                let Some(mut buffer) = file.take() else {
                    return Err(Problem::internal("a form has more than one file"));
                };
                if !collect(part, &mut buffer).await? {
                    return Err(Problem::violations(vec![File::too_large(max_file_bytes)]));
                }
                values.add(slot.name, Sent::Bytes(buffer.into_bytes()));
            }
            Some(slot) => {
                let sent = if let Some(text) = short(part).await? {
                    Sent::Bytes(text.into())
                } else {
                    let detail = format!("{} is longer than {MAX_TEXT_BYTES} bytes", slot.name);
                    values.reject(slot.name, Code::TooLong, detail);
                    Sent::Refused
                };
                values.add(slot.name, sent);
            }
        }
    }
    Err(malformed(format!("The body has more than {MAX_PARTS} parts.")))
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
