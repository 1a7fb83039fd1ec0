//! Decodes recordings in formats that Akhar does not read itself, with the program `ffmpeg` where it is installed: a file
//! comes in, its sound goes out.

use std::{
    ffi::OsString,
    io::{self, ErrorKind, Read},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::Duration,
};

use akhar_worker::{Recording, Undecodable};

/// The program, which is looked up in `PATH`.
const PROGRAM: &str = "ffmpeg";
/// How long the program may write nothing.
const STALL_LIMIT: Duration = Duration::from_secs(60);
/// The longest sound that is taken of a file, seconds: a day, as of other recordings.
const MAX_SECONDS: usize = 24 * 60 * 60;
/// The most bytes of the program's errors that are kept.
const MAX_MESSAGE_BYTES: u64 = 4096;
/// Samples in a second, of two bytes each.
const RATE: usize = Recording::RATE as usize;
/// The most channels that are taken one by one, as of other recordings.
const MAX_CHANNELS: usize = 8;
/// The length of the header of an AU file that the format fixes. It has numbers of four bytes, the most significant first: the
/// mark `.snd`, where the sound begins, its length, its codec, its rate and its channels.
const HEADER_BYTES: usize = 24;

/// A running program that decodes a file. It is killed when the value is dropped.
#[derive(Debug)]
pub(super) struct Ffmpeg {
    child: Child,
    /// The number of channels, before the first second.
    channels: Receiver<usize>,
    /// The seconds of sound of one channel.
    seconds: Receiver<io::Result<Vec<f32>>>,
    errors: Option<thread::JoinHandle<String>>,
    n_seconds: usize,
    warnings: Vec<String>,
}

/// Whether the program is installed. It is not started, because loading its libraries takes as long as a whole run that has
/// nothing to do.
pub(super) fn is_installed() -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    let is_program =
        |file: PathBuf| file.metadata().is_ok_and(|file| file.is_file() && file.mode() & 0o111 != 0);
    std::env::split_paths(&path).any(|folder| is_program(folder.join(PROGRAM)))
}

/// Why a recording with this extension is not decoded where the program is not installed.
pub(super) fn missing(path: &Path) -> Undecodable {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    unsupported(format!("install ffmpeg to read .{extension}, or convert the recording to FLAC or MP3"))
}

impl Ffmpeg {
    /// Starts to decode the first audio track of a file. `channel`: the one to take, from 0, instead of mixing them.
    pub(super) fn start(path: &Path, channel: Option<usize>) -> Result<Self, Undecodable> {
        let mut input = OsString::from("file:"); // so that no name is read as an option or a protocol
        input.push(path);
        let mut command = Command::new(PROGRAM);
        // The file may name others, as a playlist does. They are not fetched from a network.
        command.args(["-nostdin", "-loglevel", "error", "-protocol_whitelist", "file,pipe", "-i"]).arg(input);
        command.args(["-map", "0:a:0", "-ar", &RATE.to_string()]);
        if channel.is_none() {
            command.args(["-ac", "1"]);
        }
        command.args(["-c:a", "pcm_s16be", "-f", "au", "pipe:1"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => missing(path),
            _ => unsupported(format!("ffmpeg cannot be started: {error}")),
        })?;
        let (counted, channels) = sync_channel(1);
        let (sender, seconds) = sync_channel(1);
        if let Some(sound) = child.stdout.take() {
            thread::spawn(move || read_seconds(sound, channel.unwrap_or(0), &counted, &sender));
        }
        let errors = child.stderr.take().map(|errors| thread::spawn(move || first_line(errors)));
        Ok(Self { child, channels, seconds, errors, n_seconds: 0, warnings: Vec::new() })
    }

    /// The number of channels, if one of them is taken. Called before the first second is read.
    pub(super) fn n_channels(&mut self) -> Result<usize, Undecodable> {
        match self.channels.recv_timeout(STALL_LIMIT) {
            Ok(n) if n > MAX_CHANNELS => Err(Undecodable {
                code: "too_many_channels",
                detail: format!("it has {n} channels, expected at most {MAX_CHANNELS}"),
            }),
            Ok(n) => Ok(n),
            Err(RecvTimeoutError::Timeout) => Err(stalled()),
            Err(RecvTimeoutError::Disconnected) => self.end().map(|()| 1), // the sound has no header
        }
    }

