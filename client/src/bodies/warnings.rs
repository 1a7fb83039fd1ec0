//! What the server says about a result beside it: as sentences, as parts of a recording, and as the header
//! `Akhar-Warnings`, a list in the syntax of RFC 9651.

use serde::{Deserialize, Serialize};

/// The name of the header.
pub const WARNINGS_HEADER: &str = "akhar-warnings";
/// The header has at most so many bytes: common proxies have 4 KiB for all headers of a response.
const MAX_HEADER_BYTES: usize = 2048;
/// A sentence names at most so many parts of a recording.
const MAX_PARTS: usize = 10;
/// The item of the header that names a part of a recording.
const PROBABLY_WRONG: &str = "probably-wrong";

/// A part of a recording of which a text is probably wrong.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ProbablyWrong))]
pub struct ProbablyWrongBody {
    /// The text that is probably wrong.
    pub text: TextKind,
    /// The start of the part in seconds from the start of the recording, with a precision of milliseconds.
    #[cfg_attr(feature = "schema", schema(example = 0.24, minimum = 0))]
    pub start: f64,
    /// The end of the part in seconds from the start of the recording, with a precision of milliseconds.
    #[cfg_attr(feature = "schema", schema(example = 1.36, minimum = 0))]
    pub end: f64,
}

/// A text that a recording becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum TextKind {
    /// What is said.
    Transcription,
    /// The same in the other language.
    Translation,
}

impl TextKind {
    const ALL: [Self; 2] = [Self::Transcription, Self::Translation];

    const fn name(self) -> &'static str {
        match self {
            Self::Transcription => "transcription",
            Self::Translation => "translation",
        }
    }
}

/// The warnings about a result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Warnings {
    /// What is unusual about the request or its recording, such as an option without effect, or a last frame that is cut
    /// off.
    pub general: Vec<String>,
    /// The parts of the recording of which a text is probably wrong, in order, first of the transcription.
    pub probably_wrong: Vec<ProbablyWrongBody>,
    /// How many more warnings there are, for which the header had no room.
    pub n_more: usize,
}

impl Warnings {
    /// The warnings in the document of a job. Its sentences about `probably_wrong` are left out.
    pub fn of_job(sentences: Vec<String>, probably_wrong: Vec<ProbablyWrongBody>) -> Self {
        let parts = Self { probably_wrong, ..Self::default() };
        let known = parts.sentences();
        Self { general: sentences.into_iter().filter(|text| !known.contains(text)).collect(), ..parts }
    }

    /// Whether there is no warning.
    pub const fn is_empty(&self) -> bool {
        self.general.is_empty() && self.probably_wrong.is_empty()
    }

    /// The warnings as sentences. One sentence names all parts of which the same text is probably wrong.
    pub fn sentences(&self) -> Vec<String> {
        let probably_wrong = TextKind::ALL.into_iter().filter_map(|text| self.sentence(text));
        self.general.iter().cloned().chain(probably_wrong).collect()
    }

    fn sentence(&self, text: TextKind) -> Option<String> {
        let parts = self.probably_wrong.iter().filter(|part| part.text == text);
        let parts: Vec<String> =
            parts.map(|part| format!("{:.1} s to {:.1} s", part.start, part.end)).collect();
        let (named, more) = parts.split_at(parts.len().min(MAX_PARTS));
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        let what = format!("low confidence: the {} is probably wrong, from", text.name());
        (!named.is_empty()).then(|| format!("{what} {}{more}", named.join(", from ")))
    }

    /// The value of the header: a string for each general warning, and an item `probably-wrong` for each part.
    /// If there are too many, the last one that is there says with `more` how many are left out. `None` without warnings.
    pub fn header(&self) -> Option<String> {
        let strings = self.general.iter().map(|warning| string(warning));
        let parts = self.probably_wrong.iter().map(|part| {
            let (start, end) = (decimal(part.start), decimal(part.end));
            format!("{PROBABLY_WRONG};text={};start={start};end={end}", part.text.name())
        });
        let mut header = String::new();
        let mut n_more = self.n_more;
        for item in strings.chain(parts) {
            let separator = if header.is_empty() { "" } else { ", " };
            if header.len() + separator.len() + item.len() + ";more=99999".len() > MAX_HEADER_BYTES {
                n_more += 1;
            } else {
                header = header + separator + &item;
            }
        }
        let more = if n_more > 0 { format!(";more={n_more}") } else { String::new() };
        (!header.is_empty()).then(|| header + &more)
    }

