//! The streams of jobs: input that arrives while a job runs, and what the job says meanwhile. Parts of both are documents that this
//! crate does not read.
//!
//! The input is numbered by the api, and the output by the worker, each from 1 without gaps. So a part that is written again after
//! its statement got no answer changes nothing.

use std::collections::{HashMap, HashSet};

use akhar_platform::database::Pool;
use bytes::Bytes;
use serde_json::Value;
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use crate::{Fence, JobId, JobState};

use super::{
    announcements::{STREAM_INPUTS, STREAM_OUTPUTS, announce},
    rows::column,
};

/// The most parts of one stream that a statement reads.
const MAX_PARTS: i64 = 64;

/// The most events of one stream that a statement reads.
const MAX_EVENTS: i64 = 500;

/// A part of a job's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputPart {
    /// The job.
    pub job: JobId,
    /// Its number, from 1.
    pub n: i64,
    /// The bytes, as the caller has sent them.
    pub bytes: Bytes,
    /// What the caller asks for behind them.
    pub mark: Option<Value>,
}

/// A part that a connection appends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPart {
    /// The part.
    pub part: InputPart,
    /// The bytes of the input up to its end.
    pub end: i64,
    /// The number of connections before this one (see [`take_over`]).
    pub writer: i32,
}

/// What became of a part of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// It is on disk, or was read before.
    Stored,
    /// Another connection has taken the input over.
    TakenOver,
    /// The job has ended, or there is none.
    Ended,
}

/// Appends parts to the inputs of jobs that have not ended, and announces them. They are on disk when this returns. A part that was
/// appended before changes nothing.
///
/// The row of a job that runs is locked, so that it is not deleted meanwhile. That of a queued one is not, because a claim would
/// skip it.
pub async fn append(db: &mut PgConnection, parts: &[NewPart]) -> Result<Vec<Appended>, sqlx::Error> {
    let open: Vec<(JobId, Option<i32>)> = sqlx::query_as(
        "with given as (
             select unnest($1::uuid[]) as job_id, unnest($2::int8[]) as n, unnest($3::bytea[]) as bytes, unnest($4::jsonb[]) as mark,
                 unnest($5::int8[]) as end_byte, unnest($6::int4[]) as writer),
         running as materialized (
             select id from jobs where id = any($1) and state = 'running' order by id for key share),
         open as (select id from running union all select id from jobs where id = any($1) and state = 'queued'),
         written as (
             insert into streams as s (job_id, n_bytes, writer)
             select job_id, max(end_byte), max(writer) from given where job_id in (select id from open) group by job_id order by job_id
             on conflict (job_id) do update set n_bytes = greatest(s.n_bytes, excluded.n_bytes) where s.writer = excluded.writer
             returning job_id, s.writer),
         added as (
             insert into stream_inputs (job_id, n, bytes, mark)
             select job_id, n, bytes, mark from given g join written using (job_id, writer)
             where n > coalesce((select n_read from streams s where s.job_id = g.job_id), 0)
             on conflict do nothing)
         select id, w.writer from open left join written w on w.job_id = open.id",
    )
    .bind(column(parts, |new| new.part.job.0))
    .bind(column(parts, |new| new.part.n))
    .bind(column(parts, |new| &*new.part.bytes))
    .bind(column(parts, |new| new.part.mark.as_ref().map(Json)))
    .bind(column(parts, |new| new.end))
    .bind(column(parts, |new| new.writer))
    .fetch_all(&mut *db)
    .await?;
    let written: Vec<JobId> =
        open.iter().filter(|(_, writer)| writer.is_some()).map(|(job, _)| *job).collect();
    announce(db, STREAM_INPUTS, &ids(&written)).await;
    let open: HashMap<JobId, Option<i32>> = open.into_iter().collect();
    let appended = |new: &NewPart| match open.get(&new.part.job) {
        Some(writer) if *writer == Some(new.writer) => Appended::Stored,
        Some(_) => Appended::TakenOver,
        None => Appended::Ended,
    };
    Ok(parts.iter().map(appended).collect())
}

/// An input that another connection goes on with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TakenOver {
    /// The number of connections before this one. None of those appends anything any more.
    pub writer: i32,
    /// The number of the last part that is stored.
    pub n_stored: i64,
    /// The bytes of all parts up to that one.
    pub n_bytes: i64,
}

