//! `docs/regress.md` is executed: its files are written, its commands run in one directory, and what it
//! says that they print is what they print.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bubbleproof::prove::has_solver;

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/regress.md")
}

/// A block of a page between two fences.
struct Block<'a> {
    language: &'a str,
    text: &'a str,
}

/// The page as pieces of prose and blocks, in order.
fn pieces(page: &str) -> Vec<Result<&str, Block<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find("\n```") {
        let (prose, block) = rest.split_at(start + 1);
        let (fence, body) = block.split_once('\n').expect("a fence is a line");
        let end = if body.starts_with("```") { 0 } else { body.find("\n```").expect("a block ends") + 1 };
        pieces.push(Ok(prose));
        pieces.push(Err(Block { language: fence.trim_start_matches('`'), text: &body[..end] }));
        rest = &body[end..];
        rest = rest.strip_prefix("```").expect("a fence");
    }
    pieces.push(Ok(rest));
    pieces
}

/// What a command printed: both streams, then the status where it is not 0 in front of it.
fn run(command: &str, directory: &Path) -> String {
    let tool = assert_cmd::cargo::cargo_bin("bubbleproof");
    let path =
        format!("{}:{}", tool.parent().expect("a folder").display(), std::env::var("PATH").expect("a path"));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(directory)
        .env("PATH", path)
        .env_remove("COLUMNS")
        .env_remove("GITHUB_STEP_SUMMARY")
        .env_remove("GITHUB_WORKSPACE")
        .env_remove("CI_PROJECT_DIR")
        .output()
        .expect("a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = match output.status.code() {
        Some(0) => String::new(),
        status => format!("? {}\n", status.expect("it ends by itself")),
    };
    let printed = text(&output.stdout) + &text(&output.stderr);
    format!("{status}{printed}")
}

/// A block of commands as it should be, after running them.
fn executed(block: &str, directory: &Path) -> String {
    let mut text = String::new();
    for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
        if !text.is_empty() {
            text.push('\n');
        }
        write!(text, "$ {command}\n{}", run(command, directory)).expect("texts grow");
    }
    text
}

/// With `UPDATE_EXAMPLES` set, the page is written as it should be.
#[test]
#[cfg(unix)]
fn the_examples_of_the_page_print_what_it_says() {
    let page_text = fs::read_to_string(page()).expect("the page");
    let directory = tempfile::tempdir().expect("a directory");
    let mut expected = String::new();
    for piece in pieces(&page_text) {
        match piece {
            Ok(prose) => expected.push_str(prose),
            Err(Block { language, text }) => {
                // A file is named in its first line, as a comment.
                let named = text
                    .lines()
                    .next()
                    .and_then(|line| line.strip_prefix("# "))
                    .filter(|_| language == "toml");
                if let Some(name) = named.filter(|name| !name.contains(' ')) {
                    fs::write(directory.path().join(name), text).expect("it can be written");
                }
                let text =
                    if language == "console" { executed(text, directory.path()) } else { text.to_owned() };
                write!(expected, "```{language}\n{text}```").expect("texts grow");
            }
        }
    }
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(page(), &expected).expect("the page can be written");
    } else if has_solver() {
        assert_eq!(page_text, expected);
    }
    // Builds without a solver say of some theorems that they are undecided; with which status a command ends is the
    // same.
    let statuses = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("? ") || line.starts_with("$ "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(statuses(&page_text), statuses(&expected));
}

/// The blocks of YAML on the page.
fn workflows(page: &str) -> Vec<&str> {
    let blocks = pieces(page).into_iter().filter_map(Result::err).filter(|block| block.language == "yaml");
    blocks.map(|block| block.text).collect()
}

/// Every command of the workflows that calls the tool is one that it takes.
#[test]
#[cfg(unix)]
fn the_workflows_of_the_page_are_current() {
    let page_text = fs::read_to_string(page()).expect("the page");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = tempfile::tempdir().expect("a directory");
    fs::copy(root.join("models/blocks/1f1b.toml"), directory.path().join("1f1b.toml")).expect("a family");
    for set_up in ["bubbleproof regress --init 1f1b.toml -o designs", "bubbleproof regress designs --accept"]
    {
        let printed = run(set_up, directory.path());
        assert!(!printed.starts_with("? "), "{printed}");
    }
    let lines = workflows(&page_text)
        .into_iter()
        .flat_map(str::lines)
        .map(|line| line.trim_start().trim_start_matches("- "));
    let commands: Vec<&str> = lines
        .map(|line| line.strip_prefix("run: ").unwrap_or(line))
        .filter(|command| command.starts_with("bubbleproof "))
        .collect();
    assert_eq!(commands.len(), 4, "{commands:?}");
    for command in commands {
        // A build without a solver has not decided everything, as --strict demands.
        let printed = run(command, directory.path());
        let strict = command.contains("--strict") && !has_solver();
        assert_eq!(printed.starts_with("? 1\n"), strict, "{command}: {printed}");
        assert!(!printed.starts_with("? 2"), "{command}: {printed}");
    }
    let report = fs::read_to_string(directory.path().join("designs.json")).expect("written");
    serde_json::from_str::<serde_json::Value>(&report).expect("JSON");
}

/// The workflow gives the action nothing but inputs that it has, and the page tells of all of them with their defaults.
#[test]
fn the_page_tells_of_the_inputs_that_the_action_has() {
    let page_text = fs::read_to_string(page()).expect("the page");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let action = fs::read_to_string(root.join("action.yml")).expect("the action");
    let inputs =
        action.split_once("\ninputs:\n").and_then(|(_, rest)| rest.split_once("\nruns:")).expect("inputs").0;
    let names: Vec<&str> = inputs
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'))
        .filter(|name| !name.starts_with(' '))
        .collect();
    for name in &names {
        let (_, rest) = inputs.split_once(&format!("  {name}:\n")).expect("it was found there");
        let default =
            rest.lines().find_map(|line| line.trim_start().strip_prefix("default: ")).expect("a default");
        let default = match default.trim_matches('"') {
            "" => "none".to_owned(),
            default => format!("`{default}`"),
        };
        assert!(page_text.contains(&format!("\n| `{name}` | {default} |")), "{name}: {default}");
    }
    let workflow = workflows(&page_text)[0];
    let (_, given) =
        workflow.split_once("uses: OWNER/bubbleproof@main\n        with:\n").expect("the action");
    for line in given.lines() {
        let (name, _) = line.trim().split_once(": ").expect("an input");
        assert!(names.contains(&name), "{name}");
    }
}
