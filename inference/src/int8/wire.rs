//! The wire format of protobuf: a message in, its fields out, each with the bytes that it was read from, and back.
//!
//! A message type of `prost` forgets the fields that it does not name. So what is kept of a file is kept as fields of this
//! module, whose bytes never change, and `prost` only reads and writes what is looked at or new.

use bytes::{Buf as _, Bytes};
use prost::{decode_length_delimiter, encode_length_delimiter};

/// Why bytes are not the message that they should be.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Malformed(pub(super) String);

impl From<prost::DecodeError> for Malformed {
    fn from(error: prost::DecodeError) -> Self {
        Self(error.to_string())
    }
}

/// The wire type of texts, bytes and messages.
const DELIMITED: u64 = 2;

/// One field of a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) number: u64,
    /// The whole field: key, length if it has one, and content.
    bytes: Bytes,
    /// Where its content starts.
    start: usize,
}

impl Field {
    /// A field of a text, bytes or a message.
    pub(super) fn new(number: u64, content: &[u8]) -> Result<Self, Malformed> {
        let too_large = || Malformed(format!("a field of {} bytes is too large", content.len()));
        let key = usize::try_from(number << 3 | DELIMITED).map_err(|_| too_large())?;
        let mut bytes = Vec::with_capacity(content.len() + 16);
        for n in [key, content.len()] {
            encode_length_delimiter(n, &mut bytes).map_err(|_| too_large())?;
        }
        let start = bytes.len();
        bytes.extend_from_slice(content);
        Ok(Self { number, bytes: bytes.into(), start })
    }

    /// Its text, bytes or message.
    pub(super) fn content(&self) -> Bytes {
        self.bytes.slice(self.start..)
    }
}

/// The fields of a message, in their order.
pub(super) fn fields(message: &Bytes) -> Result<Vec<Field>, Malformed> {
    let mut rest = message.clone();
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let before = rest.clone();
        let key = varint(&mut rest)?;
        let n_bytes = match key & 7 {
            0 => {
                varint(&mut rest)?;
                0
            }
            1 => 8,
            DELIMITED => varint(&mut rest)?,
            5 => 4,
            other => return Err(Malformed(format!("a field has the unknown wire type {other}"))),
        };
        let start = before.len() - rest.len();
        match usize::try_from(n_bytes) {
            Ok(n_bytes) if n_bytes <= rest.len() => rest.advance(n_bytes),
            _ => return Err(Malformed(format!("a field of {n_bytes} bytes has only {}", rest.len()))),
        }
        let bytes = before.slice(..before.len() - rest.len());
        fields.push(Field { number: key >> 3, bytes, start });
    }
    Ok(fields)
}

/// The message that has these fields.
pub(super) fn message(fields: &[Field]) -> Bytes {
    let mut bytes = Vec::with_capacity(fields.iter().map(|field| field.bytes.len()).sum());
    for field in fields {
        bytes.extend_from_slice(&field.bytes);
    }
    bytes.into()
}

/// Keys, lengths and whole numbers are all written alike.
fn varint(rest: &mut Bytes) -> Result<u64, Malformed> {
    let n = decode_length_delimiter(rest)?;
    u64::try_from(n).map_err(|_| Malformed("a number is too large".to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn a_message_is_its_fields_byte_for_byte_and_damage_is_an_error(bytes in vec(any::<u8>(), 0..200)) {
            let bytes = Bytes::from(bytes);
            if let Ok(fields) = fields(&bytes) {
                prop_assert_eq!(message(&fields), bytes);
            }
        }

        #[test]
        fn a_new_field_is_read_again(number in 1_u64..5000, content in vec(any::<u8>(), 0..300)) {
            let field = Field::new(number, &content).unwrap();
            let read = fields(&message(std::slice::from_ref(&field))).unwrap();
            prop_assert_eq!(&read[0].content()[..], &content[..]);
            prop_assert_eq!(read, [field]);
        }
    }
}
