//! Requests as bytes, right or wrong, and answers with what every answer must have.

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

use crate::PATIENCE;

/// A multipart form, written by hand so that it can be wrong.
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
    /// A form with one file in `file`.
    pub fn upload(file: &[u8]) -> Self {
        Self::default().file("file", file)
    }

    /// A form with a file in `file` and one more field.
    pub fn upload_and(file: &[u8], name: &str, value: &str) -> Self {
        Self::upload(file).text(name, value)
    }

    /// Adds a file.
    #[must_use]
    pub fn file(self, name: &str, bytes: &[u8]) -> Self {
        let head = format!("name=\"{name}\"; filename=\"image\"\r\nContent-Type: application/octet-stream");
        self.part(&head, bytes)
    }

    /// Adds a field of text.
    #[must_use]
    pub fn text(self, name: &str, value: &str) -> Self {
        self.part(&format!("name=\"{name}\""), value.as_bytes())
    }

    /// Adds a part whose `Content-Disposition: form-data; ` goes on with `head`.
    #[must_use]
    pub fn part(mut self, head: &str, bytes: &[u8]) -> Self {
        let head = format!("--{}\r\nContent-Disposition: form-data; {head}\r\n\r\n", self.boundary);
        self.body.extend(head.as_bytes());
        self.body.extend(bytes);
        self.body.extend(b"\r\n");
        self
    }

    /// Its `Content-Type`.
    pub fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }

    /// Its bytes, ended as they should be.
    pub fn body(&self) -> Vec<u8> {
        [&self.body, format!("--{}--\r\n", self.boundary).as_bytes()].concat()
    }

    /// Its bytes without the end that tells it is whole.
    pub fn unended_body(&self) -> Vec<u8> {
        self.body.clone()
    }
}

/// A client. It speaks plain HTTP; but the product's `models pull` has reqwest speak TLS, with cryptography
/// that every process chooses for itself.
pub fn client() -> reqwest::Client {
    // Chosen already is chosen.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::new()
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// Sends a request; panics when there is no answer.
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
    /// A header's value, or nothing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("ASCII"))
    }

    /// Its body as JSON.
    pub fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{} is not JSON ({e}): {text}", self.status))
    }

    /// The predictions of a 200, by falling score: label and score.
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
        assert!(predictions.is_sorted_by(|a, b| a.1 >= b.1), "by falling score: {json}");
        predictions
    }

    /// The strokes of a 200 that is a document.
    pub fn strokes(&self) -> Vec<Stroke> {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("content-type"), "application/json");
        strokes(&self.json()["points"])
    }

    /// The picture of a 200 that is one.
    pub fn picture(&self) -> DynamicImage {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("content-type"), "image/png");
        assert_eq!(self.header("content-length"), self.body.len().to_string());
        picture(&self.body)
    }

    /// The job's id that a 202 carries in its body and in `Location`.
    pub fn job(&self) -> Uuid {
        assert_eq!(self.status, 202, "{}", String::from_utf8_lossy(&self.body));
        let id = self.json()["id"].as_str().and_then(|id| id.parse().ok()).expect("a job's id");
        assert_eq!(self.header("location"), format!("/v1/jobs/{id}"));
        assert!(!self.header("retry-after").is_empty(), "a 202 says when to look again");
        id
    }

    /// The problem of an error with this status, checked to be one in every respect that needs no
    /// request.
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

    /// The pairs of field and code of a problem with this status.
    pub fn errors(&self, status: u16) -> BTreeSet<(String, String)> {
        self.problem(status).errors()
    }
}

/// A stroke: the points a pen passes, each how far right and how far down.
pub type Stroke = Vec<(f64, f64)>;

/// The strokes of a `points` object, checked to be of one shape and of numbers with two decimals at most.
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

/// The picture a PNG shows.
pub fn picture(png: &[u8]) -> DynamicImage {
    image::load_from_memory_with_format(png, ImageFormat::Png).expect("a PNG")
}

/// An RFC 9457 problem.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The end of its type.
    pub slug: String,
    /// All of it.
    pub json: Value,
}

impl Problem {
    /// Its violations, as pairs of field and code.
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

    /// The details of all violations, one a line.
    pub fn details(&self) -> String {
        let list = self.json["errors"].as_array().cloned().unwrap_or_default();
        list.iter().filter_map(|e| e["detail"].as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// Opens a connection to `base` and sends these bytes, whatever they are.
pub async fn connect(base: &str, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(base.trim_start_matches("http://")).await.expect("a connection");
    stream.write_all(bytes).await.expect("it takes bytes");
    stream
}

/// Sends these bytes, then closes our side; the whole answer as text, empty when there is none.
pub async fn raw(base: &str, bytes: &[u8]) -> String {
    let mut stream = connect(base, bytes).await;
    stream.shutdown().await.expect("our side closes");
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    read.expect("the service closes its side").expect("it can be read");
    String::from_utf8_lossy(&answer).into_owned()
}

/// A request's bytes, with this stack's key, up to and without its body.
pub fn head(method: &str, path: &str, key: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: akhar\r\nAuthorization: Bearer {key}\r\n");
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").expect("a string takes it");
    }
    head.push_str("\r\n");
    head.into_bytes()
}
