//! The Idempotency-Key header (draft-ietf-httpapi-idempotency-key-header): a caller's name for a request that it may
//! repeat.

use akhar_accounts::idempotency::MAX_KEY_CHARACTERS;
use axum::http::HeaderMap;

use super::header::Header;
use crate::problems::{Code, Violation};

/// The header.
pub(crate) const HEADER: Header = Header {
    max_length: Some(MAX_KEY_CHARACTERS),
    pattern: Some(r"^[!#-\[\]-~]+$"),
    ..Header::new(
        "Idempotency-Key",
        "A new id, such as a UUID, for a request that you may repeat. For 24 hours, a request with the same key and the same\n\
         content gets the job of the first one. A request with the same key and other content is refused.",
    )
};

/// The key of a request. `None` if it has none.
///
/// The draft demands a string in quotation marks. A bare word is accepted too, because many clients send one. Both are
/// the same key.
pub(crate) fn read(headers: &HeaderMap) -> Result<Option<String>, Violation> {
    let Some(value) = HEADER.read(headers)? else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    let key = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    let is_key = (1..=MAX_KEY_CHARACTERS).contains(&key.len())
        && !key.trim().is_empty()
        && key.bytes().all(|b| (b' '..=b'~').contains(&b) && b != b'"' && b != b'\\');
    if is_key {
        return Ok(Some(key.to_owned()));
    }
    let length =
        if key.trim().is_empty() { "is empty".to_owned() } else { format!("has {} bytes", value.len()) };
    let detail = format!(
        "{length}, expected 1 to {MAX_KEY_CHARACTERS} visible ASCII characters without quotation marks and backslashes inside"
    );
    Err(HEADER.violation(Code::CharacterNotAllowed, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(lines: &[&[u8]]) -> Result<Option<String>, String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(HEADER.name, (*line).try_into().unwrap());
        }
        read(&headers).map_err(|violation| violation.code)
    }

    #[test]
    fn quoted_and_bare_keys_are_the_same() {
        let id = "8e03978e-40d5-43dd-bc93-6894a57f9324";
        assert_eq!(key(&[]), Ok(None));
        assert_eq!(key(&[b""]), Ok(None));
        assert_eq!(key(&[id.as_bytes()]), Ok(Some(id.to_owned())));
        assert_eq!(key(&[format!("\"{id}\"").as_bytes()]), Ok(Some(id.to_owned())));
        assert_eq!(key(&["x".repeat(255).as_bytes()]).map(|k| k.map(|k| k.len())), Ok(Some(255)));
    }

    #[test]
    fn other_headers_are_violations() {
        let too_long = "x".repeat(256);
        for odd in
            [&b"\"\""[..], b"\" \"", b"\"a", b"a\"b", b"a\\b", b"\xff", "ੳ".as_bytes(), too_long.as_bytes()]
        {
            assert_eq!(key(&[odd]), Err("character_not_allowed".to_owned()), "{odd:?}");
        }
        assert_eq!(key(&[b"a", b"a"]), Err("duplicated".to_owned()));
        let spaces = HeaderMap::from_iter([(HEADER.name.parse().unwrap(), "\"  \"".parse().unwrap())]);
        let detail = read(&spaces).unwrap_err().detail;
        assert!(detail.starts_with("Idempotency-Key is empty, expected 1 to 255 visible"), "{detail}");
    }
}
