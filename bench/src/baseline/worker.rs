//! The worker of the hand-written queue. After an announcement it claims jobs, runs the product's model and
//! ends them.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_inference::{Classifier, Runtime, ink, load_all};
use akhar_platform::database::Database;
use parking_lot::Mutex;
use sqlx::postgres::PgListener;
use tokio::{sync::Semaphore, task::spawn_blocking};
use uuid::Uuid;

use super::{ENDED, QUEUED, database};

/// The number of jobs that run at the same time, as in the product's worker.
const CONCURRENCY: usize = 8;

/// Works until it is killed. Prints `ready` on stdout when the model is loaded.
pub(crate) async fn run() {
    let database = database().await;
    let mut queued = PgListener::connect_with(&database.durable).await.expect("a listener");
    queued.listen(QUEUED).await.expect("it listens");
    let (model, places) = (Arc::new(Mutex::new(digits())), Arc::new(Semaphore::new(CONCURRENCY)));
    println!("ready");
    while queued.recv().await.is_ok() {
        let place = Arc::clone(&places).acquire_owned().await.expect("the semaphore is never closed");
        let (database, model) = (database.clone(), Arc::clone(&model));
        tokio::spawn(async move {
            while let Some((id, image)) = claim(&database).await {
                let model = Arc::clone(&model);
                let worked = spawn_blocking(move || work(&model, &image)).await.expect("no panic");
                end(&database, id, worked).await;
            }
            drop(place);
        });
    }
}

/// The product's digit model, loaded with the product's code.
pub(crate) fn digits() -> Classifier {
    let path = |name: &str| PathBuf::from(std::env::var_os(name).expect("the environment of a stack"));
    let manifests = load_all(&path("AKHAR_MODELS_DIR")).expect("manifests");
    let manifest = manifests.iter().find(|m| m.operation == "digit-recognition").expect("a digit model");
    let runtime = Runtime::load(&path("AKHAR_ORT_DYLIB")).expect("ONNX Runtime");
    Classifier::load(&runtime, manifest, 1).expect("the model loads")
}

async fn claim(database: &Database) -> Option<(Uuid, Vec<u8>)> {
    sqlx::query_as(
        "update baseline_jobs set state = 'running' where id = (
             select id from baseline_jobs where state = 'queued' order by id limit 1 for update skip locked)
         returning id, image",
    )
    .fetch_optional(&database.volatile)
    .await
    .expect("a claim")
}

fn work(model: &Mutex<Classifier>, image: &[u8]) -> (String, Duration, Duration) {
    let started = Instant::now();
    let image = image::load_from_memory(image).expect("a fixture").into_rgb8();
    let view = ink::PixelView::rgb(image.width() as usize, image.height() as usize, image.as_raw());
    let ink = ink::features(view.expect("its size")).expect("ink");
    let decode = started.elapsed();
    let started = Instant::now();
    let scores = model.lock().classify(&[ink]).expect("scores");
    let best: Vec<_> =
        scores[0].iter().take(3).map(|s| serde_json::json!({"label": s.label, "score": s.score})).collect();
    (serde_json::json!({ "predictions": best }).to_string(), decode, started.elapsed())
}

async fn end(database: &Database, id: Uuid, (answer, decode, infer): (String, Duration, Duration)) {
    let micros = |d: Duration| i32::try_from(d.as_micros()).unwrap_or(i32::MAX);
    sqlx::query(
        "with ended as (
             update baseline_jobs set state = 'succeeded', answer = $2, decode_us = $3, infer_us = $4
             where id = $1 and state = 'running' returning id)
         select pg_notify($5, id::text) from ended",
    )
    .bind(id)
    .bind(answer)
    .bind(micros(decode))
    .bind(micros(infer))
    .bind(ENDED)
    .execute(&database.durable)
    .await
    .expect("an end");
}
