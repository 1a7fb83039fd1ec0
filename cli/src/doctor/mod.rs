//! `akhar doctor`: checks everything that the service needs on this machine, and says how to correct what is wrong.

mod check;
mod database;
mod locks;
mod machine;
mod models;
mod running;
mod uploads;
mod waiting;
mod webhooks;
mod workers;

use akhar_platform::config::Config;
use serde_json::json;

use crate::{failure::Failure, output};
use check::{Check, Status};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs all checks and prints their findings. Ends with code 1 if one failed.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut checks = Vec::new();
    match Config::load() {
        Ok(config) => {
            checks.push(Check::ok(
                "settings",
                "all AKHAR_* variables and keys of akhar.toml are known and valid",
            ));
            checks.extend(of(&config)?);
        }
        Err(error) => {
            let fix = "correct the setting that it names: .env.example lists all settings";
            checks.push(Check::failed("settings", error.to_string(), fix));
        }
    }
    let failed = checks.iter().any(|check| check.status == Status::Failed);
    if arguments.json {
        output::line(json!({"ok": !failed, "checks": checks}))?;
    } else {
        checks.iter().try_for_each(|check| output::print(output::as_called(&check.text())))?;
    }
    if failed { Err(Failure::Exit(1)) } else { Ok(()) }
}

fn of(config: &Config) -> Result<Vec<Check>, Failure> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::Runtime)?;
    let (mut checks, has_worker) = runtime.block_on(database::checks(config));
    checks.push(runtime.block_on(uploads::check(config)));
    checks.extend(models::checks(config, has_worker));
    checks.push(runtime.block_on(machine::port(config)));
    checks.extend(machine::checks(config));
    Ok(checks)
}