    /// The warnings of a header. Items of other kinds are left out.
    pub fn read(header: &str) -> Self {
        let mut warnings = Self::default();
        for item in split(header, ',') {
            let mut parameters = split(item, ';').into_iter().map(str::trim);
            let value = parameters.next().unwrap_or_default();
            let parameters: Vec<(&str, &str)> = parameters.filter_map(|p| p.split_once('=')).collect();
            let parameter = |name| parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
            let seconds = |name| parameter(name)?.parse().ok();
            let text = TextKind::ALL.into_iter().find(|text| parameter("text") == Some(text.name()));
            if let Some(text) = unquoted(value) {
                warnings.general.push(text);
            } else if value == PROBABLY_WRONG
                && let (Some(text), Some(start), Some(end)) = (text, seconds("start"), seconds("end"))
            {
                warnings.probably_wrong.push(ProbablyWrongBody { text, start, end });
            }
            warnings.n_more += parameter("more").and_then(|n| n.parse().ok()).unwrap_or(0);
        }
        warnings
    }
}

/// The text as a string of RFC 9651, which has no other characters than printable ASCII.
fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            ' '..='~' => quoted.push(c),
            _ => quoted.push('?'),
        }
    }
    quoted + "\""
}

fn unquoted(string: &str) -> Option<String> {
    let mut chars = string.strip_prefix('"')?.strip_suffix('"')?.chars();
    let mut text = String::new();
    while let Some(c) = chars.next() {
        text.push(if c == '\\' { chars.next()? } else { c });
    }
    Some(text)
}

/// The seconds as a decimal of RFC 9651, which has one to three digits after the point.
fn decimal(seconds: f64) -> String {
    let text = format!("{seconds:.3}");
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

/// The parts of a text between separators that are not in a string.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut is_string = false;
    let mut is_escaped = false;
    let parts = text.split(|c| {
        is_string ^= c == '"' && !is_escaped;
        is_escaped = is_string && c == '\\' && !is_escaped;
        c == separator && !is_string
    });
    parts.map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: TextKind, start: f64, end: f64) -> ProbablyWrongBody {
        ProbablyWrongBody { text, start, end }
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let (transcription, translation) = (TextKind::Transcription, TextKind::Translation);
        let warnings = Warnings {
            general: vec![r#"the file, "a\b"; is cut off"#.to_owned()],
            probably_wrong: vec![part(transcription, 0.0, 12.5), part(translation, 1.234, 3599.07)],
            n_more: 0,
        };
        let header = warnings.header().unwrap();
        assert_eq!(
            header,
            r#""the file, \"a\\b\"; is cut off", probably-wrong;text=transcription;start=0.0;end=12.5, probably-wrong;text=translation;start=1.234;end=3599.07"#
        );
        assert_eq!(Warnings::read(&header), warnings);
        assert_eq!(Warnings::default().header(), None);
        let odd = Warnings::read("another;start=1, probably-wrong;text=x, \"ends in \\\\\";more=2");
        assert_eq!((odd.general, odd.n_more), (vec!["ends in \\".to_owned()], 2));
        assert_eq!(string("ਕ\n"), "\"??\"");
    }

    #[test]
    fn a_long_header_is_cut_and_says_how_many_warnings_it_leaves_out() {
        let parts = (0..5000u16).map(|n| part(TextKind::Transcription, n.into(), n.into()));
        let all = Warnings { probably_wrong: parts.collect(), ..Warnings::default() };
        let header = all.header().unwrap();
        assert!(header.len() <= MAX_HEADER_BYTES, "{}", header.len());
        let read = Warnings::read(&header);
        assert_eq!(read.probably_wrong.len() + read.n_more, 5000);
        assert!(read.probably_wrong.len() > 30, "{header}");
    }

    #[test]
    fn a_sentence_names_the_first_parts() {
        let (transcription, translation) = (TextKind::Transcription, TextKind::Translation);
        let some =
            [part(transcription, 1.0, 2.9), part(translation, 1.0, 2.0), part(transcription, 4.0, 4.94)];
        let some = Warnings { probably_wrong: some.to_vec(), ..Warnings::default() };
        assert_eq!(
            some.sentences(),
            [
                "low confidence: the transcription is probably wrong, from 1.0 s to 2.9 s, from 4.0 s to 4.9 s",
                "low confidence: the translation is probably wrong, from 1.0 s to 2.0 s"
            ]
        );
        let parts = (0..15).map(|n| part(translation, f64::from(n), f64::from(n) + 0.9));
        let many = Warnings { probably_wrong: parts.collect(), ..Warnings::default() };
        assert!(many.sentences()[0].ends_with("from 9.0 s to 9.9 s and 5 more"), "{:?}", many.sentences());
    }
}
