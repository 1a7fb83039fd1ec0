//! What clients get from this server comes in; the same for clients of a proxy that serves it below a path comes out.
//!
//! The proxy takes the path away before it passes a request on. So the routes, the pages and the cookies know nothing of it, and
//! it is put before their paths here, in the headers of every response and in the links of pages. Scripts and style sheets find other
//! files from their own address.

use std::sync::Arc;

use akhar_platform::public_url::PublicUrl;
use axum::{
    body::to_bytes,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse as _, Response},
};

use crate::problems::Problem;

/// How links begin in the HTML of pages. Texts are escaped there, so that they have no quotation marks.
const LINKS: [&str; 3] = ["href=\"/", "src=\"/", "action=\"/"];

/// The path that clients put before each path of this server, such as `/akhar`. Empty if there is none.
#[derive(Debug, Clone, Default)]
pub(crate) struct PublicPath(Arc<str>);

impl From<Option<&PublicUrl>> for PublicPath {
    fn from(url: Option<&PublicUrl>) -> Self {
        Self(url.map_or("", PublicUrl::path).into())
    }
}

impl PublicPath {
    /// A path of this server, as clients ask for it.
    pub(crate) fn of(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    /// Changes the headers of a response: where it leads, and which paths get its cookies.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        if self.0.is_empty() {
            return;
        }
        for (name, before) in [(header::LOCATION, ""), (header::SET_COOKIE, "; Path=")] {
            let header::Entry::Occupied(mut lines) = headers.entry(name) else { continue };
            for line in lines.iter_mut() {
                let changed = line.to_str().ok().and_then(|text| self.put_after(before, text));
                if let Some(changed) = changed {
                    *line = changed;
                }
            }
        }
    }

    /// A header in which this path is put before the one that follows `before`.
    fn put_after(&self, before: &str, text: &str) -> Option<HeaderValue> {
        let at = text.find(before)? + before.len();
        let (start, path) = text.split_at(at);
        path.starts_with('/').then(|| format!("{start}{}{path}", self.0).parse().ok()).flatten()
    }

    /// A page whose links have this path.
    pub(crate) fn page(&self, html: String) -> String {
        if self.0.is_empty() {
            return html;
        }
        LINKS.iter().fold(html, |html, link| {
            let begun = link.trim_end_matches('/');
            html.replace(link, &format!("{begun}{}/", self.0))
        })
    }

    /// A response with a page, or another response as it is. The page is in memory.
    pub(crate) async fn respond(self, response: Response) -> Response {
        let media_type = response.headers().get(header::CONTENT_TYPE);
        if self.0.is_empty() || !media_type.is_some_and(|value| value.as_bytes().starts_with(b"text/html")) {
            return response;
        }
        let (parts, body) = response.into_parts();
        match to_bytes(body, usize::MAX).await.map(|bytes| String::from_utf8(bytes.into())) {
            Ok(Ok(html)) => Response::from_parts(parts, self.page(html).into()),
            _ => Problem::internal("a page is not a text in memory").into_response(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(url: &str) -> PublicPath {
        PublicPath::from(PublicUrl::try_from(url.to_owned()).ok().as_ref())
    }

    fn headers(path: &PublicPath, lines: &[(&'static str, &'static str)]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        path.write(&mut headers);
        headers.values().map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_path_is_put_before_those_of_this_server_alone() {
        let path = below("https://example.org/akhar/");
        let lines = [
            ("location", "/v1/jobs/1"),
            ("set-cookie", "a=/; Path=/ops; HttpOnly"),
            ("set-cookie", "b=1; Path=/; HttpOnly"),
            ("set-cookie", "c=1"),
        ];
        let changed =
            ["/akhar/v1/jobs/1", "a=/; Path=/akhar/ops; HttpOnly", "b=1; Path=/akhar/; HttpOnly", "c=1"];
        assert_eq!(headers(&path, &lines), changed);
        assert_eq!(headers(&path, &[("location", "https://other/v1")]), ["https://other/v1"]);
        let html = "<a href=\"/ops\">/ops</a><a href=\"#a\">href=&quot;/</a><form action=\"/ops/jobs\"><img src=\"/a.svg\">";
        let below_it = "<a href=\"/akhar/ops\">/ops</a><a href=\"#a\">href=&quot;/</a><form action=\"/akhar/ops/jobs\"><img src=\"/akhar/a.svg\">";
        assert_eq!(path.page(html.to_owned()), below_it);
        for root in [PublicPath::default(), below("https://akhar.example.org/")] {
            assert_eq!(headers(&root, &lines), lines.map(|(_, value)| value));
            assert_eq!(root.page(html.to_owned()), html);
        }
    }
}
