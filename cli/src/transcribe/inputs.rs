//! Finds the recordings: from files, folders, patterns and a list of paths to the recordings, with the name of each one's
//! results, and the files that are skipped.

use std::{
    collections::{HashMap, HashSet},
    ffi::{OsStr, OsString},
    fs::{self, DirEntry, File},
    io::{self, BufRead, Read as _},
    os::unix::ffi::OsStringExt as _,
    path::{Component, Path, PathBuf},
};

use akhar_platform::text;
use akhar_requests::{
    Language, MediaType,
    sniff::{N_START, media_type},
};
use glob::GlobResult;
use url::{Position, Url};

use super::{
    ffmpeg, journal,
    settings::Format,
    summary,
    untranscribed::{FAILURES, SKIPPED, Untranscribed},
};
use crate::failure::Failure;

/// The extensions of recordings that Akhar decodes, if their names tell the truth.
const KNOWN: [&str; 9] = ["flac", "m4a", "mkv", "mp3", "mp4", "ogg", "opus", "wav", "webm"];
/// The extensions of other recordings. Some of them Akhar decodes, and ffmpeg the others.
const FOREIGN: [&str; 38] = [
    "3g2", "3ga", "3gp", "aac", "ac3", "aif", "aifc", "aiff", "amr", "ape", "asf", "au", "avi", "awb", "caf",
    "dss", "dts", "flv", "gsm", "m4b", "m4v", "mka", "mov", "mp2", "mpeg", "mpg", "oga", "ogv", "ra", "rm",
    "snd", "spx", "voc", "w64", "weba", "wma", "wmv", "wv",
];
/// The names of the lists in an output folder.
const LISTS: [&str; 3] = [FAILURES, SKIPPED, summary::FILE];
/// The argument that stands for a list of paths on standard input.
const LIST: &str = "-";

/// A file to transcribe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Input {
    /// The path as it was given or found, or the URL without its query.
    pub(super) path: PathBuf,
    /// The path of its results in the output folder, without the extension.
    pub(super) name: PathBuf,
    /// The whole URL, if the server fetches the recording.
    pub(super) url: Option<Url>,
}

/// What reads a file, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// The server takes the file as it is, if it is not too large.
    Server,
    /// It is decoded here, because the server takes it only from other programs.
    Here,
    Ffmpeg,
}

impl Reader {
    /// What reads the file. Names are often wrong, so they do not count.
    pub(super) fn of(path: &Path, has_ffmpeg: bool) -> io::Result<Self> {
        Ok(match recording_type(path)? {
            Some(MediaType::Mp3 | MediaType::Wav) => Self::Server,
            None if has_ffmpeg => Self::Ffmpeg,
            _ => Self::Here,
        })
    }
}

/// The type of a recording that Akhar decodes. `None` if the file does not begin as one.
fn recording_type(path: &Path) -> io::Result<Option<MediaType>> {
    let mut start = Vec::new();
    File::open(path)?.take(N_START as u64).read_to_end(&mut start)?;
    Ok(media_type(&start).filter(|found| MediaType::RECORDINGS.contains(found)))
}

/// What the arguments name.
#[derive(Debug)]
pub(super) struct Inputs {
    pub(super) recordings: Vec<Input>,
    /// The files of folders that are not transcribed.
    pub(super) skipped: Vec<Untranscribed>,
    /// What cannot be read, such as folders.
    pub(super) failed: Vec<Untranscribed>,
}

/// The recordings of these arguments, each once, in order. A folder gives the files in it and below it with a known
/// extension, sorted. Its other files are skipped, except for hidden ones and results, which count as absent.
///
/// `translation_lang`: the code of the language that recordings are translated into, if they are. `has_ffmpeg`: whether
/// ffmpeg is installed.
pub(super) fn find(
    arguments: &[PathBuf],
    translation_lang: Option<&str>,
    has_ffmpeg: bool,
) -> Result<Inputs, Failure> {
    let mut found = Found { has_ffmpeg, ..Found::default() };
    for argument in arguments {
        if argument.as_os_str() == LIST {
            for path in listed(&mut io::stdin().lock())
                .map_err(Failure::io("cannot read the list of paths on standard input"))?
            {
                found.add(&path);
            }
        } else if argument.symlink_metadata().is_ok() {
            found.add(argument);
        } else {
            for path in matches(argument)? {
                match path {
                    Ok(path) => found.add(&path),
                    Err(error) => found.fail(error.path(), error.error()),
                }
            }
        }
    }
    let Found { files, skipped, failed, .. } = found;
    Ok(Inputs { recordings: named(files, translation_lang)?, skipped, failed })
}

