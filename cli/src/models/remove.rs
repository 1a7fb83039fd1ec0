//! `akhar models remove`: deletes a pulled model, or the files of an interrupted pull.

use akhar_inference::Registry;
use akhar_platform::config::Config;

use super::error::failed;
use crate::{failure::Failure, output};

pub(super) fn run(config: &Config, id: &str) -> Result<(), Failure> {
    Registry::open(&config.models_dir)?.remove(id).map_err(failed("remove"))?;
    output::line(format_args!("removed {id}"))
}
