//! `akhar database`: keeps a restored database quiet, and lets it go on.

use akhar_operators::restores;
use akhar_platform::config::Config;

use crate::{actor, connect, failure::Failure, output};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Start no job, send no webhook and delete nothing old until `akhar database go`. The first step after a backup was restored, before
    /// any process starts; the scripts that restore backups do it
    Quiet,
    /// Let a quiet database go on: its jobs start, and its webhooks are sent
    Go,
}

/// Runs one subcommand.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    let actor = actor::of_command();
    let said = connect::with_database(config, async |db| {
        Ok(match command {
            Command::Quiet if restores::make_quiet(db, &actor).await? => {
                "quiet: no job starts and no webhook is sent until `akhar database go`"
            }
            Command::Quiet => "it is quiet already",
            Command::Go if restores::go_on(db, &actor).await? => "jobs start and webhooks are sent",
            Command::Go => "it is not quiet",
        })
    });
    output::line(said.await?)
}
