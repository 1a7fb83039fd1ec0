//! The load: an open loop of planned requests, whose clients follow their jobs to the end.

use std::{sync::Arc, time::Duration};

use akhar_tests::{Answer, Stack, http::client};
use reqwest::RequestBuilder;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    cases::{Case, Cases, Content},
    plan::{Behaviour, Plan},
    slow,
};

/// The longest time that a caller waits for its answer. The service answers after 60 s at most, and a fault takes less
/// than 30 s.
const LONGEST_WAIT: Duration = Duration::from_secs(100);

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
    /// The job of a 202 was gone or cancelled.
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
    base: String,
    /// The address of the proxy in front of the api.
    proxied: String,
    key: String,
    /// When jobs that have not ended count as stuck.
    give_up: Instant,
}

impl Asker {
    pub(super) fn new(stack: &Stack, proxied: &str, cases: Cases, give_up: Instant) -> Self {
        let proxied = format!("http://{proxied}");
        Self { cases, client: client(), base: stack.base.clone(), proxied, key: stack.key.clone(), give_up }
    }

    fn case(&self, plan: &Plan) -> &Case {
        &self.cases.0[plan.case]
    }

    async fn ask(&self, plan: &Plan) -> Observed {
        let case = self.case(plan);
        let raw =
            || slow::Request::new(&self.base, case.operation, &self.key, &self.headers(plan), &case.body);
        let answer = async {
            match plan.behaviour {
                Behaviour::Plain => self.post(&self.base, plan).await,
                Behaviour::Proxied => self.post(&self.proxied, plan).await,
                Behaviour::SlowToSend(during) => raw().send_slowly(during).await,
                Behaviour::SlowToRead(pause) => raw().read_slowly(pause).await,
                Behaviour::HangUp { after, whole } => {
                    raw().hang_up(after, whole).await;
                    None
                }
            }
        };
        match timeout(LONGEST_WAIT, answer).await {
            Err(_) => Observed::Stuck("no answer"),
            Ok(None) if matches!(plan.behaviour, Behaviour::HangUp { .. }) => Observed::HungUp,
            Ok(None) => Observed::Cut,
            Ok(Some(answer)) => self.end(answer, false).await,
        }
    }

    /// What an answer means. Follows the job of a 202.
    async fn end(&self, answer: Answer, after_202: bool) -> Observed {
        match answer.status {
            200 => Observed::Answered { content: Content::of(&answer.body), after_202 },
            202 => Box::pin(self.follow(answer.header("location"))).await,
            status => {
                let problem = field(&answer, "type");
                let slug = problem.rsplit('/').next().filter(|slug| !slug.is_empty());
                Observed::Refused { status, slug: slug.unwrap_or("no problem document").to_owned() }
            }
        }
    }

    /// Waits until a job has ended, and reads its result. Asks again whenever it cannot be read.
    async fn follow(&self, location: &str) -> Observed {
        let lost = |why: &str| Observed::Lost(format!("{location}: {why}"));
        while Instant::now() < self.give_up {
            let answer = self.get(&format!("{location}?wait=5")).await;
            let state = answer.as_ref().map(|answer| (answer.status, field(answer, "state")));
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
        Observed::Stuck("its job does not end")
    }

    async fn post(&self, base: &str, plan: &Plan) -> Option<Answer> {
        let case = self.case(plan);
        let mut request = self.client.post(format!("{base}/v1/models/{}", case.operation));
        for (name, value) in self.headers(plan) {
            request = request.header(name, value);
        }
        read(request.bearer_auth(&self.key).body(case.body.clone())).await
    }

    async fn get(&self, path: &str) -> Option<Answer> {
        let request = self.client.get(format!("{}{path}", self.base)).bearer_auth(&self.key);
        read(request.timeout(LONGEST_WAIT)).await
    }

    fn headers<'a>(&'a self, plan: &'a Plan) -> Vec<(&'a str, &'a str)> {
        let content_type = self.case(plan).content_type.as_str();
        let mut headers = vec![("content-type", content_type), ("x-request-id", &plan.request_id)];
        headers.extend(plan.prefer.as_deref().map(|prefer| ("prefer", prefer)));
        headers
    }
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
