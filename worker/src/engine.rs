//! Engines: requests come in over a bounded channel; one named thread a model answers them in batches.
//!
//! A batch is whatever waits when the thread is free, up to a bound: alone, a request is never delayed
//! to wait for company.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use tokio::sync::{mpsc, oneshot};

/// Requests that may wait for a busy engine before senders wait too.
const CHANNEL_BOUND: usize = 64;

/// A model that answers a batch of inputs, one output each, in order.
pub(crate) trait BatchModel: Send + 'static {
    type Input: Send + 'static;
    type Output: Send + 'static;
    /// Answers at least one input.
    fn run(&mut self, batch: &[Self::Input]) -> Result<Vec<Self::Output>, String>;
}

/// An answer and how long its batch was in the model.
pub(crate) struct Answer<O> {
    pub(crate) output: O,
    pub(crate) took: Duration,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineError {
    #[error("model run: {0}")]
    Run(String),
    #[error("the engine is gone")]
    Gone,
}

type Reply<O> = oneshot::Sender<Result<Answer<O>, EngineError>>;

/// The way to one model's thread.
pub(crate) struct Engine<M: BatchModel> {
    requests: mpsc::Sender<(M::Input, Reply<M::Output>)>,
}

impl<M: BatchModel> Engine<M> {
    /// Starts the model's thread; it ends when the engine is dropped.
    pub(crate) fn start(name: &str, model: M, max_batch: usize) -> std::io::Result<Self> {
        let (requests, waiting) = mpsc::channel(CHANNEL_BOUND);
        std::thread::Builder::new().name(name.to_owned()).spawn(move || serve(model, waiting, max_batch))?;
        Ok(Self { requests })
    }

    /// Answers one input. Dropped before its batch starts, it is not run.
    pub(crate) async fn infer(&self, input: M::Input) -> Result<Answer<M::Output>, EngineError> {
        let (reply, answer) = oneshot::channel();
        self.requests.send((input, reply)).await.map_err(|_| EngineError::Gone)?;
        answer.await.map_err(|_| EngineError::Gone)?
    }
}

fn serve<M: BatchModel>(
    mut model: M,
    mut waiting: mpsc::Receiver<(M::Input, Reply<M::Output>)>,
    max_batch: usize,
) {
    while let Some(first) = waiting.blocking_recv() {
        let rest = std::iter::from_fn(|| waiting.try_recv().ok()).take(max_batch.saturating_sub(1));
        let live = std::iter::once(first).chain(rest).filter(|(_, reply)| !reply.is_closed());
        let (inputs, replies): (Vec<_>, Vec<_>) = live.unzip();
        if inputs.is_empty() {
            continue;
        }
        let started = Instant::now();
        let answers = catch_unwind(AssertUnwindSafe(|| model.run(&inputs)))
            .unwrap_or_else(|_| Err("the model panicked".to_owned()));
        answer(answers, replies, started.elapsed());
    }
}

/// Hands each caller its output; a caller that left meanwhile is no error.
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
    use std::sync::{Arc, Barrier, Mutex};

    /// Answers with the size of the batch; panics on 13, fails on 7.
    struct Echo {
        batches: Batches,
        gate: Arc<Barrier>,
    }

    impl BatchModel for Echo {
        type Input = u32;
        type Output = u32;
        fn run(&mut self, batch: &[u32]) -> Result<Vec<u32>, String> {
            self.batches.lock().unwrap().push(batch.to_vec());
            if batch.contains(&0) {
                self.gate.wait(); // the test knows that we run
                self.gate.wait(); // and lets us end
            }
            assert!(!batch.contains(&13), "unlucky");
            if batch.contains(&7) { Err("seven".into()) } else { Ok(batch.to_vec()) }
        }
    }

    type Batches = Arc<Mutex<Vec<Vec<u32>>>>;

    fn engine(max_batch: usize) -> (Arc<Engine<Echo>>, Batches, Arc<Barrier>) {
        let (batches, gate) = (Batches::default(), Arc::new(Barrier::new(2)));
        let echo = Echo { batches: Arc::clone(&batches), gate: gate.clone() };
        (Arc::new(Engine::start("echo", echo, max_batch).unwrap()), batches, gate)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_waits_is_one_batch_and_the_abandoned_are_skipped() {
        let (engine, batches, gate) = engine(3);
        let ask = |n| {
            let engine = engine.clone();
            tokio::spawn(async move { engine.infer(n).await.map(|a| a.output) })
        };
        let first = ask(0);
        tokio::task::block_in_place(|| gate.wait());
        // The engine is busy: these four wait, in order, and the second of them loses its caller.
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
        assert_eq!(*batches.lock().unwrap(), [vec![0], vec![1, 3], vec![4]]);
    }

    #[tokio::test]
    async fn a_panic_or_error_fails_its_batch_and_not_the_engine() {
        let (engine, ..) = engine(1);
        assert!(matches!(engine.infer(13).await, Err(EngineError::Run(_))));
        assert!(matches!(engine.infer(7).await, Err(EngineError::Run(_))));
        assert_eq!(engine.infer(5).await.unwrap().output, 5);
    }
}
