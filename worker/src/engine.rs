//! An engine is one model on a named thread of its own, or copies of it on a thread each. It takes requests from a
//! bounded channel and answers them in batches.
//!
//! A batch is what is waiting when a thread becomes free, up to a limit. Accounts take turns. A single request
//! starts at once: it never waits for others to fill a batch. If a batch fails, its inputs are run one by one, so that only the
//! input fails that made it fail.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_platform::{metrics, telemetry::traces};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tracing::Instrument as _;

use crate::fair_queue::{FairQueue, Turn};

/// Capacity of an engine's channel, which the thread empties between two batches. Once it is full, further senders wait.
const CHANNEL_BOUND: usize = 64;

/// A model that answers a batch of inputs with one output for each, in the same order.
pub(crate) trait BatchModel: Send + 'static {
    type Input: Send + 'static;
    type Output: Send + 'static;
    /// Runs the model. `batch` holds at least one input.
    fn run(&mut self, batch: &[Self::Input]) -> Result<Vec<Self::Output>, String>;
}

/// The largest batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchLimits {
    /// Inputs.
    pub(crate) max_inputs: usize,
    /// The inputs times the highest [`Turn::cost`] among them, if there is more than one. So a batch does not take
    /// longer than the most expensive input.
    pub(crate) max_cost: u64,
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

/// An input, where its output goes, and its turn.
struct Request<M: BatchModel> {
    turn: Turn,
    input: M::Input,
    reply: Reply<M::Output>,
}

/// Requests on their way to a model's threads. A thread that waits for one keeps the others from it.
struct Waiting<M: BatchModel> {
    requests: mpsc::Receiver<Request<M>>,
    queue: FairQueue<Request<M>>,
    limits: BatchLimits,
}

/// When the batch that a thread runs started.
type Running = Arc<Mutex<Option<Instant>>>;

/// A handle to a model's threads. Dropping it stops them.
pub(crate) struct Engine<M: BatchModel> {
    name: String,
    /// Of each thread.
    running: Vec<Running>,
    requests: mpsc::Sender<Request<M>>,
    /// Shared by all requests that have no answer yet.
    unanswered: Arc<()>,
}

