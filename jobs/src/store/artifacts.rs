//! Artifacts: the parts of an outcome that are stored as named bytes beside its row. They are deleted with their job.

use std::{borrow::Cow, collections::HashMap};

use sqlx::PgConnection;
use uuid::Uuid;

use crate::{JobId, Outcome};

use super::{rows::unreadable, strokes};

const STROKES: &str = "strokes";
/// JSON text that has no shorter form. Earlier versions stored all strokes so.
const POINTS: &str = "points";
const IMAGE: &str = "image";

/// Artifacts as the three columns of an insert.
#[derive(Default)]
pub(super) struct Artifacts<'a> {
    pub(super) jobs: Vec<Uuid>,
    pub(super) names: Vec<&'static str>,
    pub(super) bytes: Vec<Cow<'a, [u8]>>,
}

/// Collects the artifacts of the outcomes.
pub(super) fn of<'a>(outcomes: impl Iterator<Item = (JobId, Option<&'a Outcome>)>) -> Artifacts<'a> {
    let mut artifacts = Artifacts::default();
    for (job, outcome) in outcomes {
        let Some(Outcome::Handwriting { points, image, .. }) = outcome else { continue };
        let mut add = |name, bytes| {
            artifacts.jobs.push(job.0);
            artifacts.names.push(name);
            artifacts.bytes.push(bytes);
        };
        match strokes::store(points) {
            Some(stored) => add(STROKES, stored.into()),
            None => add(POINTS, points.into()),
        }
        if let Some(image) = image {
            add(IMAGE, image.into());
        }
    }
    artifacts
}

/// Reads the artifacts of the outcomes and stores them in the outcomes.
pub(super) async fn fetch(
    db: &mut PgConnection,
    outcomes: impl Iterator<Item = (JobId, &mut Outcome)>,
) -> Result<(), sqlx::Error> {
    let mut wanted: HashMap<JobId, &mut Outcome> =
        outcomes.filter(|(_, outcome)| matches!(outcome, Outcome::Handwriting { .. })).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let jobs: Vec<Uuid> = wanted.keys().map(|job| job.0).collect();
    let rows: Vec<(JobId, String, Vec<u8>)> =
        sqlx::query_as("select job_id, name, bytes from artifacts where job_id = any($1)")
            .bind(jobs)
            .fetch_all(db)
            .await?;
    for (job, name, bytes) in rows {
        let Some(Outcome::Handwriting { points, image, .. }) = wanted.get_mut(&job) else { continue };
        match name.as_str() {
            STROKES => *points = strokes::read(&bytes).ok_or_else(|| unreadable("artifact", &name))?,
            POINTS => *points = bytes,
            IMAGE => *image = Some(bytes),
            _ => return Err(unreadable("artifact", name)),
        }
    }
    Ok(())
}
