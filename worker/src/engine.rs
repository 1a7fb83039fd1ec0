//! An engine is one model on a named thread of its own. It takes requests from a bounded channel and answers
//! them in batches.
//!
//! A batch is every request that is waiting when the thread becomes free, up to a limit. A single request
//! starts at once: it never waits for others to fill a batch.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use akhar_platform::{metrics, telemetry::traces};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tracing::Instrument as _;

/// Capacity of an engine's channel. Once so many requests wait, further senders wait for a free slot.
const CHANNEL_BOUND: usize = 64;

/// A model that answers a batch of inputs with one output for each, in the same order.
pub(crate) trait BatchModel: Send + 'static {
    type Input: Send + 'static;
    type Output: Send + 'static;
    /// Runs the model. `batch` holds at least one input.
    fn run(&mut self, batch: &[Self::Input]) -> Result<Vec<Self::Output>, String>;
}

/// One output, and how long the model took for the batch that it was in.
pub(crate) struct Answer<O> {
    pub(crate) output: O,
    pub(crate) took: Duration,
}

/// The reason why an engine gave no output.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineError {
    #[error("the model failed: {0}")]
    Run(String),
    #[error("the model's thread has stopped")]
    Gone,
}

type Reply<O> = oneshot::Sender<Result<Answer<O>, EngineError>>;

/// What a model's thread has done, to recognise one that does not answer any more.
#[derive(Debug)]
struct Activity {
    /// Requests that were sent and not answered. Below 0 for a moment if an answer is counted before its request.
    n_pending: AtomicI64,
    /// When the last batch ended.
    last: Mutex<Instant>,
}

impl Activity {
    fn batch_ended(&self, n: usize) {
        *self.last.lock() = Instant::now();
        self.n_pending.fetch_sub(i64::try_from(n).unwrap_or(0), Ordering::Relaxed);
    }
}

/// A handle to one model's thread. Dropping it stops the thread.
pub(crate) struct Engine<M: BatchModel> {
    name: String,
    activity: Arc<Activity>,
    requests: mpsc::Sender<(M::Input, Reply<M::Output>)>,
}

/// A running model, whatever it takes and gives.
pub(crate) trait RunningModel {
    /// The model's id.
    fn name(&self) -> &str;
    /// Whether requests wait and no batch has ended since this time.
    fn is_stuck_since(&self, time: Instant) -> bool;
}

impl<M: BatchModel> RunningModel for Engine<M> {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_stuck_since(&self, time: Instant) -> bool {
        let last = *self.activity.last.lock();
        last < time && self.activity.n_pending.load(Ordering::Relaxed) > 0
    }
}

impl<M: BatchModel> Engine<M> {
    /// Starts the thread that runs `model`, in batches of at most `max_batch` inputs.
    /// `name` is the model's id.
    pub(crate) fn start(name: &str, model: M, max_batch: usize) -> std::io::Result<Self> {
        let (requests, waiting) = mpsc::channel(CHANNEL_BOUND);
        let thread = std::thread::Builder::new().name(name.to_owned());
        let activity = Arc::new(Activity { n_pending: AtomicI64::new(0), last: Mutex::new(Instant::now()) });
        let served = name.to_owned();
        let active = activity.clone();
        thread.spawn(move || serve(&served, model, waiting, max_batch, &active))?;
        Ok(Self { name: name.to_owned(), activity, requests })
    }

    /// Runs the model on one input. If the returned future is dropped before the batch starts, the input is
    /// skipped.
    pub(crate) async fn infer(&self, input: M::Input) -> Result<Answer<M::Output>, EngineError> {
        let (reply, answer) = oneshot::channel();
        let infer = async {
            self.requests.send((input, reply)).await.map_err(|_| EngineError::Gone)?;
            self.activity.n_pending.fetch_add(1, Ordering::Relaxed);
            answer.await.map_err(|_| EngineError::Gone)?
        };
        infer.instrument(tracing::info_span!(target: traces::TARGET, "infer", model = self.name)).await
    }
}

