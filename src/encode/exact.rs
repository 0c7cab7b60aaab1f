//! From the integers `k` of a solver's answer to a block, in exact arithmetic.
//!
//! With every `k` fixed, a block is a system of differences `o_b - o_a >= w - h*T`. Its least T is the
//! largest ratio `sum w / sum h` of a cycle, a rational number; for a T that is feasible the longest
//! paths are the least offsets, all at once, so they also make the shortest block of those `k`.
//! Integer times give integer longest paths in the parts into which the denominator of T divides a
//! tick: real offsets gain nothing over these.

use num_rational::Ratio;

use super::{BlockProblem, CheckedBlock, EncodeError, Rejection};
use crate::block::Block;
use crate::model::{Device, Model, Ticks, Units};

/// What an engine says of its answer, to be compared with the exact one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Claim {
    /// The interval at which the block is said to repeat; the least one where none is said.
    pub interval: Option<Ratio<i128>>,
    /// The largest peak of a device, at most.
    pub peak: Option<Units>,
}

/// `o_after - o_before >= weight - turns * T`.
#[derive(Debug, Clone, Copy)]
struct Edge {
    before: usize,
    after: usize,
    weight: i128,
    turns: i128,
}

/// The block that the shifts of an engine describe, one `k` per pair of the problem.
///
/// # Errors
/// [`EncodeError::Rejected`] when no block has these shifts, or it is not what was claimed, or it
/// does not stand up to [`Block::faults`], [`Block::steady_peak`] and the capacities of the model.
pub fn checked_block(
    model: &Model,
    problem: &BlockProblem,
    shifts: &[i64],
    claim: Claim,
) -> Result<CheckedBlock, EncodeError> {
    let edges = edges(problem, shifts);
    let interval = match claim.interval {
        Some(interval) => interval,
        None => least_interval(problem, &edges)?,
    };
    let starts = longest_paths(problem.passes().len(), &edges, interval)?
        .map_err(|_| Rejection::Interval { claimed: interval })?;
    let narrow = |value: i128| i64::try_from(value).map_err(|_| EncodeError::Overflow);
    let mut offsets = Vec::new();
    for (&pass, start) in problem.passes().iter().zip(starts) {
        offsets.push((pass, Ticks(narrow(start)?)));
    }
    let (length, parts) = (narrow(*interval.numer())?, narrow(*interval.denom())?);
    let block =
        Block::periodic(problem.placement().clone(), problem.period(), parts, Ticks(length), offsets)?;
    let claimed = problem.peaks(shifts).into_iter().map(narrow).collect::<Result<Vec<_>, _>>()?;
    verified(model, block, &claimed, claim.peak)
}

/// A block that passes every check the block algebra knows.
fn verified(
    model: &Model,
    block: Block,
    claimed: &[i64],
    limit: Option<Units>,
) -> Result<CheckedBlock, EncodeError> {
    if let Some(fault) = block.faults(model).into_iter().next() {
        return Err(Rejection::BlockViolation(fault).into());
    }
    let peak = block.steady_peak(model);
    for (device, (&exact, &claimed)) in Device::all(model.devices()).zip(peak.iter().zip(claimed)) {
        if exact.0 != claimed {
            return Err(Rejection::Peak { device, claimed: Units(claimed), exact }.into());
        }
        let capacity = model.activation_capacity(device).into_iter().chain(limit).min();
        if let Some(capacity) = capacity.filter(|&capacity| exact > capacity) {
            return Err(Rejection::Capacity { device, peak: exact, capacity }.into());
        }
    }
    Ok(CheckedBlock { interval: block.interval(), peak, block })
}

fn edges(problem: &BlockProblem, shifts: &[i64]) -> Vec<Edge> {
    let durations = problem.durations();
    let links = problem.links().iter().map(|link| Edge {
        before: link.before,
        after: link.after,
        weight: link.lag.into(),
        turns: 0,
    });
    let pairs = problem.pairs().iter().zip(shifts).flat_map(|(&(a, b), &k)| {
        [(a, b, i128::from(k)), (b, a, 1 - i128::from(k))].map(|(before, after, turns)| Edge {
            before,
            after,
            weight: durations[before].into(),
            turns,
        })
    });
    links.chain(pairs).collect()
}

/// The least T: the largest cycle ratio, found by raising T to the ratio of a cycle that is still
/// too long, until there is none.
fn least_interval(problem: &BlockProblem, edges: &[Edge]) -> Result<Ratio<i128>, EncodeError> {
    let mut interval = Ratio::from_integer(i128::from(problem.most_work()));
    loop {
        let Err(cycle) = longest_paths(problem.passes().len(), edges, interval)? else {
            return Ok(interval);
        };
        let weight: i128 = cycle.iter().map(|edge| edge.weight).sum();
        let turns: i128 = cycle.iter().map(|edge| edge.turns).sum();
        if turns <= 0 {
            return Err(Rejection::Contradiction.into());
        }
        interval = Ratio::new(weight, turns);
    }
}

/// The least offsets that are not negative, in parts of a tick (the denominator of the interval), or
/// a cycle of positive length (Bellman and Ford).
fn longest_paths(
    passes: usize,
    edges: &[Edge],
    interval: Ratio<i128>,
) -> Result<Result<Vec<i128>, Vec<Edge>>, EncodeError> {
    let mut lengths = Vec::with_capacity(edges.len());
    for edge in edges {
        let weight = edge.weight.checked_mul(*interval.denom());
        let turns = edge.turns.checked_mul(*interval.numer());
        let length = weight.zip(turns).and_then(|(weight, turns)| weight.checked_sub(turns));
        // Leaves room for the sum of all lengths.
        lengths.push(length.filter(|length| length.abs() < 1 << 100).ok_or(EncodeError::Overflow)?);
    }
    let mut starts = vec![0_i128; passes];
    let mut reached_by = vec![None; passes];
    let mut raised = None;
    for _ in 0..=passes {
        raised = None;
        for (position, (edge, length)) in edges.iter().zip(&lengths).enumerate() {
            if starts[edge.before] + length > starts[edge.after] {
                starts[edge.after] = starts[edge.before] + length;
                reached_by[edge.after] = Some(position);
                raised = Some(edge.after);
            }
        }
        if raised.is_none() {
            return Ok(Ok(starts));
        }
    }
    let back = |pass: usize| {
        let position: usize = reached_by[pass].expect("a pass on or behind a cycle has been raised");
        edges[position]
    };
    let mut entry = raised.expect("the last round raised a pass");
    for _ in 0..passes {
        entry = back(entry).before;
    }
    let mut cycle = vec![back(entry)];
    while cycle[cycle.len() - 1].before != entry {
        cycle.push(back(cycle[cycle.len() - 1].before));
    }
    Ok(Err(cycle))
}
