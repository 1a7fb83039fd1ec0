//! One attempt to deliver a webhook.

use std::time::Instant;

use akhar_accounts::webhooks::signing_secrets;
use akhar_jobs::{
    JobId,
    store::{self, Attempted, Delivery, Ended},
};
use akhar_platform::{metrics, telemetry::traces};
use akhar_requests::WITH_ARTIFACTS;
use reqwest::StatusCode;
use tracing::{
    Instrument as _, Span,
    field::{DisplayValue, display},
};

use super::{
    event::{self, EventBody},
    running::Running,
    schedule,
    sender::{Message, Sender},
};
use crate::{app::App, retry::retry_transient, waiting::deliveries::Delivery as OutcomeDelivery};

/// The most characters of an error that are stored.
const MAX_ERROR_CHARACTERS: usize = 300;

/// What every attempt needs.
#[derive(Debug)]
pub(super) struct Attempts {
    pub(super) app: App,
    pub(super) sender: Sender,
    pub(super) running: Running,
}

/// Why an attempt failed.
enum Failure {
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

impl Attempts {
    /// Attempts a delivery, writes the result and measures it.
    pub(super) async fn attempt(&self, delivery: &Delivery) {
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
        let mut outcome_delivery = None;
        let attempted = match self.send(delivery).await {
            Ok(of_outcome) => {
                tracing::debug!(%webhook, job, attempt, host, "webhook delivered");
                outcome_delivery = of_outcome;
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
        let db = &self.app.database.pool;
        match retry_transient(|_| store::settle_delivery(db, delivery, &attempted)).await {
            Ok(true) => outcome_delivery.into_iter().for_each(OutcomeDelivery::complete),
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

    /// Sends a webhook. Returns the delivery of the job's outcome if the webhook had it and the job is kept only until then.
    async fn send(&self, delivery: &Delivery) -> Result<Option<OutcomeDelivery>, Failure> {
        let database = &self.app.database;
        // The rules may have changed since the URL was accepted.
        let url = self.app.url_rules.parse(&delivery.url);
        let url = url.map_err(|error| Failure::Never(format!("the URL {error}")))?;
        let secrets = signing_secrets(&database.pool, delivery.account_id).await?;
        let (body, outcome_delivery) = self.body(delivery).await?;
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
            status if status.is_success() => Ok(outcome_delivery),
            StatusCode::GONE => Err(Failure::Never("the receiver answered 410 Gone".to_owned())),
            status if status.is_redirection() => {
                Err(Failure::Again(format!("the receiver answered {status}; redirects are not followed")))
            }
            status => Err(Failure::Again(format!("the receiver answered {status}"))),
        }
    }

    /// The body of a webhook, and the delivery of the job's outcome if the body has it and the job is kept only until then.
    async fn body(&self, delivery: &Delivery) -> Result<(Vec<u8>, Option<OutcomeDelivery>), Failure> {
        let db = &self.app.database.pool;
        let unwritable = |error| Failure::Never(format!("the body cannot be written: {error}"));
        let (id, request_id) = match &delivery.ended {
            Ended::Job { id, request_id } => (*id, request_id),
            Ended::Group(group) if store::is_still_ended(db, delivery).await? => {
                return Ok((event::group_body(group.clone()).map_err(unwritable)?, None));
            }
            Ended::Group(_) => return Err(Failure::Reopened),
        };
        let Some(job) = store::find(db, id, delivery.account_id, WITH_ARTIFACTS).await? else {
            return Err(Failure::Never("the job does not exist any more".to_owned()));
        };
        let job = akhar_requests::job(job).map_err(|error| Failure::Never(error.to_string()))?;
        let outcome_delivery = self.app.deliveries.of(&job);
        let EventBody { bytes, is_whole } = event::body(job, request_id, &self.app.public_path())
            .map_err(unwritable)?
            .ok_or_else(|| Failure::Never("the job has not ended".to_owned()))?;
        Ok((bytes, outcome_delivery.filter(|_| is_whole)))
    }
}

const DELIVERED: &str = "delivered";
const FAILED: &str = "failed";
const DEAD: &str = "dead";
const ERROR: &str = "error";

/// The results of attempts in metrics.
pub(crate) const RESULTS: [&str; 4] = [DELIVERED, FAILED, DEAD, ERROR];

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
