//! The statements of the hand-written queue: one table, SKIP LOCKED, and one statement for each batch.

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
pub(crate) struct Table {
    /// Connections for submissions and ends.
    pub(crate) db: PgPool,
    /// Connections for claims, which need no durable commit.
    pub(crate) claims: PgPool,
    /// Whether submissions and ends are announced. Without, workers poll.
    pub(crate) announces: bool,
}

/// What a job ended with: its id, its answer, and the µs of decoding and inference.
pub(crate) type Ended = (Uuid, String, i32, i32);

impl Table {
    /// Creates the table in an empty database.
    pub(crate) async fn create(db: &PgPool) {
        sqlx::raw_sql(SCHEMA).execute(db).await.expect("a schema");
    }

    /// Submits jobs.
    pub(crate) async fn insert(&self, ids: &[Uuid], payloads: &[Vec<u8>]) {
        let statement =
            "insert into hand_written_jobs (id, payload) select * from unnest($1::uuid[], $2::bytea[])";
        let insert = sqlx::query(statement).bind(ids).bind(payloads);
        if !self.announces {
            insert.execute(&self.db).await.expect("an insert");
            return;
        }
        let mut tx = self.db.begin().await.expect("a transaction");
        insert.execute(&mut *tx).await.expect("an insert");
        sqlx::query("select pg_notify($1, '')").bind(QUEUED).execute(&mut *tx).await.expect("a notice");
        tx.commit().await.expect("a commit");
    }

    /// Claims at most `n` jobs. Returns their ids and payloads.
    pub(crate) async fn claim(&self, n: i64) -> Vec<(Uuid, Vec<u8>)> {
        let statement = "update hand_written_jobs set state = 'running' where id in (
                 select id from hand_written_jobs where state = 'queued' order by id limit $1 for update skip locked)
             returning id, payload";
        sqlx::query_as(statement).bind(n).fetch_all(&self.claims).await.expect("a claim")
    }

    /// Ends jobs. Returns how many of them were running.
    pub(crate) async fn end(&self, jobs: &[Ended]) -> usize {
        let statement = "with ended as (
                 update hand_written_jobs j
                 set state = 'succeeded', answer = e.answer, decode_us = e.decode_us, infer_us = e.infer_us
                 from unnest($1::uuid[], $2::text[], $3::integer[], $4::integer[]) as e (id, answer, decode_us, infer_us)
                 where j.id = e.id and j.state = 'running' returning j.id)
             select case when $6 then pg_notify($5, id::text)::text end from ended";
        let ended = sqlx::query(statement)
            .bind(jobs.iter().map(|job| job.0).collect::<Vec<_>>())
            .bind(jobs.iter().map(|job| job.1.as_str()).collect::<Vec<_>>())
            .bind(jobs.iter().map(|job| job.2).collect::<Vec<_>>())
            .bind(jobs.iter().map(|job| job.3).collect::<Vec<_>>())
            .bind(ENDED)
            .bind(self.announces)
            .fetch_all(&self.db);
        ended.await.expect("an end").len()
    }

    /// The answer of an ended job, and the µs of decoding and inference.
    pub(crate) async fn answer(&self, id: Uuid) -> (String, i32, i32) {
        let statement = "select answer, decode_us, infer_us from hand_written_jobs where id = $1";
        sqlx::query_as(statement).bind(id).fetch_one(&self.db).await.expect("its row")
    }
}
