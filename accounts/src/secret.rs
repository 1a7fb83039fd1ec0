//! The format of a key: `ak_`, 8 characters of prefix, `_`, and 43 characters that encode 32 random bytes. A token begins with
//! `at_` instead.

use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

const KEY_START: &str = "ak_";
const TOKEN_START: &str = "at_";
const PREFIX_LEN: usize = 8;
/// 62^43 > 2^256, so 43 digits hold 32 bytes.
const SECRET_LEN: usize = 43;
const KEY_LEN: usize = KEY_START.len() + PREFIX_LEN + 1 + SECRET_LEN;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The public part of a key. It identifies the key in the database and in logs.
pub type Prefix = [u8; PREFIX_LEN];

/// A new key or token. It is shown to its owner once and is not stored.
#[derive(Debug)]
pub struct NewKey(SecretString);

impl NewKey {
    /// Creates a random key.
    pub fn random() -> Self {
        Self::starting_with(KEY_START)
    }

    /// Creates a random token.
    pub(crate) fn random_token() -> Self {
        Self::starting_with(TOKEN_START)
    }

    fn starting_with(start: &str) -> Self {
        let mut prefix: [u8; PREFIX_LEN] = [0; PREFIX_LEN];
        prefix.fill_with(|| BASE62[usize::from(rand::random_range(0..62_u8))]);
        let prefix: String = prefix.iter().copied().map(char::from).collect();
        Self(format!("{start}{prefix}_{}", base62(rand::random())).into())
    }

    /// The whole key, to be shown to its owner.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// The 8 characters after `ak_` or `at_`.
    pub fn prefix(&self) -> &str {
        &self.expose()[KEY_START.len()..KEY_START.len() + PREFIX_LEN]
    }

    /// The SHA-256 of the whole key, which is what is stored.
    pub fn sha256(&self) -> [u8; 32] {
        Sha256::digest(self.expose()).into()
    }
}

/// Encodes 32 bytes, read as a big-endian number, as 43 digits of base 62.
fn base62(mut number: [u8; 32]) -> String {
    let mut digits = [b'0'; SECRET_LEN];
    for digit in digits.iter_mut().rev() {
        let mut remainder: u16 = 0;
        for byte in &mut number {
            let value = remainder << 8 | u16::from(*byte);
            // value < 62 * 256, so the quotient fits a byte.
            *byte = (value / 62).to_be_bytes()[1];
            remainder = value % 62;
        }
        *digit = BASE62[usize::from(remainder)];
    }
    digits.iter().copied().map(char::from).collect()
}

/// A key or token that a caller sent. It has the format of one, but may not exist.
#[derive(Clone, Copy)]
pub struct PresentedKey {
    /// The public part of the key.
    pub prefix: Prefix,
    /// Whether it is a token.
    pub is_token: bool,
    sha256: [u8; 32],
}

impl PresentedKey {
    /// Parses a key or a token. Returns `None` if the text does not have the format of one.
    pub fn parse(key: &str) -> Option<Self> {
        if key.len() != KEY_LEN || !key.is_ascii() {
            return None;
        }
        let is_token = key.starts_with(TOKEN_START);
        let start = if is_token { TOKEN_START } else { KEY_START };
        let (prefix, secret) = key.strip_prefix(start)?.split_once('_')?;
        let alphanumeric = |s: &str| s.bytes().all(|b| b.is_ascii_alphanumeric());
        let prefix_bytes = prefix.as_bytes().try_into().ok()?;
        (alphanumeric(prefix) && alphanumeric(secret)).then(|| Self {
            prefix: prefix_bytes,
            is_token,
            sha256: Sha256::digest(key).into(),
        })
    }

    /// Whether the key has this digest. The comparison takes constant time.
    pub(crate) fn has_sha256(&self, sha256: &[u8]) -> bool {
        self.sha256.ct_eq(sha256).into()
    }
}

/// The prefix as text.
pub fn prefix_text(prefix: &Prefix) -> &str {
    std::str::from_utf8(prefix).unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_key_can_be_parsed_and_matches_only_its_own_hash() {
        let (a, b) = (NewKey::random(), NewKey::random());
        let presented = PresentedKey::parse(a.expose()).unwrap();
        assert!(
            !presented.is_token && PresentedKey::parse(NewKey::random_token().expose()).unwrap().is_token
        );
        assert_eq!(a.expose().len(), 55);
        assert_eq!(prefix_text(&presented.prefix), a.prefix());
        assert!(
            presented.has_sha256(&a.sha256())
                && !presented.has_sha256(&b.sha256())
                && !presented.has_sha256(&[])
        );
    }

    #[test]
    fn base62_has_a_fixed_width_for_the_smallest_and_largest_numbers() {
        assert_eq!(base62([0; 32]), "0".repeat(43));
        let mut one = [0; 32];
        one[31] = 62;
        assert_eq!(base62(one), format!("{}10", "0".repeat(41)));
        assert_eq!(base62([255; 32]).len(), 43);
    }

    #[test]
    fn text_in_another_format_is_not_a_key() {
        let good = NewKey::random().expose().to_owned();
        for bad in [
            "",
            "ak_",
            "x",
            &good[1..],
            &good[..54],
            &format!("{good}x"),
            &good.replace('_', "-"),
            "ੳੳੳੳੳੳੳੳੳੳੳੳੳੳੳੳੳੳ_",
        ] {
            assert!(PresentedKey::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_debug_text_of_a_key_does_not_contain_the_key() {
        let key = NewKey::random();
        assert!(!format!("{key:?}").contains(key.expose()));
    }
}
