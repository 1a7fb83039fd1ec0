//! Live sessions meanwhile: each caller speaks at its own pace, over sockets, and takes its session up again at the other api whenever
//! its connection breaks. Afterwards it must have the text of a session without faults, each event once.

use std::{collections::HashSet, time::Duration};

use akhar_tests::{
    realtime::{COMPLETED, DELTA, INTENT, pcm},
    speech::{RATE, recording},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    time::{Instant, MissedTickBehavior, interval, sleep, timeout},
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Error, Message, client::IntoClientRequest as _},
};

/// How often sound is sent, and its bytes.
const PACE: Duration = Duration::from_millis(200);
const PIECE: usize = 2 * RATE / 5;
/// The longest time without an event or a ping of the server.
const SILENCE_LIMIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(200);

type Stream = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// What became of all sessions.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    pub(super) n_sessions: usize,
    pub(super) n_resumed: usize,
    /// Those with another text, an event twice, or no end.
    pub(super) wrong: Vec<String>,
}

/// Whom sessions are with.
#[derive(Debug, Clone)]
pub(super) struct Apis {
    pub(super) bases: Vec<String>,
    pub(super) key: String,
}

/// A session of one caller.
struct Session<'a> {
    apis: &'a Apis,
    sound: &'a [u8],
    id: Option<String>,
    /// The bytes that were sent, and whether some are on disk.
    n_sent: usize,
    is_stored: bool,
    last_event: Option<String>,
    seen: HashSet<String>,
    /// The text of the open utterance, and those of the others.
    open: String,
    texts: Vec<String>,
    n_resumed: usize,
}

/// Why a connection ended.
enum End {
    /// The session is over.
    Over,
    Broken,
    Wrong(String),
}

/// What is said in a session without faults.
pub(super) async fn undisturbed(apis: &Apis) -> Vec<String> {
    let sound = sound();
    let mut session = Session::new(apis, &sound);
    session.speak(0, Instant::now() + Duration::from_secs(120)).await.expect("nothing disturbs it");
    session.texts
}

/// So many callers speak until the end of the load. Sessions that run then may go on until `give_up`.
pub(super) async fn speak(
    apis: Apis,
    n_callers: u16,
    expected: Vec<String>,
    (end, give_up): (Instant, Instant),
) -> Spoken {
    let sound = sound();
    let callers = (0..n_callers).map(async |nth| {
        let mut spoken = Spoken::default();
        while Instant::now() < end {
            let mut session = Session::new(&apis, &sound);
            let wrong = match session.speak(usize::from(nth) + spoken.n_sessions, give_up).await {
                Ok(()) if session.texts == expected => None,
                Ok(()) => Some(format!("{:?}", session.texts)),
                Err(why) => Some(why),
            };
            spoken.wrong.extend(wrong.map(|why| format!("session {:?}: {why}", session.id)));
            spoken.n_sessions += 1;
            spoken.n_resumed += session.n_resumed;
        }
        spoken
    });
    futures::future::join_all(callers).await.into_iter().fold(Spoken::default(), |mut all, one| {
        all.n_sessions += one.n_sessions;
        all.n_resumed += one.n_resumed;
        all.wrong.extend(one.wrong);
        all
    })
}

/// Two sentences, with a pause behind each.
fn sound() -> Vec<u8> {
    let pause = vec![0; RATE];
    pcm(&["pa-school.wav", "pa-sister.wav"]
        .map(|name| [recording(name).samples(), pause.clone()].concat())
        .concat())
}

impl<'a> Session<'a> {
    fn new(apis: &'a Apis, sound: &'a [u8]) -> Self {
        Self {
            apis,
            sound,
            id: None,
            n_sent: 0,
            is_stored: false,
            last_event: None,
            seen: HashSet::new(),
            open: String::new(),
            texts: Vec::new(),
            n_resumed: 0,
        }
    }

    /// Speaks over as many connections as it takes, to the apis in turns.
    async fn speak(&mut self, first: usize, give_up: Instant) -> Result<(), String> {
        for nth in first.. {
            if Instant::now() >= give_up {
                return Err("it does not end".to_owned());
            }
            match self.connect(&self.apis.bases[nth % self.apis.bases.len()]).await {
                Ok(stream) => match self.over(stream).await {
                    End::Over => return Ok(()),
                    End::Wrong(why) => return Err(why),
                    End::Broken => (),
                },
                // The session never had a job, or only its first part was on its way.
                Err(Error::Http(response)) if response.status() == 404 && !self.is_stored => self.id = None,
                Err(Error::Http(response))
                    if response.status().is_client_error() && response.status() != 429 =>
                {
                    return Err(format!("it is not taken up again: {}", response.status()));
                }
                Err(_) => (),
            }
            sleep(PAUSE).await;
        }
        unreachable!("a caller comes back for ever")
    }

