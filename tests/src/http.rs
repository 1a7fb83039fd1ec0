//! Makes requests, valid and invalid ones, and checks what every answer must have.

use std::{collections::BTreeSet, fmt::Write as _, time::Duration};

use bytes::Bytes;
use image::{DynamicImage, ImageFormat};
use reqwest::header::HeaderMap;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};
use uuid::Uuid;

use crate::TIMEOUT;

/// A multipart form. It is written by hand, so that it can also be invalid.
#[derive(Debug, Clone)]
pub struct Form {
    boundary: &'static str,
    body: Vec<u8>,
}

impl Default for Form {
    fn default() -> Self {
        Self { boundary: "akhar-tests-boundary", body: Vec::new() }
    }
}

impl Form {
    /// A form with one file in the field `file`.
    pub fn upload(file: &[u8]) -> Self {
        Self::default().file("file", file)
    }

    /// A form with a file in the field `file` and one more field.
    pub fn upload_and(file: &[u8], name: &str, value: &str) -> Self {
        Self::upload(file).text(name, value)
    }

    /// Adds a file field.
    #[must_use]
    pub fn file(self, name: &str, bytes: &[u8]) -> Self {
        let head = format!("name=\"{name}\"; filename=\"image\"\r\nContent-Type: application/octet-stream");
        self.part(&head, bytes)
    }

    /// Adds a text field.
    #[must_use]
    pub fn text(self, name: &str, value: &str) -> Self {
        self.part(&format!("name=\"{name}\""), value.as_bytes())
    }

    /// Adds a part. `head` is written after `Content-Disposition: form-data; `, and can hold more headers.
    #[must_use]
    pub fn part(mut self, head: &str, bytes: &[u8]) -> Self {
        let head = format!("--{}\r\nContent-Disposition: form-data; {head}\r\n\r\n", self.boundary);
        self.body.extend(head.as_bytes());
        self.body.extend(bytes);
        self.body.extend(b"\r\n");
        self
    }

    /// The form's `Content-Type`.
    pub fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }

    /// The form's bytes with the closing boundary.
    pub fn body(&self) -> Vec<u8> {
        [&self.body, format!("--{}--\r\n", self.boundary).as_bytes()].concat()
    }

    /// A request with this form as its body.
    pub fn send_with(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        request.header("content-type", self.content_type()).body(self.body())
    }

    /// The form's bytes without the closing boundary.
    pub fn unended_body(&self) -> Vec<u8> {
        self.body.clone()
    }
}

/// An HTTP client. It uses plain HTTP only, but the product builds reqwest with TLS, and then every process
/// must install a cryptography provider.
pub fn client() -> reqwest::Client {
    // An error means that a provider is already installed.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::new()
}

/// A response.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// Sends a request. Panics when there is no answer.
pub async fn send(request: reqwest::RequestBuilder) -> Answer {
    try_send(request).await.expect("an answer")
}

/// Sends a request to a service that may be stopping.
pub async fn try_send(request: reqwest::RequestBuilder) -> Result<Answer, reqwest::Error> {
    let response = request.timeout(Duration::from_secs(60)).send().await?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = response.bytes().await?;
    Ok(Answer { status, headers, body })
}

impl Answer {
    /// The value of a header, or an empty text if there is no such header.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("ASCII"))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{} is not JSON ({e}): {text}", self.status))
    }

    /// The labels and scores of a 200 answer. Checks that they are sorted by score, the highest first.
    pub fn predictions(&self) -> Vec<(String, f64)> {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("content-type"), "application/json");
        let json = self.json();
        let list = json["predictions"].as_array().unwrap_or_else(|| panic!("no predictions: {json}"));
        let predictions: Vec<_> = list
            .iter()
            .map(|p| {
                (p["label"].as_str().expect("a label").to_owned(), p["score"].as_f64().expect("a score"))
            })
            .collect();
        assert!(predictions.iter().all(|(_, score)| (0.0..=1.0).contains(score)), "{json}");
        assert!(predictions.is_sorted_by(|a, b| a.1 >= b.1), "the highest score comes first: {json}");
        predictions
    }

    /// The strokes of a 200 answer in JSON.
    pub fn strokes(&self) -> Vec<Stroke> {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("content-type"), "application/json");
        strokes(&self.json()["points"])
    }

    /// The picture of a 200 answer that is a PNG.
    pub fn picture(&self) -> DynamicImage {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("content-type"), "image/png");
        assert_eq!(self.header("content-length"), self.body.len().to_string());
        picture(&self.body)
    }

    /// The job's id of a 202 answer. Checks that it is in the body and in `Location`.
    pub fn job(&self) -> Uuid {
        assert_eq!(self.status, 202, "{}", String::from_utf8_lossy(&self.body));
        let id = self.json()["id"].as_str().and_then(|id| id.parse().ok()).expect("a job's id");
        assert_eq!(self.header("location"), format!("/v1/jobs/{id}"));
        assert!(!self.header("retry-after").is_empty(), "a 202 has Retry-After");
        id
    }

    /// The problem document of an error with this status. Checks everything about it that does not depend on
    /// the request.
    pub fn problem(&self, status: u16) -> Problem {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{text}");
        assert_eq!(self.header("content-type"), "application/problem+json", "{text}");
        let json = self.json();
        assert_eq!(json["status"], status, "{text}");
        for name in ["type", "title", "detail", "instance", "request_id"] {
            assert!(json[name].as_str().is_some_and(|v| !v.is_empty()), "{name} is missing: {text}");
        }
        assert_eq!(json["request_id"], self.header("x-request-id"), "{text}");
        let slug = json["type"].as_str().and_then(|t| t.strip_prefix("/problems/"));
        Problem { slug: slug.unwrap_or_else(|| panic!("type: {text}")).to_owned(), json }
    }

    /// The pairs of field and code of an error with this status.
    pub fn errors(&self, status: u16) -> BTreeSet<(String, String)> {
        self.problem(status).errors()
    }
}

