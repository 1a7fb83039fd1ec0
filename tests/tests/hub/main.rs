//! The `akhar models` commands: models are pulled from a hub, resumed after an interruption, refused, chosen
//! and removed.

mod pulling;
mod trouble;
mod using;
mod working;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
    sync::atomic::{AtomicU32, Ordering},
};

use akhar_tests::{Hub, Process, hub::sha256, process::command, root};

/// The model on the hub, which is the bundled digits model under another name.
const ID: &str = "digits-hub";
const OPERATION: &str = "digit-recognition";
const MODEL: &str = "akhar/digits/onnx/model.onnx";
const CONFIG: &str = "akhar/digits/config.json";

/// A folder of models with one bundled model, a hub with another one, and a catalogue with that model.
struct World {
    hub: Hub,
    folder: PathBuf,
    environment: Vec<(String, String)>,
}

/// The result of a command.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl World {
    async fn new() -> Self {
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
            ("AKHAR_CATALOGUE", path("catalogue.toml")),
            ("AKHAR_HUB", hub.url.clone()),
            // Requests to the hub, which is on this machine, must not use a proxy.
            ("NO_PROXY", "127.0.0.1".to_owned()),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value)).into();
        let world = Self { hub, folder, environment };
        world.catalogue(&entry());
        world
    }

    /// Writes the operator's catalogue.
    fn catalogue(&self, text: &str) {
        fs::write(self.folder.join("catalogue.toml"), text).expect("a catalogue");
    }

    /// Sets an environment variable.
    fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(n, _)| n != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Runs `akhar models …` and waits for its end.
    async fn run(&self, arguments: &[&str]) -> Ended {
        let output = command(&with_models(arguments), &self.environment).output().await.expect("it runs");
        output.into()
    }

    /// Runs `akhar models …`, which must succeed. Returns its standard output.
    async fn done(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments).await;
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.err);
        ended.out
    }

    /// Runs `akhar models …`, which must fail. Returns its standard error.
    async fn refused(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments).await;
        assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{arguments:?}: {}", ended.err);
        ended.err
    }

    /// Starts `akhar models …`.
    fn start(&self, arguments: &[&str]) -> Process {
        Process::spawn("models", command(&with_models(arguments), &self.environment))
    }

    fn pulled(&self, file: &str) -> PathBuf {
        self.folder.join("models/pulled").join(ID).join(file)
    }

    /// The path of a file while the model is being pulled.
    fn partial(&self, file: &str) -> PathBuf {
        self.folder.join("models/pulled/.partial").join(ID).join(file)
    }

    /// The cells of a model's line in `models list`.
    async fn listed(&self, id: &str) -> Vec<String> {
        let out = self.done(&["list"]).await;
        let line = out.lines().find(|line| line.split_whitespace().next() == Some(id));
        let line = line.unwrap_or_else(|| panic!("no {id} in\n{out}"));
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    }
}

impl Drop for World {
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

fn with_models<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    std::iter::once("models").chain(arguments.iter().copied()).collect()
}

/// The bytes of the model file.
fn model() -> Vec<u8> {
    fs::read(root().join("models/weights/digits-pa.onnx")).expect("the bundled model")
}

/// The catalogue's entry, with the values of the bundled model's manifest.
fn entry() -> String {
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

/// Flips one bit in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).expect("a write");
}

fn hash_of(path: &Path) -> String {
    sha256(&fs::read(path).expect("a file"))
}
