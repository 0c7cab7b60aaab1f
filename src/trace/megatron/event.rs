//! An event, as it is written.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::{MegatronError, Place};
use crate::model::{Kind, Ticks};
use crate::trace::decimal::scaled;

/// Events in an object, as Chrome has them too.
#[derive(Deserialize)]
pub(super) struct File<'a> {
    #[serde(rename = "traceEvents", borrow)]
    pub(super) events: Vec<Event<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    ph: Cow<'a, str>,
    // Numbers or texts.
    #[serde(borrow)]
    pid: Option<&'a RawValue>,
    #[serde(borrow)]
    tid: Option<&'a RawValue>,
    #[serde(borrow)]
    ts: Option<&'a RawValue>,
    #[serde(default)]
    args: Args,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Args {
    iteration: Option<u32>,
    microbatch: Option<u32>,
    model_chunk: Option<u32>,
    pp_rank: Option<u32>,
}

/// Of which pass an event is.
pub(super) struct About {
    pub(super) iteration: u32,
    pub(super) microbatch: u32,
    pub(super) chunk: u32,
    pub(super) rank: u32,
}

/// What the event of a pass is called.
pub(super) const fn name_of(kind: Kind) -> &'static str {
    if matches!(kind, Kind::F) { "forward" } else { "backward" }
}

impl<'a> Event<'a> {
    /// What the pass is that begins or ends here, if one does.
    pub(super) fn kind(&self) -> Option<Kind> {
        let kind = [Kind::F, Kind::B].into_iter().find(|&kind| name_of(kind) == self.name);
        kind.filter(|_| self.ph == "B" || self.ph == "E")
    }

    pub(super) fn begins(&self) -> bool {
        self.ph == "B"
    }

    pub(super) fn thread(&self) -> &'a str {
        self.tid.map_or("", RawValue::get)
    }

    pub(super) fn process(&self) -> &'a str {
        self.pid.map_or("", RawValue::get)
    }

    /// When it is, in nanoseconds.
    pub(super) fn time(&self) -> Result<Ticks, MegatronError> {
        let time = self.ts.and_then(|raw| scaled(raw.get(), 3));
        time.map(Ticks).ok_or_else(|| MegatronError::Time { event: self.place() })
    }

    pub(super) fn about(&self) -> Result<About, MegatronError> {
        let told = |key, value: Option<u32>| {
            value.ok_or_else(|| MegatronError::Unlabelled { event: self.place(), key })
        };
        Ok(About {
            iteration: told("iteration", self.args.iteration)?,
            microbatch: told("microbatch", self.args.microbatch)?,
            chunk: told("model_chunk", self.args.model_chunk)?,
            rank: told("pp_rank", self.args.pp_rank)?,
        })
    }

    pub(super) fn place(&self) -> Place {
        let name = if self.name == name_of(Kind::F) { "forward" } else { "backward" };
        let at = self.ts.map_or("?", RawValue::get);
        Place { name, process: self.process().to_owned(), at: at.to_owned() }
    }
}