/// The points of a stroke, each with its x (to the right) and y (down).
pub type Stroke = Vec<(f64, f64)>;

/// The strokes of a `points` object. Checks that x and y have the same shape, and that numbers have at most
/// two decimals.
pub fn strokes(points: &Value) -> Vec<Stroke> {
    let axis = |name: &str| -> Vec<Vec<f64>> {
        let strokes = points[name].as_array().unwrap_or_else(|| panic!("no {name}: {points}"));
        let numbers = |stroke: &Value| -> Vec<f64> {
            let numbers = stroke.as_array().unwrap_or_else(|| panic!("no stroke: {stroke}"));
            numbers.iter().map(|n| n.as_f64().unwrap_or_else(|| panic!("no number: {n}"))).collect()
        };
        strokes.iter().map(numbers).collect()
    };
    let (x, y) = (axis("x"), axis("y"));
    assert_eq!(points.as_object().map(serde_json::Map::len), Some(2), "x, y and nothing else");
    assert_eq!(x.len(), y.len(), "as many strokes in x as in y");
    let strokes = x.into_iter().zip(y).map(|(x, y)| {
        assert!(x.len() == y.len() && x.len() >= 2, "a stroke of {} and {} numbers", x.len(), y.len());
        assert!(x.iter().chain(&y).all(|n| n.to_string().split('.').nth(1).is_none_or(|d| d.len() <= 2)));
        x.into_iter().zip(y).collect()
    });
    strokes.collect()
}

/// Decodes a PNG.
pub fn picture(png: &[u8]) -> DynamicImage {
    image::load_from_memory_with_format(png, ImageFormat::Png).expect("a PNG")
}

/// A problem document (RFC 9457).
#[derive(Debug, Clone)]
pub struct Problem {
    /// The last segment of its type.
    pub slug: String,
    /// The whole document.
    pub json: Value,
}

impl Problem {
    /// The violations, as pairs of field and code.
    pub fn errors(&self) -> BTreeSet<(String, String)> {
        let list = self.json["errors"].as_array().unwrap_or_else(|| panic!("no errors: {}", self.json));
        let text =
            |v: &Value| v.as_str().unwrap_or_else(|| panic!("field, code, detail: {}", self.json)).to_owned();
        list.iter()
            .map(|e| {
                assert!(!text(&e["detail"]).is_empty());
                (text(&e["field"]), text(&e["code"]))
            })
            .collect()
    }

    /// The details of all violations, one on each line.
    pub fn details(&self) -> String {
        let list = self.json["errors"].as_array().cloned().unwrap_or_default();
        list.iter().filter_map(|e| e["detail"].as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// Opens a connection to `base` and sends these bytes unchanged.
pub async fn connect(base: &str, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(base.trim_start_matches("http://")).await.expect("a connection");
    stream.write_all(bytes).await.expect("it takes bytes");
    stream
}

/// Reads an answer until the service closes the connection. It is empty if there is none.
pub async fn to_end(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let read = timeout(TIMEOUT, stream.read_to_end(&mut answer)).await;
    read.expect("the service closes its side").expect("it can be read");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Sends these bytes and closes the sending side. Returns the whole answer as text; it is empty if there is
/// none.
pub async fn raw(base: &str, bytes: &[u8]) -> String {
    let mut stream = connect(base, bytes).await;
    stream.shutdown().await.expect("our side closes");
    to_end(stream).await
}

/// The bytes of a request with this key, without the body.
pub fn head(method: &str, path: &str, key: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: akhar\r\nAuthorization: Bearer {key}\r\n");
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").expect("a string takes it");
    }
    head.push_str("\r\n");
    head.into_bytes()
}
