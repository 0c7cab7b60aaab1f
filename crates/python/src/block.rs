//! Building blocks: the best of a model, and those on its frontier of memory and interval.

use bubbleproof::block::{Block, Passes};
use bubbleproof::draw::{BlockPicture, blocks};
use bubbleproof::encode::{BlockBound, BlockObjective, BlockOutcome, CheckedBlock};
use bubbleproof::model::{Model, Stage, Ticks, Units};
use bubbleproof::optimize::block::{BlockEngine, BlockRequest, BlockSolveError, solve};
use bubbleproof::optimize::frontier::{self, FrontierError};
use pyo3::prelude::*;

use crate::error::{Class, raise};
use crate::model::NativeModel;
use crate::replayed::ratio;
use crate::schedule::NativeSchedule;
use crate::search::{self, Report};

/// A building block, and the model whose passes it has.
#[pyclass(frozen, module = "bubbleproof._native")]
#[derive(Debug)]
pub struct NativeBlock {
    pub block: Block,
    pub model: Model,
}

#[pymethods]
impl NativeBlock {
    /// The time of an interval per microbatch, as a numerator and a denominator.
    #[getter]
    fn interval(&self) -> (i128, i128) {
        ratio(self.block.interval())
    }

    #[getter]
    fn period(&self) -> u32 {
        self.block.period()
    }

    /// Every pass with its offset, which is an integer or a ratio of ticks.
    #[getter]
    fn offsets(&self) -> Vec<(String, (i128, i128))> {
        let parts = i128::from(self.block.parts());
        let offset = |ticks: Ticks| ratio(num_rational::Ratio::new(i128::from(ticks.0), parts));
        self.block.passes().map(|(pass, ticks)| (pass.to_string(), offset(ticks))).collect()
    }

    /// The most that each device holds of activations in the steady phase, in units of memory.
    #[getter]
    fn peak_memory(&self) -> Vec<i64> {
        self.block.steady_peak(&self.model).iter().map(|units| units.0).collect()
    }

    /// The lifespan of an activation of each stage, in ticks.
    #[getter]
    fn lifespans(&self) -> Vec<i64> {
        (0..self.model.stages()).map(|stage| self.block.lifespan(&self.model, Stage(stage)).0).collect()
    }

    /// What is wrong with it under its model, each in a sentence.
    #[getter]
    fn faults(&self) -> Vec<String> {
        self.block.faults(&self.model).iter().map(ToString::to_string).collect()
    }

    /// The schedule of so many copies, one interval apart.
    fn schedule(&self, py: Python<'_>, microbatches: u32) -> PyResult<NativeSchedule> {
        let schedule = py
            .detach(|| self.block.expand(&self.model, microbatches))
            .map_err(|error| raise(py, Class::Value, &error.to_string(), None))?;
        Ok(schedule.into())
    }

    /// The drawing of its offsets, its pattern, and its repetition.
    fn svg(&self, py: Python<'_>, name: &str, width: Option<u32>) -> PyResult<String> {
        py.detach(|| {
            let picture = BlockPicture::new(name, &self.block, &self.model)?;
            blocks(&[picture], width)
        })
        .map_err(|error| raise(py, Class::Value, &error.to_string(), None))
    }
}

/// What a search for a block ends with.
#[pyclass(frozen, get_all, module = "bubbleproof._native")]
#[derive(Debug)]
pub struct NativeBlockAnswer {
    /// The best block.
    block: Option<Py<NativeBlock>>,
    /// `optimal`, `bounded`, `claimed` or `infeasible`.
    status: &'static str,
    /// No block is better than this, in ticks per interval or in units of memory.
    bound: Option<(i128, i128)>,
    /// What searched.
    engine: &'static str,
    /// The solver that claims optimality in floating point.
    claimed_by: Option<&'static str>,
}