/// The paths of a list, one on each line, in whatever encoding the file system has.
fn listed(list: &mut impl BufRead) -> io::Result<Vec<PathBuf>> {
    text::skip_mark(list)?;
    let lines = list.split(b'\n').map(|line| {
        let mut line = line?;
        line.pop_if(|last| *last == b'\r');
        Ok(PathBuf::from(OsString::from_vec(line)))
    });
    lines
        .filter(|path: &io::Result<PathBuf>| !path.as_ref().is_ok_and(|path| path.as_os_str().is_empty()))
        .collect()
}

/// The recordings at the URLs in a file, one on each line. The server says which of them it may not fetch.
pub(super) fn of_urls(list: &Path, translation_lang: Option<&str>) -> Result<Inputs, Failure> {
    let text = text::read(list);
    let text = text.map_err(Failure::io(format!("cannot read the list of URLs {}", list.display())))?;
    let mut found = Found::default();
    let mut urls = HashMap::new();
    for (nth, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let Some(url) = Url::parse(line.trim()).ok().filter(Url::has_host) else {
            found.failed.push(Untranscribed {
                path: format!("line {} of {}", nth + 1, list.display()),
                code: "not_a_url".to_owned(),
                reason: "it is not a URL".to_owned(),
            });
            continue;
        };
        let shown = PathBuf::from(&url[..Position::AfterPath]);
        let path = url.path().trim_matches('/');
        let path = if path.is_empty() { "index" } else { path };
        let below = Path::new(url.host_str().unwrap_or_default()).join(path);
        found.add_file(shown.clone(), below);
        if urls.insert(shown.clone(), url.clone()).is_some_and(|other| other != url) {
            let text = format!(
                "two URLs of {} differ only in their query, and their results would have the same name: {}",
                list.display(),
                shown.display()
            );
            return Err(Failure::Command(text));
        }
    }
    let mut recordings = named(found.files, translation_lang)?;
    for input in &mut recordings {
        input.url = urls.remove(&input.path);
    }
    Ok(Inputs { recordings, skipped: Vec::new(), failed: found.failed })
}

/// The files that match a pattern, such as `calls/*.mp3`, and the folders that cannot be read.
fn matches(pattern: &Path) -> Result<Vec<GlobResult>, Failure> {
    let text = pattern.to_string_lossy();
    if !text.contains(['*', '?', '[']) {
        return Err(Failure::Command(format!("{text}: there is no such file or folder")));
    }
    let paths = glob::glob(&text).map_err(|e| Failure::Command(format!("{text} is not a pattern: {e}")))?;
    let paths: Vec<_> = paths.collect();
    if paths.is_empty() {
        return Err(Failure::Command(format!("no file matches {text}")));
    }
    Ok(paths)
}

/// Files, each with its path below the output folder.
#[derive(Debug, Default)]
struct Found {
    files: Vec<(PathBuf, PathBuf)>,
    skipped: Vec<Untranscribed>,
    failed: Vec<Untranscribed>,
    /// The paths in the first two.
    seen: HashSet<PathBuf>,
    has_ffmpeg: bool,
}

impl Found {
    /// Adds a file, or the recordings of a folder. A path that does not exist is added too, and fails when it is read.
    fn add(&mut self, path: &Path) {
        if path.is_dir() {
            return self.add_folder(path, path, false);
        }
        let is_below = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let below = if is_below { path } else { Path::new(path.file_name().unwrap_or_default()) };
        let below = below.components().filter(|part| *part != Component::CurDir).collect();
        self.add_file(path.to_owned(), below);
    }