/// Takes the input of a job over from the connections before. `None` if there is no such job.
pub async fn take_over(db: &Pool, job: JobId) -> Result<Option<TakenOver>, sqlx::Error> {
    db.transaction(move |transaction| {
        Box::pin(async move {
            let taken: Option<(i32, i64)> = sqlx::query_as(
                "insert into streams as s (job_id, writer) select id, 1 from jobs where id = $1 for key share
                 on conflict (job_id) do update set writer = s.writer + 1 returning writer, n_bytes",
            )
            .bind(job)
            .fetch_optional(&mut *transaction)
            .await?;
            let Some((writer, n_bytes)) = taken else { return Ok(None) };
            // What the connection before has appended until then is seen from here on.
            let n_stored = sqlx::query_scalar(
                "select greatest((select n_read from streams where job_id = $1), (select max(n) from stream_inputs where job_id = $1))",
            )
            .bind(job)
            .fetch_one(transaction)
            .await?;
            Ok(Some(TakenOver { writer, n_stored, n_bytes }))
        })
    })
    .await
}

/// A job, and how much of its input its worker knows, or of its output its follower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamCursor {
    /// The job.
    pub job: JobId,
    /// The number of the last part or event that is known.
    pub after: i64,
}

/// The place of a cursor, and a part behind it: its number, its bytes and its mark.
type InputRow = (i64, i64, Vec<u8>, Option<Json<Value>>);

/// Reads the next parts of the inputs, some of each, in the order of the cursors.
pub async fn read_inputs(
    db: &mut PgConnection,
    cursors: &[StreamCursor],
) -> Result<Vec<Vec<InputPart>>, sqlx::Error> {
    let rows: Vec<InputRow> = sqlx::query_as(
        "select c.at, i.n, i.bytes, i.mark
         from unnest($1::uuid[], $2::int8[]) with ordinality as c (job_id, after, at)
         cross join lateral (
             select n, bytes, mark from stream_inputs i where i.job_id = c.job_id and i.n > c.after
             order by n limit $3) i
         order by c.at, i.n",
    )
    .bind(column(cursors, |c| c.job.0))
    .bind(column(cursors, |c| c.after))
    .bind(MAX_PARTS)
    .fetch_all(db)
    .await?;
    let mut read: Vec<Vec<InputPart>> = cursors.iter().map(|_| Vec::new()).collect();
    for (at, n, bytes, mark) in rows {
        let Some(at) = usize::try_from(at - 1).ok().filter(|at| *at < cursors.len()) else { continue };
        let StreamCursor { job, after } = cursors[at];
        // A part that is not stored yet comes before those that follow it.
        let n_known = after + i64::try_from(read[at].len()).unwrap_or(i64::MAX);
        if n == n_known + 1 {
            read[at].push(InputPart { job, n, bytes: bytes.into(), mark: mark.map(|mark| mark.0) });
        }
    }
    Ok(read)
}

/// What a job says.
#[derive(Debug, Clone)]
pub struct Output {
    /// The claim. If it is no longer current, nothing is changed.
    pub fence: Fence,
    /// The number of events before these.
    pub n_before: i64,
    /// The next events.
    pub events: Vec<Value>,
    /// What the job would say next.
    pub preview: Option<Value>,
    /// The parts of the input up to this number are read, and are deleted.
    pub n_read: i64,
    /// What the next attempt has to know of those; `None` if that has not changed.
    pub checkpoint: Option<Value>,
}

