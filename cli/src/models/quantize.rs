//! `akhar models quantize`: makes the int8 copy of an installed model, and installs it if it says the same in less time.
//!
//! The copy is written into `pulled/.partial/<id>-int8`. Both models transcribe the same recordings, and the folder is renamed
//! to `pulled/<id>-int8`. The model itself stays as it is, so workers that use it notice nothing.

use std::{
    fmt::Display,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use akhar_inference::{Manifest, Registry, int8};
use akhar_jobs::Language;
use akhar_platform::config::Config;
use bytes::Bytes;
use indicatif::DecimalBytes;

use super::{
    error::failed,
    lock::lock,
    speech::{Clip, OPERATION, Trial, id_width, language, loaded},
};
use crate::{choices::named, failure::Failure, output};

/// Each model transcribes each recording so often. The shortest time counts.
const N_RUNS: usize = 3;
/// The share of letters that must be the same.
const MIN_SAME: f64 = 0.95;
/// A sentence in Panjabi, which the playground has too.
const SAMPLE: &[u8] = include_bytes!("../../../api/src/ui/playground/sample.mp3");

/// What the int8 model is compared on.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Comparison {
    /// A recording on which the two models are compared, also several times. Without it, a sentence in Panjabi
    #[arg(long = "clip", value_name = "FILE")]
    clips: Vec<PathBuf>,
    /// The language that is spoken. Without it, that of the model, or pa
    #[arg(long, value_parser = named(Language::ALL, Language::code))]
    lang: Option<Language>,
    /// Install the int8 model even if it is slower here or says something else
    #[arg(long)]
    force: bool,
}

/// How an int8 model compares with the model that it was made of.
#[derive(Debug, Clone, Copy)]
struct Compared {
    /// The share of letters that are the same.
    same: f64,
    /// The time of the int8 model, as a share of the other one's.
    of_time: f64,
}

pub(super) fn run(config: &Config, id: &str, comparison: &Comparison) -> Result<(), Failure> {
    let registry = Registry::open(&config.models_dir)?;
    let model = registry.get(id).map_err(failed("quantize"))?;
    let lang = language("quantize", model, comparison.lang)?;
    let clips = clips(&comparison.clips, lang)?;
    let int8_id = format!("{id}-int8");
    if registry.find(&int8_id).is_some() {
        return output::line(format_args!("{int8_id} is installed already"));
    }
    let partial = registry.partial(&int8_id);
    let io = |path: &Path| Failure::io(path.display().to_string());
    let Some(_lock) = lock(&partial).map_err(io(&partial))? else {
        return Err(refused(id, "another command is making it"));
    };
    if let Err(failure) = make(config, model, &partial, &clips, lang, comparison.force) {
        fs::remove_dir_all(&partial).map_err(io(&partial))?;
        return Err(failure);
    }
    let place = registry.place(&int8_id);
    fs::rename(&partial, &place).map_err(io(&place))?;
    output::line(format_args!(
        "{int8_id} is installed. To use it, run `akhar models use {OPERATION} {int8_id}`. {id} is kept as it is"
    ))
}

/// Makes the int8 copy of a model in a folder, and fails if it is not worth having.
fn make(
    config: &Config,
    model: &Manifest,
    folder: &Path,
    clips: &[Clip],
    lang: &str,
    force: bool,
) -> Result<(), Failure> {
    let copy = int8::quantise(model, &format!("{}-int8", model.id), folder)
        .map_err(|error| refused(&model.id, error))?;
    let compared = compare(config, [model, &copy], clips, lang)?;
    output::line(format_args!(
        "{:.1} % of the letters are the same, in {:.2} of the time; {} instead of {}",
        100.0 * compared.same,
        compared.of_time,
        DecimalBytes(copy.size()),
        DecimalBytes(model.size()),
    ))?;
    match compared.fault() {
        Some(fault) if !force => {
            let why = format!("{fault}: it is not installed; --force installs it all the same");
            Err(refused(&model.id, why))
        }
        _ => Ok(()),
    }
}

fn refused(id: &str, why: impl Display) -> Failure {
    Failure::Command(format!("models quantize {id}: {why}"))
}

/// The recordings in these files, or the bundled one.
fn clips(files: &[PathBuf], lang: &str) -> Result<Vec<Clip>, Failure> {
    if !files.is_empty() {
        return files.iter().map(|file| Clip::open(file)).collect();
    }
    if lang == Language::Panjabi.code() {
        return Ok(vec![Clip::decode("the bundled recording".to_owned(), Bytes::from_static(SAMPLE))?]);
    }
    let what = "models quantize: the bundled recording is in Panjabi: name another one with --clip FILE";
    Err(Failure::Command(what.to_owned()))
}

/// Lets a model and its int8 copy transcribe recordings, in turn, and prints what they make of them.
fn compare(
    config: &Config,
    manifests: [&Manifest; 2],
    clips: &[Clip],
    lang: &str,
) -> Result<Compared, Failure> {
    let mut models = loaded(config, manifests)?;
    let width = id_width(&models);
    let mut took = [Duration::ZERO; 2];
    let mut n_letters = 0_u32;
    let mut n_same = 0.0;
    for clip in clips {
        clip.print()?;
        let mut best: [Option<Trial>; 2] = [None, None];
        for _ in 0..N_RUNS {
            for ((manifest, model), best) in models.iter_mut().zip(&mut best) {
                let trial = clip.transcribe(manifest, &mut **model, lang)?;
                if best.as_ref().is_none_or(|best| trial.took < best.took) {
                    *best = Some(trial);
                }
            }
        }
        let [Some(float), Some(int8)] = best else { continue };
        for ((trial, manifest), took) in [&float, &int8].into_iter().zip(manifests).zip(&mut took) {
            trial.print(&manifest.id, width, clip)?;
            *took += trial.took;
        }
        let n = float.text.chars().count().max(int8.text.chars().count());
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        n_same += f64::from(n) * strsim::normalized_levenshtein(&float.text, &int8.text);
        n_letters = n_letters.saturating_add(n);
    }
    if n_letters == 0 {
        let what = "neither model finds a word in the recording: name another one with --clip FILE";
        return Err(refused(&manifests[0].id, what));
    }
    let [float, int8] = took;
    Ok(Compared { same: n_same / f64::from(n_letters), of_time: int8.div_duration_f64(float) })
}

impl Compared {
    /// Why the int8 model is not worth having, if it is not.
    fn fault(self) -> Option<String> {
        if self.same < MIN_SAME {
            let [same, least] = [self.same, MIN_SAME].map(|share| 100.0 * share);
            return Some(format!(
                "only {same:.1} % of the letters are the same, expected at least {least} %"
            ));
        }
        (self.of_time >= 1.0).then(|| "it is not faster on this processor".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_int8_model_is_installed_if_it_says_the_same_in_less_time() {
        let fault = |same, of_time| Compared { same, of_time }.fault().unwrap_or_default();
        assert_eq!(fault(0.95, 0.99), "");
        assert!(fault(0.949, 0.3).contains("only 94.9 %"));
        assert!(fault(1.0, 1.0).contains("not faster"));
    }
}