    /// Adds the files in a folder and below it. `has_results`: a run has written its results to a folder around it, which
    /// is not the root.
    fn add_folder(&mut self, root: &Path, folder: &Path, has_results: bool) {
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<DirEntry>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.fail(folder, &error),
        };
        entries.retain(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
        entries.sort_by_key(DirEntry::file_name);
        let is_output = folder.join(journal::FILE).exists();
        let has_results = has_results || is_output && folder != root;
        let is_folder = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let (folders, files): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_folder);
        let files: Vec<_> = files.iter().map(DirEntry::path).collect();
        let skipped: Vec<_> = files.iter().map(|path| why_skipped(path, self.has_ffmpeg)).collect();
        let recordings = files.iter().zip(&skipped).filter(|(_, skipped)| skipped.is_none());
        let results = Results::beside(recordings.map(|(path, _)| path), has_results, is_output);
        for (path, skipped) in files.iter().zip(skipped) {
            if let Some((code, reason)) = skipped {
                if !results.have(path) && self.seen.insert(path.clone()) {
                    let path = path.to_string_lossy().into_owned();
                    self.skipped.push(Untranscribed { path, code: code.to_owned(), reason });
                }
            } else {
                self.add_file(path.clone(), path.strip_prefix(root).unwrap_or(path).to_owned());
            }
        }
        for folder in folders {
            self.add_folder(root, &folder.path(), has_results);
        }
    }

    /// Adds what cannot be read, such as a folder.
    fn fail(&mut self, path: &Path, error: &io::Error) {
        self.failed.push(Untranscribed {
            path: path.to_string_lossy().into_owned(),
            code: "unreadable".to_owned(),
            reason: format!("it cannot be read: {error}"),
        });
    }

    fn add_file(&mut self, path: PathBuf, below: PathBuf) {
        if self.seen.insert(path.clone()) {
            self.files.push((path, below));
        }
    }
}

/// The results that a folder may have.
struct Results {
    /// The names of the recordings in the folder, with and without the extension.
    names: HashSet<OsString>,
    /// Whether results of other folders are here.
    are_elsewhere_of: bool,
    has_lists: bool,
}

impl Results {
    fn beside<'a>(
        recordings: impl Iterator<Item = &'a PathBuf>,
        are_elsewhere_of: bool,
        has_lists: bool,
    ) -> Self {
        let names =
            |path: &PathBuf| [path.file_stem(), path.file_name()].map(|name| name.map(OsStr::to_owned));
        Self { names: recordings.flat_map(names).flatten().collect(), are_elsewhere_of, has_lists }
    }

    /// Whether this is the file of a result, or of a list of files.
    fn have(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default();
        if self.has_lists && LISTS.iter().any(|list| name == *list) {
            return true;
        }
        let whole = path.file_stem().map_or(path, Path::new);
        let is_beside = || {
            let is_translation = has_extension(whole, &Language::ALL.map(Language::code));
            self.names.contains(whole.as_os_str())
                || is_translation && whole.file_stem().is_some_and(|stem| self.names.contains(stem))
        };
        has_extension(path, &Format::EXTENSIONS) && (self.are_elsewhere_of || is_beside())
    }
}

/// Why a file of a folder is skipped: a code that never changes, and the reason. `None` for a recording.
fn why_skipped(path: &Path, has_ffmpeg: bool) -> Option<(&'static str, String)> {
    if path.is_dir() {
        // Links may form a circle.
        Some(("link_to_folder", "links to folders are not followed".to_owned()))
    } else if !path.is_file() {
        Some(("not_a_file", "it is not a file, or a link to a file that does not exist".to_owned()))
    } else if has_extension(path, &KNOWN) {
        None
    } else if has_extension(path, &FOREIGN) {
        let missing = ffmpeg::missing(path);
        (!has_ffmpeg && !is_recording(path)).then_some((missing.code, missing.detail))
    } else if path.extension().is_none() && is_recording(path) {
        None
    } else {
        let known = KNOWN.join(", .");
        Some(("not_a_recording", format!("its name does not end as that of a recording: .{known}")))
    }
}

/// Whether a file begins as a recording that Akhar decodes.
fn is_recording(path: &Path) -> bool {
    recording_type(path).is_ok_and(|found| found.is_some())
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| extensions.contains(&&*extension))
}

