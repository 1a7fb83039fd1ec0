//! Attacks that are drawn from a seed: requests to any route, in any framing, of any size, in any pieces, whose senders
//! disconnect anywhere.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_tests::{Form, http, images::fixture_of, speech};
use rand::{Rng, RngExt as _, seq::IndexedRandom as _};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
    time::{sleep, timeout_at},
};

use super::attacker::{Answers, Attacker};

/// What an attack sends at most, in bytes on all connections at the same time.
const MAX_BYTES: usize = 2 * 1024 * 1024 * 1024;

/// How often one connection repeats a pipelined request.
const N_PIPELINED: usize = 50;

/// Where requests go, and what they carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    Digit,
    Speech,
    OpenAi,
    Handwriting,
    Jobs,
    Nowhere,
}

/// How a request says where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// With the right `Content-Length`.
    Length,
    /// With chunks as large as the pieces.
    Chunked,
    /// With the right `Content-Length`, and the same request again behind it.
    Pipelined,
    /// With a `Content-Length` of a mebibyte too much.
    TooLong,
    /// With half of the right `Content-Length`, so that the rest looks like another request.
    TooShort,
}

/// Whose key the requests have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Account {
    /// That of an account that was just made.
    New,
    /// That of an account that has used the service before.
    Old,
    /// No valid one.
    None,
}

/// When a client disconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HangUp {
    /// At the end of the attack.
    Never,
    /// When it has read the first bytes of an answer.
    Answered,
    /// When it has sent everything.
    Sent,
    /// When it has sent so many thousandths.
    After(usize),
}

/// One attack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Drawn {
    route: Route,
    framing: Framing,
    /// The bytes of the file or the text.
    n_bytes: usize,
    pub(super) account: Account,
    /// The bytes that are sent at once.
    piece: usize,
    /// The pause after each piece.
    pause: Duration,
    hang_up: HangUp,
    n_connections: usize,
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { route, framing, n_bytes, account, piece, pause, hang_up, n_connections } = self;
        write!(
            f,
            "{n_connections} connections, route {route:?}, framing {framing:?}, {n_bytes} bytes in pieces of {piece} with \
             pauses of {} ms, account {account:?}, hang-up {hang_up:?}",
            pause.as_millis()
        )
    }
}

impl Drawn {
    /// Draws an attack.
    pub(super) fn draw(rng: &mut impl Rng) -> Self {
        let route =
            [Route::Digit, Route::Speech, Route::OpenAi, Route::Handwriting, Route::Jobs, Route::Nowhere];
        let framing =
            [Framing::Length, Framing::Chunked, Framing::Pipelined, Framing::TooLong, Framing::TooShort];
        let share = rng.random_range(0..1000);
        let hang_up = [HangUp::Never, HangUp::Answered, HangUp::Sent, HangUp::After(share)];
        let account = [Account::New, Account::Old, Account::None];
        let n_bytes = one(rng, &[0, 1, 300, 8_000, 65_536, 2_000_000, 25_000_000]);
        let n_connections = one(rng, &[1, 10, 50, 200, 1000]);
        Self {
            route: one(rng, &route),
            framing: one(rng, &framing),
            n_bytes,
            account: one(rng, &account),
            piece: one(rng, &[1, 100, 16 * 1024, 1024 * 1024]),
            pause: Duration::from_millis(one(rng, &[0, 0, 1, 50, 1000])),
            hang_up: one(rng, &hang_up),
            n_connections: n_connections.min(MAX_BYTES / n_bytes.max(1)),
        }
    }

    /// Sends the requests until `end`. A connection that ends is followed by another one.
    pub(super) async fn attack(&self, attacker: &Attacker, end: Instant) -> Answers {
        let bytes =
            Arc::new(self.bytes(if self.account == Account::None { "ak_none" } else { &attacker.key }));
        let mut answers = Answers::default();
        let mut open = JoinSet::new();
        while Instant::now() < end {
            if open.len() >= self.n_connections {
                if let Ok(Some(ended)) = timeout_at(end.into(), open.join_next()).await {
                    answers.count(ended.expect("a client of an attack does not panic"));
                }
            } else if let Some(stream) = attacker.connect().await {
                open.spawn(self.clone().exchange(stream, Arc::clone(&bytes), end));
            } else {
                answers.count("no connection");
            }
        }
        answers.count_all(&mut open).await;
        answers
    }

