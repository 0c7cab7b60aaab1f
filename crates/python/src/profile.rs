//! Models fitted to what `torch.profiler` recorded.

use bubbleproof::amounts;
use bubbleproof::trace::clocks::OffsetChoice;
use bubbleproof::trace::fit::profile;
use bubbleproof::trace::gather::gather;
use bubbleproof::trace::profiler::parse;
use pyo3::prelude::*;

use crate::error::{Class, raise};
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
    let profile = profile.without_messages().without_step();
    let time = |ticks: bubbleproof::model::Ticks| amounts::time(ticks.0, "ns");
    let memory = |units: bubbleproof::model::Units| amounts::memory(units.0, "byte");
    let notes = profile.notes.iter().map(|note| note.in_words(time, memory)).collect();
    Ok((NativeModel { model: profile.model }, notes))
}
