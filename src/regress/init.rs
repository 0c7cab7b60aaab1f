//! A manifest for new designs.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use super::inputs::{FileKind, sized, uncovered};
use super::manifest;
use super::suite::MANIFEST;
use crate::block::family::FormulaFileError;
use crate::files::{self, WriteError};
use crate::interchange::{self, Read};
use crate::model::{self, Model, reading};
use crate::text::Escaped;

const HEAD: &str = "\
# Designs under regression: `bubbleproof regress` finds everything about them anew and compares it with
# records/. What may be worse, by how much, and what is promised: docs/regress.md of bubbleproof.
#
# [allow]
# makespan = \"1%\"
";

/// Why no manifest was made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// A file that cannot be read or written.
    #[error("{}: {error}", Escaped(&path.to_string_lossy()))]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A file that is neither a block family, a model nor a schedule.
    #[error("{} is neither a block family, a model nor a schedule", Escaped(&.0.to_string_lossy()))]
    Neither(PathBuf),
    /// A file that should be TOML and is not.
    #[error("{}: {error}", Escaped(&path.to_string_lossy()))]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// What is wrong.
        error: Box<reading::FileError>,
    },
    /// A model that says more than records cover.
    #[error("{}: {message}", Escaped(&path.to_string_lossy()))]
    NotCovered {
        /// The file.
        path: PathBuf,
        /// What they do not cover.
        message: String,
    },
    /// A model that is wrong.
    #[error("{}: {error}", Escaped(&path.to_string_lossy()))]
    Model {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// What is wrong.
        error: Box<reading::FileError>,
    },
    /// A model for schedules, and no schedule.
    #[error("no schedule is to be judged under {}", Escaped(&.0.to_string_lossy()))]
    NoSchedule(PathBuf),
    /// A schedule with another placement than the model that it is to be judged under.
    #[error(
        "{} has another placement than {}",
        Escaped(&schedule.to_string_lossy()),
        Escaped(&model.to_string_lossy())
    )]
    Placement {
        /// The schedule.
        schedule: PathBuf,
        /// The model.
        model: PathBuf,
    },
    /// A manifest to which no table can be added at its end.
    #[error("{} lists designs in a way that cannot be continued at its end", Escaped(&.0.to_string_lossy()))]
    Closed(PathBuf),
    /// A name that is taken.
    #[error("a design is called {0} already")]
    Taken(String),
    /// The manifest that is there is wrong.
    #[error("{}: {error}", Escaped(&path.to_string_lossy()))]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// What is wrong.
        error: Box<FormulaFileError>,
    },
}

impl From<WriteError> for InitError {
    fn from(WriteError { path, error }: WriteError) -> Self {
        Self::File { path, error }
    }
}

/// The manifest that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initialised {
    /// The manifest.
    pub manifest: PathBuf,
    /// The designs that were entered: name, and what each is.
    pub designs: Vec<(String, &'static str)>,
}