/// Gives each file the name of its results: its path without the extension, or with it if another file differs in the
/// extension only, or would give its translation the same name.
fn named(files: Vec<(PathBuf, PathBuf)>, translation_lang: Option<&str>) -> Result<Vec<Input>, Failure> {
    let mut n_stems: HashMap<PathBuf, usize> = HashMap::new();
    for (_, below) in &files {
        *n_stems.entry(below.with_extension("")).or_default() += 1;
    }
    let mut names: HashMap<PathBuf, PathBuf> = HashMap::new();
    let mut inputs = Vec::new();
    for (path, below) in files {
        let stem = below.with_extension("");
        let is_translation = translation_lang.is_some_and(|lang| has_extension(&stem, &[lang]))
            && n_stems.contains_key(&stem.with_extension(""));
        let name = if n_stems.get(&stem) == Some(&1) && !is_translation { stem } else { below };
        if let Some(other) = names.insert(name.clone(), path.clone()) {
            return Err(Failure::Command(format!(
                "the results of {} and of {} would have the same name, {}: give the folder that contains both, or \
                 transcribe them in two runs with different --out",
                other.display(),
                path.display(),
                name.display(),
            )));
        }
        inputs.push(Input { path, name, url: None });
    }
    Ok(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let files = files.iter().map(|(path, below)| (PathBuf::from(path), PathBuf::from(below))).collect();
        let inputs = named(files, Some("en")).map_err(|error| error.to_string())?;
        Ok(inputs.iter().map(|input| input.name.display().to_string()).collect())
    }

    #[test]
    fn results_have_the_name_of_the_recording() {
        let files = [("in/a/x.mp3", "a/x.mp3"), ("in/b/x.wav", "b/x.wav"), ("in/b.c.wav", "b.c.wav")];
        assert_eq!(names(&files).unwrap(), ["a/x", "b/x", "b.c"]);
    }

    #[test]
    fn files_that_differ_in_the_extension_keep_it() {
        assert_eq!(names(&[("x.mp3", "x.mp3"), ("x.wav", "x.wav")]).unwrap(), ["x.mp3", "x.wav"]);
    }

    #[test]
    fn no_recording_has_the_results_of_the_translation_of_another() {
        let files = ["x.mp3", "x.en.mp3", "y.en.mp3", "x.pa.mp3"].map(|name| (name, name));
        assert_eq!(names(&files).unwrap(), ["x", "x.en.mp3", "y.en", "x.pa"]);
    }

    #[test]
    fn two_recordings_cannot_have_the_same_results() {
        let error = names(&[("one/x.mp3", "x.mp3"), ("two/x.mp3", "x.mp3")]).unwrap_err();
        assert!(error.contains("one/x.mp3") && error.contains("two/x.mp3"), "{error}");
    }

    #[test]
    fn the_results_of_a_url_have_its_host_and_path() {
        let list = std::env::temp_dir().join(format!("akhar-urls-{}", std::process::id()));
        let read = |text: &str| {
            fs::write(&list, text).unwrap();
            of_urls(&list, None).map_err(|error| error.to_string())
        };
        let inputs = read(
            "https://a.example/calls/1.mp3?key=s3cr3t\n\n https://b.example:8443/../1.wav \nhttps://c.example\n",
        );
        let inputs = inputs.unwrap().recordings;
        let names: Vec<_> = inputs.iter().map(|input| input.name.display().to_string()).collect();
        assert_eq!(names, ["a.example/calls/1", "b.example/1", "c.example/index"]);
        assert_eq!(inputs[0].path, Path::new("https://a.example/calls/1.mp3"));
        assert_eq!(inputs[0].url.as_ref().map(Url::as_str), Some("https://a.example/calls/1.mp3?key=s3cr3t"));
        let twice = read("https://a.example/1?v=1\nhttps://a.example/1?v=1").unwrap();
        assert_eq!(twice.recordings.len(), 1);
        let same = read("https://a.example/1?v=1\nhttps://a.example/1?v=s3cr3t").unwrap_err();
        assert!(same.contains("https://a.example/1") && !same.contains("s3cr3t"), "{same}");
        let wrong = read("\u{feff}https://a.example/1\na.mp3").unwrap();
        assert_eq!((wrong.recordings.len(), &*wrong.failed[0].code), (1, "not_a_url"));
        assert!(wrong.failed[0].path.contains("line 2 of"));
        fs::remove_file(&list).unwrap();
    }

    #[test]
    fn a_path_is_mirrored_as_given_unless_it_leads_elsewhere() {
        let mut found = Found::default();
        for path in ["./a/x.ogg", "/b/y.mp3", "../c/z.mp3", "./a/x.ogg"] {
            found.add(Path::new(path));
        }
        let below: Vec<_> = found.files.iter().map(|(_, below)| below.display().to_string()).collect();
        assert_eq!(below, ["a/x.ogg", "y.mp3", "z.mp3"]);
    }

    #[test]
    fn a_folder_gives_its_recordings_and_what_is_skipped_but_no_hidden_files_and_results() {
        let root = std::env::temp_dir().join(format!("akhar-inputs-{}", std::process::id()));
        // It may be missing.
        let _ = fs::remove_dir_all(&root);
        for folder in ["", "a/.git", "results/b"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let files = [
            "x.MP3",
            "x.json",
            "x.MP3.txt",
            ".x.en.vtt.part",
            "x.fr.vtt",
            "y.json",
            "noise.Amr",
            "failures.jsonl",
            ".z.wav",
            "a/z.wav",
            "a/.git/z.wav",
            "results/.akhar-journal.jsonl",
            "results/skipped.jsonl",
            "results/b/z.srt",
            "results/b/page.pdf",
        ];
        for file in files {
            fs::write(root.join(file), b"").unwrap();
        }
        fs::write(root.join("named"), b"fLaC").unwrap();
        fs::write(root.join("README"), b"It is no recording.").unwrap();
        std::os::unix::fs::symlink(&root, root.join("circle")).unwrap();
        std::os::unix::fs::symlink("nothing.wav", root.join("link.wav")).unwrap();
        let inputs = find(std::slice::from_ref(&root), None, false).unwrap();
        let recordings: Vec<_> =
            inputs.recordings.iter().map(|input| input.name.display().to_string()).collect();
        assert_eq!(recordings, ["named", "x", "a/z"]);
        let below = |path: &str| Path::new(path).strip_prefix(&root).unwrap().display().to_string();
        let skipped: Vec<_> = inputs.skipped.iter().map(|file| (below(&file.path), &*file.code)).collect();
        let expected = [
            ("README", "not_a_recording"),
            ("circle", "link_to_folder"),
            ("failures.jsonl", "not_a_recording"),
            ("link.wav", "not_a_file"),
            ("noise.Amr", "unsupported_format"),
            ("x.fr.vtt", "not_a_recording"),
            ("y.json", "not_a_recording"),
            ("results/b/page.pdf", "not_a_recording"),
        ];
        assert_eq!(skipped, expected.map(|(path, code)| (path.to_owned(), code)));
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_read_fails_and_the_others_are_read() {
        let mut found = Found::default();
        found.add_folder(Path::new("/no"), Path::new("/no/such"), false);
        found.add(Path::new("a.wav"));
        let [failed] = &found.failed[..] else { panic!("one folder") };
        assert_eq!((&*failed.path, &*failed.code, found.files.len()), ("/no/such", "unreadable", 1));
    }

    #[test]
    fn a_listed_path_has_the_bytes_of_its_line() {
        let paths = listed(&mut &b"\xef\xbb\xbfa.wav\r\n\ng\xe9.wav"[..]).unwrap();
        let bytes: Vec<_> = paths.iter().map(|path| path.as_os_str().as_encoded_bytes()).collect();
        assert_eq!(bytes, [&b"a.wav"[..], b"g\xe9.wav"]);
    }

    #[test]
    fn a_path_that_is_missing_is_an_error_that_names_it() {
        for (argument, expected) in [("/no/such.mp3", "no such file"), ("/no/such/*.mp3", "no file matches")]
        {
            let error = find(&[argument.into()], None, false).unwrap_err().to_string();
            assert!(error.contains(argument) && error.contains(expected), "{error}");
        }
    }
}
