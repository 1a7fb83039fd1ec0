//! Content negotiation (RFC 9110, 12.5.1): parses the Accept header and picks the representation that the caller
//! prefers.

use axum::http::{HeaderMap, header};

use super::representation::Representation;

/// The media types that a caller accepts.
#[derive(Debug, Clone)]
pub(crate) enum Accept {
    /// Any type, because there is no Accept header.
    Anything,
    /// The media ranges of the header. Ranges that cannot be parsed are left out.
    Ranges(Vec<Range>),
}

/// A range of media types with its weight, such as `image/*;q=0.5`.
#[derive(Debug, Clone)]
pub(crate) struct Range {
    kind: String,
    subkind: String,
    q: f32,
}

/// How much a type is preferred: its `q`, then the specificity of the range that matches it.
type Weight = (f32, u8);

impl Accept {
    /// Parses all Accept headers of a request.
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(header::ACCEPT);
        let ranges = lines.iter().filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(',')).map(str::trim);
        let ranges: Vec<&str> = ranges.filter(|r| !r.is_empty()).collect();
        if ranges.is_empty() && lines.iter().all(|v| v.to_str().is_ok()) {
            return Self::Anything;
        }
        Self::Ranges(ranges.into_iter().filter_map(Range::read).collect())
    }

    /// The representation that the caller prefers, or the first of several that it prefers equally. `None` if it
    /// accepts none of them.
    pub(crate) fn preferred(&self, offers: &[Representation]) -> Option<Representation> {
        let mut best: Option<(Weight, Representation)> = None;
        for offer in offers {
            let weight = self.weigh(offer.media_type());
            if weight.0 > 0.0 && best.is_none_or(|(most, _)| weight > most) {
                best = Some((weight, *offer));
            }
        }
        best.map(|(_, offer)| offer)
    }

    fn weigh(&self, offer: &str) -> Weight {
        match self {
            Self::Anything => (1.0, 0),
            Self::Ranges(ranges) => {
                // The most specific range that matches decides.
                let matching = ranges.iter().filter_map(|r| Some((r.specificity(offer)?, r.q)));
                matching.max_by_key(|(specificity, _)| *specificity).map_or((0.0, 0), |(s, q)| (q, s))
            }
        }
    }
}

impl Range {
    fn read(text: &str) -> Option<Self> {
        let mut parameters = text.split(';').map(str::trim);
        let (kind, subkind) = parameters.next()?.split_once('/')?;
        let q = parameters.find_map(|p| p.strip_prefix("q=").or_else(|| p.strip_prefix("Q=")));
        let q = q.map_or(1.0, |q| q.parse().ok().filter(|q| (0.0..=1.0).contains(q)).unwrap_or(0.0));
        Some(Self { kind: kind.to_ascii_lowercase(), subkind: subkind.to_ascii_lowercase(), q })
    }

    /// How specifically the range names `offer`: 0 for `*/*`, 2 for the exact type. `None` if it does not match.
    fn specificity(&self, offer: &str) -> Option<u8> {
        let (kind, subkind) = offer.split_once('/')?;
        match (self.kind.as_str(), self.subkind.as_str()) {
            ("*", "*") => Some(0),
            (k, "*") if k == kind => Some(1),
            (k, s) if k == kind && s == subkind => Some(2),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(lines: &[&[u8]]) -> Accept {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::ACCEPT, (*line).try_into().unwrap());
        }
        Accept::read(&headers)
    }

    fn json(lines: &[&[u8]]) -> bool {
        accept(lines).preferred(Representation::JSON).is_some()
    }

    #[test]
    fn absent_and_matching_headers_accept_json() {
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
    fn other_headers_do_not_accept_json() {
        for no in [
            "text/html",
            "image/*",
            "application/json;q=0",
            "*/*;q=0",
            "application/json;q=0, */*",
            "json",
            "*",
            "application/xml;q=1, application/json;q=x",
            "application/json;q=nan",
        ] {
            assert!(!json(&[no.as_bytes()]), "{no}");
        }
        assert!(!json(&[b"\xff\xfe"]));
    }

    #[test]
    fn the_preferred_type_is_chosen_and_of_equals_the_first() {
        let taken = |lines: &[&[u8]]| {
            accept(lines).preferred(Representation::PICTURE).map(Representation::media_type)
        };
        assert_eq!(taken(&[]), Some("image/png"));
        for (line, expected) in [
            ("*/*", Some("image/png")),
            ("image/*", Some("image/png")),
            ("image/png, application/json", Some("image/png")),
            ("application/json, image/png", Some("image/png")),
            ("application/*, image/*", Some("image/png")),
            ("application/json", Some("application/json")),
            ("application/json, */*", Some("application/json")),
            ("application/json, image/*", Some("application/json")),
            ("application/json;q=0.5, image/png;q=0.4", Some("application/json")),
            ("application/json;q=0.5, */*", Some("image/png")),
            ("image/png;q=0, */*;q=0.1", Some("application/json")),
            ("text/html, image/jpeg", None),
        ] {
            assert_eq!(taken(&[line.as_bytes()]), expected, "{line}");
        }
    }
}