    /// The bytes of one request.
    fn bytes(&self, key: &str) -> Vec<u8> {
        let file = |bytes: &[u8]| -> Vec<u8> { bytes.iter().copied().cycle().take(self.n_bytes).collect() };
        let recording = || file(&speech::recording("pa-school.wav").bytes);
        let form = |form: Form| (form.content_type(), form.body());
        let (method, path, (content_type, body)) = match self.route {
            Route::Digit => {
                let picture = file(&fixture_of("੫").bytes);
                ("POST", "/v1/models/digit-recognition", form(Form::upload(&picture)))
            }
            Route::Speech => ("POST", "/v1/models/speech-recognition", form(Form::upload(&recording()))),
            Route::OpenAi => {
                let form = form(Form::upload_and(&recording(), "model", "speech-pa"));
                ("POST", "/v1/audio/transcriptions", form)
            }
            Route::Handwriting => {
                let text = json!({"text": "ਕ".repeat(self.n_bytes / 3), "with-image": true});
                let body = ("application/json".to_owned(), text.to_string().into_bytes());
                ("POST", "/v1/models/handwriting-generator", body)
            }
            Route::Jobs => ("GET", "/v1/jobs?limit=100", ("text/plain".to_owned(), file(b"x"))),
            Route::Nowhere => ("PUT", "/nowhere", ("text/plain".to_owned(), file(b"x"))),
        };
        let length = match self.framing {
            Framing::Length | Framing::Pipelined => Some(body.len()),
            Framing::TooLong => Some(body.len() + 1024 * 1024),
            Framing::TooShort => Some(body.len() / 2),
            Framing::Chunked => None,
        };
        let length = length.map(|length| length.to_string());
        let framing = match &length {
            Some(length) => ("content-length", length.as_str()),
            None => ("transfer-encoding", "chunked"),
        };
        let head = http::head(method, path, key, &[("content-type", content_type.as_str()), framing]);
        match self.framing {
            Framing::Chunked => [head, chunks(&body, self.piece)].concat(),
            _ => [head, body].concat(),
        }
    }

    /// Sends the bytes on one connection, and names what happened.
    async fn exchange(self, mut stream: TcpStream, bytes: Arc<Vec<u8>>, end: Instant) -> &'static str {
        let sent = match self.hang_up {
            HangUp::After(share) => &bytes[..bytes.len() / 1000 * share],
            _ => &bytes[..],
        };
        let n_requests = if self.framing == Framing::Pipelined { N_PIPELINED } else { 1 };
        let exchange = async {
            for _ in 0..n_requests {
                for piece in sent.chunks(self.piece) {
                    stream.write_all(piece).await?;
                    if !self.pause.is_zero() {
                        sleep(self.pause).await;
                    }
                }
            }
            match self.hang_up {
                HangUp::Never => std::future::pending().await,
                HangUp::Answered => stream.read_exact(&mut [0; 12]).await.map(|_| "answered"),
                HangUp::Sent | HangUp::After(_) => Ok("disconnected"),
            }
        };
        match timeout_at(end.into(), exchange).await {
            Ok(Ok(what)) => what,
            Ok(Err(_)) => "closed by the service",
            Err(_) => "open at the end",
        }
    }
}

fn one<T: Copy>(rng: &mut impl Rng, some: &[T]) -> T {
    *some.choose(rng).expect("it is not empty")
}

/// A body in chunks of this size.
fn chunks(body: &[u8], size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len() * 2);
    for chunk in body.chunks(size) {
        bytes.extend(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend(chunk);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng as _, rngs::StdRng};

    use super::*;

    fn drawn(seed: u64) -> Vec<Drawn> {
        let mut rng = StdRng::seed_from_u64(seed);
        (0..200).map(|_| Drawn::draw(&mut rng)).collect()
    }

    #[test]
    fn a_seed_gives_the_same_attacks_again() {
        assert_eq!(drawn(11), drawn(11));
        assert_ne!(drawn(11), drawn(12));
    }

    #[test]
    fn a_request_has_the_framing_of_its_attack() {
        for attack in drawn(11).into_iter().filter(|attack| attack.n_bytes <= 8000) {
            let bytes = attack.bytes("ak_key");
            let text = String::from_utf8_lossy(&bytes);
            let (head, body) = text.split_once("\r\n\r\n").expect("a head");
            let is_chunked = attack.framing == Framing::Chunked;
            assert_eq!(head.contains("transfer-encoding: chunked"), is_chunked, "{attack}");
            assert_eq!(head.contains("content-length: "), !is_chunked, "{attack}");
            assert_eq!(body.ends_with("0\r\n\r\n"), is_chunked, "{attack}");
        }
    }
}
