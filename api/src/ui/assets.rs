//! `GET /assets/{version}/{name}`: style sheets, scripts, fonts and pictures of the pages. They are part of the program. The
//! version is a hash of all of them, so that a browser keeps a file for ever, and gets another one when the program has another.

use std::sync::LazyLock;

use axum::{
    extract::Path,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::{
    http::compression::Packed,
    problems::{Problem, ProblemType},
};

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
        "playground/js/docs.js" "playground/js/dom.js" "playground/js/example.js" "playground/js/json.js" "playground/js/schema.js" "playground/js/draw.js" "playground/js/events.js" "playground/js/ink.js" "playground/js/live.js"
        "playground/js/jobs.js" "playground/js/key.js" "playground/js/keyboard.js" "playground/js/main.js"
        "playground/js/page.js" "playground/js/parameters.js" "playground/js/picture.js" "playground/js/problem.js"
        "playground/js/recorder.js" "playground/js/segments.js" "playground/js/speak.js" "playground/js/subtitles.js"
        "playground/js/tap.js" "playground/js/warnings.js" "playground/js/wav.js" "playground/js/write.js";
    FONT: "fonts/anek-gurmukhi.woff2" "fonts/anek-latin.woff2";
    PICTURE: "icon.svg";
    SOUND: "playground/sample.mp3";
}

/// A file that can be sent.
struct Asset {
    name: &'static str,
    media_type: &'static str,
    content: Content,
}

enum Content {
    Text(Packed),
    /// What is compressed already.
    Other(Bytes),
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let asset = |&(media_type, path, bytes): &(&'static str, &'static str, &'static [u8])| {
        let plain = Bytes::from_static(bytes);
        let is_text = [STYLE, SCRIPT, PICTURE].contains(&media_type);
        let content = if is_text { Content::Text(Packed::new(plain)) } else { Content::Other(plain) };
        Asset { name: path.rsplit('/').next().unwrap_or(path), media_type, content }
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
    let mut response = match &asset.content {
        Content::Text(text) => text.respond(&headers, asset.media_type),
        Content::Other(bytes) => ([(header::CONTENT_TYPE, asset.media_type)], bytes.clone()).into_response(),
    };
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
    fn no_two_files_have_one_name() {
        let names: BTreeSet<_> = ASSETS.iter().map(|asset| asset.name).collect();
        assert_eq!(names.len(), FILES.len());
    }

    #[test]
    fn code_is_in_the_typefaces_that_have_gurmukhi() {
        let styles = FILES.iter().filter(|(media_type, ..)| *media_type == STYLE);
        let text: String = styles.map(|(.., bytes)| std::str::from_utf8(bytes).unwrap()).collect();
        let named: Vec<&str> = text.split(';').filter(|rule| rule.contains("monospace")).collect();
        assert!(
            matches!(named[..], [only] if only.contains("--code:") && only.ends_with("\"Anek\"")),
            "{named:?}"
        );
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
            let size = |asset: &Asset| match &asset.content {
                Content::Text(text) => text.n_bytes(),
                Content::Other(bytes) => bytes.len(),
            };
            sizes.map(size).sum::<usize>()
        };
        assert!(n_bytes(|asset| asset.media_type != FONT) < 150 * 1024);
        assert!(n_bytes(|asset| asset.media_type == FONT) <= 100 * 1024);
    }
}
