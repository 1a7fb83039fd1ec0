//! Handwriting jobs: from a text and layout parameters to the points of pen strokes, and on request a picture
//! of them.

use std::{sync::Arc, time::Instant};

use akhar_inference::{
    Manifest, Registry, Runtime, RuntimeError,
    handwriting::{Glyphs, Hand, Ink, Page, PictureError, Shape, Text, Writer, lay_out, png, svg},
};
use akhar_jobs::{JobId, Timing};
use akhar_platform::{blocking::blocking, config::Config, telemetry::traces};
use akhar_requests::{HandwritingParameters, Operation, Outcome, Picture, StrokeColor};
use tokio::sync::Semaphore;

use super::{
    engines,
    error::OperationError,
    lazy_model::{LazyModel, LazyModels},
    timing::micros,
};
use crate::{
    engine::{BatchLimits, BatchModel, Engine, RunningModel},
    error::WorkerError,
    fair_queue::{Requester, Turn},
};

/// One text in a run: the model takes one style vector for each run.
const BATCHES: BatchLimits = BatchLimits { max_inputs: 1, max_cost: u64::MAX };

/// The handwriting model, and the limit on concurrent rendering.
pub(crate) struct HandwritingOperation {
    pub(super) writer: Arc<LazyModel<WriterEngine>>,
    /// Limits how many sheets are laid out and rendered at the same time: one for each CPU core.
    render_permits: Arc<Semaphore>,
}

/// The engine of the handwriting model, and the glyphs that it can write.
pub(crate) struct WriterEngine {
    engine: Engine<Writer>,
    glyphs: Glyphs,
}

impl BatchModel for Writer {
    type Input = (Vec<usize>, Hand);
    type Output = Vec<Shape>;
    fn run(&mut self, batch: &[Self::Input]) -> Result<Vec<Vec<Shape>>, String> {
        let shapes = batch.iter().map(|(glyphs, hand)| self.shape(glyphs, *hand));
        shapes.collect::<Result<_, RuntimeError>>().map_err(|e| e.to_string())
    }
}

impl RunningModel for WriterEngine {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn is_stuck_since(&self, time: Instant) -> bool {
        self.engine.is_stuck_since(time)
    }
}

impl WriterEngine {
    fn load(runtime: &Runtime, manifest: &Manifest, config: &Config) -> Result<Self, WorkerError> {
        let writer = Writer::load(runtime, manifest, config.inference_threads.get())?;
        let glyphs = writer.glyphs().clone();
        Ok(Self { engine: engines::start(manifest, writer, BATCHES)?, glyphs })
    }
}

impl HandwritingOperation {
    /// Finds the model. Blocks the thread.
    pub(crate) fn open(models: &LazyModels, registry: &Registry) -> Result<Self, WorkerError> {
        let manifest = registry.serving(Operation::HandwritingGenerator.name(), None)?;
        let writer = models.of(registry, manifest, WriterEngine::load)?;
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self { writer, render_permits: Arc::new(Semaphore::new(n_cores)) })
    }

    /// Writes the text. The handwriting style is made from the request's seed or else from the job's id, so a repeated
    /// attempt gives the same strokes.
    pub(crate) async fn write(
        &self,
        requester: Requester,
        job: JobId,
        parameters: &HandwritingParameters,
    ) -> Result<(Outcome, Timing), OperationError> {
        let WriterEngine { engine, glyphs } = self.writer.get().await?;
        let started = Instant::now();
        let text = Text::read(parameters.text.as_str(), glyphs);
        let hand = Hand::new(parameters.seed.map_or(job.0.as_u64_pair().1, u64::from));
        let decode_us = micros(started.elapsed());
        let glyphs = text.glyphs();
        let turn = Turn { requester, cost: u64::try_from(glyphs.len()).unwrap_or(u64::MAX) };
        let shaped = engine.infer(turn, (glyphs, hand)).await?;
        let drawing = Instant::now();
        let page = page(parameters);
        let picture = parameters.picture;
        let _permit = self.render_permits.acquire().await.ok(); // the semaphore is never closed
        let span = tracing::info_span!(target: traces::TARGET, "draw");
        let draw = move || span.in_scope(|| draw(&text, &shaped.output, &page, hand, picture));
        let outcome = blocking(draw).await?;
        let infer_us = micros(shaped.took + drawing.elapsed());
        Ok((outcome, Timing { decode_us, infer_us }))
    }
}

fn draw(
    text: &Text,
    shapes: &[Shape],
    page: &Page,
    hand: Hand,
    picture: Option<Picture>,
) -> Result<Outcome, PictureError> {
    let sheet = lay_out(text, shapes, page, hand);
    let pen = |p: Picture| (ink(p.stroke_color), narrow(p.stroke_width.get()));
    let image = picture.map(pen).map(|(ink, width)| png(&sheet, ink, width)).transpose()?;
    let svg = picture.filter(|p| p.with_svg).map(pen).map(|(ink, width)| svg(&sheet, ink, width));
    Ok(Outcome::Handwriting { points: sheet.points_json(), image, n_pages: Some(sheet.n_pages), svg })
}

fn page(parameters: &HandwritingParameters) -> Page {
    Page {
        line_space: narrow(parameters.line_space.get()),
        char_space: narrow(parameters.char_space.get()),
        word_space: narrow(parameters.word_space.get()),
        width: narrow(parameters.page_width.get()),
        length: narrow(parameters.page_length.get()),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "lengths are at most a few hundred units")]
const fn narrow(length: f64) -> f32 {
    length as f32
}

const fn ink(color: StrokeColor) -> Ink {
    match color {
        StrokeColor::Black => Ink::BLACK,
        StrokeColor::Blue => Ink::BLUE,
        StrokeColor::Pink => Ink::PINK,
        StrokeColor::Green => Ink::GREEN,
        StrokeColor::Yellow => Ink::YELLOW,
        StrokeColor::Brown => Ink::BROWN,
    }
}
