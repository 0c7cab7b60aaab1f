//! What a page knows of what runs beside and behind the passes.
//!
//! A task is a class of its lane (work, colour, stage, kind, ticks), its microbatch, and how long the engine was idle
//! before it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::analysis::{Job, Subject, Work};
use crate::draw::colour::{Colour, Ground};
use crate::draw::{Picture, beside};
use crate::model::{Kind, Ticks};

/// What one engine does, or a device behind its passes.
#[derive(Serialize)]
pub(super) struct Lane {
    device: u32,
    name: String,
    /// What stands at the edge; nothing where the tasks are in the row of the passes.
    label: Option<String>,
    classes: Vec<Class>,
    /// Of each task its class, its microbatch (0 where it is for a whole stage), and how long the engine is idle
    /// before it.
    jobs: Vec<[i64; 3]>,
}

/// Work, key of its colour, chunk, stage, kind of its pass, ticks.
type Class = (&'static str, char, usize, u32, Option<char>, Ticks);

/// The lanes of a picture, where a tick is `units` units of the axis.
pub(super) fn of(picture: &Picture<'_>, units: i64) -> Vec<Lane> {
    let steps = picture.devices().filter(|&device| !picture.steps(device).is_empty()).map(|device| {
        let (classes, jobs) = packed(picture, picture.steps(device), units);
        Lane { device: device.0, name: format!("device {device}"), label: None, classes, jobs }
    });
    let lanes = picture.lanes.iter().map(|lane| {
        let (classes, jobs) = packed(picture, &lane.jobs, units);
        let (name, label) = (lane.engine.to_string(), Some(beside(lane.engine)));
        Lane { device: lane.device.0, name, label, classes, jobs }
    });
    steps.chain(lanes).collect()
}

fn packed(picture: &Picture<'_>, jobs: &[Job], units: i64) -> (Vec<Class>, Vec<[i64; 3]>) {
    let (mut classes, mut known) = (Vec::new(), BTreeMap::new());
    let mut free = Ticks::ZERO;
    let pack = |&job: &Job| {
        let (kind, microbatch) = match job.subject {
            Subject::Pass(pass) => (Some(pass.kind), i64::from(pass.microbatch.0)),
            Subject::Stage(_) => (None, 0),
        };
        let (stage, ticks) = (job.subject.stage().0, job.duration() * units);
        let class = *known.entry((job.work, stage, kind, ticks)).or_insert_with(|| {
            let (key, chunk) = match (kind, job.work) {
                (Some(kind), Work::Activation | Work::Gradient) => (kind.letter(), picture.chunk_of(job)),
                (_, work) => (key(work), 0),
            };
            classes.push((job.work.name(), key, chunk, stage, kind.map(Kind::letter), ticks));
            classes.len() - 1
        });
        let wait = (job.start - free).0 * units;
        free = job.end;
        [i64::try_from(class).expect("a few classes"), microbatch, wait]
    };
    let jobs = jobs.iter().map(pack).collect();
    (classes, jobs)
}

/// Under which letter a colour of work that is not a message is found.
pub(super) const fn key(work: Work) -> char {
    match work {
        Work::ToHost => '>',
        Work::FromHost => '<',
        Work::Optimizer => 'O',
        Work::Gather => 'A',
        Work::Activation | Work::Gradient | Work::Reduction => 'G',
    }
}

/// The colours of work that has colours of its own, as far as it occurs.
pub(super) fn colours(
    picture: &Picture<'_>,
    ground: Ground,
) -> impl Iterator<Item = (char, Vec<(String, &'static str)>)> {
    let own = picture.works().into_iter().filter(|work| !matches!(work, Work::Activation | Work::Gradient));
    own.map(move |work| {
        let colour = Colour::of_work(work, Kind::F, 0, 1, ground);
        (key(work), vec![(colour.hex(), colour.ink())])
    })
}
