//! Reads the form of a request, for the handlers of all operations.

use axum::extract::{FromRequest, Request};
use uuid::Uuid;

use crate::{
    app::App,
    auth::caller::AccountOfRequest,
    input::{
        form::{Form, read},
        source::Source,
    },
    problems::Problem,
};

/// The checked form of a request.
#[derive(Debug)]
pub(crate) struct Checked<F: Form> {
    pub(crate) fields: F::Checked,
    /// The file. `None` if the form has none.
    pub(crate) source: Option<Source>,
}

impl<F: Form> FromRequest<App> for Checked<F> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let max_file_bytes =
            F::FILE.map_or(0, |file| file.max_bytes.unwrap_or_else(|| app.max_audio_bytes()));
        let account_id = request.extensions().get().map_or(Uuid::nil(), |AccountOfRequest(id)| *id);
        let memory = app.body_memory(F::QUEUE, account_id);
        let (fields, source) = read::<F>(request, max_file_bytes, &memory, &app.url_rules).await?;
        Ok(Self { fields, source })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use axum::body::Body;
    use serde_json::{Value, json};

    use super::*;
    use crate::router::tests::app;

    /// The checked fields of a request, or the problem's status and its pairs of field and code.
    pub(crate) async fn read<F: Form>(
        query: &str,
        content_type: &str,
        body: impl Into<Body>,
    ) -> Result<F::Checked, (u64, Value)> {
        let request = Request::post(format!("/{query}")).header("content-type", content_type);
        match Checked::<F>::from_request(request.body(body.into()).unwrap(), &app()).await {
            Ok(form) => Ok(form.fields),
            Err(problem) => {
                let body = serde_json::to_value(problem.body("/", "r")).unwrap();
                let errors = body["errors"].as_array().cloned().unwrap_or_default();
                let pairs = errors.iter().map(|e| json!([e["field"], e["code"]])).collect();
                Err((body["status"].as_u64().unwrap(), pairs))
            }
        }
    }
}
