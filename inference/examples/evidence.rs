//! Recordings in; the evidence for the texts that a speech model writes of them out, which `training/speech/measure/calibrate.py`
//! and `words.py` fit the manifests' confidence to.
//!
//! `cargo run --release --package akhar-inference --example evidence -- pa FOLDER` reads the wav files of 16 bits and 16 kHz that
//! `FOLDER/clips.tsv` names in its columns `file` and `text`, and prints a line of JSON for each: `file`, what is `spoken` in it,
//! the `text` that the model writes, of each segment with evidence the number of letters and the means of both models
//! (`segments`), and of each word its text and the same (`words`). `AKHAR_ORT_DYLIB` names ONNX Runtime's library, and
//! `AKHAR_MODELS_DIR` the folder of the models.

use std::{env, error::Error, fs, path::Path};

use akhar_inference::{
    KeyTerms, Runtime, load_all,
    speech::{self, Chunker, Joiner, SpeechModel, TimedText, WindowInput, segments},
};
use serde_json::json;

/// Samples in a second.
const RATE: f64 = 16_000.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(lang), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("expected a language and a folder".into());
    };
    let runtime = Runtime::load(Path::new(&env::var("AKHAR_ORT_DYLIB")?))?;
    let manifests = load_all(Path::new(&env::var("AKHAR_MODELS_DIR")?))?;
    let mut recognisers = manifests.iter().filter(|m| m.operation == "speech-recognition");
    let manifest = recognisers
        .find(|m| m.language.as_deref() == Some(&lang))
        .ok_or("there is no model of this language")?;
    let mut model = speech::load(&runtime, manifest, 1)?;
    for line in fs::read_to_string(Path::new(&folder).join("clips.tsv"))?.lines().skip(1) {
        let mut columns = line.split('\t');
        let (file, spoken) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
        let samples = samples(&fs::read(Path::new(&folder).join(file))?)
            .ok_or_else(|| format!("{file} is no wav file"))?;
        let words = transcribed(model.as_mut(), &lang, &samples)?;
        let found = segments(&words, f64::from(u32::try_from(samples.len())?) / RATE);
        let texts: Vec<&str> = found.iter().map(|segment| segment.text.as_str()).collect();
        let evidence: Vec<_> =
            found.iter().filter_map(|segment| means(segment).map(|means| json!(means))).collect();
        let words: Vec<_> = words
            .iter()
            .map(|word| {
                let (n_letters, acoustic, language) = means(word).unwrap_or_default();
                json!([word.text, n_letters, acoustic, language])
            })
            .collect();
        println!(
            "{}",
            json!({"file": file, "spoken": spoken, "text": texts.join(" "), "segments": evidence, "words": words})
        );
    }
    Ok(())
}

/// The number of letters of a text, and the means of both models over them.
fn means(text: &TimedText) -> Option<(usize, f64, f64)> {
    let (acoustic, language) = text.evidence.means()?;
    Some((text.evidence.n_letters(), acoustic, language))
}

/// The words of a recording.
fn transcribed(
    model: &mut dyn SpeechModel,
    lang: &str,
    samples: &[f32],
) -> Result<Vec<TimedText>, Box<dyn Error>> {
    let (front_end, clock, terms) = (model.front_end(), model.clock(), KeyTerms::default());
    let mut chunker = Chunker::new(clock.grid);
    let mut windows = chunker.push(samples);
    windows.extend(chunker.finish());
    let mut joiner = Joiner::new(clock);
    for window in windows {
        let features = front_end.features(&window.samples);
        if features.n_frames > 0 {
            let input = WindowInput { features: &features, terms: &terms };
            for output in model.infer(&[input], lang)? {
                joiner.add(&window, output.decode(&terms));
            }
        }
    }
    Ok(joiner.words())
}

/// The samples of a plain wav file with 16 bits; `None` for other files.
fn samples(file: &[u8]) -> Option<Vec<f32>> {
    let data = file.windows(4).position(|w| w == b"data")? + 8;
    let samples = file.starts_with(b"RIFF").then(|| file[data..].as_chunks().0)?;
    Some(samples.iter().map(|b| f32::from(i16::from_le_bytes(*b)) / 32768.0).collect())
}
