//! `action.yml` without GitHub: its steps run in a repository of their own, with the built tool in place of the one that
//! they would install, and with the variables and files that a runner gives them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::regress::scene::{SCHEDULE, slower};

/// An action, as far as its steps are run here.
#[derive(Debug, Default)]
struct Action {
    /// The keys of the file, of its inputs and of `runs`, each as `inputs.directory.default`.
    values: BTreeMap<String, String>,
    steps: Vec<Step>,
}

/// A step: its keys, `env` and `with` below them as `env.STRICT`.
type Step = BTreeMap<String, String>;

/// Reads the part of YAML that the file is written in: nested keys, texts on one line, and blocks after `|`.
fn parse(text: &str) -> Action {
    let mut action = Action::default();
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let content = line.trim_start();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let begins_step = content.starts_with("- ");
        let (indent, content) = match content.strip_prefix("- ") {
            Some(rest) => (line.len() - rest.len(), rest),
            None => (line.len() - content.len(), content),
        };
        if begins_step {
            action.steps.push(Step::new());
        }
        path.retain(|(other, _)| *other < indent);
        let (key, value) = content.split_once(':').unwrap_or_else(|| panic!("no key: {line}"));
        let value = value.trim();
        path.push((indent, key.to_owned()));
        let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let mut value = quoted.unwrap_or(value).to_owned();
        if value == "|" {
            value.clear();
            while let Some(line) =
                lines.next_if(|line| line.is_empty() || line.len() - line.trim_start().len() > indent)
            {
                value.push_str(line.get(indent + 2..).unwrap_or_default());
                value.push('\n');
            }
        }
        let names: Vec<&str> = path.iter().map(|(_, key)| key.as_str()).collect();
        match names.strip_prefix(&["runs", "steps"]) {
            Some(own) if !own.is_empty() => {
                action.steps.last_mut().expect("a step").insert(own.join("."), value);
            }
            _ => _ = action.values.insert(names.join("."), value),
        }
    }
    action
}

fn action() -> Action {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml");
    parse(&fs::read_to_string(path).expect("the action"))
}

/// A repository with a design, and what a runner has around it.
struct Runner {
    directory: TempDir,
}

/// What a step left behind.
struct Ran {
    status: i32,
    log: String,
}

impl Runner {
    fn new() -> Self {
        let runner = Self { directory: TempDir::new().expect("a directory") };
        for folder in ["repo/of ours", "temp/bubbleproof/bin"] {
            fs::create_dir_all(runner.path(folder)).expect("made");
        }
        runner.write("repo/schedules.json", SCHEDULE);
        runner.write(
            "repo/of ours/regress.toml",
            "[[schedule]]\nname = \"ours\"\nfile = \"../schedules.json\"\n",
        );
        for file in ["summary.md", "path", "output"] {
            runner.write(file, "");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(
            assert_cmd::cargo::cargo_bin("bubbleproof"),
            runner.path("temp/bubbleproof/bin/bubbleproof"),
        )
        .expect("linked");
        runner
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs a step as the runner does: its script is a file, and bash ends at the first command that fails.
    fn run(&self, step: &Step, inputs: &BTreeMap<&str, &str>) -> Ran {
        assert_eq!(
            step.get("shell").map(String::as_str),
            Some("bash"),
            "a composite action names the shell of every step"
        );
        self.write("step.sh", &step["run"]);
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(self.path("step.sh"));
        command.current_dir(self.path("repo"));
        for (name, file) in [
            ("GITHUB_WORKSPACE", "repo"),
            ("GITHUB_STEP_SUMMARY", "summary.md"),
            ("GITHUB_PATH", "path"),
            ("GITHUB_OUTPUT", "output"),
            ("RUNNER_TEMP", "temp"),
        ] {
            command.env(name, self.path(file));
        }
        command.env("GITHUB_ACTIONS", "true").env("GITHUB_ACTION_PATH", env!("CARGO_MANIFEST_DIR"));
        for (key, value) in step {
            if let Some(name) = key.strip_prefix("env.") {
                command.env(name, evaluated(value, inputs));
            }
        }
        let output = command.output().expect("bash runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran {
            status: output.status.code().expect("it ends by itself"),
            log: text(&output.stdout) + &text(&output.stderr),
        }
    }
}

/// An expression of GitHub's that is one input alone.
fn evaluated(value: &str, inputs: &BTreeMap<&str, &str>) -> String {
    let inner = value.strip_prefix("${{ inputs.").and_then(|rest| rest.strip_suffix(" }}"));
    let name = inner.unwrap_or_else(|| panic!("an input is expected: {value}"));
    inputs.get(name).unwrap_or_else(|| panic!("no input is called {name}")).to_string()
}

/// The inputs with their defaults.
fn inputs(action: &Action) -> BTreeMap<&str, &str> {
    let mut inputs = BTreeMap::new();
    for (key, value) in &action.values {
        if let Some(name) = key.strip_prefix("inputs.").and_then(|rest| rest.strip_suffix(".default")) {
            inputs.insert(name, value.as_str());
        }
    }
    inputs
}

fn step<'a>(action: &'a Action, id: &str) -> &'a Step {
    let found = action.steps.iter().find(|step| step.get("id").map(String::as_str) == Some(id));
    found.unwrap_or_else(|| panic!("no step {id}"))
}

