//! The journal of a run: one file in the output folder with a line for each recording whose results are written, or that
//! failed. With it a run that was interrupted continues.
//!
//! The first line has the settings. A line that was cut off by a crash counts as not written.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use akhar_jobs::GroupName;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{settings::Settings, source::is_of_decoder, untranscribed::Untranscribed};
use crate::failure::Failure;

/// The name of the file. A folder that has it has the results of a run.
pub(super) const FILE: &str = ".akhar-journal.jsonl";

/// A recording whose results are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The path of its results in the output folder, without the extension.
    pub(super) name: String,
    /// The SHA-256 of the recording.
    pub(super) sha256: String,
    /// The length of the recording, seconds.
    pub(super) duration_s: f64,
    #[serde(default)]
    pub(super) n_words: usize,
    /// The expected share of letters that are right.
    #[serde(default)]
    pub(super) confidence: Option<f64>,
    #[serde(default)]
    pub(super) warnings: Vec<String>,
}

/// A recording that could not be transcribed, or a folder that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failed {
    #[serde(flatten)]
    pub(super) failure: Untranscribed,
    /// The SHA-256 of the recording. `None` if it was not read.
    pub(super) sha256: Option<String>,
    /// The programs that decoded recordings.
    pub(super) decoders: String,
}

/// A line after the first one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Done(Entry),
    Failed(Failed),
}

/// The first line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    #[serde(flatten)]
    settings: Settings,
    /// The group of the run's jobs. Missing in the journals of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<GroupName>,
}

/// The journal of this run.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// Locked, so that only one run uses it.
    file: Mutex<File>,
    group: Option<GroupName>,
    /// The recordings that earlier runs have transcribed, by name.
    earlier: HashMap<String, Entry>,
    /// What has failed in earlier runs, by path.
    failed: HashMap<String, Failed>,
}

impl Journal {
    /// Opens the journal of a folder. If an earlier run wrote results, `resume` must be true and the settings the same. The jobs of
    /// the run are in this group, or else in that of the earlier run, or else in a new one.
    pub(super) fn open(
        folder: &Path,
        settings: &Settings,
        group: Option<GroupName>,
        resume: bool,
    ) -> Result<Self, Failure> {
        let path = folder.join(FILE);
        let cannot = || Failure::io(format!("cannot open the journal {}", path.display()));
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(cannot())?;
        match file.try_lock() {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => {
                let text = format!("another akhar writes to {}: wait until it ends", folder.display());
                return Err(Failure::Command(text));
            }
            Err(TryLockError::Error(error)) => return Err(cannot()(error)),
        }
        let text = fs::read(&path).map_err(cannot())?;
        let n_whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let text = String::from_utf8_lossy(&text[..n_whole]);
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let mut earlier = HashMap::new();
        let mut failed = HashMap::new();
        for line in lines.filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            match line {
                Line::Done(entry) => drop(earlier.insert(entry.name.clone(), entry)),
                Line::Failed(failure) => drop(failed.insert(failure.failure.path.clone(), failure)),
            }
        }
        let header = serde_json::from_str::<Header>(first).ok().filter(|header| header.settings == *settings);
        // Nothing is lost with a run that has transcribed nothing.
        let is_first = earlier.is_empty() && !(resume && header.is_some());
        let group = group.or_else(|| header.as_ref()?.group.clone());
        let mut journal = Self { path: path.clone(), file: Mutex::new(file), group, earlier, failed };
        if is_first {
            let new = || GroupName::parse(&format!("transcribe-{}", Uuid::now_v7()));
            journal.group = journal.group.take().or_else(new);
            journal.failed.clear();
            let header = Header { settings: settings.clone(), group: journal.group.clone() };
            journal.cut_off(0).and_then(|()| journal.append(&header)).map_err(cannot())?;
        } else if resume {
            header.ok_or_else(|| other_settings(first, settings, folder))?;
            journal.cut_off(n_whole as u64).map_err(cannot())?;
        } else {
            return Err(Failure::Command(format!(
                "{} has the results of an earlier run: add --resume to continue it, or name another folder with --out",
                folder.display()
            )));
        }
        Ok(journal)
    }

    /// The group of the run's jobs. `None` if a run of an earlier version goes on.
    pub(super) fn group(&self) -> Option<&GroupName> {
        self.group.as_ref()
    }

    /// The recordings of earlier runs with this name and content.
    pub(super) fn done(&self, name: &str, sha256: &str) -> Option<&Entry> {
        self.earlier.get(name).filter(|entry| entry.sha256 == sha256)
    }

    /// Adds a recording whose results are on disk.
    pub(super) fn add(&self, entry: &Entry) -> Result<(), Failure> {
        self.append(entry)
            .map_err(Failure::io(format!("cannot write to the journal {}", self.path.display())))
    }

    /// The failure of an earlier run to decode this content of a file with these decoders, which would fail again.
    pub(super) fn undecodable(&self, path: &str, sha256: &str, decoders: &str) -> Option<&Untranscribed> {
        let failed = self.failed.get(path).filter(|failed| failed.sha256.as_deref() == Some(sha256));
        let failed = failed.filter(|failed| failed.decoders == decoders)?;
        is_of_decoder(&failed.failure.code).then_some(&failed.failure)
    }

    /// Adds what has failed. Returns whether it failed for the same reason, with the same content, in an earlier run.
    pub(super) fn add_failed(&self, failed: &Failed) -> Result<bool, Failure> {
        let reason = |failed: &Failed| (failed.sha256.clone(), failed.failure.code.clone());
        let earlier = self.failed.get(&failed.failure.path);
        if earlier != Some(failed) {
            self.append(failed)
                .map_err(Failure::io(format!("cannot write to the journal {}", self.path.display())))?;
        }
        Ok(earlier.is_some_and(|earlier| reason(earlier) == reason(failed)))
    }

    /// Keeps the first `n` bytes.
    fn cut_off(&self, n: u64) -> io::Result<()> {
        self.file.lock().set_len(n)
    }

    fn append(&self, line: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        let mut file = self.file.lock();
        file.write_all(&line)?;
        file.sync_data()
    }
}

