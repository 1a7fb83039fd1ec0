//! Streams for training: requests come in, and replies go out, so that what trains a network and what serves it prepare
//! its input by the same code.
//!
//! A request is a line of JSON, then as many little-endian `f32` as its field `n_values` says; none without the field. A
//! reply has the same form. It is flushed before the next request is read, so that a caller can wait for it.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The largest number of values of a request. The limit bounds the stream's memory.
const MAX_VALUES: usize = 1 << 28;

/// A line of JSON, with the number of values behind it.
#[derive(Serialize, Deserialize)]
struct Line<T> {
    #[serde(default)]
    n_values: usize,
    #[serde(flatten)]
    content: T,
}

/// Answers all requests of `input` by `answer`, which takes a request with its values and gives the reply's.
///
/// # Errors
/// Any error of reading or writing; `InvalidData` for a line that is not a request, or that `answer` refuses.
pub(crate) fn answer_all<Q: DeserializeOwned, A: Serialize>(
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    mut answer: impl FnMut(Q, Vec<f32>) -> Result<(A, Vec<f32>), String>,
) -> io::Result<()> {
    let mut n_requests = 0;
    let mut text = String::new();
    while input.read_line(&mut text)? > 0 {
        n_requests += 1;
        let refused =
            |why: String| io::Error::new(io::ErrorKind::InvalidData, format!("request {n_requests}: {why}"));
        let request: Line<Q> = serde_json::from_str(&text).map_err(|e| refused(e.to_string()))?;
        if request.n_values > MAX_VALUES {
            return Err(refused(format!("{} values, expected at most {MAX_VALUES}", request.n_values)));
        }
        let mut bytes = vec![0; 4 * request.n_values];
        input.read_exact(&mut bytes)?;
        let values = bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        let (content, values) = answer(request.content, values).map_err(refused)?;
        serde_json::to_writer(&mut *output, &Line { n_values: values.len(), content })?;
        output.write_all(b"\n")?;
        for value in values {
            output.write_all(&value.to_le_bytes())?;
        }
        output.flush()?;
        text.clear();
    }
    Ok(())
}

/// For tests: the reply of `stream` to a request, and its values.
#[cfg(test)]
pub(crate) fn reply(
    stream: fn(&mut dyn BufRead, &mut dyn Write) -> io::Result<()>,
    requests: &[(serde_json::Value, &[f32])],
) -> Vec<(serde_json::Value, Vec<f32>)> {
    let mut input = Vec::new();
    for (request, values) in requests {
        let line = Line { n_values: values.len(), content: request };
        serde_json::to_writer(&mut input, &line).unwrap();
        input.push(b'\n');
        input.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
    let mut output = Vec::new();
    stream(&mut input.as_slice(), &mut output).unwrap();
    let mut replies = Vec::new();
    let mut rest = output.as_slice();
    while !rest.is_empty() {
        let mut line = String::new();
        rest.read_line(&mut line).unwrap();
        let reply: serde_json::Value = serde_json::from_str(&line).unwrap();
        let n_bytes = 4 * usize::try_from(reply["n_values"].as_u64().unwrap()).unwrap();
        let values = rest[..n_bytes].as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        rest = &rest[n_bytes..];
        replies.push((reply, values));
    }
    replies
}
