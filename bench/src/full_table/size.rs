//! The size of the table of jobs on the disk.

use akhar_platform::database::Pool;
use akhar_tests::figures::count;

use crate::report::Report;

const BYTES_PER_MIB: f64 = 1_048_576.0;

/// MiB of the table with its values outside the rows, and of its indexes.
#[derive(Debug, Clone, Copy, sqlx::FromRow)]
pub(super) struct Size {
    table: f64,
    indexes: f64,
}

impl Size {
    pub(super) async fn of(db: &Pool) -> Self {
        let query = "select (pg_table_size('jobs') / 1048576.0)::float8 as table,
            (pg_indexes_size('jobs') / 1048576.0)::float8 as indexes";
        sqlx::query_as(query).fetch_one(db).await.expect("sizes")
    }

    /// Adds a row for a table of `n` jobs.
    pub(super) fn report(self, report: &mut Report, what: &str, n: usize) {
        report.row(
            &format!("size, {what}"),
            vec![
                ("table_mib", self.table),
                ("indexes_mib", self.indexes),
                ("table_bytes_per_job", self.table * BYTES_PER_MIB / count(n)),
                ("index_bytes_per_job", self.indexes * BYTES_PER_MIB / count(n)),
            ],
        );
    }
}
