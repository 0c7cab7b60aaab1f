//! A directory with a few designs, for tests that change them.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use assert_cmd::Command;
use bubbleproof::regress::{Cache, CheckOptions, CheckedDesign, Suite, SuiteReport};
use bubbleproof::stop::Stop;
use tempfile::TempDir;

pub const V_HALF: &str = include_str!("../../../models/blocks/v-half.toml");

/// A schedule of two devices and two microbatches, as a file.
pub const SCHEDULE: &str = r#"{"format": "bubbleproof-schedule-1", "placement": [[0], [1]], "microbatches": 2,
"orders": [["0F0", "0F1", "0I0", "0W0", "0I1", "0W1"],
           ["1F0", "1I0", "1W0", "1F1", "1I1", "1W1"]]}"#;

/// The same with both W of device 0 at its end: 9 ticks instead of 8, a third of them idle instead of a
/// quarter, and no more memory.
pub fn slower() -> String {
    let (from, to) = ("\"0W0\", \"0I1\"", "\"0I1\", \"0W0\"");
    assert!(SCHEDULE.contains(from));
    SCHEDULE.replace(from, to)
}

/// What CI systems tell the tool.
pub const CI_VARIABLES: [&str; 3] = ["GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"];

/// A directory of its own, gone at the end of the test.
pub struct Scene {
    directory: TempDir,
}

/// What a run of the tool left behind.
pub struct Run {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Scene {
    /// With a manifest and files.
    pub fn new(manifest: &str, files: &[(&str, &str)]) -> Self {
        let scene = Self { directory: TempDir::new().expect("a directory") };
        scene.write("regress.toml", manifest);
        for (name, text) in files {
            scene.write(name, text);
        }
        scene
    }

    /// V-Half at a few numbers of devices, accepted.
    pub fn of_v_half() -> Self {
        let manifest = "[[family]]\nname = \"v-half\"\nfile = \"v-half.toml\"\ndevices = [1, 2, 3, 4, 5, 8]\n\
                        microbatches = [1, 8]\npromise = \"2*peak <= peak_1f1b + 4\"\n";
        let scene = Self::new(manifest, &[("v-half.toml", V_HALF)]);
        scene.accept();
        scene
    }

    /// A schedule, accepted.
    pub fn of_schedule(more: &str) -> Self {
        let manifest = format!("[[schedule]]\nname = \"ours\"\nfile = \"ours.json\"\n{more}");
        let scene = Self::new(&manifest, &[("ours.json", SCHEDULE)]);
        scene.accept();
        scene
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("it can be written");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Replaces a part of a file that must be there.
    pub fn replace(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{from} in {text}");
        self.write(name, &text.replace(from, to));
    }

    pub fn suite(&self) -> Suite {
        Suite::read(self.directory.path()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Everything, found anew.
    pub fn check(&self) -> SuiteReport {
        self.check_with(None)
    }

    pub fn check_with(&self, cache: Option<Cache>) -> SuiteReport {
        let options = CheckOptions { cache, limit: Duration::from_secs(60), stop: Stop::default() };
        self.suite().check(&options, &|_| ()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The only design, found anew.
    pub fn checked(&self) -> CheckedDesign {
        let mut results = self.check().results;
        assert_eq!(results.len(), 1);
        results.remove(0)
    }

    pub fn accept(&self) -> Vec<String> {
        let accepted = self.suite().accept(&self.check()).unwrap_or_else(|error| panic!("{error}"));
        let paths = accepted.written.into_iter().chain(accepted.removed);
        paths.map(|path| path.file_name().expect("a file").to_string_lossy().into_owned()).collect()
    }

    /// Runs the tool in the directory.
    pub fn run(&self, arguments: &[&str]) -> Run {
        self.run_in("", arguments, &[])
    }

    /// Runs the tool in a folder of the directory, with variables whose values are files of the directory.
    pub fn run_in(&self, folder: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
        let mut command = Command::cargo_bin("bubbleproof").expect("the tool is built");
        command.arg("regress").args(arguments).current_dir(self.path(folder));
        // The tests may themselves run in a job.
        for name in CI_VARIABLES {
            command.env_remove(name);
        }
        for (name, file) in variables {
            command.env(name, self.path(file));
        }
        let output = command.output().expect("the tool runs");
        let text = |bytes| String::from_utf8(bytes).expect("the tool prints UTF-8");
        Run {
            status: output.status.code().expect("the tool ends by itself"),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Run {
    /// Everything at once, for snapshots.
    pub fn transcript(&self) -> String {
        let error =
            if self.err.is_empty() { String::new() } else { format!("--- standard error\n{}", self.err) };
        format!("{}{error}--- exit status {}\n", self.out, self.status)
    }
}
