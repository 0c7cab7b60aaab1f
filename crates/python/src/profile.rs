//! Models fitted to traces, and to what `torch.profiler` recorded.

use bubbleproof::amounts;
use bubbleproof::fault::Fault;
use bubbleproof::trace::clocks::OffsetChoice;
use bubbleproof::trace::file;
use bubbleproof::trace::fit::{Profile, profile};
use bubbleproof::trace::gather::gather;
use bubbleproof::trace::profiler::parse;
use pyo3::prelude::*;

use crate::error::{Class, in_argument, in_file, raise};
use crate::model::NativeModel;
use crate::schedule::NativeSchedule;

/// The model of one run, from the recordings of its ranks without the first steps: medians of every stage and kind of pass, and
/// latencies. Beside it what there is to note.
#[pyfunction]
pub fn fit_recordings(
    py: Python<'_>,
    name: &str,
    recordings: Vec<String>,
    schedule: Option<&NativeSchedule>,
    skip: usize,
) -> PyResult<(NativeModel, Vec<String>)> {
    let schedule = schedule.map(|schedule| schedule.schedule.clone());
    let fitted = py.detach(|| {
        // Whatever ranks they have among all processes, here they are those of the pipeline.
        let parsed = (0..).zip(&recordings).map(|(rank, text)| {
            let mut recording = parse(text).map_err(|error| error.to_string())?;
            recording.rank = Some(rank);
            Ok::<_, String>(recording)
        });
        let recordings = parsed.collect::<Result<_, _>>()?;
        let (mut trace, _) =
            gather(recordings, schedule, &OffsetChoice::default()).map_err(|error| error.to_string())?;
        let steps = trace.iterations.len();
        if skip >= steps {
            return Err(format!(
                "{steps} steps were recorded, of which none is left without the first {skip}"
            ));
        }
        trace.iterations.drain(..skip);
        profile(name, &[trace]).map_err(|error| error.to_string())
    });
    let profile = fitted.map_err(|message| raise(py, Class::Value, &message, None))?;
    Ok(with_notes(profile))
}

/// What to do with a file that is no trace file.
const OTHER_TRACES: &str = "`bubbleproof trace profile` reads what torch.profiler writes, too";

/// The model of several runs, from the texts of their trace files, each with its name: likewise.
#[pyfunction]
pub fn fit_traces(
    py: Python<'_>,
    name: &str,
    traces: Vec<(String, String)>,
    skip: usize,
) -> PyResult<(NativeModel, Vec<String>)> {
    let mut read = Vec::new();
    for (file, text) in &traces {
        let found = py.detach(|| file::parse(text));
        let mut trace = found.map_err(|error| {
            let fault = Fault::of_trace(text, &error);
            // Where it is no trace at all, it may be one of those that the command reads too.
            let help = fault.help.as_ref().map(|_| OTHER_TRACES.to_owned());
            in_file(py, Some(file), text, Fault { help, ..fault }, None)
        })?;
        let iterations = trace.iterations.len();
        if skip >= iterations {
            let message =
                format!("{file} has {iterations} iterations: none is left without the first {skip}");
            return Err(in_argument(py, "skip", &message));
        }
        trace.iterations.drain(..skip);
        read.push(trace);
    }
    let fitted = py.detach(|| profile(name, &read));
    let profile = fitted.map_err(|error| raise(py, Class::Value, &error.to_string(), None))?;
    Ok(with_notes(profile))
}

/// The model of a profile with passes and latencies alone, and what there is to note.
fn with_notes(profile: Profile) -> (NativeModel, Vec<String>) {
    let profile = profile.without_messages().without_step();
    let time = |ticks: bubbleproof::model::Ticks| amounts::time(ticks.0, "ns");
    let memory = |units: bubbleproof::model::Units| amounts::memory(units.0, "byte");
    let notes = profile.notes.iter().map(|note| note.in_words(time, memory)).collect();
    (NativeModel { model: profile.model }, notes)
}