fn other_settings(line: &str, settings: &Settings, folder: &Path) -> Failure {
    let now = serde_json::to_string(settings).unwrap_or_default();
    Failure::Command(format!(
        "the earlier run in {} had other options, {line} instead of {now}: repeat them, or name another folder with --out",
        folder.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            settings::{Asked, Format},
            spoken::SpokenLanguage,
        },
        *,
    };

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("akhar-journal-{}-{name}", std::process::id()));
        // It may be missing.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn settings(lang: SpokenLanguage) -> Settings {
        Settings::new(lang, Asked::default(), &[Format::Json])
    }

    fn entry(name: &str) -> Entry {
        Entry {
            name: name.to_owned(),
            sha256: "ab".to_owned(),
            duration_s: 1.5,
            n_words: 3,
            confidence: Some(0.9),
            warnings: vec!["too quiet".to_owned()],
        }
    }

    #[test]
    fn a_resumed_run_knows_what_is_done() {
        let folder = folder("resumed");
        let settings = settings(SpokenLanguage::Pa);
        let first = Journal::open(&folder, &settings, None, false).unwrap();
        first.add(&entry("a/ਇੱਕ")).unwrap();
        assert!(first.done("a/ਇੱਕ", "ab").is_none(), "it is not of an earlier run");
        drop(first);
        let second = Journal::open(&folder, &settings, None, true).unwrap();
        assert_eq!(second.done("a/ਇੱਕ", "ab"), Some(&entry("a/ਇੱਕ")));
        assert_eq!(second.done("a/ਇੱਕ", "cd"), None, "the recording has changed");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_resumed_run_has_the_group_of_the_earlier_one() {
        let folder = folder("group");
        let settings = settings(SpokenLanguage::Pa);
        let group = |given: Option<&str>| {
            let given = given.and_then(GroupName::parse);
            let journal = Journal::open(&folder, &settings, given, true).unwrap();
            journal.add(&entry("a")).unwrap();
            journal.group.unwrap()
        };
        let made = group(None);
        assert!(made.as_str().starts_with("transcribe-"), "{made:?}");
        assert_eq!(group(None), made);
        assert_eq!(group(Some("calls")).as_str(), "calls");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_journal_cut_off_at_any_byte_keeps_its_whole_lines() {
        let folder = folder("torn");
        let settings = settings(SpokenLanguage::Pa);
        let journal = Journal::open(&folder, &settings, None, true).unwrap();
        for name in ["a", "b"] {
            journal.add(&entry(name)).unwrap();
        }
        drop(journal);
        let whole = fs::read(folder.join(FILE)).unwrap();
        for n in 0..whole.len() {
            fs::write(folder.join(FILE), &whole[..n]).unwrap();
            let n_lines = String::from_utf8_lossy(&whole[..n]).matches('\n').count();
            let journal = Journal::open(&folder, &settings, None, true).unwrap();
            assert_eq!(journal.earlier.len(), n_lines.saturating_sub(1), "{n} bytes");
            journal.add(&entry("c")).unwrap();
            drop(journal);
            let again = Journal::open(&folder, &settings, None, true).unwrap();
            assert!(again.done("c", "ab").is_some(), "{n} bytes");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_journal_needs_resume_and_the_same_settings_and_one_run_at_a_time() {
        let folder = folder("refused");
        let pa = settings(SpokenLanguage::Pa);
        let first = Journal::open(&folder, &pa, None, false).unwrap();
        first.add(&entry("a")).unwrap();
        let refused = |settings: &Settings, resume| {
            Journal::open(&folder, settings, None, resume).unwrap_err().to_string()
        };
        assert!(refused(&pa, true).contains("another akhar"));
        drop(first);
        assert!(refused(&pa, false).contains("--resume"));
        let other = refused(&settings(SpokenLanguage::En), true);
        assert!(other.contains(r#""lang":"pa""#) && other.contains(r#""lang":"en""#), "{other}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
