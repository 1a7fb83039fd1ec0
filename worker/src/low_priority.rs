//! Threads for work that may wait: transcription and translation, with all that loads their models. Linux gives a thread
//! of a higher niceness less processor time while others want it, so a recognised image does not wait for a recording.
//! A thread passes its niceness on to the threads that it starts, so the threads of engines and of ONNX Runtime have
//! the niceness of the thread that loaded the model.

use std::{io, panic::resume_unwind, thread};

use tokio::sync::oneshot;

/// What is added to a thread's niceness. At 10, Linux gives it a ninth of the time of a thread at 0, if both are busy.
const NICENESS: i32 = 10;

/// Runs `work` on a new thread. The receiver fails if it panics, which the panic hook logs.
pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<oneshot::Receiver<T>> {
    let (sender, result) = oneshot::channel();
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        lower();
        let _ = sender.send(work()); // fails when nobody waits for it any more
    })?;
    Ok(result)
}

/// Runs `work` on a new thread and waits for it. Blocks the thread.
pub(crate) fn run<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, || {
            lower();
            work()
        })?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

fn lower() {
    if let Err(error) = rustix::process::nice(NICENESS) {
        tracing::warn!(%error, "cannot lower the priority of a thread");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn niceness() -> i32 {
        rustix::process::nice(0).unwrap()
    }

    #[test]
    fn threads_and_those_that_they_start_have_a_lower_priority_than_others() {
        let usual = niceness();
        let (own, of_child) = run("loads", || (niceness(), thread::spawn(niceness).join().unwrap())).unwrap();
        let spawned = spawn("works", niceness).unwrap().blocking_recv().unwrap();
        let expected = (usual + NICENESS).min(19);
        assert_eq!([own, of_child, spawned, niceness()], [expected, expected, expected, usual]);
    }

    #[test]
    fn a_panic_fails_the_receiver() {
        assert!(spawn("panics", || panic!("as the test wants")).unwrap().blocking_recv().is_err());
    }
}