#[test]
fn the_action_is_one_that_github_runs() {
    let action = action();
    assert_eq!(action.values["runs.using"], "composite");
    for key in ["name", "description"] {
        assert!(!action.values[key].is_empty(), "{key}");
    }
    let names: Vec<&str> = inputs(&action).into_keys().collect();
    assert_eq!(names, ["directory", "solver", "strict", "time-limit"]);
    for name in names {
        assert!(!action.values[&format!("inputs.{name}.description")].is_empty(), "{name}");
        assert_eq!(action.values[&format!("inputs.{name}.required")], "false", "{name}");
    }
    for step in &action.steps {
        assert!(step.contains_key("run") != step.contains_key("uses"), "{step:?}");
        if let Some(run) = step.get("run") {
            assert!(!run.contains("${{"), "what an expression gives would be run: {run}");
            assert_eq!(step["shell"], "bash");
        }
        for value in step.values() {
            for (at, _) in value.match_indices("inputs.") {
                let name: String = value[at + 7..]
                    .chars()
                    .take_while(|letter| letter.is_ascii_alphabetic() || *letter == '-')
                    .collect();
                assert!(inputs(&action).contains_key(name.as_str()), "{value}");
            }
        }
    }
    let install = &step(&action, "install")["run"];
    for part in
        ["cargo install --locked", "--path \"$GITHUB_ACTION_PATH\"", "--root \"$RUNNER_TEMP/bubbleproof\""]
    {
        assert!(install.contains(part), "{install}");
    }
    // What the tests use is what users get.
    let makefile = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Makefile")).expect("there");
    let solver = &step(&action, "solver")["run"];
    let wheel = solver.split_whitespace().find(|word| word.starts_with("z3-solver==")).expect("a wheel");
    assert!(makefile.contains(wheel), "{wheel}");
}

#[test]
#[cfg(unix)]
fn its_steps_annotate_what_got_worse_and_write_the_summary() {
    let (action, runner) = (action(), Runner::new());
    let mut inputs = inputs(&action);
    inputs.insert("directory", "of ours");
    let sources = runner.run(step(&action, "sources"), &inputs);
    assert_eq!(sources.status, 0, "{}", sources.log);
    let output = runner.read("output");
    let digest = output.trim_end().strip_prefix("digest=").unwrap_or_else(|| panic!("{output}"));
    assert!(digest.len() == 64 && digest.chars().all(|letter| letter.is_ascii_hexdigit()), "{output}");

    let regress = step(&action, "regress");
    let new = runner.run(regress, &inputs);
    assert_eq!(new.status, 1, "{}", new.log);
    assert!(
        new.log.contains("::error file=of ours/regress.toml,line=2,title=ours%3A worse::"),
        "{}",
        new.log
    );
    let tool = runner.path("temp/bubbleproof/bin/bubbleproof");
    let accepted =
        Command::new(tool).args(["regress", "of ours", "--accept"]).current_dir(runner.path("repo")).status();
    assert!(accepted.expect("it runs").success());

    runner.write("summary.md", "of another step\n");
    inputs.insert("strict", "true");
    let unchanged = runner.run(regress, &inputs);
    assert_eq!((unchanged.status, unchanged.log.as_str()), (0, ""));
    assert!(
        runner
            .read("summary.md")
            .starts_with("of another step\n### Designs in `of ours`: 1 design, 1 unchanged\n")
    );

    runner.write("repo/schedules.json", &slower());
    runner.write("summary.md", "");
    inputs.insert("time-limit", "600");
    let worse = runner.run(regress, &inputs);
    assert_eq!(worse.status, 1, "{}", worse.log);
    assert!(
        worse.log.starts_with("::error file=schedules.json,line=2,title=ours%3A worse::"),
        "{}",
        worse.log
    );
    assert!(
        runner.read("summary.md").contains("| `ours` (schedule) | **worse** | makespan |"),
        "{}",
        runner.read("summary.md")
    );
}

#[test]
#[cfg(unix)]
fn nothing_in_an_input_is_run() {
    let (action, runner) = (action(), Runner::new());
    let mut inputs = inputs(&action);
    for directory in ["$(touch touched)", "\"; touch touched; \"", "--accept"] {
        inputs.insert("directory", directory);
        let ran = runner.run(step(&action, "regress"), &inputs);
        assert_eq!(ran.status, 2, "{}", ran.log);
        assert!(!runner.path("repo/touched").exists(), "{directory}");
    }
}
