//! The load: an open loop of requests that are drawn from the seed, and what their clients do.

use std::{sync::Arc, time::Duration};

use akhar_tests::{Answer, http::client};
use rand::{Rng, RngExt as _};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    cases::{Case, Cases, Seen},
    endings::{Ending, Record},
    service::Service,
    slow,
};

/// The longest time that a caller waits for its answer. The service answers after 60 s at most, and a fault takes less
/// than 30 s.
const LONGEST_WAIT: Duration = Duration::from_secs(100);

/// The pause before a client asks again for a job that it could not read.
const PAUSE: Duration = Duration::from_millis(200);

/// A request that will be sent.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// Its number, which is in its `X-Request-Id`.
    pub(super) nth: usize,
    /// When it is sent, after the start of the load.
    pub(super) at: Duration,
    /// Which of the cases it is.
    pub(super) case: usize,
    /// The `Prefer` header.
    pub(super) prefer: Option<String>,
    pub(super) manner: Manner,
}

/// How a client behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Plain,
    /// Its connection goes through the proxy that breaks connections.
    Proxied,
    /// It sends its request in pieces, during this time.
    SlowToSend(Duration),
    /// It reads its answer in pieces with these pauses.
    SlowToRead(Duration),
    /// It closes the connection so long after the request, whole or cut off.
    HangUp {
        after: Duration,
        whole: bool,
    },
}

impl Manner {
    /// The name in the report, if it is a fault of the client.
    pub(super) const fn fault(self) -> Option<&'static str> {
        match self {
            Self::Plain | Self::Proxied => None,
            Self::SlowToSend(_) => Some("slow_to_send"),
            Self::SlowToRead(_) => Some("slow_to_read"),
            Self::HangUp { .. } => Some("hang_up"),
        }
    }

    fn draw(rng: &mut impl Rng) -> Self {
        let ms = Duration::from_millis(rng.random_range(0..4_000));
        match rng.random_range(0..100) {
            0..60 => Self::Plain,
            60..82 => Self::Proxied,
            82..88 => Self::SlowToSend(ms),
            88..94 => Self::SlowToRead(ms / 20),
            _ => Self::HangUp { after: ms / 50, whole: rng.random_range(0..4) > 0 },
        }
    }
}

/// The `X-Request-Id` of a request.
pub(super) fn request_id(nth: usize) -> String {
    format!("chaos-{nth}")
}

/// The requests of the whole load.
pub(super) fn draw(rng: &mut impl Rng, rate: f64, length: Duration, n_cases: usize) -> Vec<Plan> {
    let mut plans = Vec::new();
    let mut at = Duration::ZERO;
    loop {
        at += Duration::from_secs_f64(-(1.0 - rng.random::<f64>()).ln() / rate);
        if at >= length {
            return plans;
        }
        let prefer = match rng.random_range(0..10) {
            0..6 => None,
            6..8 => Some("respond-async".to_owned()),
            _ => Some(format!("wait={}", rng.random_range(0..4))),
        };
        let case = rng.random_range(0..n_cases);
        plans.push(Plan { nth: plans.len(), at, case, prefer, manner: Manner::draw(rng) });
    }
}

/// Sends all requests at their times. Returns when all of them have ended.
pub(super) async fn send_all(asker: Arc<Asker>, plans: Vec<Plan>, started: Instant) -> Vec<Record> {
    let mut sent = JoinSet::new();
    for plan in plans {
        sleep_until(started + plan.at).await;
        let asker = Arc::clone(&asker);
        sent.spawn(async move {
            let (operation, at) = (asker.case(&plan).operation, Instant::now());
            let ending = asker.ask(&plan).await;
            Record { plan, operation, ending, took: at.elapsed() }
        });
    }
    sent.join_all().await
}

/// Sends requests, and follows their jobs.
pub(super) struct Asker {
    pub(super) cases: Cases,
    client: reqwest::Client,
    address: String,
    proxied: String,
    key: String,
    /// When jobs that have not ended count as stuck.
    give_up: Instant,
}

impl Asker {
    pub(super) fn new(service: &Service, cases: Cases, give_up: Instant) -> Self {
        let (address, proxied, key) = (service.address.clone(), service.proxied.clone(), service.key.clone());
        Self { cases, client: client(), address, proxied, key, give_up }
    }

    fn case(&self, plan: &Plan) -> &Case {
        &self.cases.0[plan.case]
    }

