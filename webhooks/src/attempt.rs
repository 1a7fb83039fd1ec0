//! One attempt to deliver a webhook.

use std::{sync::Arc, time::Instant};

use akhar_jobs::{JobId, store::Group};
use akhar_platform::{
    database::{Pool, retry_transient},
    metrics,
    telemetry::traces,
};
use reqwest::StatusCode;
use tracing::{
    Instrument as _, Span,
    field::{DisplayValue, display},
};
use uuid::Uuid;

use crate::{
    account::signing_secrets,
    caller_urls::UrlRules,
    running::Running,
    schedule,
    sender::{Message, Sender},
    store::{self, Attempted, Delivery, Ended},
};

/// The most characters of an error that are stored.
const MAX_ERROR_CHARACTERS: usize = 300;

/// What is written about jobs and groups, by who knows what came of them.
pub trait Bodies: Send + Sync + 'static {
    /// The body about a job of an account that has ended. `request_id` is the request that made the job.
    fn of_job(
        &self,
        job: JobId,
        account_id: Uuid,
        request_id: &str,
    ) -> impl Future<Output = Result<Body, Failure>> + Send;

    /// The body about a group.
    fn of_group(&self, group: &Group) -> Result<Body, Failure>;
}

/// The body of a webhook.
pub struct Body {
    /// JSON.
    pub bytes: Vec<u8>,
    /// What follows when the receiver has it.
    pub delivered: Box<dyn FnOnce() + Send>,
}

/// What every attempt needs.
pub(crate) struct Attempts<B> {
    pub(crate) db: Pool,
    pub(crate) rules: Arc<UrlRules>,
    pub(crate) bodies: B,
    pub(crate) sender: Sender,
    pub(crate) running: Running,
}

/// Why an attempt failed.
#[derive(Debug)]
pub enum Failure {
    /// The receiver did not accept the webhook, and may do so later.
    Again(String),
    /// No further attempt can succeed.
    Never(String),
    /// The group has got another job since its end. The delivery is deleted.
    Reopened,
    /// The database failed. The delivery is due again when its lease ends.
    Database(sqlx::Error),
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl<B: Bodies> Attempts<B> {
    /// Attempts a delivery, writes the result and measures it.
    pub(crate) async fn attempt(&self, delivery: &Delivery) {
        let began = Instant::now();
        let attempted = self.attempt_and_write(delivery).await;
        let Some(result) = attempted else { return };
        metrics::WEBHOOK_ATTEMPTS.add_one([result]);
        metrics::WEBHOOK_ATTEMPT_SECONDS.record_duration([], began.elapsed());
    }

    /// Returns the result in metrics. `None` if nothing was to be sent.
    async fn attempt_and_write(&self, delivery: &Delivery) -> Option<&'static str> {
        let Delivery { id: webhook, attempt, host, .. } = delivery;
        let job = job(delivery);
        let mut delivered = None;
        let attempted = match self.send(delivery).await {
            Ok(then) => {
                tracing::debug!(%webhook, job, attempt, host, "webhook delivered");
                delivered = Some(then);
                Attempted::Delivered
            }
            Err(Failure::Again(error)) => match schedule::pause_after(*attempt) {
                Some(pause) => {
                    let pause_s = pause.as_secs();
                    tracing::info!(%webhook, job, attempt, host, error, pause_s, "webhook not delivered");
                    Attempted::Failed(shown(&error), pause)
                }
                None => dead(delivery, &error),
            },
            Err(Failure::Never(error)) => dead(delivery, &error),
            Err(Failure::Reopened) => {
                tracing::debug!(%webhook, "webhook not sent: the group has got another job");
                return None;
            }
            Err(Failure::Database(error)) => {
                tracing::warn!(%webhook, job, %error, "cannot read what a webhook needs: it is attempted again in a minute");
                return Some(ERROR);
            }
        };
        match retry_transient(|_| store::settle(&self.db, delivery, &attempted)).await {
            Ok(true) => delivered.into_iter().for_each(|then| then()),
            Ok(false) => {
                tracing::debug!(%webhook, job, attempt, "the webhook was leased again or deleted meanwhile");
            }
            Err(error) => {
                tracing::warn!(%webhook, job, %error, "cannot write the result of a webhook: it is attempted again");
            }
        }
        Some(match attempted {
            Attempted::Delivered => DELIVERED,
            Attempted::Failed(..) => FAILED,
            Attempted::Dead(_) => DEAD,
        })
    }

