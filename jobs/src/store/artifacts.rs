//! What an outcome holds besides its row: bytes by name, which live and end with their job.

use sqlx::PgPool;

use crate::{JobId, Outcome};

use super::unreadable;

const POINTS: &str = "points";
const IMAGE: &str = "image";

/// An outcome's artifacts, as two columns: names and bytes.
pub(super) fn of(outcome: &Outcome) -> (Vec<&'static str>, Vec<&[u8]>) {
    match outcome {
        Outcome::Handwriting { points, image } => {
            let image = image.as_deref().map(|image| (IMAGE, image));
            std::iter::once((POINTS, points.as_slice())).chain(image).unzip()
        }
        _ => (Vec::new(), Vec::new()),
    }
}

/// Reads the artifacts an outcome has into it.
pub(super) async fn fetch(db: &PgPool, job: JobId, outcome: &mut Outcome) -> Result<(), sqlx::Error> {
    let Outcome::Handwriting { points, image } = outcome else { return Ok(()) };
    let kept: Vec<(String, Vec<u8>)> =
        sqlx::query_as("select name, bytes from artifacts where job_id = $1").bind(job).fetch_all(db).await?;
    for (name, bytes) in kept {
        match name.as_str() {
            POINTS => *points = bytes,
            IMAGE => *image = Some(bytes),
            _ => return Err(unreadable("artifact", name)),
        }
    }
    Ok(())
}
