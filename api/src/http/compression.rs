//! Compresses responses whose clients accept it. What comes in is a whole text, and what goes out is shorter, of a known length.
//!
//! A text is compressed at once, not while it is sent: a compressor for each slow reader would take more memory than the text.

use std::{
    io::{self, Write as _},
    sync::OnceLock,
};

use akhar_platform::blocking::blocking;
use axum::{
    body::{Body, HttpBody as _, to_bytes},
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};

/// Shorter texts are sent as they are: most fit into one packet anyway, and the answers of most operations are among them.
const LEAST_BYTES: usize = 1024;
/// Up to so many bytes, a text is compressed on the thread of its request, which takes about a millisecond.
const MOST_AT_ONCE: usize = 32 * 1024;
/// Of 0 to 11. Higher ones take several times as long.
const BROTLI_QUALITY: u32 = 4;
/// The base-2 logarithm of how many bytes a text may refer back.
const BROTLI_WINDOW: u32 = 18;
/// Of 0 to 9.
const GZIP_LEVEL: u32 = 4;

const VARY: HeaderValue = HeaderValue::from_static("accept-encoding");

/// A content coding (RFC 9110, 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Brotli,
    Gzip,
}

impl Coding {
    /// The coding that a client prefers. `None`: none of these. Of those that it likes as much, the first one.
    pub(crate) fn preferred(headers: &HeaderMap) -> Option<Self> {
        let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
        let items: Vec<(String, f32)> = lines.flat_map(|line| line.split(',')).map(item).collect();
        let named = |name: &str| items.iter().find(|(coding, _)| coding == name).map(|(_, weight)| *weight);
        let weight = |coding: Self| named(coding.name()).or_else(|| named("*")).unwrap_or(0.0);
        let best = if weight(Self::Gzip) > weight(Self::Brotli) { Self::Gzip } else { Self::Brotli };
        let is_wanted = weight(best) > 0.0 && weight(best) >= named("identity").unwrap_or(0.0);
        is_wanted.then_some(best)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    fn encode(self, text: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Brotli => {
                let mut encoder =
                    brotli::CompressorWriter::new(Vec::new(), 4096, BROTLI_QUALITY, BROTLI_WINDOW);
                encoder.write_all(text)?;
                Ok(encoder.into_inner())
            }
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL));
                encoder.write_all(text)?;
                encoder.finish()
            }
        }
    }
}

/// A coding of an Accept-Encoding header, and its weight.
fn item(item: &str) -> (String, f32) {
    let mut parts = item.split(';').map(str::trim);
    let coding = parts.next().unwrap_or_default().to_ascii_lowercase();
    let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    (coding, weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
}

/// A text that is the same for every request, such as a page or a style sheet. It is compressed once.
#[derive(Debug)]
pub(crate) struct Packed {
    plain: Bytes,
    brotli: OnceLock<Bytes>,
    gzip: OnceLock<Bytes>,
}

impl Packed {
    pub(crate) const fn new(plain: Bytes) -> Self {
        Self { plain, brotli: OnceLock::new(), gzip: OnceLock::new() }
    }

    /// The response to a request with these headers.
    pub(crate) fn respond(&self, headers: &HeaderMap, media_type: &'static str) -> Response {
        let (text, coding) = match Coding::preferred(headers).filter(|_| self.plain.len() >= LEAST_BYTES) {
            Some(coding) => (self.encoded(coding), Some((header::CONTENT_ENCODING, coding.name()))),
            None => (self.plain.clone(), None),
        };
        let mut response = ([(header::CONTENT_TYPE, media_type)], text).into_response();
        response.headers_mut().insert(header::VARY, VARY);
        response.headers_mut().extend(coding.map(|(name, coding)| (name, HeaderValue::from_static(coding))));
        response
    }

    /// The bytes with gzip, which every browser takes.
    #[cfg(test)]
    pub(crate) fn n_bytes(&self) -> usize {
        self.encoded(Coding::Gzip).len()
    }

    fn encoded(&self, coding: Coding) -> Bytes {
        let encoded = match coding {
            Coding::Brotli => &self.brotli,
            Coding::Gzip => &self.gzip,
        };
        // Writing to memory does not fail.
        encoded.get_or_init(|| coding.encode(&self.plain).unwrap_or_default().into()).clone()
    }
}

/// The response with its text compressed, if the client accepts that and it is worth it.
pub(crate) async fn compressed(response: Response, coding: Option<Coding>) -> Response {
    if !is_compressible(&response) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    head.headers.append(header::VARY, VARY);
    let Some(coding) = coding else { return Response::from_parts(head, body) };
    // The body is in memory, so reading it does not fail, and neither does writing to memory.
    let text = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let is_short = text.len() <= MOST_AT_ONCE;
    let encode = move || coding.encode(&text).unwrap_or_default();
    let encoded = if is_short { encode() } else { blocking(encode).await };
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    Response::from_parts(head, Body::from(encoded))
}

fn is_compressible(response: &Response) -> bool {
    let headers = response.headers();
    let media_type =
        headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    let is_text = media_type.starts_with("text/")
        || media_type.ends_with("json")
        || media_type == "application/x-subrip";
    // A stream of events has no known length.
    let n_bytes = response.body().size_hint().exact().unwrap_or(0);
    is_text && n_bytes >= LEAST_BYTES as u64 && !headers.contains_key(header::CONTENT_ENCODING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_chooses_the_coding() {
        let preferred = |value: &'static str| {
            Coding::preferred(&HeaderMap::from_iter([(
                header::ACCEPT_ENCODING,
                HeaderValue::from_static(value),
            )]))
        };
        for value in [
            "br",
            "gzip, deflate, br, zstd",
            "gzip;q=0.8, BR",
            "*",
            "gzip;q=0, *;q=0.1",
            "br;q=0.5, identity;q=0.5",
        ] {
            assert_eq!(preferred(value), Some(Coding::Brotli), "{value}");
        }
        for value in
            ["gzip", "deflate, GZIP ; q=1.0", "br;q=0.1, gzip;q=0.2", "*;q=0.5, br;q=0", "gzip;Q=0.5"]
        {
            assert_eq!(preferred(value), Some(Coding::Gzip), "{value}");
        }
        for value in [
            "",
            "identity",
            "deflate, zstd",
            "gzip;q=0",
            "br;q=0.000, gzip;q=x",
            "*;q=0",
            "identity, gzip;q=0.5",
        ] {
            assert_eq!(preferred(value), None, "{value}");
        }
        assert_eq!(Coding::preferred(&HeaderMap::new()), None);
    }
}
