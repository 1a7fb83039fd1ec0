//! The memory of the api and the worker.

use std::fs;

use akhar_tests::Stack;

use crate::load::memory_mib;

/// Resident memory, MiB.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Peaks {
    pub(super) api: f64,
    pub(super) api_peak: f64,
    pub(super) worker: f64,
    pub(super) worker_peak: f64,
}

impl Peaks {
    /// The memory now, and the peaks since [`reset_peaks`].
    pub(super) fn now(stack: &Stack) -> Self {
        let ((api, api_peak), (worker, worker_peak)) =
            (memory_mib(&stack.api), memory_mib(&stack.workers[0]));
        Self { api, api_peak, worker, worker_peak }
    }

    /// The larger of each two numbers.
    pub(super) fn max(self, other: Self) -> Self {
        Self {
            api: self.api.max(other.api),
            api_peak: self.api_peak.max(other.api_peak),
            worker: self.worker.max(other.worker),
            worker_peak: self.worker_peak.max(other.worker_peak),
        }
    }

    /// The numbers for a report.
    pub(super) fn row(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("api_mib", self.api),
            ("api_peak_mib", self.api_peak),
            ("worker_mib", self.worker),
            ("worker_peak_mib", self.worker_peak),
        ]
    }
}

/// Makes the kernel forget the peaks so far (`clear_refs`, proc(5)).
pub(super) fn reset_peaks(stack: &Stack) {
    for process in [&stack.api, &stack.workers[0]] {
        fs::write(format!("/proc/{}/clear_refs", process.id()), "5").expect("the peak is reset");
    }
}
