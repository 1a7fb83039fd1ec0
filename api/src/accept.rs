//! Content negotiation (RFC 9110, 12.5.1): an Accept header comes in, whether a type is acceptable goes out.

use axum::http::{HeaderMap, header};

/// Whether the caller takes `offer`, such as `application/json`. No Accept header takes everything.
pub(crate) fn accepts(headers: &HeaderMap, offer: &str) -> bool {
    let lines = headers.get_all(header::ACCEPT);
    let ranges = || lines.iter().filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(',')).map(str::trim);
    if !ranges().any(|r| !r.is_empty()) {
        return lines.iter().all(|v| v.to_str().is_ok());
    }
    // The most specific range that matches decides.
    ranges()
        .filter_map(|r| weigh(r, offer))
        .max_by_key(|(specificity, _)| *specificity)
        .is_some_and(|(_, q)| q > 0.0)
}

/// How specifically a media range names `offer`, and how much it is wanted.
fn weigh(range: &str, offer: &str) -> Option<(u8, f32)> {
    let mut parameters = range.split(';').map(str::trim);
    let (kind, subkind) = parameters.next()?.split_once('/')?;
    let (offer_kind, offer_subkind) = offer.split_once('/')?;
    let specificity = match (kind, subkind) {
        ("*", "*") => 0,
        (k, "*") if k.eq_ignore_ascii_case(offer_kind) => 1,
        (k, s) if k.eq_ignore_ascii_case(offer_kind) && s.eq_ignore_ascii_case(offer_subkind) => 2,
        _ => return None,
    };
    let q = parameters.find_map(|p| p.strip_prefix("q=").or_else(|| p.strip_prefix("Q=")));
    Some((specificity, q.map_or(1.0, |q| q.parse().unwrap_or(0.0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(lines: &[&[u8]]) -> bool {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::ACCEPT, (*line).try_into().unwrap());
        }
        accepts(&headers, "application/json")
    }

    #[test]
    fn absent_and_matching_headers_accept() {
        assert!(json(&[]) && json(&[b""]));
        for yes in [
            "*/*",
            "application/*",
            "application/json",
            "Application/JSON; charset=utf-8",
            "text/html, */*;q=0.1",
            "text/html,application/json;q=0.5",
            "application/json;q=1.000",
        ] {
            assert!(json(&[yes.as_bytes()]), "{yes}");
        }
        assert!(json(&[b"text/html", b"application/json"]));
    }

    #[test]
    fn others_do_not() {
        for no in [
            "text/html",
            "image/*",
            "application/json;q=0",
            "*/*;q=0",
            "application/json;q=0, */*",
            "json",
            "*",
            "application/xml;q=1, application/json;q=x",
        ] {
            assert!(!json(&[no.as_bytes()]), "{no}");
        }
        assert!(!json(&[b"\xff\xfe"]));
    }
}