fn serve<M: BatchModel>(
    name: &str,
    mut model: M,
    mut waiting: mpsc::Receiver<(M::Input, Reply<M::Output>)>,
    max_batch: usize,
    activity: &Activity,
) {
    while let Some(first) = waiting.blocking_recv() {
        let rest = std::iter::from_fn(|| waiting.try_recv().ok()).take(max_batch.saturating_sub(1));
        let taken: Vec<_> = std::iter::once(first).chain(rest).collect();
        let n_taken = taken.len();
        let live = taken.into_iter().filter(|(_, reply)| !reply.is_closed());
        let (inputs, replies): (Vec<_>, Vec<_>) = live.unzip();
        if inputs.is_empty() {
            activity.batch_ended(n_taken);
            continue;
        }
        let started = Instant::now();
        let answers = catch_unwind(AssertUnwindSafe(|| model.run(&inputs)))
            .unwrap_or_else(|_| Err("its code panicked".to_owned()));
        let took = started.elapsed();
        activity.batch_ended(n_taken);
        metrics::MODEL_BATCH.record_items([name], inputs.len());
        metrics::MODEL_RUN_SECONDS.record_duration([name], took);
        answer(answers, replies, took);
    }
}

/// Sends each caller its output. A send fails only when that caller has gone, so the failure is ignored.
fn answer<O>(answers: Result<Vec<O>, String>, replies: Vec<Reply<O>>, took: Duration) {
    match answers {
        Ok(outputs) => {
            for (output, reply) in outputs.into_iter().zip(replies) {
                let _ = reply.send(Ok(Answer { output, took }));
            }
        }
        Err(error) => {
            for reply in replies {
                let _ = reply.send(Err(EngineError::Run(error.clone())));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    /// Returns its inputs; panics on 13, fails on 7, and on 0 waits for the test.
    struct Echo {
        batches: Batches,
        gate: Arc<Barrier>,
    }

    impl BatchModel for Echo {
        type Input = u32;
        type Output = u32;
        fn run(&mut self, batch: &[u32]) -> Result<Vec<u32>, String> {
            self.batches.lock().push(batch.to_vec());
            if batch.contains(&0) {
                self.gate.wait(); // tells the test that this batch is running
                self.gate.wait(); // waits until the test lets it finish
            }
            assert!(!batch.contains(&13), "13 panics");
            if batch.contains(&7) { Err("seven".into()) } else { Ok(batch.to_vec()) }
        }
    }

    type Batches = Arc<Mutex<Vec<Vec<u32>>>>;

    fn engine(max_batch: usize) -> (Arc<Engine<Echo>>, Batches, Arc<Barrier>) {
        let batches = Batches::default();
        let gate = Arc::new(Barrier::new(2));
        let echo = Echo { batches: Arc::clone(&batches), gate: gate.clone() };
        (Arc::new(Engine::start("echo", echo, max_batch).unwrap()), batches, gate)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn waiting_requests_form_one_batch_without_those_whose_callers_left() {
        let (engine, batches, gate) = engine(3);
        let ask = |n| {
            let engine = engine.clone();
            tokio::spawn(async move { engine.infer(n).await.map(|a| a.output) })
        };
        let first = ask(0);
        tokio::task::block_in_place(|| gate.wait());
        // The engine is busy, so these four requests wait in order. The caller of the second one goes away.
        let mut waiting = Vec::new();
        for n in [1, 2, 3, 4] {
            let (reply, answer) = oneshot::channel();
            engine.requests.send((n, reply)).await.unwrap();
            waiting.push(answer);
        }
        drop(waiting.remove(1));
        tokio::task::block_in_place(|| gate.wait());
        assert_eq!(first.await.unwrap().unwrap(), 0);
        for (answer, n) in waiting.into_iter().zip([1, 3, 4]) {
            assert_eq!(answer.await.unwrap().unwrap().output, n);
        }
        assert_eq!(*batches.lock(), [vec![0], vec![1, 3], vec![4]]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_engine_is_stuck_while_a_request_waits_and_no_batch_ends() {
        let (engine, _, gate) = engine(1);
        assert!(!engine.is_stuck_since(Instant::now()), "nobody waits");
        let asked = engine.clone();
        let waiting = tokio::spawn(async move { asked.infer(0).await.map(|a| a.output) });
        tokio::task::block_in_place(|| gate.wait());
        let began = Instant::now();
        assert!(engine.is_stuck_since(began));
        waiting.abort();
        assert!(waiting.await.is_err());
        assert!(engine.is_stuck_since(began), "the caller has gone, and its batch goes on");
        tokio::task::block_in_place(|| gate.wait());
        assert_eq!(engine.infer(5).await.unwrap().output, 5);
        assert!(!engine.is_stuck_since(began));
    }

    #[tokio::test]
    async fn a_panic_or_an_error_fails_the_batch_and_the_engine_goes_on() {
        let (engine, ..) = engine(1);
        assert!(matches!(engine.infer(13).await, Err(EngineError::Run(_))));
        assert!(matches!(engine.infer(7).await, Err(EngineError::Run(_))));
        assert_eq!(engine.infer(5).await.unwrap().output, 5);
    }
}
