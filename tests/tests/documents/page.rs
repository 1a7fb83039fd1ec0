//! A page in Markdown comes in; the commands of its blocks come out, with what each is to print.

/// A command of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// Where it begins in its page, from 1.
    pub(crate) line: usize,
    /// For a shell.
    pub(crate) command: String,
    /// What it prints. `None`: anything.
    pub(crate) answer: Option<String>,
    /// Whether numbers are compared only as numbers.
    pub(crate) has_any_numbers: bool,
}

/// The start of a comment that says why a block is not run.
const NOT_RUN: &str = "not run:";
/// The start of a comment that says why the numbers of a block are not compared.
const ANY_NUMBERS: &str = "any numbers:";

/// The commands of every block that is to be run, in order; or what is wrong with the page.
pub(crate) fn steps(page: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut comment = "";
    let mut lines = page.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let trimmed = line.trim_start();
        let fence: String = trimmed.chars().take_while(|c| *c == '`').collect();
        if fence.len() >= 3 {
            let indent = line.len() - trimmed.len();
            let block: Vec<(usize, &str)> = lines
                .by_ref()
                .take_while(|(_, line)| line.trim() != fence)
                .map(|(index, line)| (index + 1, line.get(indent..).unwrap_or_default()))
                .collect();
            let kind = trimmed.trim_start_matches('`').trim();
            steps.extend(block_steps(kind, comment, &block).map_err(|e| format!("line {}: {e}", index + 1))?);
            comment = "";
        } else if let Some(text) = trimmed.strip_prefix("<!--").and_then(|t| t.strip_suffix("-->")) {
            comment = text.trim();
        } else if !trimmed.is_empty() {
            comment = "";
        }
    }
    Ok(steps)
}

fn block_steps(kind: &str, comment: &str, block: &[(usize, &str)]) -> Result<Vec<Step>, String> {
    let word = kind.split([' ', ',']).next().unwrap_or_default();
    if !["console", "sh", "bash", "shell", "shell-session"].contains(&word) {
        return Ok(Vec::new());
    }
    if kind != "console" && kind != "sh" {
        return Err(format!("a block of commands is `console` or `sh`, not `{kind}`"));
    }
    for start in [NOT_RUN, ANY_NUMBERS] {
        if comment.strip_prefix(start).is_some_and(|reason| reason.trim().is_empty()) {
            return Err(format!("`{start}` needs a reason"));
        }
    }
    if comment.starts_with(NOT_RUN) {
        return Ok(Vec::new());
    }
    let has_any_numbers = comment.starts_with(ANY_NUMBERS);
    if kind == "sh" {
        let lines: Vec<&str> = block.iter().map(|(_, line)| *line).collect();
        let line = block.first().map_or(0, |(line, _)| *line);
        return Ok(vec![Step { line, command: lines.join("\n"), answer: None, has_any_numbers }]);
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut is_open = false;
    for (line, text) in block {
        if let Some(command) = text.strip_prefix("$ ") {
            steps.push(Step { line: *line, command: command.to_owned(), answer: None, has_any_numbers });
            is_open = goes_on(command);
        } else if let Some(step) = steps.last_mut() {
            if is_open {
                step.command = format!("{}\n{text}", step.command);
                is_open = goes_on(&step.command);
            } else {
                let answer = step.answer.get_or_insert_default();
                answer.push_str(text);
                answer.push('\n');
            }
        } else {
            return Err("the first line of a console block starts with `$ `".to_owned());
        }
    }
    Ok(steps)
}

/// Whether a command goes on in the next line: after a backslash, or inside quotes.
fn goes_on(command: &str) -> bool {
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                letters.next();
            }
            ('\'' | '"', None) => quote = Some(letter),
            _ if quote == Some(letter) => quote = None,
            _ => (),
        }
    }
    quote.is_some() || command.ends_with('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(line: usize, command: &str, answer: Option<&str>) -> Step {
        let (command, answer) = (command.to_owned(), answer.map(str::to_owned));
        Step { line, command, answer, has_any_numbers: false }
    }

    #[test]
    fn commands_go_on_after_a_backslash_and_inside_quotes() {
        let page = "# Page\n\n```console\n$ a \\\n    -b\nout\n$ c 'd\ne'\n$ f\n1\n\n2\n```\n";
        let expected =
            vec![step(4, "a \\\n    -b", Some("out\n")), step(7, "c 'd\ne'", None), step(9, "f", Some("1\n\n2\n"))];
        assert_eq!(steps(page), Ok(expected));
    }

    #[test]
    fn a_script_is_one_command_and_other_blocks_are_none() {
        let page = "- item\n\n  ```sh\n  a\n  b\n  ```\n\n```json\n{}\n```\n\n````markdown\n```sh\nno\n```\n````\n";
        assert_eq!(steps(page), Ok(vec![step(4, "a\nb", None)]));
    }

    #[test]
    fn comments_hold_for_the_block_below_them() {
        let page = "<!-- not run: it installs -->\n```sh\na\n```\n\n<!-- any numbers: drawn -->\n\n```sh\nb\n```\n\
            ```sh\nc\n```\n<!-- not run: too far away -->\ntext\n```sh\nd\n```\n";
        let found: Vec<(String, bool)> =
            steps(page).unwrap().into_iter().map(|s| (s.command, s.has_any_numbers)).collect();
        let expected = [("b", true), ("c", false), ("d", false)];
        assert_eq!(found, expected.map(|(command, any)| (command.to_owned(), any)));
    }

    #[test]
    fn a_page_says_what_is_wrong_with_it() {
        let wrong = |page: &str| steps(page).unwrap_err();
        assert!(wrong("```bash\na\n```\n").contains("line 1: a block of commands is"));
        assert!(wrong("\n```console,norun\n$ a\n```\n").contains("line 2: a block of commands is"));
        assert!(wrong("<!-- not run: -->\n```sh\na\n```\n").contains("needs a reason"));
        assert!(wrong("```console\na\n```\n").contains("starts with `$ `"));
    }
}
