//! Commands that mend a schedule, as they can be typed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::file_name::FileName;

/// Where a schedule and its model come from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The schedule file, or the file of a block family.
    pub schedule: PathBuf,
    /// The model file.
    pub model: Option<PathBuf>,
    /// Devices and microbatches, where the file is a block family.
    pub size: Option<[u32; 2]>,
    /// Whether other options change the model. `convert` has none of them, so what it does may differ.
    pub is_changed: bool,
}

/// What `convert` has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Move passes.
    Nearest,
    /// Write the sends and receives anew.
    Lower,
}

impl Origin {
    /// The command that writes a mended schedule, in this format of `convert`, beside the file.
    pub fn mended(&self, remedy: Remedy, format: &str) -> String {
        let size = self.size.map_or_else(String::new, |[devices, microbatches]| {
            format!(" --devices {devices} --microbatches {microbatches}")
        });
        let nearest = if remedy == Remedy::Nearest { " --nearest" } else { "" };
        let model = self.model.as_ref().map_or_else(String::new, |path| format!(" --model {}", quoted(path)));
        format!(
            "bubbleproof convert {}{size}{nearest}{model} --to {format} -o {}",
            quoted(&self.schedule),
            quoted(&self.beside(format)),
        )
    }

    fn beside(&self, format: &str) -> PathBuf {
        let extension = if format == "json" { "json" } else { "csv" };
        let stem = self.schedule.file_stem().and_then(OsStr::to_str).filter(|&stem| stem != "-");
        let name =
            stem.map_or_else(|| format!("mended.{extension}"), |stem| format!("{stem}-mended.{extension}"));
        self.schedule.with_file_name(name)
    }
}

/// A path as a shell takes it for one word, and no option.
fn quoted(path: &Path) -> String {
    let mut text = FileName::of(path).to_string();
    if text.starts_with('-') && text != "-" {
        text.insert_str(0, "./");
    }
    let plain = |letter: char| letter.is_alphanumeric() || "-_./+,:@%=".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_as_it_is_printed() {
        let origin =
            |schedule: &str| Origin { schedule: schedule.into(), model: None, size: None, is_changed: false };
        assert_eq!(
            origin("runs/a b.csv").mended(Remedy::Nearest, "pytorch-comms"),
            "bubbleproof convert 'runs/a b.csv' --nearest --to pytorch-comms -o 'runs/a b-mended.csv'"
        );
        assert_eq!(
            origin("-").mended(Remedy::Lower, "pytorch-comms"),
            "bubbleproof convert - --to pytorch-comms -o mended.csv"
        );
        assert_eq!(
            origin("-it's.csv").mended(Remedy::Nearest, "pytorch"),
            "bubbleproof convert './-it'\\''s.csv' --nearest --to pytorch -o './-it'\\''s-mended.csv'"
        );
        let family = Origin {
            schedule: "mine.toml".into(),
            model: Some("cluster.toml".into()),
            size: Some([4, 8]),
            is_changed: false,
        };
        assert_eq!(
            family.mended(Remedy::Nearest, "json"),
            "bubbleproof convert mine.toml --devices 4 --microbatches 8 --nearest --model cluster.toml --to json \
             -o mine-mended.json"
        );
    }
}
