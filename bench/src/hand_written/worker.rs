//! The worker of the hand-written queue. After an announcement it claims jobs, runs the product's model and
//! ends them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_inference::{Classifier, Runtime, ink, load_all};
use akhar_tests::stack::{models, onnxruntime};
use parking_lot::Mutex;
use sqlx::postgres::PgListener;
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{table, table::QUEUED};

/// The number of jobs that run at the same time, as in the product's worker.
const CONCURRENCY: usize = 8;

/// Works until it is killed. Prints `ready` on stdout when the model is loaded.
pub(crate) async fn run() {
    let table = table().await;
    let mut queued = PgListener::connect_with(&table.db).await.expect("a listener");
    queued.listen(QUEUED).await.expect("it listens");
    let model = Arc::new(Mutex::new(digits()));
    let places = Arc::new(Semaphore::new(CONCURRENCY));
    println!("ready");
    while queued.recv().await.is_ok() {
        let place = Arc::clone(&places).acquire_owned().await.expect("the semaphore is never closed");
        let (table, model) = (table.clone(), Arc::clone(&model));
        tokio::spawn(async move {
            while let Some((id, image)) = table.claim().await {
                let model = Arc::clone(&model);
                let worked = spawn_blocking(move || work(&model, &image)).await.expect("no panic");
                let (answer, decode, infer) = worked;
                let micros = |d: Duration| i32::try_from(d.as_micros()).unwrap_or(i32::MAX);
                table.end((id, answer, micros(decode), micros(infer))).await;
            }
            drop(place);
        });
    }
}

/// The product's digit model, loaded with the product's code.
fn digits() -> Classifier {
    let manifests = load_all(&models()).expect("manifests");
    let manifest = manifests.iter().find(|m| m.operation == "digit-recognition").expect("a digit model");
    let runtime = Runtime::load(&onnxruntime()).expect("ONNX Runtime");
    Classifier::load(&runtime, manifest, 1).expect("the model loads")
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
