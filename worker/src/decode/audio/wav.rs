//! Finds the codec of a wav file, and divides its samples into packets.

use std::{borrow::Cow, ops::Range};

use symphonia::core::codecs::audio::{
    AudioCodecId,
    well_known::{
        CODEC_ID_ADPCM_IMA_WAV, CODEC_ID_ADPCM_MS, CODEC_ID_PCM_ALAW, CODEC_ID_PCM_F32LE, CODEC_ID_PCM_F64LE,
        CODEC_ID_PCM_MULAW, CODEC_ID_PCM_S16LE, CODEC_ID_PCM_S24LE, CODEC_ID_PCM_S32LE, CODEC_ID_PCM_U8,
    },
};

use super::{
    reader::Reader,
    riff::{self, Data, DataChunks, Format},
    scale::Scale,
    sound::{Blocks, Sound, Step, seconds, truncation_warning},
    timeline::{Edit, Timeline},
};
use crate::decode::undecodable::Undecodable;

/// An iterator over the packets of a wav file.
#[derive(Debug, Clone)]
pub(super) struct Packets {
    /// The samples of the chunk that are left.
    data: Range<usize>,
    further: DataChunks,
    coding: Coding,
    n_channels: u16,
    /// The number of frames that are left.
    n_frames: u64,
}

impl Packets {
    pub(super) fn next(&mut self, file: &mut Reader) -> Option<Step> {
        loop {
            if let Some(packet) = self.packet() {
                return Some(packet);
            }
            self.data = self.further.next(file)?.bytes;
        }
    }

    /// The next packet of the chunk.
    fn packet(&mut self) -> Option<Step> {
        let n_packet = self.coding.blocks.n_bytes * self.coding.blocks.per_packet();
        // An incomplete block at the end becomes a packet of its own.
        let n_whole = self.data.len() / self.coding.blocks.n_bytes * self.coding.blocks.n_bytes;
        let n_bytes = if n_whole == 0 { self.data.len() } else { n_whole.min(n_packet) };
        let n_frames = self.coding.n_frames(n_bytes).min(self.n_frames);
        if n_frames == 0 {
            return None;
        }
        self.n_frames -= n_frames;
        let bytes = self.data.start..self.data.start + n_bytes;
        self.data.start = bytes.end;
        let n_frames = usize::try_from(n_frames).unwrap_or(usize::MAX);
        Some(Step::Packet { bytes, n_frames, n_channels: self.n_channels })
    }
}

/// Reads the headers of a wav file. Also returns where it ends.
pub(super) fn read(file: &mut Reader) -> Result<(Sound, Packets, usize), Undecodable> {
    let wave = riff::read(file)?;
    let Format { rate, n_channels, .. } = wave.format;
    let coding = Coding::of(&wave.format)?;
    let data = Samples::count(wave.data.clone(), &coding, file);
    let mut n_frames = data.frames;
    let n_exact = wave.n_frames.map(u64::from).filter(|_| coding.is_compressed());
    // The last block is padded, so the exact number of frames may be smaller by less than one block.
    if let Some(n) = n_exact.filter(|&n| n < n_frames && n_frames - n < coding.blocks.n_frames as u64) {
        n_frames = n;
    }
    let mut warnings = data.warnings(rate, n_frames);
    let scale = Scale::of(coding.codec, wave.data.clone(), file);
    warnings.extend(scale.map(Scale::warning));
    let sound = Sound {
        codec: coding.codec,
        rate,
        n_channels,
        blocks: Some(coding.blocks),
        gain: scale.map_or(1.0, Scale::gain),
        timeline: Timeline::new([Edit::Keep(n_frames)]),
        n_frames,
        warnings,
    };
    Ok((sound, Packets { data: 0..0, further: wave.data, coding, n_channels, n_frames }, wave.end))
}

/// The samples of a file.
#[derive(Default)]
struct Samples {
    frames: u64,
    /// The frames that the headers declare.
    declared: u64,
    /// The bytes that are neither samples nor a chunk.
    garbage: usize,
}

impl Samples {
    fn count(mut chunks: DataChunks, coding: &Coding, file: &mut Reader) -> Self {
        let mut samples = Self::default();
        while let Some(Data { bytes, n_declared, n_garbage, .. }) = chunks.next(file) {
            let n_frames = coding.n_frames(bytes.len());
            let declared = |n: u64| coding.n_frames(usize::try_from(n).unwrap_or(usize::MAX));
            samples.frames += n_frames;
            samples.declared = samples.declared.saturating_add(n_declared.map_or(n_frames, declared));
            samples.garbage += n_garbage;
        }
        samples
    }

    /// The warnings about a file that has `n_frames` frames.
    fn warnings(&self, rate: u32, n_frames: u64) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.declared > self.frames {
            warnings.push(truncation_warning(seconds(n_frames, rate), seconds(self.declared, rate)));
        }
        if self.garbage > 0 {
            let n = self.garbage;
            warnings.push(format!("{n} bytes after the last sample are not sound and were skipped"));
        }
        warnings
    }
}