    /// The next second of sound, with samples from -1 to 1. The last one may be shorter. `None` at the end.
    pub(super) fn next_second(&mut self) -> Result<Option<Vec<f32>>, Undecodable> {
        match self.seconds.recv_timeout(STALL_LIMIT) {
            Ok(Ok(samples)) if self.n_seconds < MAX_SECONDS => {
                self.n_seconds += 1;
                Ok(Some(samples))
            }
            Ok(Ok(_)) => Err(undecodable(format!("it is longer than {MAX_SECONDS} seconds"))),
            Ok(Err(error)) => {
                Err(undecodable(format!("the sound that ffmpeg decodes cannot be read: {error}")))
            }
            Err(RecvTimeoutError::Timeout) => Err(stalled()),
            Err(RecvTimeoutError::Disconnected) => self.end().map(|()| None),
        }
    }

    /// What is unusual about the file. Complete at the end.
    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Waits for the end of the program, whose sound has ended. Fails if it failed or found no sound.
    fn end(&mut self) -> Result<(), Undecodable> {
        let status = self.child.wait().map_err(|error| undecodable(format!("ffmpeg was lost: {error}")))?;
        let error = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        let of_file =
            |what: &str| if error.is_empty() { what.to_owned() } else { format!("{what}: {error}") };
        if !status.success() {
            return Err(undecodable(of_file("ffmpeg cannot read it")));
        }
        if self.n_seconds == 0 {
            return Err(undecodable(of_file("ffmpeg finds no sound in it")));
        }
        if !error.is_empty() {
            self.warnings.push(of_file("ffmpeg could not read all of it"));
        }
        Ok(())
    }
}

impl Drop for Ffmpeg {
    fn drop(&mut self) {
        // Both fail if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends the number of channels and the sound of one of them, a second at a time, until it ends or nobody receives it.
fn read_seconds(
    mut sound: impl Read,
    channel: usize,
    channels: &SyncSender<usize>,
    seconds: &SyncSender<io::Result<Vec<f32>>>,
) {
    let n_channels = match read_header(&mut sound) {
        Ok(n) => n,
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return, // the program says why
        Err(error) => {
            let _ = seconds.send(Err(error)); // fails if nobody receives it
            return;
        }
    };
    let _ = channels.send(n_channels); // mixed sound has one, for which nobody asks
    loop {
        let mut second = Vec::new();
        let read = sound.by_ref().take((2 * RATE * n_channels) as u64).read_to_end(&mut second);
        let samples = second.as_chunks().0.iter().skip(channel).step_by(n_channels);
        let samples = samples.map(|x| f32::from(i16::from_be_bytes(*x)) / 32768.0).collect();
        if matches!(read, Ok(0)) || seconds.send(read.map(|_| samples)).is_err() {
            return;
        }
    }
}

/// Reads the header of an AU file. Returns the number of channels.
fn read_header(sound: &mut impl Read) -> io::Result<usize> {
    let mut header = [0; HEADER_BYTES];
    sound.read_exact(&mut header)?;
    let number = |nth: usize| {
        let bytes = header[4 * nth..].first_chunk().copied().unwrap_or_default();
        usize::try_from(u32::from_be_bytes(bytes)).unwrap_or(usize::MAX)
    };
    let rest = number(1).saturating_sub(HEADER_BYTES); // a comment
    io::copy(&mut sound.by_ref().take(rest as u64), &mut io::sink())?;
    Ok(number(5).max(1))
}

/// The first line of the errors, without the part of the program that it begins with, such as `[http @ 0x5581]`. Reads all, so
/// that the program does not wait.
fn first_line(mut errors: ChildStderr) -> String {
    let mut bytes = Vec::new();
    // What was read before a failure is the message.
    let _ = errors.by_ref().take(MAX_MESSAGE_BYTES).read_to_end(&mut bytes);
    let _ = io::copy(&mut errors, &mut io::sink());
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().next().unwrap_or_default();
    let (part, rest) = line.split_once("] ").unwrap_or_default();
    if part.starts_with('[') { rest.trim().to_owned() } else { line.trim().to_owned() }
}

fn stalled() -> Undecodable {
    undecodable(format!("ffmpeg decoded nothing for {} seconds", STALL_LIMIT.as_secs()))
}

fn unsupported(detail: String) -> Undecodable {
    Undecodable { code: "unsupported_format", detail }
}

fn undecodable(detail: String) -> Undecodable {
    Undecodable { code: "undecodable", detail }
}