/// A thread that has nothing to run, for work that nobody waits for. It counts as busy as long as this is held.
pub(crate) struct IdleThread(#[expect(dead_code, reason = "it is counted")] Arc<()>);

/// A running model, whatever it takes and gives.
pub(crate) trait RunningModel {
    /// The model's id.
    fn name(&self) -> &str;
    /// Whether a batch has been running since before this time.
    fn is_stuck_since(&self, time: Instant) -> bool;
}

impl<M: BatchModel> RunningModel for Engine<M> {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_stuck_since(&self, time: Instant) -> bool {
        self.running.iter().any(|running| running.lock().is_some_and(|started| started < time))
    }
}

impl<M: BatchModel> Engine<M> {
    /// Starts a thread for each of `copies`, which are the same model, in batches within these limits. `name` is the model's id.
    pub(crate) fn start(name: &str, copies: Vec<M>, limits: BatchLimits) -> std::io::Result<Self> {
        let (sender, requests) = mpsc::channel(CHANNEL_BOUND);
        let waiting = Arc::new(Mutex::new(Waiting { requests, queue: FairQueue::new(), limits }));
        let start = |model| {
            let running = Running::default();
            let (served, active, waiting) = (name.to_owned(), running.clone(), waiting.clone());
            let thread = std::thread::Builder::new().name(name.to_owned());
            thread.spawn(move || serve(&served, model, &waiting, &active))?;
            Ok(running)
        };
        let running = copies.into_iter().map(start).collect::<std::io::Result<_>>()?;
        Ok(Self { name: name.to_owned(), running, requests: sender, unanswered: Arc::default() })
    }

    /// A thread for which there is no request, if there is one.
    pub(crate) fn idle_thread(&self) -> Option<IdleThread> {
        let n_unanswered = Arc::strong_count(&self.unanswered) - 1;
        (n_unanswered < self.running.len()).then(|| IdleThread(self.unanswered.clone()))
    }

    /// Runs the model on one input when it is its turn. If the returned future is dropped before the batch starts, the
    /// input is skipped.
    pub(crate) async fn infer(&self, turn: Turn, input: M::Input) -> Result<Answer<M::Output>, EngineError> {
        let (reply, answer) = oneshot::channel();
        let request = Request { turn, input, reply };
        let _unanswered = self.unanswered.clone();
        let infer = async {
            self.requests.send(request).await.map_err(|_| EngineError::Gone)?;
            answer.await.map_err(|_| EngineError::Gone)?
        };
        infer.instrument(tracing::info_span!(target: traces::TARGET, "infer", model = self.name)).await
    }
}

impl<M: BatchModel> Waiting<M> {
    /// The next batch, as soon as there is a request. `None` once the engine is dropped.
    fn next(&mut self) -> Option<Vec<Request<M>>> {
        loop {
            if self.queue.is_empty() {
                let first = self.requests.blocking_recv()?;
                self.queue.push(first.turn, first);
            }
            while let Ok(request) = self.requests.try_recv() {
                self.queue.push(request.turn, request);
            }
            let BatchLimits { max_inputs, max_cost } = self.limits;
            let batch = self.queue.take(max_inputs, max_cost, |request| !request.reply.is_closed());
            if !batch.is_empty() {
                return Some(batch);
            }
        }
    }
}

fn serve<M: BatchModel>(
    name: &str,
    mut model: M,
    waiting: &Mutex<Waiting<M>>,
    running: &Mutex<Option<Instant>>,
) {
    loop {
        let Some(batch) = waiting.lock().next() else { return };
        let (inputs, replies): (Vec<_>, Vec<_>) =
            batch.into_iter().map(|request| (request.input, request.reply)).unzip();
        let mut run = |inputs: &[M::Input]| {
            let started = Instant::now();
            *running.lock() = Some(started);
            let answers = catch_unwind(AssertUnwindSafe(|| model.run(inputs)))
                .unwrap_or_else(|_| Err("its code panicked".to_owned()));
            *running.lock() = None;
            let took = started.elapsed();
            metrics::MODEL_BATCH.record_items([name], inputs.len());
            metrics::MODEL_RUN_SECONDS.record_duration([name], took);
            (answers, took)
        };
        match run(&inputs) {
            (Err(error), _) if inputs.len() > 1 => {
                tracing::warn!(
                    model = name,
                    error,
                    n = inputs.len(),
                    "a batch failed: running its inputs one by one"
                );
                for (input, reply) in inputs.iter().zip(replies).filter(|(_, reply)| !reply.is_closed()) {
                    answer(run(std::slice::from_ref(input)), vec![reply]);
                }
            }
            answers => answer(answers, replies),
        }
    }
}

/// Sends each caller its output. A send fails only when that caller has gone, so the failure is ignored.
fn answer<O>((answers, took): (Result<Vec<O>, String>, Duration), replies: Vec<Reply<O>>) {
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

    use uuid::Uuid;

    use crate::fair_queue::Requester;

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

    /// A turn of account number `account`.
    fn turn(account: u128) -> Turn {
        let requester = Requester { account_id: Uuid::from_u128(account), is_asynchronous: false };
        Turn { requester, cost: 1 }
    }

    fn engine(max_inputs: usize) -> (Arc<Engine<Echo>>, Batches, Arc<Barrier>) {
        engine_of(1, max_inputs)
    }

    fn engine_of(n_copies: usize, max_inputs: usize) -> (Arc<Engine<Echo>>, Batches, Arc<Barrier>) {
        let batches = Batches::default();
        let gate = Arc::new(Barrier::new(n_copies + 1));
        let echo = || Echo { batches: Arc::clone(&batches), gate: gate.clone() };
        let limits = BatchLimits { max_inputs, max_cost: u64::MAX };
        let copies = (0..n_copies).map(|_| echo()).collect();
        (Arc::new(Engine::start("echo", copies, limits).unwrap()), batches.clone(), gate)
    }

    /// Sends a request and returns where its answer comes. Requests that are sent one after another wait in this order.
    async fn send(
        engine: &Engine<Echo>,
        account: u128,
        input: u32,
    ) -> oneshot::Receiver<Result<Answer<u32>, EngineError>> {
        let (reply, answer) = oneshot::channel();
        engine.requests.send(Request { turn: turn(account), input, reply }).await.ok().unwrap();
        answer
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn waiting_requests_form_one_batch_without_those_whose_callers_left() {
        let (engine, batches, gate) = engine(3);
        let first = send(&engine, 1, 0).await;
        tokio::task::block_in_place(|| gate.wait());
        // The engine is busy, so these four requests wait in order. The caller of the second one goes away.
        let mut waiting = Vec::new();
        for n in [1, 2, 3, 4] {
            waiting.push(send(&engine, 1, n).await);
        }
        drop(waiting.remove(1));
        tokio::task::block_in_place(|| gate.wait());
        assert_eq!(first.await.unwrap().unwrap().output, 0);
        for (answer, n) in waiting.into_iter().zip([1, 3, 4]) {
            assert_eq!(answer.await.unwrap().unwrap().output, n);
        }
        assert_eq!(*batches.lock(), [vec![0], vec![1, 3, 4]]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn accounts_take_turns_and_a_request_that_is_cancelled_frees_its_place() {
        let (engine, batches, gate) = engine(1);
        let first = send(&engine, 1, 0).await;
        tokio::task::block_in_place(|| gate.wait());
        let mut waiting = Vec::new();
        for (account, n) in [(1, 11), (1, 12), (2, 21), (2, 22), (3, 31)] {
            waiting.push(send(&engine, account, n).await);
        }
        drop(waiting.remove(2)); // 21
        tokio::task::block_in_place(|| gate.wait());
        assert_eq!(first.await.unwrap().unwrap().output, 0);
        for answer in waiting {
            answer.await.unwrap().unwrap();
        }
        assert_eq!(batches.lock().concat(), [0, 22, 31, 11, 12]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn copies_run_at_a_time_and_stop_with_the_engine() {
        let (engine, batches, gate) = engine_of(2, 1);
        let (first, second) = (send(&engine, 1, 0).await, send(&engine, 1, 0).await);
        tokio::task::block_in_place(|| gate.wait()); // both run
        let third = send(&engine, 1, 3).await;
        tokio::task::block_in_place(|| gate.wait());
        for (answer, n) in [(first, 0), (second, 0), (third, 3)] {
            assert_eq!(answer.await.unwrap().unwrap().output, n);
        }
        assert_eq!(*batches.lock(), [vec![0], vec![0], vec![3]]);
        let waiting = Arc::downgrade(&gate);
        drop((engine, gate));
        while waiting.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_thread_is_idle_until_it_is_taken_or_has_a_request() {
        let (engine, _, gate) = engine(1);
        let idle = engine.idle_thread();
        assert!(idle.is_some() && engine.idle_thread().is_none(), "it is taken");
        drop(idle);
        let asked = engine.clone();
        let asked = tokio::spawn(async move { asked.infer(turn(1), 0).await });
        tokio::task::block_in_place(|| gate.wait()); // it runs
        assert!(engine.idle_thread().is_none());
        tokio::task::block_in_place(|| gate.wait());
        asked.await.unwrap().unwrap();
        assert!(engine.idle_thread().is_some());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_engine_is_stuck_while_a_batch_does_not_end() {
        let (engine, _, gate) = engine(1);
        assert!(!engine.is_stuck_since(Instant::now()), "nothing runs");
        let asked = engine.clone();
        let waiting = tokio::spawn(async move { asked.infer(turn(1), 0).await.map(|a| a.output) });
        tokio::task::block_in_place(|| gate.wait());
        let began = Instant::now();
        assert!(engine.is_stuck_since(began));
        waiting.abort();
        assert!(waiting.await.is_err());
        assert!(engine.is_stuck_since(began), "the caller has gone, and its batch goes on");
        tokio::task::block_in_place(|| gate.wait());
        assert_eq!(engine.infer(turn(1), 5).await.unwrap().output, 5);
        assert!(!engine.is_stuck_since(began));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_panic_or_an_error_fails_only_its_input_and_the_engine_goes_on() {
        let (engine, batches, gate) = engine(5);
        let first = send(&engine, 1, 0).await;
        tokio::task::block_in_place(|| gate.wait());
        let mut waiting = Vec::new();
        for (account, n) in [(2, 1), (3, 13), (4, 2), (5, 7), (6, 3)] {
            waiting.push((n, send(&engine, account, n).await));
        }
        tokio::task::block_in_place(|| gate.wait());
        assert_eq!(first.await.unwrap().unwrap().output, 0);
        for (n, answer) in waiting {
            match answer.await.unwrap() {
                Ok(answer) => assert_eq!(answer.output, n),
                Err(error) => {
                    assert!([7, 13].contains(&n) && matches!(error, EngineError::Run(_)), "{n}: {error}");
                }
            }
        }
        assert_eq!(batches.lock()[1..], [vec![1, 13, 2, 7, 3], vec![1], vec![13], vec![2], vec![7], vec![3]]);
        assert!(matches!(engine.infer(turn(1), 13).await, Err(EngineError::Run(_))));
        assert_eq!(engine.infer(turn(1), 5).await.unwrap().output, 5);
        assert_eq!(batches.lock()[7..], [vec![13], vec![5]], "an input that is alone is run once");
    }
}
