//! Runs of `akhar transcribe`.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tokio::process::Command;

use crate::{
    Stack,
    process::command,
    speech::{recording, silence, wav},
};

/// Folders of recordings and of results for one test.
#[derive(Debug, Clone)]
pub struct Folders {
    /// The recordings.
    pub recordings: PathBuf,
    /// The results.
    pub results: PathBuf,
    /// The programs that the command finds.
    pub programs: PathBuf,
}

impl Folders {
    /// Empty folders with this name in the folder for temporary files.
    pub fn new(temporary: &Path, name: &str) -> Self {
        let folder = temporary.join(name);
        let [recordings, results, programs] =
            ["recordings", "results", "programs"].map(|name| folder.join(name));
        for folder in [&recordings, &programs] {
            fs::create_dir_all(folder).expect("a folder");
        }
        Self { recordings, results, programs }
    }

    /// Writes a recording.
    pub fn add(&self, name: &str, bytes: &[u8]) {
        let path = self.recordings.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }

    /// Installs an `ffmpeg` for the command. It decodes the files whose paths have `good` in them into the samples of these
    /// channels, or into the first of them if it is to mix them, refuses others, and writes its arguments to the file
    /// `arguments` beside it.
    pub fn install_ffmpeg(&self, good: &str, channels: &[Vec<i16>]) {
        let [program, mixed, all, arguments] =
            ["ffmpeg", "mixed", "all", "arguments"].map(|name| self.programs.join(name));
        fs::write(&mixed, au(&channels[..1])).expect("a file");
        fs::write(&all, au(channels)).expect("a file");
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> {}\ncase \"$*\" in\n*{good}*'-ac 1 '*) exec /bin/cat {};;\n\
             *{good}*) exec /bin/cat {};;\nesac\necho 'Invalid data found' >&2\nexit 1\n",
            arguments.display(),
            mixed.display(),
            all.display(),
        );
        fs::write(&program, script).expect("a file");
        fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a program");
    }

    /// Writes `n` short recordings, all different, with the same sentence: `0.wav` and so on.
    pub fn add_clips(&self, n: usize) {
        let sentence = recording("pa-school.wav").samples();
        for nth in 0..n {
            let samples = [&sentence[..], &silence(1)[..=nth]].concat();
            self.add(&format!("{nth}.wav"), &wav(&samples));
        }
    }

    /// `akhar transcribe` from one folder to the other with these further arguments, on the server of a stack.
    pub fn command(&self, stack: &Stack, arguments: &[&str]) -> Command {
        let environment = [("AKHAR_URL", &stack.base), ("AKHAR_KEY", &stack.key)];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.clone()));
        self.command_with(&[&environment[..], &[self.path()]].concat(), arguments)
    }

    /// The variable that makes the command find these programs and no others.
    pub fn path(&self) -> (String, String) {
        ("PATH".to_owned(), self.programs.to_string_lossy().into_owned())
    }

    /// The same with this environment.
    pub fn command_with(&self, environment: &[(String, String)], arguments: &[&str]) -> Command {
        let paths = [&self.recordings, &self.results].map(|path| path.to_str().expect("UTF-8"));
        let all = [&["transcribe", paths[0], "--out", paths[1]], arguments].concat();
        command(&all, environment)
    }

    /// The text of a result.
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.results.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A JSON result.
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).expect("JSON")
    }

    /// The number of recordings that the journal has.
    pub fn n_done(&self) -> usize {
        let journal = fs::read_to_string(self.results.join(".akhar-journal.jsonl")).unwrap_or_default();
        journal.lines().count().saturating_sub(1)
    }

    /// The codes of the failures, by the path below the folder of recordings.
    pub fn failures(&self) -> Vec<(String, String)> {
        self.list("failures.jsonl")
    }

    /// The codes of the skipped files, by the path below the folder of recordings.
    pub fn skipped(&self) -> Vec<(String, String)> {
        self.list("skipped.jsonl")
    }

    /// The status of each file of the table, in its order, by the path below the folder of recordings.
    pub fn summary(&self) -> Vec<(String, String)> {
        let text = self.text("summary.csv");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("file,status,seconds,words,confidence,warnings"));
        let cells = lines.map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        cells.map(|cells| (self.below(&cells[0].clone().into()), cells[1].clone())).collect()
    }

    fn list(&self, name: &str) -> Vec<(String, String)> {
        let text = fs::read_to_string(self.results.join(name)).unwrap_or_default();
        let mut files: Vec<_> = text
            .lines()
            .map(|line| {
                let file: Value = serde_json::from_str(line).expect("JSON");
                assert!(file["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{line}");
                (self.below(&file["path"]), file["code"].as_str().expect("a code").to_owned())
            })
            .collect();
        files.sort();
        files
    }

    /// The path below the folder of recordings.
    pub fn below(&self, path: &Value) -> String {
        let path = Path::new(path.as_str().expect("a path"));
        path.strip_prefix(&self.recordings).expect("a recording").to_string_lossy().into_owned()
    }
}

/// An AU file of 16 kHz, with a comment as ffmpeg writes it. The channels are of one length.
fn au(channels: &[Vec<i16>]) -> Vec<u8> {
    let n_channels = u32::try_from(channels.len()).expect("few channels");
    let mut file = b".snd".to_vec();
    file.extend([32, u32::MAX, 3, 16_000, n_channels, 0, 0].iter().flat_map(|n| n.to_be_bytes()));
    let frames = 0..channels[0].len();
    file.extend(frames.flat_map(|at| channels.iter().flat_map(move |channel| channel[at].to_be_bytes())));
    file
}