/// Enters files into the manifest of a directory; both are made where they are not there. What the manifest
/// says already stays as it is. Schedules are entered with the model that they are to be judged under, if one is given;
/// files are named from the directory on, and stay where they are.
///
/// # Errors
/// When a file is nothing that can be kept under regression, a model says more than records cover, or is none of the
/// schedules, a name is taken, the manifest cannot be continued, or something cannot be written; nothing is then changed.
pub fn initialise(
    paths: &[PathBuf],
    model: Option<&Path>,
    directory: &Path,
) -> Result<Initialised, InitError> {
    let failed = |path: &Path, error| InitError::File { path: path.to_owned(), error };
    let manifest_path = directory.join(MANIFEST);
    let old = match files::read_text(&manifest_path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => HEAD.to_owned(),
        old => old.map_err(|error| failed(&manifest_path, error))?,
    };
    let known = match manifest::parse(&old) {
        Ok(known) => known.designs,
        Err(error) => {
            return Err(InitError::Manifest { path: manifest_path, text: old, error: Box::new(error) });
        }
    };
    let mut names: Vec<String> = known.into_iter().map(|design| design.name).collect();
    let (mut text, mut designs) = (old, Vec::new());
    let mut found = Vec::new();
    let under = model.map(|path| read_model(path).map(|model| (path, model))).transpose()?;
    for path in paths {
        let content = files::read_text(path).map_err(|error| failed(path, error))?;
        let kind = match (kind_of(&content), reading::document(&content).err()) {
            (Some(kind), _) => kind,
            (None, Some(error))
                if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) =>
            {
                let error = Box::new(error);
                return Err(InitError::Syntax { path: path.clone(), text: content, error });
            }
            (None, _) => return Err(InitError::Neither(path.clone())),
        };
        // What is wrong with a model is said when it is measured, at its place.
        if kind == FileKind::Model
            && let Some(message) = model::parse(&content).ok().as_ref().and_then(uncovered)
        {
            return Err(InitError::NotCovered { path: path.clone(), message });
        }
        if let (FileKind::Schedule, Some((model_path, model)), Ok(read)) =
            (kind, &under, interchange::read(&content))
            && !fits(&read, model)
        {
            return Err(InitError::Placement { schedule: path.clone(), model: model_path.to_path_buf() });
        }
        let name = name_of(path);
        if names.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
            return Err(InitError::Taken(name));
        }
        names.push(name.clone());
        found.push((path, kind, name));
    }
    if let Some((path, _)) = &under
        && !found.iter().any(|(_, kind, _)| *kind == FileKind::Schedule)
    {
        return Err(InitError::NoSchedule(path.to_path_buf()));
    }
    fs::create_dir_all(directory).map_err(|error| failed(directory, error))?;
    for (path, kind, name) in found {
        let named = |path: &Path| from_directory(directory, path).map_err(|error| failed(path, error));
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let file = named(path)?;
        let (table, hints) = match kind {
            FileKind::Family => (
                "family",
                "# devices = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16]\n# microbatches = [1, 8, 32]\n\
                 # promise = [\"peak <= peak_1f1b\", \"makespan <= 1.1 * bound or m < d\"]\n"
                    .to_owned(),
            ),
            FileKind::Model => ("model", "# devices = [4, 8]\n# microbatches = [16, 64]\n".to_owned()),
            FileKind::Schedule => {
                let model = match model {
                    Some(model) => format!("model = {}\n", quoted(&named(model)?)),
                    None => "# model = \"model.toml\"\n".to_owned(),
                };
                ("schedule", format!("{model}# promise = [\"makespan <= 1.05 * bound\"]\n"))
            }
        };
        write!(text, "\n[[{table}]]\nname = {}\nfile = {}\n{hints}", quoted(&name), quoted(&file))
            .expect("texts grow");
        designs.push((name, table));
    }
    if manifest::parse(&text).is_err() {
        return Err(InitError::Closed(manifest_path));
    }
    files::write(&manifest_path, &text)?;
    Ok(Initialised { manifest: manifest_path, designs })
}

/// A model that schedules are to be judged under.
fn read_model(path: &Path) -> Result<Model, InitError> {
    let text = files::read_text(path).map_err(|error| InitError::File { path: path.to_owned(), error })?;
    let model = match model::parse(&text) {
        Ok(model) => model,
        Err(error) => return Err(InitError::Model { path: path.to_owned(), text, error: Box::new(error) }),
    };
    match uncovered(&model) {
        Some(message) => Err(InitError::NotCovered { path: path.to_owned(), message }),
        None => Ok(model),
    }
}

/// Whether a schedule has the placement of a model, at its own size.
fn fits(read: &Read, model: &Model) -> bool {
    let schedule = &read.schedule;
    sized(model.clone(), schedule.devices(), schedule.microbatches()).placement() == schedule.placement()
}

/// What a file is: families alone have `[[pass]]`, models alone `[pipeline]`.
fn kind_of(text: &str) -> Option<FileKind> {
    if let Ok(document) = reading::document(text) {
        let root = reading::root(&document);
        if root.get("pass").is_some() {
            return Some(FileKind::Family);
        }
        if root.get("pipeline").is_some() {
            return Some(FileKind::Model);
        }
    }
    interchange::read(text).is_ok().then_some(FileKind::Schedule)
}

/// The name of a file as that of a design.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let plain =
        |letter: char| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let name: String = stem.chars().map(plain).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "design".to_owned() } else { name.to_owned() }
}

/// The path of a file from a directory on, with `/` between its parts.
fn from_directory(directory: &Path, file: &Path) -> io::Result<String> {
    let (from, to) = (fs::canonicalize(directory)?, fs::canonicalize(file)?);
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from[shared..].iter().map(|_| "..".to_owned());
    let down = to[shared..].iter().map(|part| match part {
        Component::Normal(part) => part.to_string_lossy().into_owned(),
        other => other.as_os_str().to_string_lossy().into_owned(),
    });
    Ok(up.chain(down).collect::<Vec<_>>().join("/"))
}