    async fn ask(&self, plan: &Plan) -> Ending {
        let (case, id) = (self.case(plan), request_id(plan.nth));
        let raw = || slow::Request {
            address: &self.address,
            path: format!("/v1/models/{}", case.operation),
            headers: self.headers(case, plan, &id),
            body: &case.body,
        };
        let answer = async {
            match plan.manner {
                Manner::Plain => self.post(&self.address, case, plan, &id).await,
                Manner::Proxied => self.post(&self.proxied, case, plan, &id).await,
                Manner::SlowToSend(during) => raw().send_slowly(during).await,
                Manner::SlowToRead(pause) => raw().read_slowly(pause).await,
                Manner::HangUp { after, whole } => {
                    raw().hang_up(after, whole).await;
                    None
                }
            }
        };
        match timeout(LONGEST_WAIT, answer).await {
            Err(_) => Ending::Stuck("no answer"),
            Ok(None) if matches!(plan.manner, Manner::HangUp { .. }) => Ending::HungUp,
            Ok(None) => Ending::Cut,
            Ok(Some(answer)) => self.end(answer, false).await,
        }
    }

    /// The ending that an answer means. Follows the job of a 202.
    async fn end(&self, answer: Answer, after_202: bool) -> Ending {
        match answer.status {
            200 => Ending::Answered { seen: Seen::of(&answer.body), after_202 },
            202 => Box::pin(self.follow(answer.header("location"))).await,
            status => Ending::Refused { status, slug: slug(&answer) },
        }
    }

    /// Waits until a job has ended, and reads its result. Asks again whenever it cannot be read.
    async fn follow(&self, location: &str) -> Ending {
        let lost = |why: &str| Ending::Lost(format!("{location}: {why}"));
        while Instant::now() < self.give_up {
            let answer = self.get(&format!("{location}?wait=5")).await;
            let state = answer.as_ref().map(|answer| (answer.status, state(answer)));
            match state.as_ref().map(|(status, state)| (*status, state.as_str())) {
                Some((200, "succeeded" | "failed")) => {
                    let result = self.get(&format!("{location}/result")).await;
                    if let Some(result) = result.filter(|r| !matches!(r.status, 503 | 507)) {
                        return self.end(result, true).await;
                    }
                }
                Some((200, "cancelled")) => return lost("cancelled"),
                Some((404, _)) => return lost("not found"),
                Some((200 | 503 | 507, _)) | None => (),
                Some((status, _)) => return lost(&format!("answered with {status}")),
            }
            sleep(PAUSE).await;
        }
        Ending::Stuck("its job does not end")
    }

    async fn post(&self, address: &str, case: &Case, plan: &Plan, id: &str) -> Option<Answer> {
        let mut request = self.client.post(format!("http://{address}/v1/models/{}", case.operation));
        for (name, value) in self.headers(case, plan, id) {
            request = request.header(name, value);
        }
        read(request.body(case.body.clone()).send().await.ok()?).await
    }

    async fn get(&self, path: &str) -> Option<Answer> {
        let request = self.client.get(format!("http://{}{path}", self.address)).bearer_auth(&self.key);
        read(request.timeout(LONGEST_WAIT).send().await.ok()?).await
    }

    fn headers(&self, case: &Case, plan: &Plan, id: &str) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("authorization", format!("Bearer {}", self.key)),
            ("content-type", case.content_type.clone()),
            ("x-request-id", id.to_owned()),
        ];
        headers.extend(plan.prefer.clone().map(|prefer| ("prefer", prefer)));
        headers
    }
}

async fn read(response: reqwest::Response) -> Option<Answer> {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Some(Answer { status, headers, body: response.bytes().await.ok()? })
}

/// The last segment of the type of a problem.
fn slug(answer: &Answer) -> String {
    let json: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    json["type"].as_str().and_then(|t| t.rsplit('/').next()).unwrap_or("no problem document").to_owned()
}

/// The state in the document about a job.
fn state(answer: &Answer) -> String {
    let json: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    json["state"].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng as _, rngs::StdRng};

    use super::*;

    #[test]
    fn a_seed_gives_the_same_requests_again() {
        let drawn = |seed| {
            let plans = draw(&mut StdRng::seed_from_u64(seed), 20.0, Duration::from_secs(10), 9);
            plans.into_iter().map(|p| (p.at, p.case, p.prefer, p.manner)).collect::<Vec<_>>()
        };
        assert_eq!(drawn(11), drawn(11));
        assert_ne!(drawn(11), drawn(12));
        assert!((100..300).contains(&drawn(11).len()));
    }
}
