//! Feature extraction as a filter for training, step by step: training changes the log-mels of a sound before it
//! normalises them. `crate::stream` describes the form of requests and replies.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use super::{Features, GlobalCmvn, LogMel, Steps, WhisperMel};
use crate::stream::answer_all;

/// The number of mel bands.
const N_MELS: usize = 80;

/// A request. Features are one row of [`N_MELS`] values for each frame, and logarithms are natural.
#[derive(Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
enum Request {
    /// Sets the statistics by which NeMo's front end normalises short recordings.
    GlobalCmvn(GlobalCmvn),
    /// Samples at 16 kHz, with a full scale of 1, become the logarithms of the bands' energies.
    LogMel { front_end: Kind },
    /// Such logarithms become what a network takes.
    Normalise { front_end: Kind },
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Nemo,
    Whisper,
}

#[derive(Serialize)]
struct Reply {}

/// Answers all requests of `input`.
///
/// # Errors
/// Any error of reading or writing; `InvalidData` for a request that cannot be answered.
pub fn stream(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
    let mut nemo = LogMel::new(N_MELS);
    let whisper = WhisperMel::of_any_length(N_MELS);
    answer_all(input, output, |request, values| {
        let kind = match &request {
            Request::GlobalCmvn(global) if global.fits(N_MELS) => {
                nemo = LogMel::new(N_MELS).with_global_cmvn(Some(global.clone()));
                return Ok((Reply {}, Vec::new()));
            }
            Request::GlobalCmvn(_) => return Err(format!("expected statistics of {N_MELS} bands")),
            Request::LogMel { front_end } | Request::Normalise { front_end } => *front_end,
        };
        let (front_end, base): (&dyn Steps, f32) = match kind {
            Kind::Nemo => (&nemo, 1.0),
            Kind::Whisper => (&whisper, std::f32::consts::LN_10),
        };
        let values = if let Request::Normalise { .. } = request {
            normalised(front_end, base, &values)?
        } else {
            let features = front_end.log_energies(&values);
            turned(&features.values, features.n_frames).into_iter().map(|value| value * base).collect()
        };
        Ok((Reply {}, values))
    })
}

/// Frames of natural logarithms as a network takes them; `base` is the natural logarithm of the front end's base.
fn normalised(front_end: &dyn Steps, base: f32, values: &[f32]) -> Result<Vec<f32>, String> {
    if !values.len().is_multiple_of(N_MELS) {
        return Err(format!("{} values, expected {N_MELS} for each frame", values.len()));
    }
    let n_frames = values.len() / N_MELS;
    let logarithms: Vec<f32> = values.iter().map(|value| value / base).collect();
    let mut features = Features { n_mels: N_MELS, n_frames, values: turned(&logarithms, N_MELS) };
    front_end.normalise(&mut features);
    Ok(turned(&features.values, n_frames))
}

/// The columns of a matrix with rows of `n` values, one after the other.
fn turned(values: &[f32], n: usize) -> Vec<f32> {
    (0..n).flat_map(|column| values.iter().skip(column).step_by(n).copied()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        speech::FrontEnd,
        stream::reply,
        testing::{apart, signal},
    };

    /// Dividing by the logarithm's base again changes the last bits.
    const APART: f32 = 1e-5;

    #[test]
    fn the_steps_give_what_the_front_ends_give() {
        let samples = signal(3, 4000);
        let front_ends: [(&str, &dyn FrontEnd); 2] =
            [("nemo", &LogMel::new(N_MELS)), ("whisper", &WhisperMel::of_any_length(N_MELS))];
        for (name, front_end) in front_ends {
            let log_mel = json!({"step": "log-mel", "front_end": name});
            let (_, log_mel) = reply(stream, &[(log_mel, &samples)]).remove(0);
            let normalise = json!({"step": "normalise", "front_end": name});
            let (_, given) = reply(stream, &[(normalise, &log_mel)]).remove(0);
            let expected = front_end.features(&samples);
            assert!(apart(&turned(&given, N_MELS), &expected.values) < APART, "{name}");
        }
    }

    #[test]
    fn short_recordings_are_normalised_with_the_statistics_that_were_set() {
        let statistics = json!({"frames": 100, "mean": vec![-2.0; N_MELS], "deviation": vec![1.5; N_MELS]});
        let global = serde_json::from_value(statistics.clone()).unwrap();
        let samples = signal(4, 1600);
        let mut set = statistics;
        set["step"] = "global-cmvn".into();
        let log_mel = json!({"step": "log-mel", "front_end": "nemo"});
        let (_, log_mel) = reply(stream, &[(log_mel, &samples)]).remove(0);
        let normalise = json!({"step": "normalise", "front_end": "nemo"});
        let (_, given) = reply(stream, &[(set, &[]), (normalise, &log_mel)]).remove(1);
        let expected = LogMel::new(N_MELS).with_global_cmvn(Some(global)).features(&samples);
        assert!(apart(&turned(&given, N_MELS), &expected.values) < APART);
    }
}
