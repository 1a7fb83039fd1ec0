//! The clips that are measured, their errors, and the transcription of a clip in this process.

use std::{fs, path::Path};

use akhar_inference::{
    KeyTerms, Manifest, Runtime, load_all,
    speech::{self, Chunker, Joiner, SpeechModel, TimedText, WindowInput},
};
use akhar_tests::{
    figures::{Row, count},
    speech::distance,
    stack::{models, onnxruntime},
};

/// A recording and its true transcript.
pub(super) struct Clip {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) text: String,
    /// For some words, the index of the word and its start, seconds.
    pub(super) starts: Vec<(usize, f64)>,
}

/// Reads the clips in a folder's `clips.tsv`, which has `file`, `text` and, if known, `word_starts` as
/// `word:seconds`.
pub(super) fn clips(folder: &Path) -> Vec<Clip> {
    let table = fs::read_to_string(folder.join("clips.tsv")).expect("a folder with clips.tsv");
    let clip = |line: &str| {
        let mut columns = line.split('\t');
        let mut column = || columns.next().unwrap_or_default().to_owned();
        let (name, text, starts) = (column(), column(), column());
        let start = |pair: &str| {
            let (word, seconds) = pair.split_once(':')?;
            Some((word.parse().ok()?, seconds.parse().ok()?))
        };
        let bytes = fs::read(folder.join(&name)).expect("the clip");
        Clip { name, bytes, text, starts: starts.split(' ').filter_map(start).collect() }
    };
    table.lines().skip(1).map(clip).collect()
}

/// The number of wrong symbols and of all symbols in the true transcript.
#[derive(Default)]
pub(super) struct Errors {
    n_wrong: usize,
    n_all: usize,
}

impl Errors {
    pub(super) fn add<T: PartialEq>(&mut self, said: &[T], recognised: &[T]) {
        self.n_wrong += distance(said, recognised);
        self.n_all += said.len();
    }

    pub(super) fn percent(&self) -> f64 {
        100.0 * count(self.n_wrong) / count(self.n_all.max(1))
    }
}

/// Character and word errors of several recordings.
#[derive(Default)]
pub(super) struct Quality {
    pub(super) characters: Errors,
    words: Errors,
}

impl Quality {
    pub(super) fn add(&mut self, said: &str, recognised: &str) {
        let characters = |text: &str| text.chars().collect::<Vec<char>>();
        self.characters.add(&characters(said), &characters(recognised));
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
        self.words.add(&words(said), &words(recognised));
    }

    pub(super) fn row(&self) -> Row {
        vec![
            ("cer_percent", self.characters.percent()),
            ("characters", count(self.characters.n_all)),
            ("wer_percent", self.words.percent()),
            ("words", count(self.words.n_all)),
        ]
    }
}

/// Transcribes recordings in this process.
pub(super) struct Transcriber {
    pub(super) model: Box<dyn SpeechModel>,
    pub(super) lang: String,
}

impl Transcriber {
    /// Loads the model of a language, which runs on one thread.
    pub(super) fn open(lang: &str) -> Self {
        let runtime = Runtime::load(&onnxruntime()).expect("ONNX Runtime");
        let all = load_all(&models()).expect("manifests");
        let speaks =
            |m: &Manifest| m.operation == "speech-recognition" && m.language.as_deref() == Some(lang);
        let manifest = all.into_iter().find(speaks).expect("a model of this language");
        let model = speech::load(&runtime, &manifest, 1).expect("the model");
        Self { model, lang: lang.to_owned() }
    }

    pub(super) fn transcribe(&mut self, samples: &[f32]) -> Vec<TimedText> {
        let terms = KeyTerms::default();
        let (front_end, clock) = (self.model.front_end(), self.model.clock());
        let mut chunker = Chunker::new(clock.grid);
        let mut windows = chunker.push(samples);
        windows.extend(chunker.finish());
        let mut joiner = Joiner::new(clock);
        for window in windows {
            let features = front_end.features(&window.samples);
            if features.n_frames > 0 {
                let input = WindowInput { features: &features, terms: &terms };
                let outputs = self.model.infer(&[input], &self.lang).expect("it runs");
                joiner.add(&window, outputs.into_iter().next().expect("one window").decode(&terms));
            }
        }
        joiner.words()
    }
}

/// The samples of a plain wav file with 16 bits and 16 kHz; `None` for other files.
pub(super) fn samples(file: &[u8]) -> Option<Vec<f32>> {
    let data = file.windows(4).position(|w| w == b"data")? + 8;
    let samples = file.starts_with(b"RIFF").then(|| file[data..].as_chunks().0)?;
    Some(samples.iter().map(|b| f32::from(i16::from_le_bytes(*b)) / 32768.0).collect())
}

/// A text as `clips.tsv` has it: English in lower case and without punctuation, Panjabi as it is.
pub(super) fn spoken(text: &str, lang: &str) -> String {
    if lang != "en" {
        return text.to_owned();
    }
    let letter = |c: char| match c {
        '’' => '\'',
        c if c.is_alphanumeric() || c == '\'' => c,
        _ => ' ',
    };
    let plain: String = text.to_lowercase().chars().map(letter).collect();
    let words = plain.split(' ').map(|word| word.trim_matches('\''));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