/// Searches for the block of a model with the least memory at an interval, or with the least interval within its capacities.
#[pyfunction]
pub fn best_block(
    py: Python<'_>,
    model: &NativeModel,
    interval: Option<i64>,
    period: u32,
    engine: Option<&str>,
    time_limit: Option<f64>,
) -> PyResult<NativeBlockAnswer> {
    let wrong = |message: String, help: Option<String>| raise(py, Class::Value, &message, help);
    let objective = interval.map_or(BlockObjective::LeastInterval, |interval| BlockObjective::LeastMemory {
        interval: Ticks(interval),
    });
    let request = BlockRequest { passes: Passes::SPLIT, objective, period };
    let model = model.model.without_weights();
    let engine = match engine {
        None => BlockEngine::default_for(&model, request),
        Some(name) => BlockEngine::ALL.into_iter().find(|engine| engine.name() == name).ok_or_else(|| {
            let known: Vec<&str> = BlockEngine::ALL.iter().map(|engine| engine.name()).collect();
            wrong(format!("engine must be one of {}, but is '{name}'", known.join(", ")), None)
        })?,
    };
    let limit = search::limit(py, time_limit)?;
    let outcome = search::run(py, limit, None, |stop, _| solve(&model, engine, request, stop))?.found;
    let outcome = outcome.map_err(|error| refused(py, &error))?;
    let made = |best: CheckedBlock| Py::new(py, NativeBlock { block: best.block, model: model.clone() });
    let value = |best: &CheckedBlock| match objective {
        BlockObjective::LeastInterval => ratio(best.interval),
        BlockObjective::LeastMemory { .. } => (best.peak_max().0.into(), 1),
    };
    let bounded = |bound: BlockBound| match bound {
        BlockBound::Interval(interval) => ratio(interval),
        BlockBound::Memory(units) => (units.0.into(), 1),
    };
    let engine = engine.name();
    Ok(match outcome {
        BlockOutcome::Optimal(best) => {
            let bound = Some(value(&best));
            NativeBlockAnswer { block: Some(made(best)?), status: "optimal", bound, engine, claimed_by: None }
        }
        BlockOutcome::Bounded { best, bound } => {
            let block = best.map(made).transpose()?;
            NativeBlockAnswer {
                block,
                status: "bounded",
                bound: Some(bounded(bound)),
                engine,
                claimed_by: None,
            }
        }
        BlockOutcome::Claimed { best, bound, solver } => NativeBlockAnswer {
            block: best.map(made).transpose()?,
            status: "claimed",
            bound: Some(bounded(bound)),
            engine,
            claimed_by: Some(solver),
        },
        BlockOutcome::Infeasible => {
            NativeBlockAnswer { block: None, status: "infeasible", bound: None, engine, claimed_by: None }
        }
    })
}

fn refused(py: Python<'_>, error: &BlockSolveError) -> PyErr {
    let class = if error.is_defect() {
        Class::Defect
    } else if error.is_no_answer() {
        Class::NoAnswer
    } else {
        Class::Value
    };
    raise(py, class, &error.to_string(), None)
}

/// A point of a frontier: its block, its peak in units of memory, its interval and the bound on that, and whether it is proved.
type Point = (NativeBlock, i64, (i128, i128), (i128, i128), bool);

/// The blocks of a model that are the best for some memory, from that of the least interval down; and whether these are all.
#[pyfunction]
pub fn block_frontier(
    py: Python<'_>,
    model: &NativeModel,
    time_limit: Option<f64>,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Vec<Point>, bool)> {
    let model = model.model.without_weights();
    let limit = search::limit(py, time_limit)?;
    let found = search::run(py, limit, watch, |stop, report| {
        frontier::frontier(&model, Passes::SPLIT, stop, &mut |units: Units, interval| {
            let step = format!("{} units of memory: {interval} ticks", units.0);
            report(Report { step, best: None, bound: None });
        })
    })?;
    let found = found.found.map_err(|error| match error {
        FrontierError::Passes | FrontierError::Memory(_) => raise(py, Class::Value, &error.to_string(), None),
        error => raise(py, Class::NoAnswer, &error.to_string(), None),
    })?;
    let point = |point: frontier::Point| {
        let (interval, bound) = (ratio(point.interval), ratio(point.bound));
        let block = NativeBlock { block: point.block, model: model.clone() };
        (block, point.peak.0, interval, bound, point.proven)
    };
    Ok((found.points.into_iter().map(point).collect(), found.complete))
}
