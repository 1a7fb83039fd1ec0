//! The load: an open loop of planned requests, whose clients follow their jobs to the end.

use std::{sync::Arc, time::Duration};

use akhar_tests::{Answer, http::client};
use reqwest::{Method, RequestBuilder};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    cases::{Case, Cases, Content},
    hang_up::Raw,
    plan::{Behaviour, HungUp, Plan},
    service::{N_APIS, Service},
};

/// The longest time that a caller waits for its answer. The service answers after 60 s at most, and a fault takes less
/// than 30 s; a caller that repeats its request may meet several.
const LONGEST_WAIT: Duration = Duration::from_secs(150);

/// The pause before a client asks again for a job that it could not read.
const PAUSE: Duration = Duration::from_millis(200);

/// One request and what its client observed.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) plan: Plan,
    pub(super) operation: &'static str,
    pub(super) observed: Observed,
    /// The time until then.
    pub(super) took: Duration,
}

/// What a client observed at last.
#[derive(Debug)]
pub(super) enum Observed {
    /// It was answered with a result, at once or after a 202.
    Answered { content: Content, after_202: bool },
    /// It was not accepted, or its job failed: the status and the type of the problem.
    Refused { status: u16, slug: String },
    /// It was cancelled, as planned.
    Cancelled,
    /// It had ended when it was to be cancelled, and was deleted.
    Deleted,
    /// The job of a 202 was gone, or cancelled by nobody.
    Lost(#[expect(dead_code, reason = "shown by Debug")] String),
    /// The connection was refused or broke before an answer.
    Cut,
    /// The client hung up, as planned.
    HungUp,
    /// There was no answer or no end within the limit.
    Stuck(#[expect(dead_code, reason = "shown by Debug")] &'static str),
}

impl Observed {
    /// The name in the report.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Answered { after_202: false, .. } => "answered",
            Self::Answered { after_202: true, .. } => "answered_after_202",
            Self::Refused { .. } => "refused",
            Self::Cancelled => "cancelled",
            Self::Deleted => "deleted",
            Self::Lost(_) => "lost",
            Self::Cut => "cut",
            Self::HungUp => "hung_up",
            Self::Stuck(_) => "stuck",
        }
    }
}

/// Sends all requests at their times. Returns when all of them have ended.
pub(super) async fn send_all(asker: Arc<Asker>, plans: Vec<Plan>, started: Instant) -> Vec<Record> {
    let mut sent = JoinSet::new();
    for plan in plans {
        sleep_until(started + plan.at).await;
        let asker = Arc::clone(&asker);
        sent.spawn(async move {
            let operation = asker.case(&plan).operation;
            let at = Instant::now();
            let observed = asker.ask(&plan).await;
            Record { plan, operation, observed, took: at.elapsed() }
        });
    }
    sent.join_all().await
}

/// Sends requests, and follows their jobs.
pub(super) struct Asker {
    pub(super) cases: Cases,
    client: reqwest::Client,
    /// The addresses of the apis.
    bases: [String; N_APIS],
    /// The addresses of the proxies in front of them.
    proxied: [String; N_APIS],
    key: String,
    operator_key: String,
    /// When jobs that have not ended count as stuck.
    give_up: Instant,
}

impl Asker {
    pub(super) fn new(service: &Service, cases: Cases, give_up: Instant) -> Self {
        let bases = service.bases.clone();
        let proxied = service.to_apis.each_ref().map(|(_, address)| format!("http://{address}"));
        Self {
            cases,
            client: client(),
            bases,
            proxied,
            key: service.stack.key.clone(),
            operator_key: service.operator_key.clone(),
            give_up,
        }
    }

    fn case(&self, plan: &Plan) -> &Case {
        &self.cases.0[plan.case]
    }

