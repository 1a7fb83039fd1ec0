//! What a page says and what was printed come in; whether they agree, or where they do not, comes out.

use std::{collections::BTreeMap, fmt::Write as _};

use regex::{Match, Regex};
use serde_json::{Map, Value};

/// Stands for what is left out.
const ANY: &str = "…";
/// Fractions differ by as much between processors: the runtime chooses its kernels by the processor, and a CTC frame
/// (0.02 s) more or less moves a time.
const TOLERANCE: f64 = 0.02;
/// The same, of a large fraction.
const RELATIVE_TOLERANCE: f64 = 0.01;

const UUID: &str = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const NUMBER: &str = r"\d+(?:\.\d+)?";
const TIMESTAMP: &str = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?";

/// Compares the answers of one page. UUIDs of the page stand for those that were printed.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    ids: BTreeMap<String, String>,
}

impl Comparison {
    /// A command with the UUIDs of the page replaced by those they stand for.
    pub(crate) fn with_ids(&self, command: &str) -> String {
        self.ids.iter().fold(command.to_owned(), |text, (written, actual)| text.replace(written, actual))
    }

    /// Whether `printed` is what `written` says.
    pub(crate) fn compare(
        &mut self,
        written: &str,
        printed: &str,
        has_any_numbers: bool,
    ) -> Result<(), String> {
        let printed = printed.replace('\r', "");
        if !written.starts_with("HTTP/") {
            return self.body(written, &printed, has_any_numbers);
        }
        let (head, body) = written.split_once("\n\n").unwrap_or((written, ""));
        let (printed_head, printed_body) = printed.split_once("\n\n").unwrap_or((&printed, ""));
        self.head(head, printed_head)?;
        if body.trim().is_empty() { Ok(()) } else { self.body(body, printed_body, has_any_numbers) }
    }

