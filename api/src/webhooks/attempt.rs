//! One attempt to deliver a webhook.

use std::time::Instant;

use akhar_accounts::webhooks::signing_secrets;
use akhar_jobs::store::{self, Attempted, Delivery};
use akhar_platform::metrics;
use reqwest::StatusCode;

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
        metrics::WEBHOOK_ATTEMPTS.add_one([result(attempted.as_ref())]);
        metrics::WEBHOOK_ATTEMPT_SECONDS.record_duration([], began.elapsed());
    }

    /// `None` if the database failed before the attempt.
    async fn attempt_and_write(&self, delivery: &Delivery) -> Option<Attempted> {
        let Delivery { job_id: job, attempt, host, .. } = delivery;
        let mut outcome_delivery = None;
        let attempted = match self.send(delivery).await {
            Ok(of_outcome) => {
                tracing::debug!(%job, attempt, host, "webhook delivered");
                outcome_delivery = of_outcome;
                Attempted::Delivered
            }
            Err(Failure::Again(error)) => match schedule::pause_after(*attempt) {
                Some(pause) => {
                    tracing::info!(%job, attempt, host, error, pause_s = pause.as_secs(), "webhook not delivered");
                    Attempted::Failed(shown(&error), pause)
                }
                None => dead(delivery, &error),
            },
            Err(Failure::Never(error)) => dead(delivery, &error),
            Err(Failure::Database(error)) => {
                tracing::warn!(%job, %error, "cannot read what a webhook needs: it is attempted again in a minute");
                return None;
            }
        };
        let db = &self.app.database.pool;
        match retry_transient(|_| store::settle_delivery(db, delivery, &attempted)).await {
            Ok(true) => outcome_delivery.into_iter().for_each(OutcomeDelivery::complete),
            Ok(false) => tracing::debug!(%job, attempt, "the webhook was leased again or deleted meanwhile"),
            Err(error) => {
                tracing::warn!(%job, %error, "cannot write the result of a webhook: it is attempted again");
            }
        }
        Some(attempted)
    }

    /// Sends a webhook. Returns the delivery of the job's outcome if the webhook had it and the job is kept only until then.
    async fn send(&self, delivery: &Delivery) -> Result<Option<OutcomeDelivery>, Failure> {
        let database = &self.app.database;
        // The rules may have changed since the URL was accepted.
        let url = self.app.webhook_targets.parse(&delivery.url);
        let url = url.map_err(|error| Failure::Never(format!("the URL {error}")))?;
        let secrets = signing_secrets(&database.pool, delivery.account_id).await?;
        let Some(job) = store::find(&database.pool, delivery.job_id, delivery.account_id).await? else {
            return Err(Failure::Never("the job does not exist any more".to_owned()));
        };
        if secrets.is_empty() {
            return Err(Failure::Never("the account has no webhook secret".to_owned()));
        }
        let outcome_delivery = self.app.deliveries.of(&job);
        let body = event::body(job, &delivery.request_id);
        let body = body.map_err(|error| Failure::Never(format!("the job cannot be written: {error}")))?;
        let EventBody { bytes: body, is_whole } =
            body.ok_or_else(|| Failure::Never("the job has not ended".to_owned()))?;
        let id = delivery.job_id.to_string();
        let timestamp = delivery.leased_at.timestamp();
        let signatures: Vec<String> =
            secrets.iter().map(|secret| secret.sign(&id, timestamp, &body)).collect();
        let message = Message { id, timestamp, signatures: signatures.join(" "), body };
        match self.sender.send(url, message).await.map_err(Failure::Again)? {
            status if status.is_success() => Ok(outcome_delivery.filter(|_| is_whole)),
            StatusCode::GONE => Err(Failure::Never("the receiver answered 410 Gone".to_owned())),
            status if status.is_redirection() => {
                Err(Failure::Again(format!("the receiver answered {status}; redirects are not followed")))
            }
            status => Err(Failure::Again(format!("the receiver answered {status}"))),
        }
    }
}

/// The results of attempts in metrics.
pub(crate) const RESULTS: [&str; 4] = ["delivered", "failed", "dead", "error"];

fn result(attempted: Option<&Attempted>) -> &'static str {
    let [delivered, failed, dead, error] = RESULTS;
    match attempted {
        Some(Attempted::Delivered) => delivered,
        Some(Attempted::Failed(..)) => failed,
        Some(Attempted::Dead(_)) => dead,
        None => error,
    }
}

fn dead(delivery: &Delivery, error: &str) -> Attempted {
    let Delivery { job_id: job, attempt, host, .. } = delivery;
    tracing::warn!(%job, attempt, host, error, "webhook given up: `akhar webhooks redeliver` tries it again");
    Attempted::Dead(shown(error))
}

fn shown(error: &str) -> String {
    error.chars().take(MAX_ERROR_CHARACTERS).collect()
}
