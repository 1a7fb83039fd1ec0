//! Reads what has changed about jobs since their followers last looked, many jobs with one statement.

use sqlx::{PgConnection, types::Json};

use crate::{JobId, JobState, Part};

use super::rows::column;

/// A place further back in its queue is not counted, so that a long queue costs no more than a short one.
const MAX_PLACE: i64 = 10_000;

/// A job, and how much of it its follower knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The job.
    pub job: JobId,
    /// The attempt whose parts the follower knows.
    pub attempt: i32,
    /// How many parts of this attempt it knows.
    pub n_parts: i32,
}

/// What a follower learns about a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Followed {
    /// The state.
    pub state: JobState,
    /// The number of claims so far.
    pub attempt: i32,
    /// The place in its queue: 1 if it is the next job. `None` if it is not queued, or if 10,000 jobs are before it.
    pub place: Option<i64>,
    /// Seconds of the input that are processed. `None` if the work is not followed.
    pub progress_s: Option<f64>,
    /// The finished parts of the running attempt that follow those of the cursor. All of them if the cursor is of
    /// another attempt.
    pub parts: Vec<Part>,
}

#[derive(sqlx::FromRow)]
struct FollowedRow {
    at: i64,
    state: JobState,
    attempt: i32,
    place: Option<i64>,
    transcribed_s: Option<f64>,
    parts: Option<Json<Vec<NumberedPart>>>,
}

#[derive(serde::Deserialize)]
struct NumberedPart {
    /// The number of parts between it and those of the cursor.
    n_before: usize,
    #[serde(flatten)]
    part: Part,
}

/// Reads what is new about each job, in the order of the cursors. `None` if there is no such job.
pub async fn follow(db: &mut PgConnection, cursors: &[Cursor]) -> Result<Vec<Option<Followed>>, sqlx::Error> {
    let rows: Vec<FollowedRow> = sqlx::query_as(
        "with followed as (
             select c.at, j.id, j.queue, j.state, j.attempt, j.transcribed_s,
                 case when c.attempt = j.attempt then c.n_parts else 0 end as n_known
             from unnest($1::uuid[], $2::int4[], $3::int4[]) with ordinality as c (id, attempt, n_parts, at)
             join jobs j on j.id = c.id),
         places as (
             select first.id, first.place
             from (select distinct queue from followed where state = 'queued') queues
             cross join lateral (
                 select id, row_number() over (order by priority desc, turn, run_at, id) as place
                 from jobs where queue = queues.queue and ended_at is null and state = 'queued'
                 order by priority desc, turn, run_at, id limit $4) first)
         select f.at, f.state, f.attempt, f.transcribed_s, p.place,
             (select json_agg(json_build_object('n_before', s.n - 1 - f.n_known,
                     'start_s', s.start_s, 'end_s', s.end_s, 'text', s.text,
                     'channel', s.channel) order by s.n)
              from segments s where s.job_id = f.id and s.attempt = f.attempt and s.n > f.n_known) as parts
         from followed f left join places p on p.id = f.id",
    )
    .bind(column(cursors, |c| c.job.0))
    .bind(column(cursors, |c| c.attempt))
    .bind(column(cursors, |c| c.n_parts))
    .bind(MAX_PLACE)
    .fetch_all(db)
    .await?;
    let mut followed: Vec<Option<Followed>> = cursors.iter().map(|_| None).collect();
    for row in rows {
        let place = usize::try_from(row.at - 1).ok().and_then(|at| followed.get_mut(at));
        if let Some(place) = place {
            *place = Some(row.into_followed());
        }
    }
    Ok(followed)
}

impl FollowedRow {
    fn into_followed(self) -> Followed {
        // A crash of Postgres can lose parts that the worker does not write again. Those after the gap are left out: the
        // outcome has them all.
        let numbered = self.parts.map_or_else(Vec::new, |parts| parts.0);
        let without_gap =
            numbered.into_iter().enumerate().take_while(|(at, numbered)| *at == numbered.n_before);
        Followed {
            state: self.state,
            attempt: self.attempt,
            place: self.place,
            progress_s: self.transcribed_s,
            parts: without_gap.map(|(_, numbered)| numbered.part).collect(),
        }
    }
}
