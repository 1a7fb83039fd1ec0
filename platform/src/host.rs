//! The machine that a process runs on.

/// The name of the machine, or `host` if it has none.
pub fn name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "host".to_owned(),
        name => name.to_owned(),
    }
}
