//! Parses a multipart/form-data body (RFC 7578) into the values of its fields.
//!
//! The body is parsed while it arrives, and is not read beyond a limit. A body that cannot be parsed is rejected at
//! once. Violated constraints are collected, so that one response lists all of them.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, header},
};

use super::{
    body::{ArrivingBody, MAX_PIECE_BYTES, malformed},
    field::{File, Slot},
    memory::BodyMemory,
    parts::{MAX_HEAD_BYTES, Parts, parameter},
    values::{Sent, Values},
};
use crate::problems::{Code, Problem, ProblemType};

/// The most bytes that a body may have in addition to its files: boundaries, part headers and text fields.
const OVERHEAD: usize = 64 * 1024;
/// The most parts that a body may have, besides twice the values that its lists may have.
const MAX_PARTS: usize = 16;

/// The most bytes of a recording that is sent to the OpenAI-compatible routes, as for OpenAI's own.
pub(crate) const MAX_AUDIO_BYTES: usize = 25 * 1024 * 1024;

/// The most bytes of a file whose request fits into so much memory.
pub(crate) const fn largest_file(n_bytes: usize) -> usize {
    n_bytes.saturating_sub(MAX_PIECE_BYTES + MAX_HEAD_BYTES)
}

/// Reads the values of a form from a request's body. One field may be the file, of at most `max_file_bytes`.
pub(super) async fn read(
    request: Request,
    slots: &[Slot],
    file_field: &File,
    max_file_bytes: usize,
    memory: &BodyMemory,
) -> Result<Values, Problem> {
    let (head, body) = request.into_parts();
    let body = ArrivingBody::new(
        &head.headers,
        body,
        OVERHEAD + max_file_bytes,
        file_field.limit(max_file_bytes),
        memory,
    )?;
    let boundary = boundary(&head.headers)?;
    let mut file = Some(memory.take(body.announced, max_file_bytes)?);
    let mut parts = Parts::begin(body, &boundary, memory).await?;
    let mut values = Values::default();
    let n_lists: usize = slots.iter().filter_map(|slot| slot.max_values).sum();
    let max_parts = MAX_PARTS + 2 * n_lists;
    for _ in 0..=max_parts {
        let Some(name) = parts.next().await? else { return Ok(values) };
        match values.slot("field", &name, slots) {
            None => parts.data(|_| Ok(())).await?,
            Some(slot) if slot.name == File::NAME => {
                let Some(mut buffer) = file.take() else {
                    return Err(Problem::internal("a form has more than one file"));
                };
                parts
                    .data(|bytes| {
                        let too_large = || Problem::from(file_field.too_large(max_file_bytes));
                        buffer.push(bytes)?.then_some(()).ok_or_else(too_large)
                    })
                    .await?;
                values.add(slot.name, Sent::Bytes(buffer.into_bytes()));
            }
            Some(slot) => {
                let sent = match text(&mut parts, slot.max_bytes).await? {
                    // HTML forms and some clients send it for a field without a value.
                    Some(text) if text.is_empty() => continue,
                    Some(text) => Sent::Bytes(text.into()),
                    None => {
                        let detail = format!("{} is longer than {} bytes", slot.name, slot.max_bytes);
                        values.reject(slot.name, Code::TooLong, detail);
                        Sent::Refused
                    }
                };
                values.add(slot.name, sent);
            }
        }
    }
    Err(malformed(format!("The body has more than {max_parts} parts.")))
}

/// Reads a text. `None` if it is longer than `max_bytes`.
async fn text(parts: &mut Parts, max_bytes: usize) -> Result<Option<Vec<u8>>, Problem> {
    let mut text = Some(Vec::new());
    parts
        .data(|bytes| {
            text = text.take().filter(|text| text.len() + bytes.len() <= max_bytes);
            if let Some(text) = &mut text {
                text.extend_from_slice(bytes);
            }
            Ok(())
        })
        .await?;
    Ok(text)
}

/// The boundary of a body. Clients also send boundaries without quotation marks that have characters which need them.
fn boundary(headers: &HeaderMap) -> Result<String, Problem> {
    let sent = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let content_type = String::from_utf8_lossy(sent);
    let essence = content_type.split(';').next().unwrap_or_default();
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return Err(Problem::of(ProblemType::UnsupportedContentType)
            .with_detail("This operation accepts only the Content-Type multipart/form-data."));
    }
    parameter("boundary", &content_type)
        .ok_or_else(|| malformed("The Content-Type multipart/form-data has no boundary parameter."))
}

#[cfg(test)]
#[path = "multipart_tests.rs"]
mod tests;