/// How the samples are coded.
#[derive(Debug, Clone, Copy)]
struct Coding {
    codec: AudioCodecId,
    blocks: Blocks,
    /// The header of a compressed block: its bytes, and the frames that it holds itself.
    head: Blocks,
    n_channels: usize,
}

impl Coding {
    fn of(format: &Format) -> Result<Self, Undecodable> {
        let n_channels = usize::from(format.n_channels);
        let codec = codec(format)?;
        let head = match codec {
            CODEC_ID_ADPCM_MS => Blocks { n_bytes: 7 * n_channels, n_frames: 2 },
            CODEC_ID_ADPCM_IMA_WAV => Blocks { n_bytes: 4 * n_channels, n_frames: 1 },
            _ => Blocks { n_bytes: 0, n_frames: 0 },
        };
        let blocks = Blocks { n_bytes: sample_bytes(format) * n_channels, n_frames: 1 };
        let mut coding = Self { codec, blocks, head, n_channels };
        if coding.is_compressed() {
            let n_bytes = usize::from(format.block_bytes);
            let is_uneven = codec == CODEC_ID_ADPCM_IMA_WAV && n_channels == 2 && n_bytes % 8 != 0;
            if n_bytes <= head.n_bytes || is_uneven {
                let detail = format!(
                    "the file is not a complete, valid audio/wav: its format chunk declares blocks of \
                     {n_bytes} bytes, which this codec cannot have"
                );
                return Err(Undecodable::new("undecodable", detail));
            }
            coding.blocks = Blocks { n_bytes, n_frames: coding.frames_in_block(n_bytes) };
        }
        Ok(coding)
    }

    fn is_compressed(&self) -> bool {
        self.head.n_frames > 0
    }

    /// The number of frames in `n_bytes` bytes of samples.
    fn n_frames(&self, n_bytes: usize) -> u64 {
        let Blocks { n_bytes: block, n_frames } = self.blocks;
        let whole = (n_bytes / block) as u64 * n_frames as u64;
        let rest = n_bytes % block;
        if !self.is_compressed() || rest < self.head.n_bytes {
            return whole;
        }
        whole + self.frames_in_block(rest) as u64
    }

    /// The number of frames in a compressed block of `n_bytes` bytes. Each byte holds two codes of four bits.
    /// In IMA ADPCM stereo, groups of four bytes belong to the left and the right channel in turn.
    fn frames_in_block(&self, n_bytes: usize) -> usize {
        let n_codes = n_bytes - self.head.n_bytes;
        if self.codec == CODEC_ID_ADPCM_IMA_WAV && self.n_channels == 2 {
            return self.head.n_frames + n_codes / 8 * 8;
        }
        self.head.n_frames + n_codes * 2 / self.n_channels
    }
}

/// The bytes of one uncompressed sample. They can be more than the sample's bits need, if it is stored in a
/// larger word.
fn sample_bytes(format: &Format) -> usize {
    match format.tag {
        6 | 7 => 1,
        _ => usize::from((format.block_bytes / format.n_channels).max(format.bits.div_ceil(8))),
    }
}

fn codec(format: &Format) -> Result<AudioCodecId, Undecodable> {
    let n_channels = format.n_channels;
    Ok(match (format.tag, sample_bytes(format)) {
        (1, 1) => CODEC_ID_PCM_U8,
        (1, 2) => CODEC_ID_PCM_S16LE,
        (1, 3) => CODEC_ID_PCM_S24LE,
        (1, 4) => CODEC_ID_PCM_S32LE,
        (2, _) if n_channels <= 2 => CODEC_ID_ADPCM_MS,
        (3, 4) => CODEC_ID_PCM_F32LE,
        (3, 8) => CODEC_ID_PCM_F64LE,
        (6, _) => CODEC_ID_PCM_ALAW,
        (7, _) => CODEC_ID_PCM_MULAW,
        (0x11, _) if n_channels <= 2 && format.bits == 4 => CODEC_ID_ADPCM_IMA_WAV,
        _ => {
            let detail = format!(
                "the wav file's codec, {}, is not supported: convert the recording to PCM or send it as mp3",
                name(format)
            );
            return Err(Undecodable::new("unsupported_codec", detail));
        }
    })
}

/// The name of a wav file's codec, for error messages (codec numbers: RFC 2361).
fn name(format: &Format) -> Cow<'static, str> {
    let Format { bits, n_channels, .. } = *format;
    Cow::Borrowed(match format.tag {
        1 => return format!("PCM with {bits} bits").into(),
        2 => return format!("Microsoft ADPCM with {n_channels} channels").into(),
        3 => return format!("floating point with {bits} bits").into(),
        0x11 => return format!("IMA ADPCM with {bits} bits and {n_channels} channels").into(),
        0x22 => "TrueSpeech",
        0x31 => "GSM 6.10",
        0x40 | 0x45 | 0x64 => "G.726",
        0x50 => "MPEG audio",
        0x55 => "MP3",
        0x65 => "G.722",
        0xff | 0x1600..=0x1602 => "AAC",
        0x160..=0x163 => "Windows Media Audio",
        0x674f..=0x6771 => "Vorbis",
        0x704f => "Opus",
        0xf1ac => "FLAC",
        tag => return format!("number {tag:#06x}").into(),
    })
}
