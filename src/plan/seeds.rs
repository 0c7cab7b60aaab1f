//! Cuts to begin with.

use itertools::Itertools as _;

use crate::job::{Cut, Layers};
use crate::model::{Device, Stage};

/// A cut that gives every device about the same work, and then every stage: from the even cut, boundaries move by a layer, one
/// or two at a time, as long as that is more even.
pub(super) fn balanced(layers: &Layers) -> Cut {
    let mut best = layers.even().layers().to_vec();
    let mut rank = unevenness(layers, &best);
    // Each round is better than the one before, so this ends; so many rounds are more than any job needs.
    for _ in 0..10 * layers.atoms.len() {
        let moves = shifts(&best, layers).chain(double_shifts(&best, layers));
        let ranked = moves.map(|cut| (unevenness(layers, &cut), cut));
        match ranked.min() {
            Some((better, cut)) if better < rank => (rank, best) = (better, cut),
            _ => break,
        }
    }
    Cut::new(best)
}

/// How uneven a cut is: the most work of a device, and the squares of the work of devices and of stages.
pub(super) fn unevenness(layers: &Layers, cut: &[u32]) -> (i64, i128, i128) {
    let ranges = Cut::new(cut.to_vec());
    let work = |range: std::ops::Range<usize>| layers.atoms[range].iter().map(|atom| atom.work().0).sum();
    let stages: Vec<i64> = ranges.ranges().map(work).collect();
    let of = |device: Device| -> i64 {
        layers.placement.stages_of(device).iter().map(|stage| stages[stage.index()]).sum()
    };
    let devices: Vec<i64> = Device::all(layers.placement.devices()).map(of).collect();
    let squares = |list: &[i64]| list.iter().map(|&work| i128::from(work) * i128::from(work)).sum();
    (devices.iter().copied().max().unwrap_or(0), squares(&devices), squares(&stages))
}

/// Cuts that a move of one or two boundaries leads to and that are more even, the most even first.
pub(super) fn more_even(cut: &Cut, layers: &Layers) -> Vec<Cut> {
    let rank = unevenness(layers, cut.layers());
    let moves = shifts(cut.layers(), layers).chain(double_shifts(cut.layers(), layers));
    let ranked = moves.map(|cut| (unevenness(layers, &cut), cut)).filter(|(other, _)| *other < rank);
    ranked.sorted().dedup().map(|(_, cut)| Cut::new(cut)).collect()
}

/// All cuts in which one boundary lies a layer further, in either direction.
pub(super) fn shifts(cut: &[u32], layers: &Layers) -> impl Iterator<Item = Vec<u32>> {
    let (cut, least) = (cut.to_vec(), u32::from(!layers.empty_stages));
    let boundaries = 0..cut.len().saturating_sub(1);
    let both = boundaries.flat_map(|boundary| [(boundary, boundary + 1), (boundary + 1, boundary)]);
    both.filter_map(move |(from, to)| moved(&cut, from, to, least))
        .filter(|cut| has_work(layers, cut))
        .collect::<Vec<_>>()
        .into_iter()
}

/// All cuts in which a layer leaves one stage and another stage gains one, with those between passing one on.
pub(super) fn double_shifts(cut: &[u32], layers: &Layers) -> impl Iterator<Item = Vec<u32>> {
    let (cut, least) = (cut.to_vec(), u32::from(!layers.empty_stages));
    let stages = 0..cut.len();
    let pairs = stages.clone().flat_map(move |from| stages.clone().map(move |to| (from, to)));
    pairs
        .filter(|(from, to)| from.abs_diff(*to) > 1)
        .filter_map(move |(from, to)| moved(&cut, from, to, least))
        .filter(|cut| has_work(layers, cut))
        .collect::<Vec<_>>()
        .into_iter()
}

fn moved(cut: &[u32], from: usize, to: usize, least: u32) -> Option<Vec<u32>> {
    let left = cut[from].checked_sub(1).filter(|&left| left >= least)?;
    let mut cut = cut.to_vec();
    cut[from] = left;
    cut[to] += 1;
    Some(cut)
}

/// Whether every device has a layer.
fn has_work(layers: &Layers, cut: &[u32]) -> bool {
    let has = |stages: &Vec<Stage>| stages.iter().any(|stage| cut[stage.index()] > 0);
    layers.placement.lists().iter().all(has)
}
