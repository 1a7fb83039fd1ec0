//! A folder of recordings: sentences that espeak-ng speaks, copies of some of them, recordings of 20 minutes, and files
//! that are not recordings.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
};

use akhar_tests::figures::count;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};

/// One file in so many cannot be transcribed.
const BROKEN_IN: usize = 10;
/// One file in so many is a copy of another one.
const COPY_IN: usize = 100;
/// Recordings of 20 minutes.
const N_LONG: usize = 3;
const LONG_S: usize = 20 * 60;
/// The length of espeak-ng's WAV header, bytes.
const HEADER: usize = 44;
/// Bytes of one second: 22,050 Hz, 16 bits, one channel.
const BYTES_A_SECOND: usize = 2 * 22_050;

/// Words of the sentences.
const WORDS: &str = "
    ਮੈਂ ਤੂੰ ਅਸੀਂ ਘਰ ਪਾਣੀ ਕਿਤਾਬ ਸਕੂਲ ਬੱਚੇ ਮਾਂ ਪਿਤਾ ਭੈਣ ਭਰਾ ਪਿੰਡ ਸ਼ਹਿਰ
    ਸੜਕ ਰੁੱਖ ਖੇਤ ਕਣਕ ਰੋਟੀ ਦੁੱਧ ਚਾਹ ਸਵੇਰ ਸ਼ਾਮ ਰਾਤ ਦਿਨ ਸੂਰਜ ਚੰਦ ਮੀਂਹ
    ਗਰਮੀ ਸਰਦੀ ਲਾਲ ਨੀਲਾ ਵੱਡਾ ਛੋਟਾ ਚੰਗਾ ਨਵਾਂ ਇੱਕ ਦੋ ਤਿੰਨ ਚਾਰ";

/// What is in the folder.
#[derive(Debug)]
pub(super) struct Clips {
    /// Names without extension of the recordings that can be transcribed, copies included.
    pub(super) good: Vec<String>,
    /// Names of the other files.
    pub(super) broken: Vec<String>,
    /// Different recordings of a few seconds.
    pub(super) n_short: usize,
    n_copies: usize,
    /// The length of all recordings, seconds.
    audio_s: usize,
}

impl fmt::Display for Clips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { broken, n_short, n_copies, audio_s, .. } = self;
        let n_broken = broken.len();
        let hours = count(*audio_s) / 3600.0;
        write!(
            f,
            "{hours:.2} h of sound: {n_short} sentences, {n_copies} copies, {N_LONG} recordings of 20 minutes, {n_broken} broken files"
        )
    }
}

impl Clips {
    /// Writes `n` files to `folder`, drawn from `seed`.
    ///
    /// # Panics
    ///
    /// If espeak-ng is not installed or speaks no Panjabi.
    pub(super) fn write(folder: &Path, n: usize, seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let (n_broken, n_copies) = (n / BROKEN_IN, n / COPY_IN);
        let n_short = n - n_broken - n_copies - N_LONG;
        let mut clips = Self { good: Vec::new(), broken: Vec::new(), n_short, n_copies, audio_s: 0 };
        fs::create_dir_all(folder).expect("a folder");
        for nth in 0..n_short {
            let name = format!("clip-{nth:04}");
            let bytes = speak(&folder.join(format!("{name}.wav")), &mut rng, nth);
            clips.add(name, &bytes);
        }
        for nth in 0..n_copies {
            let of = rng.random_range(0..n_short);
            let bytes = fs::read(folder.join(format!("clip-{of:04}.wav"))).expect("a clip");
            let name = format!("copy-{nth:04}");
            fs::write(folder.join(format!("{name}.wav")), &bytes).expect("a copy");
            clips.add(name, &bytes);
        }
        for nth in 0..N_LONG {
            let bytes = long(folder, n_short, &mut rng);
            let name = format!("long-{nth}");
            fs::write(folder.join(format!("{name}.wav")), &bytes).expect("a long recording");
            clips.add(name, &bytes);
        }
        for nth in 0..n_broken {
            let (name, bytes) = broken(nth, &mut rng);
            fs::write(folder.join(&name), bytes).expect("a broken file");
            clips.broken.push(name);
        }
        clips
    }

    fn add(&mut self, name: String, wav: &[u8]) {
        self.good.push(name);
        self.audio_s += (wav.len() - HEADER) / BYTES_A_SECOND;
    }
}

/// Speaks a sentence of a few words into a file. All sentences differ, because the number of the clip is in them.
fn speak(path: &Path, rng: &mut StdRng, nth: usize) -> Vec<u8> {
    let known: Vec<&str> = WORDS.split_whitespace().collect();
    let mut words: Vec<&str> =
        (0..rng.random_range(5..14)).filter_map(|_| known.choose(rng).copied()).collect();
    let number = nth.to_string();
    words.push(&number);
    let speed = rng.random_range(120..190).to_string();
    let pitch = rng.random_range(20..80).to_string();
    let mut espeak = Command::new("espeak-ng");
    espeak.args(["-v", "pa", "-s", &speed, "-p", &pitch, "-w"]).arg(path).arg(words.join(" "));
    let ended = espeak.status().expect("espeak-ng is installed (scripts/setup.sh bulk)");
    assert!(ended.success(), "espeak-ng ended with {ended}");
    fs::read(path).expect("espeak-ng wrote a file")
}

/// Clips one after another until the sound has 20 minutes.
fn long(folder: &Path, n_short: usize, rng: &mut StdRng) -> Vec<u8> {
    let mut sound = Vec::with_capacity(LONG_S * BYTES_A_SECOND);
    let mut header = Vec::new();
    while sound.len() < LONG_S * BYTES_A_SECOND {
        let nth = rng.random_range(0..n_short);
        let clip = fs::read(clip(folder, nth)).expect("a clip");
        header = clip[..HEADER].to_vec();
        sound.extend_from_slice(&clip[HEADER..]);
    }
    let n_bytes = u32::try_from(sound.len()).expect("below 4 GiB");
    header[4..8].copy_from_slice(&(n_bytes + 36).to_le_bytes());
    header[40..44].copy_from_slice(&n_bytes.to_le_bytes());
    [header, sound].concat()
}

fn clip(folder: &Path, nth: usize) -> PathBuf {
    folder.join(format!("clip-{nth:04}.wav"))
}

/// A file that no program can transcribe, in five kinds.
fn broken(nth: usize, rng: &mut StdRng) -> (String, Vec<u8>) {
    let noise: Vec<u8> = (0..rng.random_range(200..4000)).map(|_| rng.random()).collect();
    let number = nth.to_le_bytes();
    let (extension, bytes) = match nth % 5 {
        0 => ("wav", Vec::new()),
        1 => ("wav", noise),
        2 => ("wav", [b"RIFF\x24\0\0\0WAVEfmt ", &number[..4]].concat()),
        3 => ("mp3", [b"This is not a recording. ".as_slice(), &number].concat()),
        _ => ("flac", [b"fLaC".as_slice(), &noise].concat()),
    };
    (format!("broken-{nth:04}.{extension}"), bytes)
}
