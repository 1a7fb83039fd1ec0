//! Recordings for tests: the repository's spoken sentences, and sounds without speech.

use std::fs;

use crate::root;

/// Sampling rate of all sounds made here, Hz.
pub const RATE: usize = 16_000;

/// A recording and its true transcript.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The file's name.
    pub name: String,
    /// The spoken language.
    pub lang: &'static str,
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// The spoken sentences: the start and the end of each, seconds, and its text.
    pub said: Vec<(f64, f64, String)>,
}

impl Recording {
    /// The text of all sentences.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.said.iter().map(|(_, _, text)| text.as_str()).collect();
        texts.join(" ")
    }

    /// The samples of a wav file with a header of 44 bytes.
    pub fn samples(&self) -> Vec<i16> {
        let (header, samples) = self.bytes.split_at(44);
        assert!(header.starts_with(b"RIFF") && header.ends_with(samples.len().to_le_bytes()[..4].as_ref()));
        samples.as_chunks().0.iter().map(|b| i16::from_le_bytes(*b)).collect()
    }
}

/// All recordings in `tests/fixtures/audio/spoken.tsv`, which has their transcripts.
pub fn recordings() -> Vec<Recording> {
    let folder = root().join("tests/fixtures/audio");
    let table = fs::read_to_string(folder.join("spoken.tsv")).expect("a table");
    let mut recordings: Vec<Recording> = Vec::new();
    for line in table.lines().skip(1) {
        let [name, start, end, text] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four columns: {line}")
        };
        let span = (start.parse().expect("seconds"), end.parse().expect("seconds"), text.to_owned());
        match recordings.last_mut() {
            Some(last) if last.name == name => last.said.push(span),
            _ => recordings.push(Recording {
                name: name.to_owned(),
                lang: if name.starts_with("en-") { "en" } else { "pa" },
                bytes: fs::read(folder.join(name)).expect("a fixture"),
                said: vec![span],
            }),
        }
    }
    recordings
}

/// The recording with this file name.
pub fn recording(name: &str) -> Recording {
    let found = recordings().into_iter().find(|r| r.name == name);
    found.unwrap_or_else(|| panic!("no recording {name}"))
}

/// A wav file with these samples at 16 kHz.
pub fn wav(samples: &[i16]) -> Vec<u8> {
    let n_bytes = u32::try_from(samples.len() * 2).expect("a short recording");
    let rate = u32::try_from(RATE).expect("a rate");
    let mut file = Vec::with_capacity(44 + 2 * samples.len());
    file.extend(
        [*b"RIFF", (36 + n_bytes).to_le_bytes(), *b"WAVE", *b"fmt ", 16u32.to_le_bytes()].as_flattened(),
    );
    file.extend([1u16, 1].map(u16::to_le_bytes).as_flattened());
    file.extend([rate, 2 * rate].map(u32::to_le_bytes).as_flattened());
    file.extend([2u16, 16].map(u16::to_le_bytes).as_flattened());
    file.extend([*b"data", n_bytes.to_le_bytes()].as_flattened());
    file.extend(samples.iter().flat_map(|s| s.to_le_bytes()));
    file
}

/// A WAV file of so much silence, and then these samples: with eight channels of floating-point numbers of 64 bits.
pub fn large_wav(silence_s: usize, samples: &[i16]) -> Vec<u8> {
    const FRAME: usize = 8 * 8;
    let mut file = wav(&[]);
    file.resize(44 + silence_s * RATE * FRAME, 0);
    let frames = samples.iter().map(|sample| (f64::from(*sample) / 32768.0).to_le_bytes().repeat(8));
    file.extend(frames.flatten());
    let n = |n: usize| u32::try_from(n).expect("a short recording");
    let (n_bytes, rate, frame) = (n(file.len() - 44), n(RATE), n(FRAME));
    let (float, channels, bits) = (3, 8, 64);
    for (at, field) in [
        (4, 36 + n_bytes),
        (20, channels << 16 | float),
        (28, rate * frame),
        (32, bits << 16 | frame),
        (40, n_bytes),
    ] {
        file[at..at + 4].copy_from_slice(&field.to_le_bytes());
    }
    file
}

