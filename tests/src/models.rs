//! A folder of models, and a hub with one more model, for the `akhar models` commands.

use std::{
    fs,
    os::unix::fs::symlink,
    path::PathBuf,
    process::Output,
    sync::atomic::{AtomicU32, Ordering},
};

use tokio::process::Command;

use crate::{Hub, Process, process::command, root};

/// The model on the hub, which is the bundled digits model under another name.
pub const ID: &str = "digits-hub";
/// The operation of both models.
pub const OPERATION: &str = "digit-recognition";
/// The large file of the model on the hub.
pub const MODEL: &str = "akhar/digits/onnx/model.onnx";
/// The small one.
pub const CONFIG: &str = "akhar/digits/config.json";

/// A folder of models with one bundled model, a hub with another one, and a catalogue with that model.
#[derive(Debug)]
pub struct Models {
    /// The hub with the other model.
    pub hub: Hub,
    /// The folder `models` and the catalogue are in this folder.
    pub folder: PathBuf,
    environment: Vec<(String, String)>,
}

/// The result of a command.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code.
    pub code: Option<i32>,
    /// What it printed to standard output.
    pub out: String,
    /// What it printed to standard error.
    pub err: String,
}

impl Models {
    /// Starts the hub, and makes the folder and the catalogue.
    pub async fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("akhar-hub-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(folder.join("models/weights")).expect("a folder");
        for file in ["digits-pa.toml", "weights/digits-pa.onnx"] {
            fs::copy(root().join("models").join(file), folder.join("models").join(file)).expect("a copy");
        }
        let hub = Hub::start().await;
        hub.put(MODEL, &model());
        hub.put(CONFIG, b"{}");
        let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let environment = [
            ("AKHAR_MODELS_DIR", path("models")),
            ("HF_ENDPOINT", hub.url.clone()),
            // Requests to the hub, which is on this machine, must not use a proxy.
            ("NO_PROXY", "127.0.0.1".to_owned()),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value)).into();
        let models = Self { hub, folder, environment };
        models.catalogue(&entry());
        models
    }

    /// The same with all bundled models, as workers need them.
    pub async fn with_all_bundled() -> Self {
        let models = Self::new().await;
        for folder in ["models", "models/weights"] {
            for file in fs::read_dir(root().join(folder)).expect("models") {
                let file = file.expect("a file");
                let place = models.folder.join(folder).join(file.file_name());
                if file.file_type().is_ok_and(|kind| kind.is_file()) && !place.exists() {
                    symlink(file.path(), place).expect("a link");
                }
            }
        }
        symlink(root().join("models/fetched"), models.folder.join("models/fetched")).expect("a link");
        models
    }

    /// Writes the operator's catalogue.
    pub fn catalogue(&self, text: &str) {
        fs::write(self.folder.join("models/catalogue.toml"), text).expect("a catalogue");
    }

    /// Puts files of a folder of fixtures on the hub, as `akhar/name`. Returns their part of the catalogue's entry, with the
    /// role of each.
    pub fn published(&self, name: &str, folder: &str, files: &[(&str, &str)]) -> String {
        let folder = root().join("tests/fixtures").join(folder);
        let file = |(role, path): &(&str, &str)| {
            self.hub.put(&format!("akhar/{name}/{path}"), &fs::read(folder.join(path)).expect("a fixture"));
            format!("[[models.files]]\nrole = '{role}'\npath = '{path}'\n")
        };
        files.iter().map(file).collect()
    }

    /// Sets an environment variable.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(n, _)| n != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// The command `akhar models …`.
    pub fn command(&self, arguments: &[&str]) -> Command {
        command(&[&["models"], arguments].concat(), &self.environment)
    }

    /// Runs `akhar models …` and waits for its end.
    pub async fn run(&self, arguments: &[&str]) -> Ended {
        self.command(arguments).output().await.expect("it runs").into()
    }

    /// Runs `akhar models …`, which must succeed. Returns its standard output.
    pub async fn done(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments).await;
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.err);
        ended.out
    }

    /// Runs `akhar models …`, which must fail. Returns its standard error.
    pub async fn refused(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments).await;
        assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{arguments:?}: {}", ended.err);
        ended.err
    }

    /// Translates a line with `akhar translate`, which must succeed.
    pub async fn translated(&self, line: &str, from: &str, to: &str) -> String {
        let mut command = command(&["translate", "--from", from, "--to", to], &self.environment);
        let input = self.folder.join("line.txt");
        fs::write(&input, line).expect("a line");
        let output = command.stdin(fs::File::open(&input).expect("a line")).output().await.expect("it runs");
        let ended = Ended::from(output);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        ended.out
    }

    /// Starts `akhar models …`.
    pub fn start(&self, arguments: &[&str]) -> Process {
        Process::spawn("models", self.command(arguments))
    }

    /// The path of a file of the pulled model; `""` stands for its folder.
    pub fn pulled(&self, file: &str) -> PathBuf {
        self.folder.join("models/pulled").join(ID).join(file)
    }

    /// The path of a file while the model is being pulled.
    pub fn partial(&self, file: &str) -> PathBuf {
        self.folder.join("models/pulled/.partial").join(ID).join(file)
    }

    /// The cells of a model's line in `models list`.
    pub async fn listed(&self, id: &str) -> Vec<String> {
        let out = self.done(&["list"]).await;
        let line = out.lines().find(|line| line.split_whitespace().next() == Some(id));
        let line = line.unwrap_or_else(|| panic!("no {id} in\n{out}"));
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    }
}

impl Drop for Models {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// The bytes of the model file.
pub fn model() -> Vec<u8> {
    fs::read(root().join("models/weights/digits-pa.onnx")).expect("the bundled model")
}

/// The catalogue's entry, with the values of the bundled model's manifest.
pub fn entry() -> String {
    format!(
        r#"
[[models]]
id = "{ID}"
repo = "akhar/digits"
revision = "main"
size_mb = 1
best_for = "tests"
operation = "{OPERATION}"
layout = "image-classifier"
licence = "MIT"
labels = ["੦", "੧", "੨", "੩", "੪", "੫", "੬", "੭", "੮", "੯"]

[[models.files]]
role = "config"
path = "config.json"

[[models.files]]
role = "model"
path = "onnx/model.onnx"
"#
    )
}
