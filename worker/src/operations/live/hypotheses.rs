//! Makes hypotheses of what an open utterance is, one at a time, while its sound comes in.

use std::future::pending;

use futures::future::BoxFuture;

use super::{super::error::OperationError, recogniser::Recognised};

/// The further speech after which there is another hypothesis, milliseconds.
const FURTHER_MS: u64 = 400;

/// The hypotheses of a session.
#[derive(Default)]
pub(super) struct Hypotheses<'a> {
    making: Option<BoxFuture<'a, Result<Recognised, OperationError>>>,
    /// The position up to which the last one had speech.
    end: u64,
}

impl<'a> Hypotheses<'a> {
    /// Whether it is time for one of an utterance that has speech from `start` to `end`.
    pub(super) fn is_due(&self, (start, end): (u64, u64), rate: u32) -> bool {
        let n_further = end.saturating_sub(self.end.max(start));
        self.making.is_none() && n_further >= u64::from(rate) * FURTHER_MS / 1000
    }

    /// Makes one of the speech up to `end`.
    pub(super) fn make(
        &mut self,
        end: u64,
        recognising: impl Future<Output = Result<Recognised, OperationError>> + Send + 'a,
    ) {
        self.end = end;
        self.making = Some(Box::pin(recognising));
    }

    /// Waits for the one that is being made. Never ends if there is none.
    pub(super) async fn made(&mut self) -> Result<Recognised, OperationError> {
        let Some(making) = &mut self.making else { return pending().await };
        let made = making.await;
        self.making = None;
        made
    }

    /// Drops the one that is being made.
    pub(super) fn forget(&mut self) {
        self.making = None;
    }
}