    fn head(&mut self, written: &str, printed: &str) -> Result<(), String> {
        let (mut written, mut printed_lines) = (written.lines(), printed.lines());
        self.text(written.next().unwrap_or_default(), printed_lines.next().unwrap_or_default(), false)?;
        for header in written.filter(|line| line.trim() != ANY) {
            let (name, value) = header.split_once(':').ok_or(format!("not a header: {header}"))?;
            let same_name = printed_lines.clone().filter_map(|line| line.split_once(':'));
            let mut values = same_name.filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value);
            if !values.any(|printed| self.text(value.trim(), printed.trim(), false).is_ok()) {
                return Err(format!("no header `{header}` in\n{printed}"));
            }
        }
        Ok(())
    }

    fn body(&mut self, written: &str, printed: &str, has_any_numbers: bool) -> Result<(), String> {
        let Ok(printed_value) = serde_json::from_str::<Value>(printed) else {
            return self.text(written, printed, has_any_numbers);
        };
        let written_value = parse(written)?;
        self.value(&written_value, &printed_value, has_any_numbers)
            .map_err(|error| format!("{error}\nprinted: {}", printed.trim_end()))
    }

    fn value(&mut self, written: &Value, printed: &Value, has_any_numbers: bool) -> Result<(), String> {
        match (written, printed) {
            (Value::String(text), _) if text == ANY => Ok(()),
            (Value::String(text), Value::String(printed)) => self.text(text, printed, false),
            (Value::Number(_), Value::Number(_)) if has_any_numbers => Ok(()),
            (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
                near(a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN))
            }
            (Value::Array(written), Value::Array(printed)) => self.array(written, printed, has_any_numbers),
            (Value::Object(written), Value::Object(printed)) => {
                self.object(written, printed, has_any_numbers)
            }
            _ if written == printed => Ok(()),
            _ => Err(format!("{written} became {printed}")),
        }
    }

    fn array(&mut self, written: &[Value], printed: &[Value], has_any_numbers: bool) -> Result<(), String> {
        let is_gap = |value: &Value| value == ANY;
        let is_numbers = |values: &[Value]| values.iter().all(|v| v.is_number() || is_gap(v));
        if has_any_numbers && is_numbers(written) && is_numbers(printed) {
            return Ok(());
        }
        let gap = written.iter().position(is_gap);
        let n_before = gap.unwrap_or(written.len());
        let after = gap.map_or(&[][..], |gap| &written[gap + 1..]);
        let is_right_length = match gap {
            Some(_) => printed.len() >= n_before + after.len(),
            None => printed.len() == n_before,
        };
        if after.iter().any(is_gap) || !is_right_length {
            return Err(format!("{} became {} elements", Value::from(written), printed.len()));
        }
        let ends = after.iter().zip(&printed[printed.len() - after.len()..]);
        for (written, printed) in written[..n_before].iter().zip(printed).chain(ends) {
            self.value(written, printed, has_any_numbers)?;
        }
        Ok(())
    }

    fn object(
        &mut self,
        written: &Map<String, Value>,
        printed: &Map<String, Value>,
        has_any_numbers: bool,
    ) -> Result<(), String> {
        for (name, value) in written.iter().filter(|(name, _)| *name != ANY) {
            let printed = printed.get(name).ok_or(format!("there is no {name:?}"))?;
            self.value(value, printed, has_any_numbers).map_err(|error| format!("{name}: {error}"))?;
        }
        let further = printed.keys().find(|name| !written.contains_key(*name));
        match further {
            Some(name) if !written.contains_key(ANY) => Err(format!("there is {name:?} too")),
            _ => Ok(()),
        }
    }

    /// Compares text, in which `…`, UUIDs, timestamps and fractions stand for others of their kind.
    fn text(&mut self, written: &str, printed: &str, has_any_numbers: bool) -> Result<(), String> {
        let (pattern, marks) = pattern(written, has_any_numbers);
        let text = format!("{}\n", printed.trim_end());
        let found = regex(&pattern).captures(&text);
        let found = found.ok_or(format!("{}\nbecame\n{}", written.trim_end(), printed.trim_end()))?;
        for (mark, printed) in marks.iter().zip(found.iter().skip(1).flatten()) {
            let printed = printed.as_str();
            match mark {
                Mark::Fraction(written) => near(*written, printed.parse().unwrap_or(f64::NAN))?,
                Mark::Id(written) => {
                    let known = self.ids.entry(written.clone()).or_insert_with(|| printed.to_owned());
                    if known != printed {
                        return Err(format!("{written} stood for {known}, and now for {printed}"));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Part of a text that is captured and then compared on its own.
#[derive(Debug)]
enum Mark {
    Id(String),
    Fraction(f64),
}

/// The pattern of what a text stands for, and what its groups are.
fn pattern(written: &str, has_any_numbers: bool) -> (String, Vec<Mark>) {
    let parts = regex(&format!("(?<id>{UUID})|(?<time>{TIMESTAMP})|(?<any>{ANY})|(?<number>{NUMBER})"));
    let (mut pattern, mut marks) = ("^".to_owned(), Vec::new());
    for line in written.trim_end().lines() {
        if line.trim() == ANY && written.trim() != ANY {
            pattern.push_str(r"(?:[^\n]*\n)*");
            continue;
        }
        let mut rest = 0;
        for part in parts.captures_iter(line) {
            let whole = part.get_match();
            pattern.push_str(&regex::escape(&line[rest..whole.start()]));
            rest = whole.end();
            if part.name("id").is_some() {
                marks.push(Mark::Id(whole.as_str().to_owned()));
                let _infallible = write!(pattern, "({UUID})");
            } else if part.name("time").is_some() {
                pattern.push_str(TIMESTAMP);
            } else if part.name("any").is_some() {
                pattern.push_str(r"[^\n]*");
            } else if has_any_numbers {
                pattern.push_str(NUMBER);
            } else if let Some(fraction) = fraction(line, whole) {
                marks.push(Mark::Fraction(fraction));
                let _infallible = write!(pattern, "({NUMBER})");
            } else {
                pattern.push_str(&regex::escape(whole.as_str()));
            }
        }
        pattern.push_str(&regex::escape(line[rest..].trim_end()));
        pattern.push_str("[ \t]*\n");
    }
    pattern.push('$');
    (pattern, marks)
}

/// A number that is a fraction and stands alone: no part of a version, an address or a word.
fn fraction(line: &str, number: Match) -> Option<f64> {
    let joins = |letter: char| letter.is_alphanumeric() || ".-_:/…".contains(letter);
    let is_joined = line[..number.start()].ends_with(joins) || line[number.end()..].starts_with(joins);
    (number.as_str().contains('.') && !is_joined).then(|| number.as_str().parse().ok())?
}

fn near(written: f64, printed: f64) -> Result<(), String> {
    let is_near = (written - printed).abs() <= TOLERANCE.max(RELATIVE_TOLERANCE * written.abs());
    is_near.then_some(()).ok_or(format!("{written} became {printed}"))
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern made here")
}

/// JSON in which `…` may be a value, an element or a member.
fn parse(written: &str) -> Result<Value, String> {
    let mut text = String::new();
    // The brackets around the present letter, the last letter that is no space, and whether it is in a string.
    let (mut open, mut last, mut is_string) = (Vec::new(), ' ', false);
    let mut letters = written.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if is_string => {
                text.push(letter);
                text.extend(letters.next());
                continue;
            }
            '"' => is_string = !is_string,
            '{' | '[' if !is_string => open.push(letter),
            '}' | ']' if !is_string => drop(open.pop()),
            '…' if !is_string => {
                let is_member = open.last() == Some(&'{') && last != ':';
                text.push_str(if is_member { "\"…\":\"…\"" } else { "\"…\"" });
                last = letter;
                continue;
            }
            _ => (),
        }
        text.push(letter);
        if !letter.is_whitespace() {
            last = letter;
        }
    }
    serde_json::from_str(&text)
        .map_err(|error| format!("JSON was printed, and the page's is wrong: {error}\n{written}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree(written: &str, printed: &str) -> bool {
        Comparison::default().compare(written, printed, false).is_ok()
    }

    #[test]
    fn labels_and_whole_numbers_are_equal_and_fractions_near() {
        let printed = r#"{"predictions":[{"label":"੫","score":0.99}],"status":404}"#;
        assert!(agree(
            "{ \"status\": 404,\n  \"predictions\": [{\"label\":\"੫\",\"score\":0.985}] }",
            printed
        ));
        for wrong in
            [("੫", "੬"), ("0.99", "0.9"), ("404", "405"), ("404", "404,\"a\":1"), ("score", "scores")]
        {
            assert!(!agree(&printed.replace(wrong.0, wrong.1), printed), "{wrong:?}");
        }
    }

    #[test]
    fn what_is_left_out_may_be_anything() {
        let printed = r#"{"a":[1,2,3],"b":"text and more","c":{"d":null}}"#;
        for written in [
            r#"{"a":[1,…],"b":"text…","c":…}"#,
            r#"{"a":[…,3],…}"#,
            r#"{"a":[1,…,3],"b":"…","c":{…}}"#,
            r#"{…,"b":"…more"}"#,
        ] {
            assert!(agree(written, printed), "{written}");
        }
        for written in [r#"{"a":[2,…],…}"#, r#"{"a":[1,2,3,4,…],…}"#, r#"{"z":…,…}"#, r#"{"b":"more…",…}"#]
        {
            assert!(!agree(written, printed), "{written}");
        }
    }

    #[test]
    fn any_numbers_are_still_numbers() {
        let any =
            |written: &str, printed: &str| Comparison::default().compare(written, printed, true).is_ok();
        assert!(any(r#"{"x":[[1.5,…],…]}"#, r#"{"x":[[7,8,9],[1]]}"#));
        assert!(any("19 strokes at (1.5, 2)", "7 strokes at (3, 4.25)\n"));
        assert!(!any("19 strokes", "some strokes"));
        assert!(!any(r#"{"x":[[1.5,…],…]}"#, r#"{"x":[["7"]]}"#));
        assert!(!any(r#"{"x":[[1.5,…],…]}"#, r#"{"y":[[7]]}"#));
    }

    #[test]
    fn an_id_stands_for_one_value() {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|digit| {
            format!(
                "{}-{}-{}-{}-{}",
                digit.repeat(8),
                digit.repeat(4),
                digit.repeat(4),
                digit.repeat(4),
                digit.repeat(12)
            )
        });
        let mut page = Comparison::default();
        page.compare(&format!("{{\"id\":\"{a}\"}}"), &format!("{{\"id\":\"{c}\"}}"), false).unwrap();
        assert_eq!(page.with_ids(&format!("/v1/jobs/{a}?{b}")), format!("/v1/jobs/{c}?{b}"));
        page.compare(&format!("job {a} of {b}"), &format!("job {c} of {d}"), false).unwrap();
        page.compare(&a, &d, false).unwrap_err();
    }

    #[test]
    fn heads_are_compared_by_header() {
        let printed =
            "HTTP/1.1 202 Accepted\r\ndate: today\r\nlocation: /v1/jobs/7\r\n\r\n{\"state\":\"queued\"}";
        assert!(agree("HTTP/1.1 202 Accepted\n…\nLocation: /v1/jobs/…\n\n{\"state\":\"queued\"}\n", printed));
        assert!(agree("HTTP/1.1 202 Accepted\n", printed));
        assert!(!agree("HTTP/1.1 200 OK\n", printed));
        assert!(!agree("HTTP/1.1 202 Accepted\nRetry-After: 1\n", printed));
        assert!(!agree("HTTP/1.1 202 Accepted\n\n{\"state\":\"running\"}\n", printed));
    }

    #[test]
    fn lines_of_text_are_compared_in_order() {
        let printed = "digits-pa  in use\nletters-pa  in use  \nmore\n2026-01-31T12:00:00.5Z\n";
        assert!(agree("digits-pa  in use\n…\n2025-01-01T00:00:00Z\n", printed));
        assert!(agree("digits-pa…\nletters-pa  in use\n…\n", printed));
        assert!(!agree("letters-pa…\n…\n", printed));
        assert!(!agree("digits-pa  in use\n", printed));
    }

    #[test]
    fn fractions_in_text_are_near_and_versions_equal() {
        let printed = "[{'label': '੩', 'score': 0.99}] 15360 bytes, 1.31.1 at 127.0.0.1:8080\n";
        assert!(agree(&printed.replace("0.99", "0.995"), printed));
        for wrong in [("0.99", "0.9"), ("15360", "15361"), ("1.31.1", "1.31.2"), ("127.0", "127.1")] {
            assert!(!agree(&printed.replace(wrong.0, wrong.1), printed), "{wrong:?}");
        }
    }
}
