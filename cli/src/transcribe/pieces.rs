//! Transcribes a recording that the server does not take as it is: it is cut into pieces, and their transcripts are joined.

use std::sync::Arc;

use akhar_platform::blocking::{blocking, joined};
use akhar_worker::Undecodable;
use futures::{StreamExt as _, stream::FuturesUnordered};
use tokio::sync::{SemaphorePermit, mpsc};

use super::{
    batch::{Batch, Sound},
    cut::{Cutter, Piece},
    join::{Part, Transcript, join, merge},
    pace::Place,
    source::{Encoded, Source},
    spoken::AUTO,
    trouble::Trouble,
};

/// A piece of a long recording, and its place in it.
#[derive(Debug)]
struct CutPiece {
    start_s: f64,
    end_s: f64,
    ends_in_pause: bool,
    sound: Sound,
}

impl From<Piece> for CutPiece {
    fn from(piece: Piece) -> Self {
        let (start_s, end_s) = (piece.start_s(), piece.end_s());
        Self { start_s, end_s, ends_in_pause: piece.ends_in_pause, sound: Sound::new(piece.wav()) }
    }
}

impl Batch {
    /// Transcribes a recording that the server does not take as it is, its channels one after the other if they are split.
    pub(super) async fn channels(
        self: &Arc<Self>,
        nth: usize,
        encoded: Encoded,
        memory: Option<SemaphorePermit<'_>>,
    ) -> Result<Transcript, Trouble> {
        if !self.settings.splits_channels() {
            let lang = self.settings.lang().name().to_owned();
            return self.clone().pieces(nth, encoded, memory, None, lang).await;
        }
        let opened = encoded.clone();
        let n_channels = blocking(move || opened.n_channels()).await?;
        let mut channels = Vec::new();
        let mut lang = self.settings.lang().name().to_owned();
        for channel in 0..n_channels {
            let no_permit = None::<SemaphorePermit<'_>>;
            let pieces = self.clone().pieces(nth, encoded.clone(), no_permit, Some(channel), lang.clone());
            let transcript = pieces.await?;
            lang = transcript.detected().map_or(lang, str::to_owned);
            channels.push(transcript);
        }
        drop(memory);
        Ok(merge(channels))
    }

    /// Transcribes a recording that the server does not take as it is, or one of its channels, in pieces. `memory` is released when the last piece is
    /// cut off. `lang`: the name of the language. If it is to be detected, pieces are sent one by one until it is, and the
    /// others are of this language.
    async fn pieces(
        self: Arc<Self>,
        nth: usize,
        encoded: Encoded,
        memory: Option<impl Drop>,
        channel: Option<usize>,
        mut lang: String,
    ) -> Result<Transcript, Trouble> {
        let (sender, mut pieces) = mpsc::channel(1);
        let batch = self.clone();
        let cutting = move || {
            let source = encoded.open(channel)?;
            if let Some(length_s) = source.length_s() {
                batch.lengths.opened(nth, length_s);
            }
            cut(source, &sender)
        };
        let mut cut = Some((memory, tokio::task::spawn_blocking(cutting)));
        let mut running = FuturesUnordered::new();
        let mut parts = Vec::new();
        let mut next = None;
        let mut n_pieces = 0_usize;
        let mut warnings = Vec::new();
        loop {
            tokio::select! {
                Some(ended) = running.next() => {
                    let (nth_piece, part): (usize, Part) = ended?;
                    lang = part.transcript.detected().map_or(lang, str::to_owned);
                    parts.push((nth_piece, part));
                }
                place = self.pace.place(), if next.is_some() && (lang != AUTO || running.is_empty()) => {
                    let piece: Option<CutPiece> = next.take();
                    running.extend(piece.map(|piece| self.piece((nth, n_pieces), piece, place, lang.clone())));
                    n_pieces += 1;
                }
                piece = pieces.recv(), if next.is_none() && cut.is_some() => {
                    next = piece;
                    if next.is_none() && let Some((_memory, ended)) = cut.take() {
                        let ended = joined(ended.await);
                        warnings = ended?;
                    }
                }
                else => break,
            }
        }
        parts.sort_by_key(|(nth, _)| *nth);
        let mut whole = join(parts.into_iter().map(|(_, part)| part).collect());
        whole.warnings.general.splice(0..0, warnings);
        Ok(whole)
    }

    /// Transcribes a piece of the `nth` recording. Returns it with its number among the pieces.
    async fn piece(
        &self,
        (nth, nth_piece): (usize, usize),
        piece: CutPiece,
        place: Place,
        lang: String,
    ) -> Result<(usize, Part), Trouble> {
        let CutPiece { start_s, end_s, ends_in_pause, sound } = piece;
        let mut transcript = self.job(nth, sound, place, true, &lang).await?;
        if !ends_in_pause {
            transcript
                .warnings
                .general
                .push("there is no pause at its end, so a word may be cut in two".to_owned());
        }
        Ok((nth_piece, Part { start_s, end_s, ends_in_pause, transcript }))
    }
}

/// Cuts a recording and sends the pieces. Returns what is unusual about the file. Ends early if nobody receives the pieces.
fn cut(mut recording: Source, pieces: &mpsc::Sender<CutPiece>) -> Result<Vec<String>, Undecodable> {
    let mut cutter = Cutter::default();
    while let Some(samples) = recording.next_second()? {
        if let Some(piece) = cutter.push(&samples)
            && pieces.blocking_send(piece.into()).is_err()
        {
            return Ok(Vec::new());
        }
    }
    for piece in cutter.finish() {
        // Nobody receives when the batch has ended early.
        let _ = pieces.blocking_send(piece.into());
    }
    Ok(recording.warnings().to_vec())
}