    async fn ask(&self, plan: &Plan) -> Observed {
        let case = self.case(plan);
        let base = &self.bases[plan.api];
        let path = format!("/v1/models/{}", case.operation);
        let raw = || Raw::new(base, ("POST", &path), &self.key, &self.headers(plan), &case.body);
        let answer = async {
            match plan.behaviour {
                Behaviour::Plain | Behaviour::Cancelling(_) => self.post(base, plan).await,
                Behaviour::Proxied => self.post(&self.proxied[plan.api], plan).await,
                Behaviour::Repeating => Some(self.post_until_answered(plan).await),
                Behaviour::HangUp { of, after, whole } => {
                    let request = match of {
                        HungUp::Planned => Some(raw()),
                        HungUp::Cancel => {
                            self.post(base, plan).await.and_then(|answer| self.cancel(base, &answer))
                        }
                        HungUp::Probe => Some(Raw::new(base, ("GET", "/health/ready"), "", &[], b"")),
                        HungUp::OpenQueue => Some(self.open_queue(base)),
                    };
                    if let Some(request) = request {
                        request.hang_up(after, whole).await;
                    }
                    None
                }
            }
        };
        match (timeout(LONGEST_WAIT, answer).await, plan.behaviour) {
            (Err(_), _) => Observed::Stuck("no answer"),
            (Ok(None), Behaviour::HangUp { .. }) => Observed::HungUp,
            (Ok(None), _) => Observed::Cut,
            (Ok(Some(answer)), Behaviour::Cancelling(after)) if answer.status == 202 => {
                sleep(after).await;
                Job::of(self, &answer, plan.api).cancel().await
            }
            (Ok(Some(answer)), _) => self.end(answer, plan.api, false).await,
        }
    }

    /// A request that cancels the job of a 202.
    fn cancel(&self, base: &str, accepted: &Answer) -> Option<Raw> {
        let job = Some(accepted.header("location")).filter(|location| !location.is_empty())?;
        Some(Raw::new(base, ("DELETE", job), &self.key, &[], b""))
    }

    /// A request that opens a queue, which is open.
    fn open_queue(&self, base: &str) -> Raw {
        let headers = [("content-type", "application/json")];
        let path = "/v1/admin/queues/speech";
        Raw::new(base, ("PUT", path), &self.operator_key, &headers, br#"{"mode": "open"}"#)
    }

    /// What an answer of this api means. Follows the job of a 202.
    async fn end(&self, answer: Answer, api: usize, after_202: bool) -> Observed {
        match answer.status {
            200 => Observed::Answered { content: Content::of(&answer.body), after_202 },
            202 => Box::pin(Job::of(self, &answer, api).follow()).await,
            status => {
                let problem = field(&answer, "type");
                let slug = problem.rsplit('/').next().filter(|slug| !slug.is_empty());
                Observed::Refused { status, slug: slug.unwrap_or("no problem document").to_owned() }
            }
        }
    }

    async fn post(&self, base: &str, plan: &Plan) -> Option<Answer> {
        let case = self.case(plan);
        let mut request = self.client.post(format!("{base}/v1/models/{}", case.operation));
        for (name, value) in self.headers(plan) {
            request = request.header(name, value);
        }
        read(request.bearer_auth(&self.key).body(case.body.clone())).await
    }

    /// Sends a request with an `Idempotency-Key`, to the apis in turns, until one accepts or answers it. The connection of
    /// the first time goes through the proxy.
    async fn post_until_answered(&self, plan: &Plan) -> Answer {
        let mut answer = self.post(&self.proxied[plan.api], plan).await;
        for nth in 1.. {
            match answer {
                Some(answer) if !is_unavailable(answer.status) => return answer,
                _ => sleep(PAUSE).await,
            }
            answer = self.post(&self.bases[(plan.api + nth) % N_APIS], plan).await;
        }
        unreachable!("a caller repeats its request for ever")
    }

    fn headers<'a>(&'a self, plan: &'a Plan) -> Vec<(&'a str, &'a str)> {
        let content_type = self.case(plan).content_type.as_str();
        let mut headers = vec![("content-type", content_type), ("x-request-id", &plan.request_id)];
        headers.extend(plan.prefer.as_deref().map(|prefer| ("prefer", prefer)));
        if plan.behaviour == Behaviour::Repeating {
            headers.push(("idempotency-key", &plan.request_id));
        }
        headers
    }
}

/// The job of a 202, whose client asks the apis about it in turns, and first one that it did not send the request to.
struct Job<'a> {
    asker: &'a Asker,
    location: String,
    /// The api that was asked last.
    api: usize,
}

impl<'a> Job<'a> {
    fn of(asker: &'a Asker, accepted: &Answer, api: usize) -> Self {
        Self { asker, location: accepted.header("location").to_owned(), api }
    }

