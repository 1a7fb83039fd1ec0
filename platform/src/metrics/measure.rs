//! Values that are measured only when somebody asks for them: those of the caller, and what the system knows about the process.

use metrics_process::collector::collect;

use super::{
    metric::float,
    table::{
        PROCESS_CPU, PROCESS_FDS, PROCESS_MAX_FDS, PROCESS_RESIDENT, PROCESS_START, PROCESS_THREADS,
        PROCESS_VIRTUAL, PROCESS_VIRTUAL_MAX,
    },
};

/// Sets the values that are measured only when somebody asks for them.
pub trait Measure: Send + Sync + 'static {
    /// Measures them. What takes long must bound its own time.
    fn measure(&self) -> impl Future<Output = ()> + Send;
}

/// Measures the metrics `process_…`. What the system does not say keeps its value.
pub(super) fn measure_process() {
    let now = collect();
    if let Some(seconds) = now.cpu_seconds_total {
        PROCESS_CPU.set_total([], seconds);
    }
    for (gauge, value) in [
        (&PROCESS_RESIDENT, now.resident_memory_bytes),
        (&PROCESS_VIRTUAL, now.virtual_memory_bytes),
        (&PROCESS_VIRTUAL_MAX, now.virtual_memory_max_bytes),
        (&PROCESS_FDS, now.open_fds),
        (&PROCESS_MAX_FDS, now.max_fds),
        (&PROCESS_THREADS, now.threads),
        (&PROCESS_START, now.start_time_seconds),
    ] {
        if let Some(value) = value {
            gauge.set([], float(value));
        }
    }
}
