//! Answers questions about many problems in one process, for `tests/differential/run.py` to compare with programs
//! that share no statement of the problem with this library. A line of JSON in, a line of JSON out.
//!
//! ```sh
//! cargo run --example differential < questions
//! ```

use std::error::Error;
use std::io::{self, BufRead as _, Write as _};

use bubbleproof::block::family;
use bubbleproof::certificate::{self, Claim, Objective};
use bubbleproof::model::{self, Model};
use bubbleproof::optimize::exact::{Engine, ExactError, Limits, solve_with};
use bubbleproof::optimize::{OptimizeError, Options, optimize};
use bubbleproof::prove::every::{EveryM, every_m_of_block, every_m_of_schedule};
use bubbleproof::replay::{LinkTimes, StepTimes, Verdict, replay};
use bubbleproof::schedule::{self, Schedule};
use bubbleproof::stop::Stop;
use serde::Deserialize;
use serde_json::{Value, json};

/// A question: the texts of files, and what is asked about them.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
enum Question {
    /// The best schedule, and what is claimed of it.
    Optimize { model: String, objective: Objective, effort: usize, exact_effort: u64 },
    /// The best schedule that each engine for whole schedules comes to alone, from a valid one.
    Exact { model: String, objective: Objective, schedule: String, effort: u64 },
    /// Whether a schedule is valid, and its figures.
    Replay { model: String, schedule: String },
    /// The formulas of a schedule, at some numbers of microbatches.
    EveryM { model: String, schedule: String, at: Vec<u32> },
    /// Those of a block family under a model, with the schedules that they are about.
    Family { model: String, family: String, at: Vec<u32> },
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let answer = match answer(serde_json::from_str(&line?)?) {
            Ok(answer) => answer,
            Err(error) => json!({ "refused": error.to_string() }),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(question: Question) -> Result<Value, Box<dyn Error>> {
    match question {
        Question::Optimize { model, objective, effort, exact_effort } => {
            let options = Options { objective, effort, exact_effort, ..Options::default() };
            optimized(&model::parse(&model)?, &options)
        }
        Question::Exact { model, objective, schedule, effort } => {
            let (model, schedule) = (model::parse(&model)?, schedule::parse(&schedule)?);
            let limits = Limits { stop: Stop::default(), effort };
            let answers: Result<Vec<Value>, Box<dyn Error>> = Engine::ALL
                .iter()
                .map(|&engine| exact(engine, &model, objective, &schedule, &limits))
                .collect();
            Ok(answers?.into())
        }
        Question::Replay { model, schedule } => {
            let (model, schedule) = (model::parse(&model)?, schedule::parse(&schedule)?);
            let mut answer = figures(&replay(&model, &schedule));
            // Nothing for a model without ranges.
            answer["best_case"] = model.best_case().map(|best| figures(&replay(&best, &schedule))).into();
            Ok(answer)
        }
        Question::EveryM { model, schedule, at } => {
            let (model, schedule) = (model::parse(&model)?, schedule::parse(&schedule)?);
            Ok(every_m(&every_m_of_schedule(&schedule, &model, &Stop::default())?, &at))
        }
        Question::Family { model, family, at } => {
            let (model, family) = (model::parse(&model)?, family::parse(&family)?);
            let block = family.block(model.devices())?;
            let mut answer = every_m(&every_m_of_block(&block, &model, &Stop::default())?, &at);
            let schedules: Result<Vec<Value>, Box<dyn Error>> =
                at.iter().map(|&m| file(&block.expand(&model, m)?)).collect();
            answer["schedules"] = schedules?.into();
            Ok(answer)
        }
    }
}

fn exact(
    engine: Engine,
    model: &Model,
    objective: Objective,
    schedule: &Schedule,
    limits: &Limits,
) -> Result<Value, Box<dyn Error>> {
    let outcome = match solve_with(&[engine], model, objective, schedule, limits) {
        Ok(outcome) => outcome,
        // Not every engine takes every model.
        Err(error @ (ExactError::Rejected { .. } | ExactError::Incumbent(_))) => return Err(error.into()),
        Err(error) => return Ok(json!({ "engine": engine.name(), "none": error.to_string() })),
    };
    Ok(json!({
        "engine": engine.name(),
        "value": outcome.value.0,
        "lower_bound": outcome.lower_bound.0,
        "proved": outcome.proved_by.is_some(),
        "schedule": file(&outcome.schedule)?,
    }))
}

fn optimized(model: &Model, options: &Options) -> Result<Value, Box<dyn Error>> {
    let bounds: Vec<Value> = [Objective::Makespan, Objective::DeviceSpan]
        .into_iter()
        .map(|objective| {
            let bound = certificate::lower_bound(model, objective);
            let holds = certificate::holds(model, objective, &bound).is_ok();
            json!({ "value": bound.value.0, "holds": holds })
        })
        .collect();
    let solution = match optimize(model, options, &mut |_| ()) {
        Ok(solution) => solution,
        Err(OptimizeError::Infeasible(reason)) => {
            return Ok(json!({ "feasible": false, "reason": reason.to_string(), "bounds": bounds }));
        }
        Err(error) => return Err(error.into()),
    };
    let mut answer = figures(&solution.verdict);
    let schedule = file(&solution.schedule)?;
    // As a reader of the file would check it.
    let claims = match certificate::check(&schedule::parse(&schedule.to_string())?, Some(model)) {
        Ok(checked) => json!(checked.claims.iter().map(claim).collect::<Vec<_>>()),
        Err(error) => json!(error.to_string()),
    };
    answer["feasible"] = true.into();
    answer["value"] = solution.value().0.into();
    answer["lower_bound"] = solution.lower_bound().0.into();
    answer["certified_bound"] = solution.bound.value.0.into();
    answer["optimal"] = solution.is_optimal().into();
    answer["engine"] = solution.engine.clone().into();
    answer["optimality"] = format!("{:?}", solution.optimality).into();
    answer["claims"] = claims;
    answer["schedule"] = schedule;
    answer["bounds"] = bounds.into();
    Ok(answer)
}

/// A claim by its kind, with the value below which nothing is said to be.
fn claim(claim: &Claim) -> Value {
    match claim {
        Claim::Runs { value } => json!({ "kind": "runs", "value": value.0 }),
        Claim::LowerBound { value } => json!({ "kind": "lower_bound", "value": value.0 }),
        Claim::Optimal => json!({ "kind": "optimal" }),
        Claim::OverCuts { value } => json!({ "kind": "over_cuts", "value": value.0 }),
        Claim::OverPlans { value, .. } => json!({ "kind": "over_plans", "value": value.0 }),
        Claim::SearchedCuts { none_below } => json!({ "kind": "searched_cuts", "value": none_below.0 }),
        Claim::Searched { none_below, .. } => json!({ "kind": "searched", "value": none_below.0 }),
    }
}

fn figures(verdict: &Verdict) -> Value {
    let timing = verdict.timing.as_ref();
    json!({
        "valid": verdict.is_valid(),
        "violations": verdict.violations.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "peak_memory": verdict.peak_memory.iter().map(|units| units.0).collect::<Vec<_>>(),
        "makespan": timing.map(|timing| timing.metrics.makespan.0),
        "device_span": timing.map(|timing| timing.metrics.device_span.0),
        "busy": timing.map(|timing| timing.metrics.busy.0),
        "useful": timing.map(|timing| timing.metrics.useful.0),
        "starts": timing.map(|timing| {
            let starts_of = |starts: &Vec<model::Ticks>| starts.iter().map(|ticks| ticks.0).collect::<Vec<_>>();
            timing.starts.iter().map(starts_of).collect::<Vec<_>>()
        }),
        // By link: the pass that makes each message, and when the message keeps the link busy.
        "links": timing.map(|timing| {
            let messages = |link: &LinkTimes| {
                link.messages.iter().map(|(pass, during)| json!([pass.to_string(), during.start.0, during.end.0]))
                    .collect::<Vec<_>>()
            };
            timing.links.iter().map(messages).collect::<Vec<_>>()
        }),
        // By stage: the reduction and the optimiser step.
        "step": timing.map(|timing| {
            let of_stage = |step: &StepTimes| {
                [&step.reduce, &step.optimizer].map(|during| [during.start.0, during.end.0])
            };
            timing.step.iter().map(of_stage).collect::<Vec<_>>()
        }),
    })
}

fn file(schedule: &Schedule) -> Result<Value, Box<dyn Error>> {
    let mut text = Vec::new();
    schedule::write(schedule, &mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

fn every_m(answer: &EveryM, at: &[u32]) -> Value {
    let proof = match answer {
        EveryM::Proved(proof) => proof,
        EveryM::Refuted(refutation) => return json!({ "status": "refuted", "m": refutation.microbatches }),
        EveryM::Unknown(reason) => return json!({ "status": "unknown", "reason": reason.to_string() }),
        _ => return json!({ "status": "unknown", "reason": "an answer of another kind" }),
    };
    let peaks = |m: u32| {
        let before = m.checked_sub(proof.first).map(|more| (more / proof.step) as usize);
        let peaks =
            if m >= proof.peak_from { Some(&proof.peak_memory) } else { proof.peaks_before.get(before?) };
        peaks.map(|peaks| peaks.iter().map(|units| units.0).collect::<Vec<_>>())
    };
    json!({
        "status": "proved",
        "first": proof.first,
        "step": proof.step,
        "replayed_to": proof.replayed_to,
        "makespan": at.iter().map(|&m| proof.makespan.at(m).map(|ticks| ticks.0)).collect::<Vec<_>>(),
        // Nothing, where the device span is not proved for every m.
        "device_span": proof.device_span.as_ref().map(|span| {
            at.iter().map(|&m| span.at(m).map(|ticks| ticks.0)).collect::<Vec<_>>()
        }),
        "peak_memory": at.iter().map(|&m| peaks(m)).collect::<Vec<_>>(),
    })
}