/// Writes what jobs say, and announces it. Returns one `bool` for each output, in order: `false` if its claim was no longer current.
/// Events are on disk when this returns.
///
/// The rows of the jobs are locked, so that the next attempt reads all that this one has written.
pub async fn write_outputs(db: &mut PgConnection, outputs: &[Output]) -> Result<Vec<bool>, sqlx::Error> {
    let events: Vec<(Uuid, i64, Json<&Value>)> = outputs
        .iter()
        .flat_map(|o| o.events.iter().zip(o.n_before + 1..).map(|(event, n)| (o.fence.job.0, n, Json(event))))
        .collect();
    let written: Vec<JobId> = sqlx::query_scalar(
        "with given as (
             select unnest($1::uuid[]) as job_id, unnest($2::int4[]) as attempt, unnest($3::int8[]) as n_read,
                 unnest($4::jsonb[]) as checkpoint, unnest($5::jsonb[]) as preview),
         running as materialized (
             select j.id from jobs j join given g on g.job_id = j.id
             where j.state = 'running' and j.attempt = g.attempt order by j.id for share of j),
         changed as (
             insert into streams (job_id, n_read, checkpoint, preview)
             select job_id, n_read, checkpoint, preview from given where job_id in (select id from running)
             order by job_id
             on conflict (job_id) do update set preview = excluded.preview,
                 n_read = greatest(streams.n_read, excluded.n_read),
                 checkpoint = coalesce(excluded.checkpoint, streams.checkpoint)),
         deleted as (
             delete from stream_inputs i using given g
             where i.job_id = g.job_id and i.n <= g.n_read and g.job_id in (select id from running)),
         added as (
             insert into stream_outputs (job_id, n, event)
             select e.job_id, e.n, e.event from unnest($6::uuid[], $7::int8[], $8::jsonb[]) as e (job_id, n, event)
             where e.job_id in (select id from running)
             on conflict do nothing)
         select id, case when cardinality($6) = 0 then set_config('synchronous_commit', 'off', true) end from running",
    )
    .bind(column(outputs, |o| o.fence.job.0))
    .bind(column(outputs, |o| o.fence.attempt))
    .bind(column(outputs, |o| o.n_read))
    .bind(column(outputs, |o| o.checkpoint.as_ref().map(Json)))
    .bind(column(outputs, |o| o.preview.as_ref().map(Json)))
    .bind(column(&events, |(job, ..)| *job))
    .bind(column(&events, |(_, n, _)| *n))
    .bind(column(&events, |(.., event)| *event))
    .fetch_all(&mut *db)
    .await?;
    announce(db, STREAM_OUTPUTS, &ids(&written)).await;
    let written: HashSet<JobId> = written.into_iter().collect();
    Ok(outputs.iter().map(|o| written.contains(&o.fence.job)).collect())
}

/// What a follower learns about a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputsSeen {
    /// The state of the job.
    pub state: JobState,
    /// The next events, some if there are many. When the job has ended, there are no more than those that follow.
    pub events: Vec<Value>,
    /// What the job would say next.
    pub preview: Option<Value>,
    /// The number of the last part of the input that is read to its end.
    pub n_read: i64,
}

#[derive(sqlx::FromRow)]
struct SeenRow {
    at: i64,
    state: JobState,
    events: Option<Json<Vec<Value>>>,
    preview: Option<Json<Value>>,
    n_read: i64,
}

/// Reads what is new about each stream, in the order of the cursors. `None` if there is no such job.
pub async fn follow_outputs(
    db: &mut PgConnection,
    cursors: &[StreamCursor],
) -> Result<Vec<Option<OutputsSeen>>, sqlx::Error> {
    let rows: Vec<SeenRow> = sqlx::query_as(
        "select c.at, j.state, s.preview, coalesce(s.n_read, 0) as n_read,
             (select json_agg(o.event order by o.n) from (
                 select n, event from stream_outputs o where o.job_id = j.id and o.n > c.after
                 order by n limit $3) o) as events
         from unnest($1::uuid[], $2::int8[]) with ordinality as c (job_id, after, at)
         join jobs j on j.id = c.job_id left join streams s on s.job_id = j.id",
    )
    .bind(column(cursors, |c| c.job.0))
    .bind(column(cursors, |c| c.after))
    .bind(MAX_EVENTS)
    .fetch_all(db)
    .await?;
    let mut seen: Vec<Option<OutputsSeen>> = cursors.iter().map(|_| None).collect();
    for SeenRow { at, state, events, preview, n_read } in rows {
        let place = usize::try_from(at - 1).ok().and_then(|at| seen.get_mut(at));
        if let Some(place) = place {
            let events = events.map_or_else(Vec::new, |events| events.0);
            let preview = preview.map(|preview| preview.0);
            *place = Some(OutputsSeen { state, events, preview, n_read });
        }
    }
    Ok(seen)
}

/// From where an attempt goes on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StreamStart {
    /// The parts of the input up to this number are read.
    pub n_read: i64,
    /// What has to be known of those.
    pub checkpoint: Option<Value>,
}

/// Finds from where an attempt goes on.
pub async fn stream_start(db: &mut PgConnection, job: JobId) -> Result<StreamStart, sqlx::Error> {
    let start: Option<(i64, Option<Json<Value>>)> =
        sqlx::query_as("select n_read, checkpoint from streams where job_id = $1")
            .bind(job)
            .fetch_optional(db)
            .await?;
    let start = start.map(|(n_read, checkpoint)| StreamStart { n_read, checkpoint: checkpoint.map(|c| c.0) });
    Ok(start.unwrap_or_default())
}

/// Jobs as the payload of a notification.
fn ids(jobs: &[JobId]) -> String {
    let ids: Vec<String> = jobs.iter().map(ToString::to_string).collect();
    ids.join(",")
}
