//! Systems of difference constraints `o_v - o_u >= length + height * T`: the least T for which they
//! have a solution, and the earliest solution.

use num_rational::Ratio;

use super::ZoneError;
use super::pipeline::Interval;
use crate::stop::Stop;

/// A difference constraint: `to` starts at least `length + height * T` after `from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub from: usize,
    pub to: usize,
    pub length: i64,
    pub height: i64,
}

/// The least interval at which the constraints can be met, which is the largest ratio
/// `length / -height` over their cycles. It is not below `floor`; `feasible` is an interval at which
/// they can be met.
///
/// From below: while a cycle cannot be met at the interval, its own ratio is the next to try. Each is
/// the ratio of a cycle, so the last one is exact.
pub(super) fn least_ratio(
    nodes: usize,
    links: &[Link],
    floor: Interval,
    feasible: Interval,
    stop: &Stop,
) -> Result<Interval, ZoneError> {
    let mut interval = floor.min(feasible);
    while let Some((length, height)) = positive_cycle(nodes, links, interval, stop)? {
        let ratio = (height < 0).then(|| Ratio::new(length, -height));
        interval = ratio.filter(|&ratio| ratio > interval && ratio <= feasible).ok_or_else(|| {
            ZoneError::Rejected(format!("a cycle of length {length} and height {height} forbids it"))
        })?;
    }
    Ok(interval)
}

/// The earliest start of every node at an interval, multiplied by its denominator; nothing when there
/// is none.
pub(super) fn potentials(
    nodes: usize,
    links: &[Link],
    interval: Interval,
    stop: &Stop,
) -> Result<Option<Vec<i64>>, ZoneError> {
    let (starts, _, settled) = relax(nodes, links, interval, stop)?;
    if !settled {
        return Ok(None);
    }
    Ok(starts.into_iter().map(|start| i64::try_from(start).ok()).collect())
}

/// Total length and height of a cycle that cannot be met, if there is one.
fn positive_cycle(
    nodes: usize,
    links: &[Link],
    interval: Interval,
    stop: &Stop,
) -> Result<Option<(i128, i128)>, ZoneError> {
    let (_, tight, settled) = relax(nodes, links, interval, stop)?;
    if settled {
        return Ok(None);
    }
    // A node relaxed in the last round depends on a cycle; following its causes as many steps as
    // there are nodes leads onto it.
    let cause = |node: usize| tight[node].map(|link| &links[link]);
    for first in 0..nodes {
        if stop.is_due() {
            return Err(ZoneError::TimeUp);
        }
        let mut node = first;
        if !(0..nodes).all(|_| {
            cause(node).is_some_and(|link| {
                node = link.from;
                true
            })
        }) {
            continue;
        }
        let (start, mut length, mut height) = (node, 0_i128, 0_i128);
        loop {
            let Some(link) = cause(node) else { return Ok(None) };
            length += i128::from(link.length);
            height += i128::from(link.height);
            node = link.from;
            if node == start {
                break;
            }
        }
        if length * interval.denom() + height * interval.numer() > 0 {
            return Ok(Some((length, height)));
        }
    }
    Ok(None)
}

/// Starts, the constraint that last raised each, and whether nothing changes any more.
type Relaxed = (Vec<i128>, Vec<Option<usize>>, bool);

/// Longest paths from an instant before everything. Gives the starts, the constraint that last
/// raised each, and whether nothing changes any more.
fn relax(nodes: usize, links: &[Link], interval: Interval, stop: &Stop) -> Result<Relaxed, ZoneError> {
    let (numer, denom) = (*interval.numer(), *interval.denom());
    let mut starts = vec![0_i128; nodes];
    let mut tight = vec![None; nodes];
    for _ in 0..=nodes {
        if stop.is_due() {
            return Err(ZoneError::TimeUp);
        }
        let mut changed = false;
        for (at, link) in links.iter().enumerate() {
            let least = starts[link.from] + i128::from(link.length) * denom + i128::from(link.height) * numer;
            if starts[link.to] < least {
                starts[link.to] = least;
                tight[link.to] = Some(at);
                changed = true;
            }
        }
        if !changed {
            return Ok((starts, tight, true));
        }
    }
    Ok((starts, tight, false))
}
