//! The statements of the hand-written queue: one table, SKIP LOCKED and NOTIFY.

use sqlx::PgPool;
use uuid::Uuid;

const SCHEMA: &str = "create table hand_written_jobs (
        id uuid primary key, payload bytea not null, state text not null default 'queued',
        answer text, decode_us integer, infer_us integer);
    create index on hand_written_jobs (id) where state = 'queued';";

/// The NOTIFY channel for queued jobs.
pub(super) const QUEUED: &str = "hand_written_queued";
/// The NOTIFY channel for ended jobs. The payload is the job's id.
pub(super) const ENDED: &str = "hand_written_ended";

/// The queue's table.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// Connections for submissions and ends.
    pub(super) db: PgPool,
    /// Connections for claims, which need no durable commit.
    pub(super) claims: PgPool,
}

/// What a job ended with: its id, its answer, and the µs of decoding and inference.
pub(super) type Ended = (Uuid, String, i32, i32);

impl Table {
    /// Creates the table in an empty database.
    pub(super) async fn create(db: &PgPool) {
        sqlx::raw_sql(SCHEMA).execute(db).await.expect("a schema");
    }

    /// Submits a job.
    pub(super) async fn insert(&self, id: Uuid, payload: &[u8]) {
        let mut tx = self.db.begin().await.expect("a transaction");
        let insert = sqlx::query("insert into hand_written_jobs (id, payload) values ($1, $2)");
        insert.bind(id).bind(payload).execute(&mut *tx).await.expect("an insert");
        sqlx::query("select pg_notify($1, '')").bind(QUEUED).execute(&mut *tx).await.expect("a notice");
        tx.commit().await.expect("a commit");
    }

    /// Claims a job. Returns its id and payload.
    pub(super) async fn claim(&self) -> Option<(Uuid, Vec<u8>)> {
        let statement = "update hand_written_jobs set state = 'running' where id in (
                 select id from hand_written_jobs where state = 'queued' order by id limit 1 for update skip locked)
             returning id, payload";
        sqlx::query_as(statement).fetch_optional(&self.claims).await.expect("a claim")
    }

    /// Ends a job.
    pub(super) async fn end(&self, (id, answer, decode_us, infer_us): Ended) {
        let statement = "with ended as (
                 update hand_written_jobs set state = 'succeeded', answer = $2, decode_us = $3, infer_us = $4
                 where id = $1 and state = 'running' returning id)
             select pg_notify($5, id::text) from ended";
        let end = sqlx::query(statement).bind(id).bind(answer).bind(decode_us).bind(infer_us).bind(ENDED);
        end.execute(&self.db).await.expect("an end");
    }

    /// The answer of an ended job, and the µs of decoding and inference.
    pub(super) async fn answer(&self, id: Uuid) -> (String, i32, i32) {
        let statement = "select answer, decode_us, infer_us from hand_written_jobs where id = $1";
        sqlx::query_as(statement).bind(id).fetch_one(&self.db).await.expect("its row")
    }
}
