//! The routes for operators, below `/v1/admin/`: accounts, keys, queues, workers and their models, jobs of all accounts, webhooks, and the audit
//! trail. They have the statements of the commands and of the operations page.

mod accounts;
mod audit;
mod jobs;
mod keys;
mod load;
mod models;
mod name;
mod operator;
mod queues;
mod values;
mod webhooks;
mod workers;

use axum::{
    Router,
    routing::{delete, get, post, put},
};
use utoipa::OpenApi;

use crate::{
    app::App,
    input::{field::FieldDescription, fields::Fields as _, form::describe},
};

/// The routes.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/v1/admin/accounts", get(accounts::list))
        .route("/v1/admin/keys", get(keys::list).post(keys::create))
        .route("/v1/admin/keys/{prefix}", delete(keys::revoke))
        .route("/v1/admin/keys/{prefix}/quotas", put(keys::limit))
        .route("/v1/admin/keys/{prefix}/expiry", put(keys::expire))
        .route("/v1/admin/keys/{prefix}/rotate", post(keys::rotate))
        .route("/v1/admin/queues", get(queues::list))
        .route("/v1/admin/queues/{queue}", put(queues::set))
        .route("/v1/admin/load", get(load::show))
        .route("/v1/admin/workers", get(workers::list))
        .route("/v1/admin/workers/{name}", put(workers::set))
        .route("/v1/admin/models", get(models::list))
        .route("/v1/admin/jobs", get(jobs::list))
        .route("/v1/admin/jobs/count", get(jobs::count))
        .route("/v1/admin/jobs/change", post(jobs::change))
        .route("/v1/admin/jobs/{id}", get(jobs::show))
        .route("/v1/admin/webhooks", get(webhooks::list))
        .route("/v1/admin/webhooks/redeliver", post(webhooks::redeliver))
        .route("/v1/admin/audit", get(audit::list))
}

/// The part of the OpenAPI document that describes these routes.
pub(crate) fn document() -> utoipa::openapi::OpenApi {
    #[derive(OpenApi)]
    #[openapi(paths(
        accounts::list,
        keys::list,
        keys::create,
        keys::revoke,
        keys::limit,
        keys::expire,
        keys::rotate,
        queues::list,
        queues::set,
        load::show,
        workers::list,
        workers::set,
        models::list,
        jobs::list,
        jobs::count,
        jobs::change,
        jobs::show,
        webhooks::list,
        webhooks::redeliver,
        audit::list,
    ))]
    struct Document;
    let mut document = Document::openapi();
    let mut components = Vec::new();
    for (path, form) in [
        ("/v1/admin/keys", describe::<keys::NewKeyForm>(0)),
        ("/v1/admin/keys/{prefix}/quotas", describe::<keys::QuotasForm>(0)),
        ("/v1/admin/keys/{prefix}/expiry", describe::<keys::ExpiryForm>(0)),
        ("/v1/admin/keys/{prefix}/rotate", describe::<keys::RotationForm>(0)),
        ("/v1/admin/queues/{queue}", describe::<queues::ModeForm>(0)),
        ("/v1/admin/workers/{name}", describe::<workers::DrainForm>(0)),
        ("/v1/admin/jobs/change", describe::<jobs::ChangeForm>(0)),
        ("/v1/admin/webhooks/redeliver", describe::<webhooks::RedeliverForm>(0)),
    ] {
        let item = document.paths.paths.get_mut(path);
        for route in item.into_iter().flat_map(|item| [&mut item.post, &mut item.put]).flatten() {
            route.request_body = Some(form.body.clone());
        }
        components.extend(form.components);
    }
    components.extend(jobs::JobsQuery::described().filter_map(FieldDescription::component));
    document.components.get_or_insert_default().schemas.extend(components);
    document
}
