//! A translator's preparation of texts as a filter for training: texts become texts with placeholders, and back, and
//! scores become the scores of what may follow. `crate::stream` describes the form of requests and replies.

use std::{
    fs,
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{
    constraints::{Constraints, Copies, forbid},
    lexicon::Lexicon,
    placeholders::{Item, Kind, Masked, items, mask},
    tokens::Tokens,
    words::{COMMON, Words},
};
use crate::{
    numbers::{self, Language},
    stream::answer_all,
};

/// A request.
#[derive(Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
enum Request {
    /// Sets the lexicon: rows of English, Panjabi and `both`, `en` or `pa`, with tabs between.
    Lexicon { rows: String },
    /// Finds what is copied of a text in NFC. Numbers in words are found with `in_words`, as the translator does; the texts
    /// that a model learns from keep them.
    Mask {
        text: String,
        language: String,
        #[serde(default)]
        in_words: bool,
    },
    /// Puts back what the placeholders of a translation stand for, as the translator does.
    Restore { translation: String, values: Vec<(char, String)> },
    /// Writes the file of the words that translations may have. `rows` are words in the order of their bytes; a tab behind a
    /// word says that it is common in the training texts.
    Words { rows: String, path: PathBuf },
    /// Reads a `tokenizer.json`, and the file of `Words` if there is one, for the requests `Constrain`.
    Tokenizer { path: PathBuf, words: Option<PathBuf>, eos_token_id: i64 },
    /// Scores of all tokens become those of the ones that may follow `tokens`; minus infinity for the others. `required`
    /// are the placeholders of the source, which is `text` with them.
    Constrain { tokens: Vec<i64>, text: String, required: Vec<char>, to: String },
}

/// A reply; its fields are those of the request's step.
#[derive(Serialize)]
#[serde(untagged)]
enum Reply {
    Done {},
    Masked { text: String, values: Vec<(char, String)>, items: Vec<Found> },
    Text { text: String },
    Tokenizer { has_placeholders: bool },
}

/// An item that is copied: its first character and the one behind its last, counted in characters, its kind, and
/// what is put back. Also those that stay in the text because there are too many of their kind.
type Found = (usize, usize, Kind, String);

/// What earlier requests set.
#[derive(Default)]
struct Prepared {
    lexicon: Lexicon,
    constraints: Option<Constraints>,
    words: Option<Arc<Words>>,
    eos_token_id: i64,
}

/// Answers all requests of `input`.
///
/// # Errors
/// Any error of reading or writing; `InvalidData` for a request that cannot be answered.
pub fn stream(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
    let mut prepared = Prepared::default();
    answer_all(input, output, |request, scores| prepared.answer(request, &scores))
}

impl Prepared {
    fn answer(&mut self, request: Request, scores: &[f32]) -> Result<(Reply, Vec<f32>), String> {
        let reply = match request {
            Request::Lexicon { rows } => {
                self.lexicon = Lexicon::parse(&rows)?;
                Reply::Done {}
            }
            Request::Mask { text, language, in_words } => self.mask(&text, &language, in_words)?,
            Request::Restore { translation, values } => {
                let masked = Masked { values, ..Masked::default() };
                Reply::Text { text: masked.restore(&masked.apart(&translation)) }
            }
            Request::Words { rows, path } => {
                let in_order = |e: fst::Error| format!("the words: {e}");
                let values =
                    rows.lines().map(|row| row.strip_suffix('\t').map_or((row, 0), |word| (word, COMMON)));
                let list = fst::Map::from_iter(values).map_err(in_order)?;
                fs::write(&path, list.as_fst().as_bytes()).map_err(|e| unusable(&path, &e))?;
                Reply::Done {}
            }
            Request::Tokenizer { path, words, eos_token_id } => {
                let read = |path: &PathBuf| fs::read(path).map_err(|e| unusable(path, &e));
                let tokens = Tokens::parse(&read(&path)?)?;
                let words = words.map(|path| Words::new(read(&path)?, &tokens)).transpose()?;
                self.words = words.map(Arc::new);
                self.constraints = Constraints::of(&tokens, eos_token_id);
                self.eos_token_id = eos_token_id;
                Reply::Tokenizer { has_placeholders: self.constraints.is_some() }
            }
            Request::Constrain { tokens, text, required, to } => {
                let constraints =
                    self.constraints.as_ref().ok_or("there is no tokenizer with placeholders")?;
                let words = self.words.as_ref().map(|words| words.of(&text));
                let copies = constraints.copies(&required, Language::of(&to), words);
                return Ok((Reply::Done {}, self.constrained(&copies, scores, &tokens)));
            }
        };
        Ok((reply, Vec::new()))
    }

    fn mask(&self, text: &str, language: &str, in_words: bool) -> Result<Reply, String> {
        let language = known(language)?;
        let phrases = in_words.then(|| numbers::phrases(text, language));
        let found = items(text, language, &self.lexicon, phrases.as_deref());
        let place = |at: usize| text[..at].chars().count();
        let item =
            |(at, item): &(usize, Item)| (place(*at), place(at + item.length), item.kind, item.value.clone());
        let items = found.iter().map(item).collect();
        let masked = mask(text, found);
        Ok(Reply::Masked { text: masked.text, values: masked.values, items })
    }

    fn constrained(&self, copies: &Copies, scores: &[f32], tokens: &[i64]) -> Vec<f32> {
        let mut scores = scores.to_vec();
        copies.apply(&mut scores, tokens, self.eos_token_id);
        if let Some((words, place)) = copies.place(tokens) {
            let refused: Vec<i64> =
                (0..).take(scores.len()).filter(|token| !words.allow(&place, *token)).collect();
            forbid(&mut scores, &refused);
        }
        scores
    }
}

fn unusable(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn known(language: &str) -> Result<Language, String> {
    Language::of(language).ok_or_else(|| "expected the language en or pa".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixtures;

    fn replies(requests: &str) -> io::Result<Vec<String>> {
        let mut output = Vec::new();
        stream(&mut requests.as_bytes(), &mut output)?;
        Ok(String::from_utf8(output).unwrap().lines().map(str::to_owned).collect())
    }

    #[test]
    fn a_text_is_masked_and_restored() {
        let requests = [
            r#"{"step": "mask", "text": "Moga", "language": "en"}"#,
            r#"{"step": "lexicon", "rows": "Moga\tਮੋਗਾ\tboth"}"#,
            r#"{"step": "mask", "text": "ਘਰ ੫ ਮੋਗਾ", "language": "pa"}"#,
            r#"{"step": "mask", "text": "ਪੰਜ", "language": "pa"}"#,
            r#"{"step": "mask", "text": "ਪੰਜ", "language": "pa", "in_words": true}"#,
            r#"{"step": "restore", "translation": "\ue010ਘਰ", "values": [["\ue010", "VPN"], ["\ue000", "5"]]}"#,
        ];
        let found = replies(&requests.join("\n")).unwrap();
        let masked = "{\"n_values\":0,\"text\":\"ਘਰ \u{e000} \u{e010}\",\"values\":[[\"\u{e000}\",\"5\"],\
             [\"\u{e010}\",\"Moga\"]],\"items\":[[3,4,\"number\",\"5\"],[5,9,\"name\",\"Moga\"]]}";
        assert_eq!(found[0], "{\"n_values\":0,\"text\":\"Moga\",\"values\":[],\"items\":[]}");
        assert_eq!(found[1], "{\"n_values\":0}");
        assert_eq!(found[2], masked);
        assert!(found[3].contains(r#""text":"ਪੰਜ""#) && found[4].contains("five"), "{found:?}");
        assert!(found[5].contains("VPN ਘਰ 5"), "{}", found[5]);
        let error = replies("{\"step\": \"mask\"}").unwrap_err().to_string();
        assert!(error.starts_with("request 1: "), "{error}");
    }

    #[test]
    fn a_tokenizer_without_placeholders_says_so() {
        let path = fixtures("seq2seq/m2m100/tokenizer.json");
        let request = serde_json::json!({"step": "tokenizer", "path": path, "eos_token_id": 2}).to_string();
        assert!(replies(&request).unwrap()[0].contains("\"has_placeholders\":false"));
    }

    #[test]
    fn words_are_written_in_order() {
        let path = std::env::temp_dir().join(format!("akhar-words-{}.fst", std::process::id()));
        let request = |rows| serde_json::json!({"step": "words", "rows": rows, "path": path}).to_string();
        replies(&request("ab\nac\t\n")).unwrap();
        let list = fst::Map::new(fs::read(&path).unwrap()).unwrap();
        assert_eq!((list.get("ab"), list.get("ac"), list.get("a")), (Some(0), Some(COMMON), None));
        assert!(replies(&request("b\na\n")).unwrap_err().to_string().contains("the words"));
        fs::remove_file(&path).unwrap();
    }
}
