//! What `optimize` finds for a model, as every other command sees it.

use serde_json::Value;

use super::tool;

/// A schedule that `optimize` found for a model, in a directory of its own.
pub(super) struct Optimized {
    model: &'static str,
    directory: tempfile::TempDir,
    /// The file of the schedule.
    pub file: String,
    /// The object that `optimize` printed.
    pub run: Value,
}

impl Optimized {
    /// What is found within seconds: it need not be the best that could be.
    pub fn of(model: &'static str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("found.json").to_str().expect("a plain name").to_owned();
        let run = tool(&["optimize", model, "--time-limit", "10", "-o", &file, "--json"]).json();
        Self { model, directory, file, run }
    }

    /// A file of this name beside the schedule.
    pub fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().expect("a plain name").to_owned()
    }

    /// Asserts that no named schedule that is valid has a shorter makespan.
    pub fn assert_no_worse_than_named(&self) {
        let named = tool(&["compare", self.model, "--time-limit", "5", "--json"]).json();
        let rows = named["schedules"].as_array().expect("a list").iter();
        // Within this time all named ones are there.
        let missing = named["missing"].as_array().map_or(&[][..], Vec::as_slice);
        assert!(missing.iter().all(|name| name == "optimized"), "{missing:?}");
        let valid = rows.filter(|row| row["valid"] == true && row["name"] != "optimized");
        let best = valid.filter_map(|row| row["makespan"].as_i64()).min().expect("some are valid");
        assert!(self.run["makespan"].as_i64() <= Some(best), "{} {named}", self.run);
    }

    /// Asserts that `verify` and `replay` find it valid, with this figure of `optimize`.
    pub fn assert_replays_to(&self, figure: &str) {
        for command in ["verify", "replay"] {
            let verified = tool(&[command, &self.file, "--model", self.model, "--json"]).json();
            assert_eq!((&verified["valid"], &verified[figure]), (&true.into(), &self.run[figure]));
        }
    }

    /// Draws it in every form of picture: as text, as SVG, as a page and as a trace.
    pub fn drawn(&self) -> [String; 4] {
        ["found.txt", "found.svg", "found.html", "found.trace.json"].map(|picture| {
            let file = self.path(picture);
            let drawn = tool(&["render", &self.file, "--model", self.model, "-o", &file]);
            assert_eq!(drawn.status, 0, "{picture}: {}", drawn.err);
            std::fs::read_to_string(file).expect("a picture")
        })
    }

    /// Asserts that `verify --every-m` leaves it undecided, since the model or the schedule has this.
    pub fn assert_undecided_for_every_m(&self, why: &str) {
        let every = tool(&["verify", &self.file, "--model", self.model, "--every-m"]);
        assert_eq!(every.status, 3, "{}", every.out);
        assert!(every.out.contains(why), "{}", every.out);
    }
}
