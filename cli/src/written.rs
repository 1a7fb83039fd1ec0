//! `akhar written`: writes the numbers of the lines of standard input in figures, without a server and without a model.

use std::io::{self, BufRead as _};

use akhar_inference::speech::{self, WrittenForm};
use akhar_platform::text;
use akhar_requests::{Digits, Language};

use crate::{choices::named, failure::Failure, output};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The language of the lines on standard input
    #[arg(long, default_value = "pa", value_parser = named(Language::ALL, Language::code))]
    lang: Language,
    /// The digits of the lines that are printed
    #[arg(long, default_value = "latin", value_parser = named(Digits::ALL, Digits::name))]
    digits: Digits,
}

/// Prints a line for each line of standard input.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let digits = match arguments.digits {
        Digits::Latin => speech::Digits::Latin,
        Digits::Gurmukhi => speech::Digits::Gurmukhi,
    };
    let form = WrittenForm::new(arguments.lang.code(), digits);
    let mut input = io::stdin().lock();
    text::skip_mark(&mut input).map_err(Failure::io("cannot read standard input"))?;
    for line in input.lines() {
        let line = line.map_err(Failure::io("cannot read standard input"))?;
        output::line(form.map_or_else(|| line.clone(), |form| form.text(&line)))?;
    }
    Ok(())
}