/// A FLAC file of 0.4 MB with nearly an hour of digital silence, in eight channels at 192 kHz (RFC 9639).
pub fn long_silence() -> Vec<u8> {
    const RATE: u64 = 192_000;
    const BLOCK: u64 = 65_535;
    let n_frames = 3_599 * RATE / BLOCK;
    let (n_channels, bits) = (8, 16);
    let stream = RATE << 44 | (n_channels - 1) << 41 | (bits - 1) << 36 | (n_frames * BLOCK);
    let sizes = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0];
    let mut file = [b"fLaC\x80\0\0\x22".as_slice(), &sizes, &stream.to_be_bytes(), &[0; 16]].concat();
    for number in 0..u32::try_from(n_frames).expect("few frames") {
        let frame = file.len();
        file.extend([0xff, 0xf8, 0x73, 0x78]);
        // A number is coded like a character.
        let number = char::from_u32(number).expect("a small number").to_string();
        file.extend_from_slice(number.as_bytes());
        file.extend([0xff, 0xfe]); // the length of a block, less 1
        file.push(crc(&file[frame..], 0x07 << 8).to_be_bytes()[0]);
        file.extend([0; 3 * 8]); // for each channel, that its samples are the same, and what they are
        let check = crc(&file[frame..], 0x8005);
        file.extend(check.to_be_bytes());
    }
    file
}

/// The check of these bytes by a polynomial of 16 bits, or one of 8 in the upper half.
fn crc(bytes: &[u8], polynomial: u16) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ polynomial }
        })
    })
}

/// `seconds` seconds of silence.
pub fn silence(seconds: usize) -> Vec<i16> {
    vec![0; seconds * RATE]
}

/// `seconds` seconds of white noise, the same in every run.
pub fn noise(seconds: usize) -> Vec<i16> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i16::from_le_bytes([state.to_le_bytes()[3], state.to_le_bytes()[4]]) / 16
    };
    (0..seconds * RATE).map(|_| next()).collect()
}

/// `seconds` seconds of chords, which change twice a second.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a tune needs no precision")]
pub fn music(seconds: usize) -> Vec<i16> {
    const CHORDS: [[f64; 3]; 4] =
        [[261.6, 329.6, 392.0], [220.0, 261.6, 329.6], [174.6, 220.0, 261.6], [196.0, 246.9, 293.7]];
    let sample = |n: usize| {
        let seconds = n as f64 / RATE as f64;
        let since = n % (RATE / 2);
        let loudness = 6000.0 * (-4.0 * since as f64 / RATE as f64).exp();
        let tones = CHORDS[n / (RATE / 2) % 4].map(|hertz| (std::f64::consts::TAU * hertz * seconds).sin());
        (loudness * tones.iter().sum::<f64>() / 3.0) as i16
    };
    (0..seconds * RATE).map(sample).collect()
}

/// The character error rate of a transcription, percent; letter case and punctuation do not count.
pub fn error_percent(said: &str, transcribed: &str) -> usize {
    let letters = |text: &str| -> Vec<char> {
        text.to_lowercase().chars().filter(|c| !c.is_ascii_punctuation() && *c != '।').collect()
    };
    let (said, transcribed) = (letters(said), letters(transcribed));
    distance(&said, &transcribed) * 100 / said.len().max(1)
}

/// Levenshtein's distance: the number of symbols that are substituted, left out or added.
pub fn distance<T: PartialEq>(expected: &[T], actual: &[T]) -> usize {
    let mut row: Vec<usize> = (0..=actual.len()).collect();
    for (i, a) in expected.iter().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in actual.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[actual.len()]
}
