//! `akhar models use`: an operation and a model come in; from then on the one serves the other.

use akhar_inference::{BUNDLED, Shelf};
use akhar_platform::config::Config;

use super::failed;
use crate::failure::Failure;

pub(super) fn run(config: &Config, operation: &str, language: Option<&str>, id: &str) -> Result<(), Failure> {
    let mut shelf = Shelf::open(&config.models_dir)?;
    if id != BUNDLED {
        shelf.get(id).map_err(failed("use"))?.verify()?;
    }
    shelf.choose(operation, language, id).map_err(failed("use"))?;
    for model in shelf.all().iter().filter(|m| m.operation == operation) {
        match &shelf.serves(model)[..] {
            [] => (),
            [None, ..] => println!("{operation}: {}", model.id),
            languages => {
                let languages: Vec<&str> = languages.iter().flatten().map(String::as_str).collect();
                println!("{operation} in {}: {}", languages.join(", "), model.id);
            }
        }
    }
    Ok(())
}
