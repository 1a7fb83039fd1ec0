//! `GET /assets/{version}/{name}`: style sheets, scripts, fonts and pictures of the pages. They are part of the program. The
//! version is a hash of all of them, so that a browser keeps a file for ever, and gets another one when the program has another.

use std::{io::Write as _, sync::LazyLock};

use axum::{
    extract::Path,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use sha2::{Digest as _, Sha256};

use crate::problems::{Problem, ProblemType};

/// The route of the files.
pub(super) const ROUTE: &str = "/assets/{version}/{name}";

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const FONT: &str = "font/woff2";

macro_rules! files {
    ($($media_type:ident: $($path:literal)+;)+) => {
        /// The media type, the path in this folder and the content of each file.
        const FILES: &[(&str, &str, &[u8])] = &[$($(($media_type, $path, include_bytes!($path)),)+)+];
    };
}

const PICTURE: &str = "image/svg+xml";
const SOUND: &str = "audio/mpeg";

files! {
    STYLE: "base.css" "ops/ops.css" "problems.css" "playground/css/docs.css" "playground/css/page.css" "playground/css/panels.css";
    SCRIPT: "ops/ops.js" "playground/js/api.js" "playground/js/bars.js" "playground/js/code.js" "playground/js/data.js"
        "playground/js/docs.js" "playground/js/dom.js" "playground/js/example.js" "playground/js/json.js" "playground/js/schema.js" "playground/js/draw.js" "playground/js/events.js" "playground/js/ink.js"
        "playground/js/jobs.js" "playground/js/key.js" "playground/js/keyboard.js" "playground/js/main.js"
        "playground/js/page.js" "playground/js/parameters.js" "playground/js/picture.js" "playground/js/problem.js"
        "playground/js/recorder.js" "playground/js/segments.js" "playground/js/speak.js" "playground/js/subtitles.js"
        "playground/js/tap.js" "playground/js/warnings.js" "playground/js/wav.js" "playground/js/write.js";
    FONT: "fonts/anek-gurmukhi.woff2" "fonts/anek-latin.woff2";
    PICTURE: "icon.svg";
    SOUND: "playground/sample.mp3";
}

/// Text, such as a page or a style sheet, as it is and compressed.
#[derive(Debug)]
pub(super) struct Packed {
    plain: Bytes,
    gzip: Option<Bytes>,
}

impl Packed {
    /// An empty text.
    pub(super) const fn empty() -> Self {
        Self { plain: Bytes::new(), gzip: None }
    }

    /// Packs a text. A client that does not accept gzip gets it as it is.
    pub(super) fn new(text: Bytes) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let gzip = encoder.write_all(&text).and_then(|()| encoder.finish());
        Self { plain: text, gzip: gzip.ok().map(Bytes::from) } // writing to memory does not fail
    }

    /// The response to a request with these headers.
    pub(super) fn respond(&self, headers: &HeaderMap, media_type: &'static str) -> Response {
        let vary = (header::VARY, "accept-encoding");
        match &self.gzip {
            Some(gzip) if accepts_gzip(headers) => {
                let encoding = (header::CONTENT_ENCODING, "gzip");
                ([(header::CONTENT_TYPE, media_type), encoding, vary], gzip.clone()).into_response()
            }
            _ => ([(header::CONTENT_TYPE, media_type), vary], self.plain.clone()).into_response(),
        }
    }
}

/// Whether a client accepts gzip (RFC 9110, 12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|coding| coding.eq_ignore_ascii_case("gzip"));
        is_gzip
            && parts
                .find_map(|part| part.strip_prefix("q="))
                .is_none_or(|q| q.parse::<f32>().is_ok_and(|q| q > 0.0))
    })
}

/// A file that can be sent.
struct Asset {
    name: &'static str,
    media_type: &'static str,
    packed: Packed,
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let asset = |&(media_type, path, bytes): &(&'static str, &'static str, &'static [u8])| {
        let plain = Bytes::from_static(bytes);
        let is_text = [STYLE, SCRIPT, PICTURE].contains(&media_type);
        let packed = if is_text { Packed::new(plain) } else { Packed { plain, gzip: None } };
        Asset { name: path.rsplit('/').next().unwrap_or(path), media_type, packed }
    };
    FILES.iter().map(asset).collect()
});

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for (_, path, bytes) in FILES {
        hash.update(path);
        hash.update(bytes);
    }
    hex::encode(hash.finalize()).chars().take(12).collect()
});

/// The folder of the files.
pub(super) fn folder() -> String {
    format!("/assets/{}", *VERSION)
}

/// The path of a file.
pub(super) fn path(name: &str) -> String {
    format!("{}/{name}", folder())
}

/// The names of the files below a folder of this one.
pub(super) fn names(folder: &'static str) -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(move |(_, path, _)| path.strip_prefix(folder))
}

/// Answers with a file.
pub(super) async fn handle(
    Path((version, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let found = ASSETS.iter().find(|asset| asset.name == name).filter(|_| version == *VERSION);
    let asset = found.ok_or(Problem::of(ProblemType::NotFound))?;
    let mut response = asset.packed.respond(&headers, asset.media_type);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_accept_it() {
        let accepts = |value: &str| {
            accepts_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, value.parse().unwrap())]))
        };
        for value in ["gzip", "br, GZIP;q=0.5", "deflate,gzip;q=1"] {
            assert!(accepts(value), "{value}");
        }
        for value in ["", "br", "gzip;q=0", "gzip;q=0.000", "identity"] {
            assert!(!accepts(value), "{value}");
        }
    }

    #[test]
    fn no_two_files_have_one_name() {
        let names: BTreeSet<_> = ASSETS.iter().map(|asset| asset.name).collect();
        assert_eq!(names.len(), FILES.len());
    }

    #[test]
    fn scripts_find_the_service_from_their_own_address() {
        for (_, path, bytes) in FILES.iter().filter(|(media_type, ..)| *media_type == SCRIPT) {
            let text = std::str::from_utf8(bytes).unwrap();
            for call in ["fetch(", "EventSource(", "import(", "href: ", "src: "] {
                let is_absolute = |rest: &str| rest.starts_with(['"', '`']) && rest[1..].starts_with('/');
                assert!(!text.split(call).skip(1).any(is_absolute), "{path}: {call}");
            }
        }
    }

    #[test]
    fn the_playground_is_small() {
        let n_bytes = |is_counted: fn(&Asset) -> bool| {
            let sizes = ASSETS.iter().filter(|asset| is_counted(asset));
            sizes.map(|asset| asset.packed.gzip.as_ref().unwrap_or(&asset.packed.plain).len()).sum::<usize>()
        };
        assert!(n_bytes(|asset| asset.media_type != FONT) < 150 * 1024);
        assert!(n_bytes(|asset| asset.media_type == FONT) <= 100 * 1024);
    }
}
