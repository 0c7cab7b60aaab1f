//! The events of a file in the form of Chrome's traces, as they are written.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::ProfilerError;
use crate::model::Ticks;
use crate::trace::decimal::scaled;

#[derive(Deserialize)]
pub(super) struct File<'a> {
    #[serde(rename = "traceEvents", borrow)]
    pub events: Vec<Event<'a>>,
    #[serde(rename = "baseTimeNanoseconds", default)]
    pub base: i64,
    #[serde(rename = "distributedInfo")]
    pub distributed: Option<Distributed>,
}

#[derive(Deserialize)]
pub(super) struct Distributed {
    pub rank: Option<u32>,
    pub world_size: Option<u32>,
}

#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default)]
    pub ph: Cow<'a, str>,
    #[serde(borrow, default)]
    pub cat: Cow<'a, str>,
    #[serde(borrow, default)]
    pub name: Cow<'a, str>,
    // Numbers or texts.
    #[serde(borrow)]
    pub pid: Option<&'a RawValue>,
    #[serde(borrow)]
    pub tid: Option<&'a RawValue>,
    #[serde(borrow)]
    pub ts: Option<&'a RawValue>,
    #[serde(borrow)]
    pub dur: Option<&'a RawValue>,
    #[serde(borrow)]
    pub args: Option<&'a RawValue>,
}

impl<'a> Event<'a> {
    /// The process and the thread, or the device and the stream, as written.
    pub fn lane(&self) -> (&'a str, &'a str) {
        (self.pid.map_or("", RawValue::get), self.tid.map_or("", RawValue::get))
    }

    /// Whether it is a range of a category.
    pub fn is(&self, category: &str) -> bool {
        self.ph == "X" && self.cat == category
    }

    /// A time in nanoseconds, since `base` where it is a start.
    pub fn time(&self, key: &'static str, base: i64, text: &str) -> Result<Ticks, ProfilerError> {
        let raw = if key == "ts" { self.ts } else { self.dur };
        let name = || self.name.clone().into_owned();
        let raw = raw.ok_or_else(|| ProfilerError::NoTime { key, name: name() })?.get();
        let time = scaled(raw, 3).filter(|&time| key == "ts" || time >= 0);
        time.and_then(|time| time.checked_add(base)).map(Ticks).ok_or_else(|| ProfilerError::Time {
            key,
            name: name(),
            value: raw.to_owned(),
            span: place(text, raw),
        })
    }

    /// When it started and ended.
    pub fn span(&self, base: i64, text: &str) -> Result<(Ticks, Ticks), ProfilerError> {
        let (start, duration) = (self.time("ts", base, text)?, self.time("dur", 0, text)?);
        let end = start.checked_add(duration).ok_or_else(|| {
            let raw = self.dur.map_or("", RawValue::get);
            ProfilerError::End {
                name: self.name.clone().into_owned(),
                value: raw.to_owned(),
                span: place(text, raw),
            }
        })?;
        Ok((start, end))
    }
}

/// The position of a part of a text.
pub(super) fn place(text: &str, part: &str) -> Range<usize> {
    let from = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    from..from + part.len()
}
