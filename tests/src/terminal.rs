//! A terminal for commands that behave differently on one.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    sync::Arc,
    thread,
};

use parking_lot::Mutex;
use rustix::pty::{self, OpenptFlags};

/// A terminal. What is written to its screen can be read.
#[derive(Debug)]
pub struct Terminal {
    keyboard: File,
    shown: Arc<Mutex<String>>,
}

impl Terminal {
    /// Opens a terminal. Returns it with its screen, which is the standard input or output of a command.
    pub fn open() -> (Self, File) {
        let terminal = pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        pty::grantpt(&terminal).and_then(|()| pty::unlockpt(&terminal)).expect("it can be opened");
        let name = pty::ptsname(&terminal, Vec::new()).expect("it has a name");
        let screen = File::options().read(true).write(true).open(name.to_str().expect("UTF-8"));
        let mut out = File::from(terminal.try_clone().expect("a copy"));
        let shown = Arc::new(Mutex::new(String::new()));
        let kept = shown.clone();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails when nobody has the screen open any more.
            while let Ok(n) = out.read(&mut bytes) {
                kept.lock().push_str(&String::from_utf8_lossy(&bytes[..n]));
            }
        });
        (Self { keyboard: File::from(terminal), shown }, screen.expect("its other end"))
    }

    /// Types a line.
    pub fn enter(&mut self, line: &str) {
        self.keyboard.write_all(format!("{line}\n").as_bytes()).expect("a line");
    }

    /// What was written to the screen so far.
    pub fn shown(&self) -> String {
        self.shown.lock().clone()
    }
}