    async fn connect(&self, base: &str) -> Result<Stream, Error> {
        let resumed = self.id.as_ref().map(|id| format!("&session={id}")).unwrap_or_default();
        let after = self.last_event.as_ref().filter(|_| self.id.is_some());
        let after = after.map(|event| format!("&starting_after={event}")).unwrap_or_default();
        let url = format!("{}/v1/realtime?{INTENT}{resumed}{after}", base.replacen("http", "ws", 1));
        let mut request = url.into_client_request()?;
        let bearer = format!("Bearer {}", self.apis.key).parse().expect("a header");
        request.headers_mut().insert("authorization", bearer);
        let connected = timeout(SILENCE_LIMIT, connect_async(request)).await;
        Ok(connected.map_err(|_| Error::ConnectionClosed)??.0)
    }

    /// Speaks over one connection.
    async fn over(&mut self, mut stream: Stream) -> End {
        self.n_resumed += usize::from(self.id.is_some());
        let mut can_send = false;
        let mut ticks = interval(PACE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_over = false;
        loop {
            let message = tokio::select! {
                message = timeout(SILENCE_LIMIT, stream.next()) => message,
                _ = ticks.tick(), if can_send && !is_over => {
                    is_over = self.n_sent >= self.sound.len();
                    if stream.send(self.next()).await.is_err() {
                        return End::Broken;
                    }
                    continue;
                }
            };
            match message {
                Ok(Some(Ok(Message::Text(text)))) => {
                    let event: Value = serde_json::from_str(&text).expect("JSON");
                    if event["type"] == "session.created" && self.id.is_none() {
                        self.id = event["session"]["id"].as_str().map(str::to_owned);
                        let input = json!({"format": {"type": "audio/pcm", "rate": RATE}});
                        let session = json!({"audio": {"input": input}, "include": ["akhar.stored"]});
                        let update = json!({"type": "session.update", "session": session}).to_string();
                        if stream.send(Message::Text(update.into())).await.is_err() {
                            return End::Broken;
                        }
                        (self.n_sent, can_send) = (0, true);
                    } else if event["type"] == "akhar.stored" {
                        self.is_stored = true;
                        if !can_send {
                            let ms = event["audio_end_ms"].as_u64().expect("milliseconds");
                            self.n_sent = usize::try_from(ms).expect("short") * 2 * RATE / 1000;
                            can_send = true;
                        }
                    }
                    if let Err(why) = self.take(&event) {
                        return End::Wrong(why);
                    }
                }
                Ok(Some(Ok(Message::Close(Some(frame))))) if u16::from(frame.code) == 1000 => {
                    return End::Over;
                }
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => (),
                _ => return End::Broken,
            }
        }
    }

    /// The next piece of sound, or the end.
    fn next(&mut self) -> Message {
        let piece = &self.sound[self.n_sent..(self.n_sent + PIECE).min(self.sound.len())];
        self.n_sent += piece.len();
        let event = if piece.is_empty() {
            json!({"type": "input_audio_buffer.commit", "final": true})
        } else {
            json!({"type": "input_audio_buffer.append", "audio": BASE64_STANDARD.encode(piece)})
        };
        Message::Text(event.to_string().into())
    }

    fn take(&mut self, event: &Value) -> Result<(), String> {
        let id = event["event_id"].as_str().unwrap_or_default();
        if id.starts_with("event_c") {
            return Ok(()); // about the connection
        }
        if !self.seen.insert(id.to_owned()) {
            return Err(format!("an event comes twice: {event}"));
        }
        self.last_event = Some(id.to_owned());
        if event["type"] == DELTA {
            self.open += event["delta"].as_str().unwrap_or_default();
        } else if event["type"] == COMPLETED {
            let text = event["transcript"].as_str().unwrap_or_default();
            if std::mem::take(&mut self.open) != text {
                return Err(format!("the deltas are not the text: {event}"));
            }
            self.texts.push(text.to_owned());
        }
        Ok(())
    }
}
