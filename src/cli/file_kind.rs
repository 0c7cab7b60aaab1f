//! What a file is that was given in place of another.

use std::fmt;

use serde::Deserialize;

use crate::interchange::pytorch;
use crate::model::reading;
use crate::schedule;

/// The kinds of files that are taken for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Nothing but white space.
    Empty,
    /// Stages with their costs.
    Model,
    /// Formulas of passes.
    Family,
    /// Layers with their costs.
    Job,
    /// Dimensions of a transformer.
    Transformer,
    /// Orders of passes.
    Schedule,
}

impl FileKind {
    /// What a text is, by the keys that only one kind has; nothing when it is none of these.
    pub fn of(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Format {
            format: String,
        }
        let start = text.trim_start();
        if start.is_empty() {
            return Some(Self::Empty);
        }
        if start.starts_with('{') {
            let format = serde_json::from_str::<Format>(text).ok()?.format;
            return (format == schedule::FORMAT).then_some(Self::Schedule);
        }
        let Ok(document) = reading::document(text) else {
            return pytorch::parse(text).is_ok().then_some(Self::Schedule);
        };
        let root = reading::root(&document);
        let kinds = [
            ("pass", Self::Family),
            ("layers", Self::Job),
            ("transformer", Self::Transformer),
            ("pipeline", Self::Model),
        ];
        kinds.into_iter().find(|(key, _)| root.get(key).is_some()).map(|(_, kind)| kind)
    }

    /// What to do with such a file where another kind is needed.
    pub const fn instead_of(self, wanted: Self) -> Option<&'static str> {
        match (self, wanted) {
            (Self::Empty, _) => None,
            (Self::Model, Self::Job) => Some(
                "a job file lists layers, [machine] and [choices], as models/jobs/llama-32.toml does; `optimize` takes \
                 model files",
            ),
            (Self::Model, Self::Schedule) => Some(
                "give a model with --model, beside the schedule; `bubbleproof compare MODEL` shows the named schedules of a \
                 model, and `bubbleproof convert MODEL --schedule NAME -o FILE` writes one",
            ),
            (Self::Model, _) => Some(
                "`bubbleproof compare MODEL`, `bubbleproof optimize MODEL` and `bubbleproof block MODEL` take model files",
            ),
            (Self::Family, Self::Schedule) => Some(
                "`bubbleproof convert FAMILY --devices N --microbatches N -o FILE` writes its schedule of one size; \
                 `bubbleproof verify FAMILY --devices N --every-m` verifies those of every number of microbatches",
            ),
            (Self::Family, _) => Some(
                "`bubbleproof block FAMILY --devices N` shows its block, `bubbleproof compare FAMILY --devices N \
                 --microbatches N` compares its schedule with others, and `bubbleproof prove FAMILY` proves its promises",
            ),
            (Self::Job, _) => Some(
                "`bubbleproof plan JOB -o FOLDER` writes the model of its best plan; `optimize` and `check` take jobs too",
            ),
            (Self::Transformer, _) => {
                Some("`bubbleproof estimate MODEL -o JOB` writes its job file, which `plan` takes")
            }
            (Self::Schedule, _) => {
                Some("`bubbleproof verify SCHEDULE --model MODEL` gives its figures under a model")
            }
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Empty => "empty",
            Self::Model => "a model file",
            Self::Family => "a block family",
            Self::Job => "a job file",
            Self::Transformer => "a file of the dimensions of a transformer",
            Self::Schedule => "a schedule",
        })
    }
}
