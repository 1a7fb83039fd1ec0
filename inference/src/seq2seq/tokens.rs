//! Tokens: a `tokenizer.json` or `tokenizer.bin` comes in; texts become the tokens a model was taught, and back.

use tokenizers::Tokenizer;

use super::pieces::Pieces;
use crate::{
    generation::TokenId,
    manifest::{Manifest, ManifestError},
};

/// A model's tokenizer.
pub(crate) struct Tokens {
    file: File,
}

enum File {
    Json(Box<Tokenizer>),
    /// Tokens become text only.
    Binary(Pieces),
}

impl Tokens {
    /// Reads the manifest's file with this role.
    pub(crate) fn read(manifest: &Manifest, role: &str) -> Result<Self, ManifestError> {
        let bytes = manifest.read(role)?;
        Self::parse(&bytes).map_err(|what| manifest.inconsistent(format!("its {role}: {what}")))
    }

    /// Parses the file, or says what is wrong in it.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let file = if bytes.starts_with(b"{") {
            File::Json(Box::new(Tokenizer::from_bytes(bytes).map_err(|e| e.to_string())?))
        } else {
            File::Binary(Pieces::parse(bytes)?)
        };
        Ok(Self { file })
    }

    /// The id of the token with this text, if there is one.
    pub(crate) fn find(&self, token: &str) -> Option<i64> {
        match &self.file {
            File::Json(tokenizer) => tokenizer.token_to_id(token).map(i64::from),
            File::Binary(pieces) => pieces.find(token),
        }
    }

    /// The ids and texts of all tokens. Of a `tokenizer.bin`, those that are text.
    pub(super) fn pieces(&self) -> Vec<(i64, String)> {
        match &self.file {
            File::Json(tokenizer) => {
                let vocabulary = tokenizer.get_vocab(true).into_iter();
                vocabulary.map(|(piece, id)| (i64::from(id), piece)).collect()
            }
            File::Binary(pieces) => pieces.texts().map(|(id, piece)| (id, piece.to_owned())).collect(),
        }
    }

    /// The tokens with which a text has a digit or one of `signs`.
    pub(crate) fn figures(&self, signs: &[char]) -> Vec<i64> {
        let is_figure = |c: char| c.is_numeric() || signs.contains(&c);
        let has_figure = |piece: &str| match piece.strip_prefix("<0x").and_then(|byte| byte.strip_suffix('>'))
        {
            Some(byte) => {
                u8::from_str_radix(byte, 16).is_ok_and(|b| b.is_ascii() && is_figure(char::from(b)))
            }
            None => piece.contains(is_figure) && !self.is_special(piece),
        };
        match &self.file {
            File::Json(_) => {
                let figures = self.pieces().into_iter().filter(|(_, piece)| has_figure(piece));
                figures.map(|(id, _)| id).collect()
            }
            File::Binary(pieces) => pieces.figures(is_figure).collect(),
        }
    }

    /// Whether the token with this text is a special one, such as that of a language.
    pub(super) fn is_special(&self, token: &str) -> bool {
        matches!(&self.file, File::Json(tokenizer) if tokenizer.get_added_vocabulary().is_special_token(token))
    }

    /// The id of a token that a manifest names by its text.
    pub(crate) fn named(&self, manifest: &Manifest, token: &str) -> Result<i64, ManifestError> {
        self.find(token).ok_or_else(|| {
            manifest.inconsistent(format!(
                "it names the token {token:?}, which the model's tokenizer does not have"
            ))
        })
    }

    /// The id of a token that a manifest gives by its text or id.
    pub(crate) fn id(&self, manifest: &Manifest, token: &TokenId) -> Result<i64, ManifestError> {
        match token {
            TokenId::Id(id) => Ok(*id),
            TokenId::Text(text) => self.named(manifest, text),
        }
    }

    /// The tokens of a text, without special tokens for its beginning and end.
    pub(crate) fn of(&self, text: &str) -> Result<Vec<i64>, String> {
        let File::Json(tokenizer) = &self.file else {
            return Err("a tokenizer.bin makes no tokens of a text".to_owned());
        };
        let encoding = tokenizer.encode_fast(text, false).map_err(|e| e.to_string())?;
        Ok(encoding.get_ids().iter().map(|id| i64::from(*id)).collect())
    }

    /// The text of tokens. Special tokens are left out.
    pub(crate) fn text(&self, tokens: &[i64]) -> Result<String, String> {
        match &self.file {
            File::Json(tokenizer) => {
                let ids: Vec<u32> = tokens.iter().filter_map(|t| u32::try_from(*t).ok()).collect();
                tokenizer.decode(&ids, true).map_err(|e| e.to_string())
            }
            File::Binary(pieces) => Ok(pieces.text(tokens)),
        }
    }
}