    /// Sends a webhook. Returns what follows when that is written.
    async fn send(&self, delivery: &Delivery) -> Result<Box<dyn FnOnce() + Send>, Failure> {
        // The rules may have changed since the URL was accepted.
        let url = self.rules.parse(&delivery.url);
        let url = url.map_err(|error| Failure::Never(format!("the URL {error}")))?;
        let secrets = signing_secrets(&self.db, delivery.account_id).await?;
        let Body { bytes: body, delivered } = self.body(delivery).await?;
        if secrets.is_empty() {
            return Err(Failure::Never("the account has no webhook secret".to_owned()));
        }
        let id = delivery.id.to_string();
        let timestamp = delivery.leased_at.timestamp();
        let signatures: Vec<String> =
            secrets.iter().map(|secret| secret.sign(&id, timestamp, &body)).collect();
        let message = Message { id, timestamp, signatures: signatures.join(" "), body };
        let span = tracing::info_span!(target: traces::TARGET, parent: None, "webhook");
        traces::link(&span, delivery.traceparent.as_deref());
        let sent = self.sender.send(url, message).instrument(span.clone()).await;
        describe(&span, delivery, sent.as_ref().ok());
        match sent.map_err(Failure::Again)? {
            status if status.is_success() => Ok(delivered),
            StatusCode::GONE => Err(Failure::Never("the receiver answered 410 Gone".to_owned())),
            status if status.is_redirection() => {
                Err(Failure::Again(format!("the receiver answered {status}; redirects are not followed")))
            }
            status => Err(Failure::Again(format!("the receiver answered {status}"))),
        }
    }

    async fn body(&self, delivery: &Delivery) -> Result<Body, Failure> {
        match &delivery.ended {
            Ended::Job { id, request_id } => self.bodies.of_job(*id, delivery.account_id, request_id).await,
            Ended::Group(group) if store::is_still_ended(&self.db, delivery).await? => {
                self.bodies.of_group(group)
            }
            Ended::Group(_) => Err(Failure::Reopened),
        }
    }
}

const DELIVERED: &str = "delivered";
const FAILED: &str = "failed";
const DEAD: &str = "dead";
const ERROR: &str = "error";

/// The results of attempts in metrics.
pub const RESULTS: [&str; 4] = [DELIVERED, FAILED, DEAD, ERROR];

/// Describes the span of an attempt. It has a status if the receiver answered.
fn describe(span: &Span, delivery: &Delivery, status: Option<&StatusCode>) {
    let (host, port) = delivery.host.rsplit_once(':').unwrap_or((&delivery.host, ""));
    traces::describe_sent(span, "POST", host, port.parse().ok());
    if let Ended::Job { id, .. } = &delivery.ended {
        traces::set(span, "job", id.to_string());
    }
    match status {
        None => traces::fail(span, "no_response"),
        Some(status) => {
            traces::set(span, "http.response.status_code", i64::from(status.as_u16()));
            if !status.is_success() {
                traces::fail(span, status.as_str().to_owned());
            }
        }
    }
}

/// The job that a webhook is about, for the log. `None` if it is about a group.
fn job(delivery: &Delivery) -> Option<DisplayValue<JobId>> {
    match delivery.ended {
        Ended::Job { id, .. } => Some(display(id)),
        Ended::Group(_) => None,
    }
}

fn dead(delivery: &Delivery, error: &str) -> Attempted {
    let Delivery { id: webhook, attempt, host, .. } = delivery;
    let job = job(delivery);
    tracing::warn!(%webhook, job, attempt, host, error, "webhook given up: `akhar webhooks redeliver` tries it again");
    Attempted::Dead(shown(error))
}

fn shown(error: &str) -> String {
    error.chars().take(MAX_ERROR_CHARACTERS).collect()
}