    /// Sends a request about the job to the next api. `None` if the connection breaks.
    async fn ask(&mut self, method: Method, more: &str) -> Option<Answer> {
        self.api = (self.api + 1) % N_APIS;
        let url = format!("{}{}{more}", self.asker.bases[self.api], self.location);
        let request = self.asker.client.request(method, url).bearer_auth(&self.asker.key);
        read(request.timeout(LONGEST_WAIT)).await
    }

    fn lost(&self, why: &str) -> Observed {
        Observed::Lost(format!("{}: {why}", self.location))
    }

    /// Waits until the job has ended, and reads its result. Asks again whenever it cannot be read.
    async fn follow(mut self) -> Observed {
        while Instant::now() < self.asker.give_up {
            let answer = self.ask(Method::GET, "?wait=5").await;
            let state = answer.as_ref().map(|answer| (answer.status, field(answer, "state")));
            match state.as_ref().map(|(status, state)| (*status, state.as_str())) {
                Some((200, "succeeded" | "failed")) => {
                    let result = self.ask(Method::GET, "/result").await;
                    if let Some(result) = result.filter(|result| !is_unavailable(result.status)) {
                        return self.asker.end(result, self.api, true).await;
                    }
                }
                Some((200, "cancelled")) => return self.lost("cancelled"),
                Some((404, _)) => return self.lost("not found"),
                Some((200, _)) | None => (),
                Some((status, _)) if is_unavailable(status) => (),
                Some((status, _)) => return self.lost(&format!("answered with {status}")),
            }
            sleep(PAUSE).await;
        }
        Observed::Stuck("its job does not end")
    }

    /// Cancels the job, and reads its state at another api. If it has ended already, that deletes it. It may also be cancelled
    /// by a request whose connection broke, and deleted by the next one.
    async fn cancel(mut self) -> Observed {
        while Instant::now() < self.asker.give_up {
            let answer = self.ask(Method::DELETE, "").await;
            match answer.as_ref().map(|answer| answer.status) {
                Some(200) => return self.confirm_cancelled().await,
                Some(204) => return self.confirm_deleted().await,
                Some(status) if !is_unavailable(status) => {
                    return self.lost(&format!("a DELETE answered with {status}"));
                }
                _ => (),
            }
            sleep(PAUSE).await;
        }
        Observed::Stuck("its job cannot be cancelled")
    }

    /// Reads that the job is deleted.
    async fn confirm_deleted(mut self) -> Observed {
        while Instant::now() < self.asker.give_up {
            match self.ask(Method::GET, "").await.map(|answer| answer.status) {
                Some(410) => return Observed::Deleted,
                Some(status) if !is_unavailable(status) => {
                    return self.lost(&format!("was deleted, and a GET is answered with {status}"));
                }
                _ => sleep(PAUSE).await,
            }
        }
        Observed::Stuck("its job cannot be read")
    }

    /// Reads that the job is cancelled.
    async fn confirm_cancelled(mut self) -> Observed {
        while Instant::now() < self.asker.give_up {
            match self.ask(Method::GET, "").await {
                Some(answer) if answer.status == 200 => {
                    let state = field(&answer, "state");
                    if state == "cancelled" {
                        return Observed::Cancelled;
                    }
                    return self.lost(&format!("was cancelled, and is {state}"));
                }
                Some(answer) if !is_unavailable(answer.status) => {
                    return self
                        .lost(&format!("was cancelled, and a GET is answered with {}", answer.status));
                }
                _ => sleep(PAUSE).await,
            }
        }
        Observed::Stuck("its job cannot be read")
    }
}

/// Whether the service says that it cannot answer now.
const fn is_unavailable(status: u16) -> bool {
    matches!(status, 503 | 507)
}

/// Sends a request. `None` if the connection breaks.
async fn read(request: RequestBuilder) -> Option<Answer> {
    let response = request.send().await.ok()?;
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    Some(Answer { status, headers, body: response.bytes().await.ok()? })
}

/// A text in the JSON of an answer. Empty if there is none.
fn field(answer: &Answer, name: &str) -> String {
    let json: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    json[name].as_str().unwrap_or_default().to_owned()
}
