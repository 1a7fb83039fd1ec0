//! The engine of a language's speech model: windows of a recording come in, and their transcripts go out.

use std::{
    collections::HashSet,
    ops::AddAssign,
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_inference::{
    Confidence, KeyTerms, Manifest, Runtime, RuntimeError,
    speech::{
        self, Clock, FrontEnd, SpeechModel, Transcript, Window, WindowInput, WindowOutput, features::Features,
    },
};
use akhar_jobs::Timing;
use akhar_platform::config::Config;
use akhar_requests::{KeyTerm, Language};

use super::{
    by_language::by_language, engines, error::OperationError, preparation::Preparing, timing::micros,
};
use crate::{
    engine::{BatchLimits, BatchModel, Engine, IdleThread, RunningModel},
    error::WorkerError,
    fair_queue::Turn,
    low_priority,
};

/// Windows in one run of a recogniser at most: some short ones, or a long one of up to 14 s. The cost is samples.
const BATCHES: BatchLimits = BatchLimits { max_inputs: 4, max_cost: 16 * speech::SAMPLE_RATE as u64 };

/// A warning names at most so many terms.
const MAX_NAMED: usize = 5;

/// A window's features, the language spoken in it, and terms that it probably has.
pub(crate) struct SpeechInput {
    pub(super) features: Features,
    pub(super) language: Language,
    pub(super) terms: KeyTerms,
}

impl SpeechInput {
    const fn window(&self) -> WindowInput<'_> {
        WindowInput { features: &self.features, terms: &self.terms }
    }
}

/// One language's engine, what prepares its input, and how likely its transcripts are right. Several languages may
/// share one.
pub(crate) struct LanguageEngine {
    engine: Engine<Recogniser>,
    front_end: Arc<dyn FrontEnd>,
    pub(super) clock: Clock,
    pub(super) confidence: Option<Confidence>,
    /// The letters that key terms may have.
    alphabet: HashSet<char>,
}

/// A model of any layout.
struct Recogniser(Box<dyn SpeechModel>);

impl BatchModel for Recogniser {
    type Input = SpeechInput;
    type Output = WindowOutput;
    fn run(&mut self, batch: &[SpeechInput]) -> Result<Vec<WindowOutput>, String> {
        by_language(
            batch,
            |input| input.language,
            |language, inputs| {
                let windows: Vec<WindowInput<'_>> = inputs.iter().map(|input| input.window()).collect();
                self.0.infer(&windows, language.code()).map_err(|e: RuntimeError| e.to_string())
            },
        )
    }
}

/// The time that recognising a recording takes once its windows are prepared.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Recognising {
    /// The runs of the models, translation included.
    pub(super) model: Duration,
    pub(super) search: Duration,
}

impl AddAssign for Recognising {
    fn add_assign(&mut self, other: Self) {
        self.model += other.model;
        self.search += other.search;
    }
}

impl Recognising {
    pub(super) fn with(self, preparing: Preparing) -> Timing {
        Timing { decode_us: micros(preparing.total()), infer_us: micros(self.model + self.search) }
    }
}

impl RunningModel for LanguageEngine {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn is_stuck_since(&self, time: Instant) -> bool {
        self.engine.is_stuck_since(time)
    }
}

impl LanguageEngine {
    /// Loads the model and warms it up. Blocks the thread.
    pub(super) fn load(runtime: &Runtime, manifest: &Manifest, config: &Config) -> Result<Self, WorkerError> {
        engines::load_at_low_priority(|| {
            let load = || speech::load(runtime, manifest, config.inference_threads.get());
            let model = load()?;
            let (front_end, clock, alphabet) = (model.front_end(), model.clock(), model.alphabet());
            let mut copies = vec![Recogniser(model)];
            for _ in 1..config.speech_copies().get() {
                copies.push(Recogniser(load()?));
            }
            let engine = Engine::start(&manifest.id, copies, BATCHES).map_err(WorkerError::Thread)?;
            Ok(Self { engine, front_end, clock, confidence: manifest.confidence, alphabet })
        })
    }

    /// A copy of the model that nobody waits for, if there is one.
    pub(super) fn idle_thread(&self) -> Option<IdleThread> {
        self.engine.idle_thread()
    }

    /// How the input of the model is prepared.
    pub(super) fn input(&self) -> (Arc<dyn FrontEnd>, Clock) {
        (self.front_end.clone(), self.clock)
    }

    /// The terms that the model can prefer, and a warning about the others.
    pub(super) fn terms(&self, terms: &[KeyTerm]) -> (KeyTerms, Option<String>) {
        let is_spelt =
            |term: &str| term.chars().all(|letter| letter == ' ' || self.alphabet.contains(&letter));
        let (spelt, others): (Vec<String>, Vec<String>) =
            terms.iter().map(|term| term.as_str().to_owned()).partition(|term| is_spelt(term));
        let named =
            others.iter().take(MAX_NAMED).map(|term| format!("\"{term}\"")).collect::<Vec<_>>().join(", ");
        let more = others.len().saturating_sub(MAX_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let warning = format!(
            "key terms without effect, because the model does not write their letters: {named}{more}"
        );
        (KeyTerms::new(&spelt), (!others.is_empty()).then_some(warning))
    }

    /// The transcript of a window, when it is its turn.
    pub(super) async fn recognise(
        &self,
        turn: Turn,
        input: SpeechInput,
        spent: &mut Recognising,
    ) -> Result<Transcript, OperationError> {
        let terms = input.terms.clone();
        let answer = self.engine.infer(turn, input).await?;
        spent.model += answer.took;
        let search = move || {
            let started = Instant::now();
            (answer.output.decode(&terms), started.elapsed())
        };
        let searched = low_priority::spawn("search", search).map_err(OperationError::Thread)?;
        let (transcript, took) = searched.await.map_err(|_| OperationError::Search)?;
        spent.search += took;
        Ok(transcript)
    }
}

/// What a window costs at the model.
pub(super) fn cost(window: &Window) -> u64 {
    u64::try_from(window.samples.len()).unwrap_or(u64::MAX)
}
