//! CTC decoding as a filter for training: emissions become units with their frames and the evidence for them.
//! `crate::stream` describes the form of requests and replies.

use std::{
    collections::HashMap,
    fs,
    io::{self, BufRead, Write},
    ops::Range,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    align::{align, highest},
    beam::{self, Weights},
    ngram::{LanguageModel, State},
};
use crate::stream::answer_all;

/// A request. Its values are log-probabilities: for each frame, those of `n_units` units and of the blank.
#[derive(Deserialize)]
struct Request {
    n_units: usize,
    /// A file in the format that `training/notes/speech-lm.md` describes.
    language_model: Option<PathBuf>,
    #[serde(flatten)]
    step: Step,
}

#[derive(Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
enum Step {
    /// Finds the best text by beam search.
    Search { lm_weight: f64, insertion_bonus: f64, beam_width: usize },
    /// Finds the frames of a given text.
    Align { units: Vec<u8> },
    /// Gives the language model's log-probability of each unit of a text.
    Score { units: Vec<u8> },
}

/// A reply; its field is that of the request's step.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Reply {
    /// `None` if the text does not fit the frames.
    Units(Option<Decoded>),
    Language(Vec<f32>),
}

/// A text.
#[derive(Serialize)]
struct Decoded {
    units: Vec<u8>,
    /// The first frame of each unit, and the one behind its last.
    spans: Vec<(usize, usize)>,
    /// The highest log-probability of each unit in its frames.
    acoustic: Vec<f32>,
    /// The language model's log-probability of each unit; empty without a language model.
    language: Vec<f32>,
}

/// Answers all requests of `input`.
///
/// # Errors
/// Any error of reading or writing; `InvalidData` for a request that cannot be answered.
pub fn stream(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
    let mut models = HashMap::new();
    answer_all(input, output, |request: Request, values| {
        let model = match &request.language_model {
            Some(path) => Some(read(&mut models, path, request.n_units)?),
            None => None,
        };
        Ok((answer(&request, model, &values)?, Vec::new()))
    })
}

/// The language model of a file, which is read once.
fn read<'a>(
    models: &'a mut HashMap<(PathBuf, usize), LanguageModel>,
    path: &Path,
    n_units: usize,
) -> Result<&'a LanguageModel, String> {
    let key = (path.to_owned(), n_units);
    if !models.contains_key(&key) {
        let found = fs::read(path).map_err(|e| e.to_string());
        let model = found.and_then(|bytes| LanguageModel::read(&bytes, n_units));
        models.insert(key.clone(), model.map_err(|why| format!("{}: {why}", path.display()))?);
    }
    models.get(&key).ok_or_else(|| "it has just been inserted".to_owned())
}

fn answer(request: &Request, model: Option<&LanguageModel>, values: &[f32]) -> Result<Reply, String> {
    let needed = || model.ok_or("this step needs a language_model");
    let frames: Vec<&[f32]> = values.chunks_exact(request.n_units + 1).collect();
    Ok(match &request.step {
        Step::Search { lm_weight, insertion_bonus, beam_width } => {
            let weights =
                Weights { beam_width: *beam_width, lm_weight: *lm_weight, insertion_bonus: *insertion_bonus };
            let units = beam::search(frames.iter().copied(), needed()?, weights, None);
            Reply::Units(decoded(&frames, units, model))
        }
        Step::Align { units } => Reply::Units(decoded(&frames, units.clone(), model)),
        Step::Score { units } => Reply::Language(scores(needed()?, units)),
    })
}

fn decoded(frames: &[&[f32]], units: Vec<u8>, model: Option<&LanguageModel>) -> Option<Decoded> {
    let spans: Vec<Range<usize>> = align(frames, &units)?;
    let acoustic = units.iter().zip(&spans).map(|(unit, span)| highest(frames, span.clone(), *unit));
    Some(Decoded {
        acoustic: acoustic.collect(),
        spans: spans.iter().map(|span| (span.start, span.end)).collect(),
        language: model.map(|model| scores(model, &units)).unwrap_or_default(),
        units,
    })
}

fn scores(model: &LanguageModel, units: &[u8]) -> Vec<f32> {
    let mut state = State::START;
    let score = |unit: &u8| {
        let (score, next) = model.step(state, *unit);
        state = next;
        score
    };
    units.iter().map(score).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{speech::ctc::ngram::tests::tiny, stream::reply};

    fn answer(mut request: Value, values: &[f32]) -> Value {
        request["n_units"] = 2.into();
        reply(stream, &[(request, values)]).remove(0).0
    }

    #[test]
    fn a_text_is_found_aligned_and_scored() {
        let folder = std::env::temp_dir().join(format!("akhar-ctc-stream-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("tiny.lm");
        fs::write(&path, tiny(-1.0, -2.0, -0.5, -0.25)).unwrap();
        let frames: Vec<f32> = [[0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.1, 0.8, 0.1]]
            .as_flattened()
            .iter()
            .map(|p: &f32| p.ln())
            .collect();
        let search = json!({
            "step": "search", "lm_weight": 0.0, "insertion_bonus": 0.0, "beam_width": 8, "language_model": path,
        });
        let found = answer(search, &frames);
        assert_eq!(found["units"]["units"], json!([1, 1]));
        assert_eq!(found["units"]["spans"], json!([[0, 1], [2, 3]]));
        assert_eq!(found["units"]["language"], json!([-2.0, -2.25]));
        let aligned = answer(json!({"step": "align", "units": [1]}), &frames);
        assert_eq!(aligned["units"]["language"], json!([]));
        let none = answer(json!({"step": "align", "units": [1, 1, 1]}), &frames);
        assert_eq!(none["units"], Value::Null);
        let scores = answer(json!({"step": "score", "units": [1, 0], "language_model": path}), &[]);
        assert_eq!(scores["language"], json!([-2.0, -0.5]));
        fs::remove_dir_all(folder).unwrap();
    }
}
