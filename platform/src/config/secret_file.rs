//! Reads a secret from a file, such as one that an orchestrator mounts. An error contains nothing of the file.

use std::{fs::File, io::Read as _, path::Path};

use secrecy::SecretString;

use crate::text;

/// The longest secret. A longer file is probably another one than was meant.
const MAX_BYTES: u64 = 64 * 1024;

/// The text of the file, without white space at its end. The error is the end of a sentence that begins with the file.
pub(super) fn read(path: &Path) -> Result<SecretString, String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    let n_bytes = read.map_err(|error| format!("cannot be read: {error}"))?;
    if n_bytes as u64 > MAX_BYTES {
        return Err(format!("has more than {MAX_BYTES} bytes, expected one secret"));
    }
    match text::decode(&bytes).map_err(|error| error.to_string())?.trim_end() {
        "" => Err("is empty, expected one secret".to_owned()),
        secret => Ok(secret.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str, contents: &[u8]) -> String {
        let path = std::env::temp_dir().join(format!("akhar-secret-{name}-{}", std::process::id()));
        std::fs::write(&path, contents).unwrap();
        let read = read(&path);
        std::fs::remove_file(&path).unwrap();
        read.unwrap_err()
    }

    #[test]
    fn a_file_that_holds_no_secret_is_an_error() {
        assert!(error("empty", b"\n").contains("is empty"));
        assert!(error("long", &vec![b'x'; 70_000]).contains("has more than 65536 bytes"));
        assert!(error("bytes", b"\xff").contains("not valid UTF-8"));
    }
}
