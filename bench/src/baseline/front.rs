//! The front end of the hand-written queue. It queues the image of each request, waits for the job, and
//! answers.

use std::{collections::HashMap, sync::Arc};

use akhar_platform::database::Database;
use parking_lot::Mutex;
use sqlx::postgres::PgListener;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};
use uuid::Uuid;

use super::{ENDED, QUEUED, database};

type Waiting = Arc<Mutex<HashMap<Uuid, oneshot::Sender<()>>>>;

/// Serves until it is killed. The first line on stdout is its address.
pub(crate) async fn run() {
    let (database, waiting) = (database().await, Waiting::default());
    let mut ended = PgListener::connect_with(&database.durable).await.expect("a listener");
    ended.listen(ENDED).await.expect("it listens");
    let woken = Arc::clone(&waiting);
    tokio::spawn(async move {
        while let Ok(announcement) = ended.recv().await {
            let id = announcement.payload().parse().expect("an id");
            let waiter = woken.lock().remove(&id);
            waiter.map(|w| w.send(()));
        }
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("http://{}", listener.local_addr().expect("an address"));
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(serve(stream, database.clone(), Arc::clone(&waiting)));
    }
}

/// Serves one connection, with the part of HTTP/1.1 that the benchmark's client uses.
async fn serve(stream: TcpStream, database: Database, waiting: Waiting) {
    stream.set_nodelay(true).expect("TCP");
    let mut stream = BufReader::new(stream);
    while let Some(image) = request(&mut stream).await {
        let (answer, decode_us, infer_us) = perform(&database, &waiting, image).await;
        let (decode, infer) = (f64::from(decode_us) / 1e3, f64::from(infer_us) / 1e3);
        let response = format!(
            "HTTP/1.1 200 OK\r\nserver-timing: decode;dur={decode:.3}, infer;dur={infer:.3}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{answer}",
            answer.len()
        );
        if stream.write_all(response.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn request(stream: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let (mut line, mut n_bytes) = (String::new(), 0);
    while stream.read_line(&mut line).await.ok()? > 0 && line != "\r\n" {
        if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            n_bytes = length.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; n_bytes];
    stream.read_exact(&mut body).await.ok()?;
    (n_bytes > 0).then_some(body)
}

async fn perform(database: &Database, waiting: &Waiting, image: Vec<u8>) -> (String, i32, i32) {
    let id = Uuid::now_v7();
    let (wake, woken) = oneshot::channel();
    waiting.lock().insert(id, wake);
    let mut tx = database.durable.begin().await.expect("a transaction");
    let insert = sqlx::query("insert into baseline_jobs (id, image) values ($1, $2)").bind(id).bind(image);
    insert.execute(&mut *tx).await.expect("an insert");
    sqlx::query("select pg_notify($1, '')").bind(QUEUED).execute(&mut *tx).await.expect("a notice");
    tx.commit().await.expect("a commit");
    woken.await.expect("it ends");
    sqlx::query_as("select answer, decode_us, infer_us from baseline_jobs where id = $1")
        .bind(id)
        .fetch_one(&database.durable)
        .await
        .expect("its row")
}
