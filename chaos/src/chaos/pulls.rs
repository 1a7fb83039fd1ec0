//! `akhar models pull`, again and again, into the folder of models that the workers read. Its hub answers badly, or it is
//! killed.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    pin::pin,
    process::Stdio,
    time::Duration,
};

use akhar_tests::{
    figures::{Row, count},
    hostile::{HostileProxy, Hostility},
    hub::sha256,
    models::{Ended, ID, Models, entry, model},
};
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, timeout};

/// The time in which a pull must end, and in which one must succeed when the hub is well again: bytes that the hub damaged
/// and that an earlier pull kept make one fail, and the disk may be full.
const TO_PULL: Duration = Duration::from_secs(60);

/// The files of a model, with their paths in its folder.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The hub, and what became of the pulls so far.
#[derive(Debug)]
pub(super) struct Pulls {
    models: Models,
    /// In front of the hub and of its store.
    proxies: [HostileProxy; 2],
    n_succeeded: usize,
    n_failed: usize,
    n_killed: usize,
    /// Descriptions of what must not happen.
    pub(super) wrong: Vec<String>,
}

impl Pulls {
    /// Starts the hub. Nothing is pulled yet.
    pub(super) async fn start() -> Self {
        let mut models = Models::with_all_bundled().await;
        let proxies = models.hub.behind_proxies().await;
        models.set("AKHAR_HUB", &proxies[0].address);
        // The hub says the hash of a large file only.
        let config = "path = \"config.json\"\n";
        models.catalogue(&entry().replace(config, &format!("{config}sha256 = \"{}\"\n", sha256(b"{}"))));
        Self { models, proxies, n_succeeded: 0, n_failed: 0, n_killed: 0, wrong: Vec::new() }
    }

    /// The folder of models.
    pub(super) fn folder(&self) -> PathBuf {
        self.models.folder.join("models")
    }

    /// Pulls while the hub has these hostilities, and afterwards, when it is well, until a pull succeeds.
    pub(super) async fn disturb(&mut self, hostilities: &[Hostility], lasts: Duration) {
        self.turn_to(hostilities);
        let until = Instant::now() + lasts;
        while Instant::now() < until {
            self.pull(None).await;
        }
        self.recover().await;
    }

    /// Pulls from a hub that is slow, and kills each pull, the next one by `step` later than the one before. Afterwards a
    /// pull must succeed.
    pub(super) async fn kill(&mut self, step: Duration, lasts: Duration) {
        self.turn_to(&[Hostility::Slow(step)]);
        let until = Instant::now() + lasts;
        let mut after = step;
        while Instant::now() < until {
            self.pull(Some(after)).await;
            after += step;
        }
        self.recover().await;
    }

    /// Pulls from a hub that is well, and checks that the model is listed and its files are verified.
    pub(super) async fn finish(&mut self) {
        self.recover().await;
        let verified = self.models.run(&["verify", ID]).await;
        if verified.out != format!("{ID}  2 files verified\n") {
            self.wrong.push(format!("not verified: {verified:?}"));
        }
        let cells = self.models.listed(ID).await;
        if !cells.iter().any(|cell| cell == "pulled") {
            self.wrong.push(format!("not listed as pulled: {cells:?}"));
        }
    }

    /// The numbers of pulls.
    pub(super) fn row(&self) -> Row {
        [
            ("all", self.n_succeeded + self.n_failed + self.n_killed),
            ("succeeded", self.n_succeeded),
            ("failed", self.n_failed),
            ("killed", self.n_killed),
        ]
        .map(|(name, n)| (name, count(n)))
        .into()
    }

    fn turn_to(&self, hostilities: &[Hostility]) {
        self.proxies.iter().for_each(|proxy| proxy.turn_to(hostilities));
    }

    async fn recover(&mut self) {
        self.turn_to(&[]);
        let deadline = Instant::now() + TO_PULL;
        while !self.pull(None).await {
            if Instant::now() >= deadline {
                self.wrong.push("no pull from a hub that is well succeeds".to_owned());
                return;
            }
        }
    }

