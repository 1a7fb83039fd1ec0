//! Finds the numbers of a text.

use std::ops::Range;

use super::{
    context::Place,
    link::link,
    number::{Language, Number, Reading, Said},
    parse::Reader,
    run::Run,
    token::{Meaning, Token},
    words::{BEFORE_UNITS, BEHIND_NOUNS, CURRENCY_NAMES, FRACTION_BARS, UNITS, is_listed, names},
};

/// The runs of numbers in a text, in order. The text is in NFC.
pub(crate) fn find(text: &str, language: Language) -> Vec<Run> {
    runs(&Token::all(text, language), language)
}

/// The runs of numbers in the words of a text.
pub(super) fn runs(tokens: &[Token<'_>], language: Language) -> Vec<Run> {
    let reader = Reader::new(tokens, language);
    let mut runs: Vec<Run> = Vec::new();
    let mut last_end = None;
    let mut at = 0;
    while at < tokens.len() {
        let Some((end, said)) = reader.run(at) else {
            at += 1;
            continue;
        };
        let (first, last) = (&tokens[at], &tokens[end - 1]);
        let place = Place::new(tokens, at..end, language);
        let is_number = place.is_number(&said);
        let reading = Reading::new(said, &place, &reader, language);
        let is_certain = place.is_certain(&reading);
        let is_list = last_end == Some(at) && first.before.trim_end() == ",";
        if is_list
            && is_small(&reading)
            && let Some(run) = runs.last_mut().filter(|run| run.groups.iter().all(is_small))
        {
            run.end = last.end;
            run.tokens.end = end;
            run.groups.push(reading);
        } else if is_number {
            // The scale of five, six hundred may be meant for both.
            let is_scaled = is_list && reader.factors(&reading.said[0]).is_some();
            let listed = runs.last_mut().filter(|run| is_scaled && run.groups.iter().all(is_unscaled));
            let is_whole = is_certain
                && listed.is_none()
                && !place.is_half_compound()
                && !place.is_misheard(&reading)
                && is_apart(tokens, &(at..end), &reading)
                && !is_before_unread(tokens, end, language);
            if let Some(listed) = listed {
                listed.is_whole = false;
            }
            let ending = if is_ordinal(&reading) { language.ending(last.text) } else { "" };
            let (start, end_byte) = (first.start, last.end);
            runs.push(Run { start, end: end_byte, tokens: at..end, is_whole, ending, groups: vec![reading] });
        } else {
            at = end;
            continue;
        }
        last_end = Some(end);
        at = end;
    }
    for run in runs.iter_mut().filter(|run| run.groups.len() > 1) {
        let place = Place::new(tokens, run.tokens.clone(), language);
        if let Some(string) = Reading::string(&run.groups, &place) {
            run.groups = vec![string];
        }
    }
    link(&mut runs, tokens, &reader, language);
    runs
}

fn is_ordinal(reading: &Reading) -> bool {
    matches!(&reading.said[..], [Said { number: Number::Ordinal(_), .. }])
}

fn is_small(reading: &Reading) -> bool {
    reading.said.iter().all(|said| said.number.small().is_some())
}

fn is_unscaled(reading: &Reading) -> bool {
    reading.said.iter().all(|said| said.number.size().is_some_and(|size| size < 400))
}

/// Whether a word that may be a number in another spelling stands between a scale and a unit: ਦੋ ਸੌ ਫਿਫਟੀ ਰੁਪਏ.
fn is_before_unread(tokens: &[Token<'_>], end: usize, language: Language) -> bool {
    let is_unit =
        |word: &Token<'_>| [UNITS].iter().chain(&CURRENCY_NAMES).any(|units| is_listed(units, word.text));
    let is_unread = |word: &Token<'_>| {
        let is_other = [BEHIND_NOUNS, BEFORE_UNITS].iter().any(|words| is_listed(words, word.text));
        word.meaning.is_none() && !is_other && !is_unit(word)
    };
    language == Language::Panjabi
        && matches!(tokens[end - 1].meaning, Some(Meaning::Scale(_)))
        && tokens.get(end).is_some_and(|word| word.follows() && is_unread(word))
        && tokens.get(end + 1).is_some_and(|word| word.follows() && is_unit(word))
}

/// Whether no other word of a number stands beside the words of one. Behind an ordinal it may.
fn is_apart(tokens: &[Token<'_>], words: &Range<usize>, reading: &Reading) -> bool {
    let follows = |at: usize| tokens.get(at).is_some_and(Token::goes_on);
    let is_numeral = |at: usize| tokens.get(at).is_some_and(Token::is_numeral);
    // ਪੰਜ ਕੁ ਤਿੰਨ, point five, ਇੱਕ ਬਟਾ ਦੋ.
    let joins = |at: usize| {
        tokens.get(at).is_some_and(|token| {
            matches!(token.meaning, Some(Meaning::About | Meaning::Point)) || names(FRACTION_BARS, token.text)
        })
    };
    // Thirty-three and a third.
    let is_part = |at: usize| {
        tokens.get(at).is_some_and(|token| {
            matches!(token.meaning, Some(Meaning::Ordinal(_)))
                || token.text.ends_with("ths")
                || token.text == "thirds"
        })
    };
    // Twenty and ninth, of which one is no number of the other.
    let is_further = matches!(
        tokens.get(words.end).and_then(|token| token.meaning),
        Some(Meaning::Ordinal(3..) | Meaning::OrdinalScale(_))
    );
    let is_and = tokens.get(words.end).is_some_and(|token| token.meaning == Some(Meaning::And));
    let behind = words.end + usize::from(joins(words.end) && follows(words.end));
    let is_behind = !is_ordinal(reading)
        && follows(words.end)
        && (is_further || (follows(behind) && is_numeral(behind)) || (is_and && is_part(words.end + 2)));
    let before = words.start.checked_sub(1).filter(|_| follows(words.start));
    let before = match before {
        Some(at) if joins(at) && follows(at) => at.checked_sub(1),
        before => before,
    };
    !is_behind && !before.is_some_and(is_numeral)
}
