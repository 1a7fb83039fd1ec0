//! The rule for names that somebody chooses and others are shown: in lists, on pages, in terminals and in logs. Names of groups and
//! labels of jobs have a narrower one, ASCII letters and digits.

/// The most characters of a name.
const MAX_CHARACTERS: usize = 200;

/// Why a text is no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It is empty or too long.
    #[error("is empty or too long, expected 1 to {MAX_CHARACTERS} characters")]
    Length,
    /// It has this character.
    #[error("has the character U+{:04X}, which is not seen or changes the order of others: leave it out", u32::from(*.0))]
    Hidden(char),
}

/// Whether a text may be a name: whoever reads it reads what it has.
///
/// # Errors
///
/// If it is empty, too long, or has hidden characters.
pub fn check_name(text: &str) -> Result<(), NameError> {
    if text.trim().is_empty() || text.chars().count() > MAX_CHARACTERS {
        return Err(NameError::Length);
    }
    text.chars().find(|c| is_hidden(*c)).map_or(Ok(()), |c| Err(NameError::Hidden(c)))
}

/// Whether it is a control, a character that sets the direction of text, or one without width that is not a joiner. Scripts of
/// India need the joiners.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_hidden_characters() {
        for name in ["shop", "ਪੰਜਾਬੀ ਪ੍ਰੈੱਸ", "ਸ੍\u{200d}ਰੀ", "a".repeat(MAX_CHARACTERS).as_str()]
        {
            assert_eq!(check_name(name), Ok(()), "{name:?}");
        }
        for name in ["", " ", "a".repeat(MAX_CHARACTERS + 1).as_str()] {
            assert_eq!(check_name(name), Err(NameError::Length), "{name:?}");
        }
        for hidden in ['\0', '\n', '\u{1b}', '\u{200b}', '\u{200f}', '\u{202e}', '\u{2066}', '\u{2069}'] {
            assert_eq!(check_name(&format!("shop{hidden}")), Err(NameError::Hidden(hidden)));
        }
    }
}