    /// Removes the model if it is installed, pulls it, and kills the command if it takes so long. Checks how the pull ended
    /// and what it installed. Returns whether it succeeded.
    async fn pull(&mut self, kill_after: Option<Duration>) -> bool {
        let place = self.models.pulled("");
        if place.exists() {
            let removed = self.models.run(&["remove", ID]).await;
            if removed.code != Some(0) {
                self.wrong.push(format!("not removed: {removed:?}"));
            }
        }
        let ended = self.run_pull(kill_after.unwrap_or(TO_PULL)).await;
        match ended.code {
            Some(0) => self.n_succeeded += 1,
            Some(_) => self.n_failed += 1,
            None => self.n_killed += 1,
        }
        let installed = place.exists().then(|| files_of(&place));
        if let Some(what) = problem(&ended, kill_after.is_some(), installed.as_ref()) {
            self.wrong.push(format!("{what}: {ended:?}"));
        }
        ended.code == Some(0)
    }

    async fn run_pull(&self, kill_after: Duration) -> Ended {
        let mut command = self.models.command(&["pull", ID]);
        let pull = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let id = pull.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let mut output = pin!(pull.wait_with_output());
        let output = if let Ok(output) = timeout(kill_after, &mut output).await {
            output
        } else {
            let _ = kill_process(id.expect("it was just started"), Signal::KILL); // it may have ended meanwhile
            output.await
        };
        output.expect("it runs").into()
    }
}

/// What is wrong with the end of a pull, if anything.
fn problem(ended: &Ended, may_be_killed: bool, installed: Option<&Files>) -> Option<&'static str> {
    if installed.is_some_and(|files| !is_published(files)) {
        return Some("other files than those of the hub are installed");
    }
    match ended.code {
        Some(0) if installed.is_none() => Some("a pull succeeds and installs nothing"),
        Some(0) => None,
        Some(1) if ended.err.lines().any(|line| line.starts_with("akhar: ")) => None,
        Some(_) => Some("a pull fails without a reason"),
        None if may_be_killed => None,
        None => Some("a pull does not end"),
    }
}

/// Whether these are the files of the model on the hub, and its manifest.
fn is_published(files: &Files) -> bool {
    let manifest = format!("{ID}.toml");
    let expected =
        [("config.json", Some(b"{}".to_vec())), ("onnx/model.onnx", Some(model())), (&manifest, None)];
    let is_there = |(path, bytes): &(&str, Option<Vec<u8>>)| {
        files.get(Path::new(path)).is_some_and(|found| bytes.as_ref().is_none_or(|bytes| bytes == found))
    };
    files.len() == expected.len() && expected.iter().all(is_there)
}

fn files_of(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("it is inside").to_owned();
                files.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published() -> Files {
        let files =
            [("config.json", b"{}".to_vec()), ("onnx/model.onnx", model()), ("digits-hub.toml", Vec::new())];
        files.map(|(path, bytes)| (path.into(), bytes)).into()
    }

    fn ended(code: Option<i32>, err: &str) -> Ended {
        Ended { code, out: String::new(), err: err.to_owned() }
    }

    #[test]
    fn only_all_files_as_they_are_published_may_be_installed() {
        let pulled = ended(Some(0), "");
        assert_eq!(problem(&pulled, false, Some(&published())), None);
        assert!(problem(&pulled, false, None).is_some());
        let mut changes: Vec<fn(&mut Files)> = Vec::new();
        changes.push(|files| files.get_mut(Path::new("onnx/model.onnx")).expect("a file")[100] ^= 1);
        changes.push(|files| drop(files.remove(Path::new("digits-hub.toml"))));
        changes.push(|files| drop(files.insert("config.json.etag".into(), Vec::new())));
        for change in changes {
            let mut files = published();
            change(&mut files);
            for code in [Some(0), Some(1), None] {
                assert!(problem(&ended(code, "akhar: no"), true, Some(&files)).is_some());
            }
        }
    }

    #[test]
    fn a_pull_fails_with_a_reason_and_ends_unless_it_is_killed() {
        assert_eq!(problem(&ended(Some(1), "digits-hub: 1 MB\nakhar: models pull: no"), false, None), None);
        assert!(problem(&ended(Some(1), "digits-hub: 1 MB\n"), false, None).is_some());
        assert!(problem(&ended(Some(101), "thread 'main' panicked"), false, None).is_some());
        assert_eq!(problem(&ended(None, ""), true, None), None);
        assert!(problem(&ended(None, ""), false, None).is_some());
    }
}
