//! The front end of the hand-written queue. It queues the image of each request, waits for the job, and
//! answers.

use std::{collections::HashMap, convert::Infallible, sync::Arc};

use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use sqlx::postgres::PgListener;
use tokio::{net::TcpListener, sync::oneshot};
use uuid::Uuid;

use super::{
    table,
    table::{ENDED, Table},
};

/// The requests that wait for their jobs.
#[derive(Debug, Default)]
struct Waiting(Mutex<HashMap<Uuid, oneshot::Sender<()>>>);

impl Waiting {
    fn add(&self, id: Uuid) -> oneshot::Receiver<()> {
        let (wake, woken) = oneshot::channel();
        self.0.lock().insert(id, wake);
        woken
    }

    fn wake(&self, id: Uuid) {
        let wake = self.0.lock().remove(&id);
        wake.map(|wake| wake.send(()));
    }
}

/// Serves until it is killed. The first line on stdout has its address.
pub(crate) async fn run() {
    let table = table().await;
    let waiting = Arc::new(Waiting::default());
    let mut ended = PgListener::connect_with(&table.db).await.expect("a listener");
    ended.listen(ENDED).await.expect("it listens");
    let listening = Arc::clone(&waiting);
    tokio::spawn(async move {
        while let Ok(announcement) = ended.recv().await {
            listening.wake(announcement.payload().parse().expect("an id"));
        }
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("listening on http://{}", listener.local_addr().expect("an address"));
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).expect("TCP");
        let (table, waiting) = (table.clone(), Arc::clone(&waiting));
        let answer = service_fn(move |request| answer(table.clone(), Arc::clone(&waiting), request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}

async fn answer(
    table: Table,
    waiting: Arc<Waiting>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let image = request.into_body().collect().await.expect("the client sends it all").to_bytes();
    let id = Uuid::now_v7();
    let woken = waiting.add(id);
    table.insert(id, &image).await;
    woken.await.expect("it ends");
    let (answer, decode_us, infer_us) = table.answer(id).await;
    let (decode, infer) = (f64::from(decode_us) / 1e3, f64::from(infer_us) / 1e3);
    let timing = format!("decode;dur={decode:.3}, infer;dur={infer:.3}");
    let response =
        Response::builder().header("server-timing", timing).header("content-type", "application/json");
    Ok(response.body(answer.into()).expect("valid headers"))
}
