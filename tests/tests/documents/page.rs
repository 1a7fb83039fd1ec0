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

/// The blocks that are run.
const RUN: [&str; 5] = ["console", "sh", "python", "js", "ts"];
/// The start of a comment that says why a block is not run.
const NOT_RUN: &str = "not run:";
/// The start of a comment that says why the numbers of a block are not compared.
const ANY_NUMBERS: &str = "any numbers:";
/// Ends a program that a shell gives to Python or Node.js.
const END: &str = "END_OF_PROGRAM";

/// A fenced block of a page.
#[derive(Debug)]
struct Block<'a> {
    /// Of the fence, from 1.
    line: usize,
    /// What stands after the fence.
    kind: &'a str,
    /// The comment above it.
    comment: &'a str,
    lines: Vec<&'a str>,
    /// Whether nothing but blank lines and a comment is between it and the block above it.
    is_next: bool,
}

/// The commands of every block that is to be run, in order; or what is wrong with the page.
pub(crate) fn steps(page: &str) -> Result<Vec<Step>, String> {
    let blocks = blocks(page);
    let mut steps = Vec::new();
    for (i, block) in blocks.iter().enumerate() {
        let output = blocks.get(i + 1).filter(|next| next.is_next && next.kind == "text");
        let found = block.steps(output).map_err(|error| format!("line {}: {error}", block.line))?;
        steps.extend(found);
    }
    Ok(steps)
}

/// The sections of a page: the title of each, how many lines of the page are before it, and its text.
pub(crate) fn sections(page: &str) -> Vec<(&str, usize, String)> {
    let mut sections: Vec<(&str, usize, String)> = Vec::new();
    for (index, line) in page.lines().enumerate() {
        if let Some(title) = line.strip_prefix("## ") {
            sections.push((title, index, String::new()));
        }
        if let Some((_, _, text)) = sections.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    sections
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let (mut comment, mut is_next) = ("", false);
    let mut lines = page.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let trimmed = line.trim_start();
        let fence: String = trimmed.chars().take_while(|c| *c == '`').collect();
        if fence.len() >= 3 {
            let indent = line.len() - trimmed.len();
            let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != fence);
            let inside = inside.map(|line| line.get(indent..).unwrap_or_default()).collect();
            let kind = trimmed.trim_start_matches('`').trim();
            blocks.push(Block { line: index + 1, kind, comment, lines: inside, is_next });
            (comment, is_next) = ("", true);
        } else if let Some(text) = trimmed.strip_prefix("<!--").and_then(|t| t.strip_suffix("-->")) {
            comment = text.trim();
        } else if !trimmed.is_empty() {
            (comment, is_next) = ("", false);
        }
    }
    blocks
}

impl Block<'_> {
    /// Its commands. `output` is the block below it, where that can be what a program prints.
    fn steps(&self, output: Option<&Block>) -> Result<Vec<Step>, String> {
        let word = self.kind.split([' ', ',']).next().unwrap_or_default();
        let others = ["bash", "shell", "shell-session", "javascript", "typescript"];
        if !RUN.contains(&word) && !others.contains(&word) {
            return Ok(Vec::new());
        }
        for start in [NOT_RUN, ANY_NUMBERS] {
            if self.comment.strip_prefix(start).is_some_and(|reason| reason.trim().is_empty()) {
                return Err(format!("`{start}` needs a reason"));
            }
        }
        let program = |command: String, output: Option<&Block>| Step {
            line: self.line,
            command,
            answer: output.map(|block| block.lines.join("\n")),
            has_any_numbers: output.is_some_and(|block| block.comment.starts_with(ANY_NUMBERS)),
        };
        let text = self.lines.join("\n");
        let given = |to: &str| format!("{to} <<'{END}'\n{text}\n{END}");
        match self.kind {
            kind if RUN.contains(&kind) && self.comment.starts_with(NOT_RUN) => Ok(Vec::new()),
            "console" => self.commands(),
            "python" => Ok(vec![program(given("python3 -"), output)]),
            "js" => Ok(vec![program(given("node --input-type=module -"), output)]),
            // The compiler checks the types. Node.js removes them.
            "ts" => Ok(vec![program(given("cat >program.ts") + "\ntsc\nnode program.ts", output)]),
            "sh" => Ok(vec![program(text, None)]),
            kind => Err(format!("a block that is run is one of {RUN:?}, not `{kind}`")),
        }
    }

    /// The commands of a session, each with what it prints.
    fn commands(&self) -> Result<Vec<Step>, String> {
        let has_any_numbers = self.comment.starts_with(ANY_NUMBERS);
        let mut steps: Vec<Step> = Vec::new();
        let mut is_open = false;
        for (line, text) in (self.line + 1..).zip(&self.lines) {
            if let Some(command) = text.strip_prefix("$ ") {
                steps.push(Step { line, command: command.to_owned(), answer: None, has_any_numbers });
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
        let expected = vec![
            step(4, "a \\\n    -b", Some("out\n")),
            step(7, "c 'd\ne'", None),
            step(9, "f", Some("1\n\n2\n")),
        ];
        assert_eq!(steps(page), Ok(expected));
    }

    #[test]
    fn a_script_is_one_command_and_other_blocks_are_none() {
        let page =
            "- item\n\n  ```sh\n  a\n  b\n  ```\n\n```json\n{}\n```\n\n````markdown\n```sh\nno\n```\n````\n";
        assert_eq!(steps(page), Ok(vec![step(3, "a\nb", None)]));
    }

    #[test]
    fn a_text_block_below_a_program_is_what_it_prints() {
        let page = "```python\na\n```\n\n<!-- any numbers: drawn -->\n```text\n1\n2\n```\n\n```ts\nb\n```\nwords\n\
            ```text\n3\n```\n";
        let found = steps(page).unwrap();
        assert!(found[0].command.contains("python3") && found[0].command.contains("\na\n"), "{found:?}");
        assert_eq!((found[0].answer.as_deref(), found[0].has_any_numbers), (Some("1\n2"), true));
        assert_eq!((found[1].answer.as_deref(), found.len()), (None, 2));
        assert!(found[1].command.contains("\nb\n") && found[1].command.contains("\ntsc\n"), "{found:?}");
    }

    #[test]
    fn comments_hold_for_the_block_below_them() {
        let page = "<!-- not run: it installs -->\n```sh\na\n```\n\n<!-- any numbers: drawn -->\n\n```console\n$ b\n```\n\
            ```sh\nc\n```\n<!-- not run: too far away -->\ntext\n```sh\nd\n```\n";
        let found: Vec<(String, bool)> =
            steps(page).unwrap().into_iter().map(|s| (s.command, s.has_any_numbers)).collect();
        let expected = [("b", true), ("c", false), ("d", false)];
        assert_eq!(found, expected.map(|(command, any)| (command.to_owned(), any)));
    }

    #[test]
    fn a_page_says_what_is_wrong_with_it() {
        let wrong = |page: &str| steps(page).unwrap_err();
        assert!(wrong("```bash\na\n```\n").contains("line 1: a block that is run is"));
        assert!(wrong("\n```console,norun\n$ a\n```\n").contains("line 2: a block that is run is"));
        assert!(wrong("<!-- not run: -->\n```sh\na\n```\n").contains("needs a reason"));
        assert!(wrong("```console\na\n```\n").contains("starts with `$ `"));
    }
}
