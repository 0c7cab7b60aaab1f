//! All cuts as the paths of a graph: a step gives one device its layers.
//!
//! The stages of device 0 come first, then those of device 1, and so on. Where the layers of each chunk begin and end on the
//! devices so far is all that the devices to come have to know. With V placement, chunk 0 grows from the first layer on, and
//! chunk 1 from the last one back, until they meet. With several chunks in the same direction, chunk k ends where chunk k+1
//! begins, which is tried in all ways.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::device::{Range, Sums};
use crate::job::{Cut, Layers};
use crate::model::{Shape, Ticks};

/// The most chunks of a device.
const MOST_CHUNKS: usize = 4;

/// Where each chunk has got to: the layer behind the last of the chunk so far, or with V placement the first of chunk 1.
type Reached = [u16; MOST_CHUNKS];

/// How far the cuts of some layers have been looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

/// The steps that an inquiry may take.
#[derive(Debug)]
pub(super) struct Steps {
    /// How many are left.
    pub(super) left: u64,
    /// How many it takes to value a device.
    pub(super) of_a_device: u64,
}

impl Steps {
    fn spend(&mut self, steps: u64) -> Result<(), TooLarge> {
        self.left = self.left.checked_sub(steps).ok_or(TooLarge)?;
        Ok(())
    }
}

/// A device that takes layers.
struct Step {
    to: usize,
    value: i64,
}

/// The ways to cut with one choice of where chunks begin.
struct Ways {
    /// By device: what may be reached before it, in order; behind the last device, the end.
    reached: Vec<Vec<Reached>>,
    /// By device and by what is reached before it.
    steps: Vec<Vec<Vec<Step>>>,
    /// By device and by what is reached before it: the least of the largest values on any way to the end; none where no way
    /// leads there.
    ahead: Vec<Vec<Option<i64>>>,
}

/// All cuts whose devices all have a value below a limit.
pub(super) struct Cuts<'a> {
    layers: &'a Layers,
    ways: Vec<Ways>,
}

/// What a device is worth that has these layers in its chunks; nothing when it cannot have them.
pub(super) type Value<'a> = dyn Fn(usize, &[Range]) -> Option<i64> + 'a;

impl<'a> Cuts<'a> {
    /// Looks through all cuts. `quick` is at most `value`, and takes less time.
    pub(super) fn new(
        sums: &Sums<'a>,
        quick: &Value<'_>,
        value: &Value<'_>,
        limit: i64,
        steps: &mut Steps,
    ) -> Result<Self, TooLarge> {
        let layers = sums.layers;
        let chunks = layers.placement.lists().iter().map(Vec::len).max().unwrap_or(0);
        let is_uniform = layers.placement.lists().iter().all(|stages| stages.len() == chunks);
        if chunks > MOST_CHUNKS || !is_uniform || layers.atoms.len() >= usize::from(u16::MAX) {
            return Err(TooLarge);
        }
        let mut known = BTreeMap::new();
        let mut ways = Vec::new();
        for begins in begins(layers, chunks) {
            let search = Search { sums, chunks, begins, limit, quick, value };
            ways.push(search.ways(&mut known, steps)?);
        }
        Ok(Self { layers, ways })
    }

    /// The least of the largest values over all cuts; none where each cut has a value that is not below the limit.
    pub(super) fn least(&self) -> Option<i64> {
        self.ways.iter().filter_map(|ways| ways.ahead[0][0]).min()
    }

    /// The cuts with the least of the largest values first, each with that, until `visit` has seen enough.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(i64, &Cut) -> bool) {
        // What is known of a cut: its value at the least, where it is, and its steps.
        let mut open: BinaryHeap<Reverse<(i64, usize, Vec<usize>)>> = BinaryHeap::new();
        for (index, ways) in self.ways.iter().enumerate() {
            if let Some(ahead) = ways.ahead[0][0] {
                open.push(Reverse((ahead, index, vec![0])));
            }
        }
        while let Some(Reverse((value, index, path))) = open.pop() {
            let ways = &self.ways[index];
            let (device, &at) = (path.len() - 1, path.last().expect("a path begins at the start"));
            if device == ways.steps.len() {
                if !visit(value, &self.cut(ways, &path)) {
                    return;
                }
                continue;
            }
            for step in &ways.steps[device][at] {
                let Some(ahead) = ways.ahead[device + 1][step.to] else { continue };
                let mut longer = path.clone();
                longer.push(step.to);
                open.push(Reverse((value.max(step.value).max(ahead), index, longer)));
            }
        }
    }

    fn cut(&self, ways: &Ways, path: &[usize]) -> Cut {
        let placement = &self.layers.placement;
        let mut layers = vec![0; placement.stages() as usize];
        let is_v = placement.shape() == Shape::V;
        for (device, stages) in placement.lists().iter().enumerate() {
            let [from, to] = [path[device], path[device + 1]];
            let (from, to) = (ways.reached[device][from], ways.reached[device + 1][to]);
            let mut stages = stages.clone();
            stages.sort_unstable();
            for (chunk, stage) in stages.iter().enumerate() {
                let (begin, end) = range(is_v, chunk, from[chunk], to[chunk]);
                layers[stage.index()] = u32::try_from(end - begin).expect("there are few layers");
            }
        }
        Cut::new(layers)
    }
}

/// The layers that a chunk gains on a device.
fn range(is_v: bool, chunk: usize, from: u16, to: u16) -> Range {
    let (from, to) = (usize::from(from), usize::from(to));
    if is_v && chunk == 1 { (to, from) } else { (from, to) }
}

/// All ways to choose where chunks begin, for chunks that go the same way.
fn begins(layers: &Layers, chunks: usize) -> Vec<Vec<usize>> {
    let atoms = layers.atoms.len();
    if chunks == 1 || layers.placement.shape() == Shape::V {
        return vec![vec![0, atoms]];
    }
    let each = if layers.empty_stages { 0 } else { layers.placement.devices() as usize };
    let mut all = vec![vec![0]];
    for chunk in 1..chunks {
        let longer = all.iter().flat_map(|begins| {
            let least = begins[chunk - 1] + each;
            let most = atoms.saturating_sub(each * (chunks - chunk));
            (least..=most).map(move |begin| [begins.as_slice(), &[begin]].concat())
        });
        all = longer.collect();
    }
    for begins in &mut all {
        begins.push(atoms);
    }
    all
}

struct Search<'s, 'a> {
    sums: &'s Sums<'a>,
    chunks: usize,
    begins: Vec<usize>,
    limit: i64,
    quick: &'s Value<'s>,
    value: &'s Value<'s>,
}

/// What devices are worth that have been looked at.
type Known = BTreeMap<(usize, [Range; MOST_CHUNKS]), Option<i64>>;

impl Search<'_, '_> {
    fn is_v(&self) -> bool {
        self.sums.layers.placement.shape() == Shape::V
    }

    fn start(&self) -> Reached {
        let mut reached = [0; MOST_CHUNKS];
        if self.is_v() {
            reached[1] = narrow(self.sums.layers.atoms.len());
            return reached;
        }
        for (place, &begin) in reached.iter_mut().zip(&self.begins[..self.chunks]) {
            *place = narrow(begin);
        }
        reached
    }

    /// Whether all layers are given out.
    fn is_end(&self, reached: Reached) -> bool {
        if self.is_v() {
            return reached[0] == reached[1];
        }
        (0..self.chunks).all(|chunk| usize::from(reached[chunk]) == self.begins[chunk + 1])
    }

    fn ways(&self, known: &mut Known, spent: &mut Steps) -> Result<Ways, TooLarge> {
        let devices = self.sums.layers.placement.devices() as usize;
        let (mut reached, mut steps) = (vec![vec![self.start()]], Vec::with_capacity(devices));
        for device in 0..devices {
            let mut next: BTreeMap<Reached, usize> = BTreeMap::new();
            let mut of_device = Vec::new();
            for from in &reached[device] {
                let mut found = Vec::new();
                self.continued(device, *from, known, spent, &mut |to, value| {
                    let count = next.len();
                    let to = *next.entry(to).or_insert(count);
                    found.push(Step { to, value });
                })?;
                of_device.push(found);
            }
            let mut list = vec![[0; MOST_CHUNKS]; next.len()];
            for (at, position) in next {
                list[position] = at;
            }
            reached.push(list);
            steps.push(of_device);
        }
        let is_end = |&at: &Reached| self.is_end(at).then_some(i64::MIN);
        let mut ahead = vec![reached[devices].iter().map(is_end).collect::<Vec<_>>()];
        for device in (0..devices).rev() {
            let behind = ahead.last().expect("the end is there");
            let best = |steps: &Vec<Step>| {
                steps.iter().filter_map(|step| Some(behind[step.to]?.max(step.value))).min()
            };
            let here = steps[device].iter().map(best).collect();
            ahead.push(here);
        }
        ahead.reverse();
        Ok(Ways { reached, steps, ahead })
    }

    /// All that a device may take, with its value where that is below the limit.
    fn continued(
        &self,
        device: usize,
        from: Reached,
        known: &mut Known,
        spent: &mut Steps,
        found: &mut dyn FnMut(Reached, i64),
    ) -> Result<(), TooLarge> {
        let after = self.sums.layers.placement.devices() as usize - 1 - device;
        self.chunk(0, &mut Taking { device, after, from, to: from, known, spent, found })
    }

    fn chunk(&self, chunk: usize, taking: &mut Taking<'_>) -> Result<(), TooLarge> {
        if chunk == self.chunks {
            return self.whole(taking);
        }
        let Taking { after, from, to, .. } = *taking;
        let each = usize::from(!self.sums.layers.empty_stages);
        let (begin, backwards) = (usize::from(from[chunk]), self.is_v() && chunk == 1);
        // What the chunk has left, less what it and the chunks behind it owe the devices to come.
        let room = if backwards {
            begin.checked_sub(usize::from(to[0]) + each * 2 * after)
        } else if self.is_v() {
            (usize::from(from[1])).checked_sub(begin + each * (2 * after + 1))
        } else {
            self.begins[chunk + 1].checked_sub(begin + each * after)
        };
        let Some(room) = room else { return Ok(()) };
        for taken in each..=room {
            if after == 0 && taken != room && (backwards || !self.is_v()) {
                // The last device takes all that is left.
                continue;
            }
            taking.to[chunk] = narrow(if backwards { begin - taken } else { begin + taken });
            taking.spent.spend(1)?;
            // More layers make it only larger.
            if self.partial(taking, chunk) >= self.limit {
                break;
            }
            self.chunk(chunk + 1, taking)?;
        }
        Ok(())
    }

    /// What the chunks so far take at the least: their work over all microbatches.
    fn partial(&self, taking: &Taking<'_>, last: usize) -> i64 {
        if self.limit == i64::MAX {
            return i64::MIN;
        }
        let Taking { device, from, to, .. } = *taking;
        let of = |chunk: usize| range(self.is_v(), chunk, from[chunk], to[chunk]);
        let all: Ticks = (0..=last).map(|chunk| self.sums.work_of(of(chunk))).sum();
        (self.sums.head(device, &[of(0)]) + all * i64::from(self.sums.layers.microbatches)).0
    }

    fn whole(&self, taking: &mut Taking<'_>) -> Result<(), TooLarge> {
        let Taking { device, from, to, .. } = *taking;
        let mut ranges = [(0, 0); MOST_CHUNKS];
        for (chunk, place) in ranges.iter_mut().enumerate().take(self.chunks) {
            *place = range(self.is_v(), chunk, from[chunk], to[chunk]);
        }
        let own = &ranges[..self.chunks];
        // A device must have work, and those to come must be able to do the rest.
        if own.iter().all(|(begin, end)| begin == end) || !self.is_enough(taking.after, to) {
            return Ok(());
        }
        let value = if let Some(&value) = taking.known.get(&(device, ranges)) {
            value
        } else {
            let is_below = |value: &i64| *value < self.limit;
            let mut value = (self.quick)(device, own).filter(is_below);
            if value.is_some() {
                taking.spent.spend(taking.spent.of_a_device)?;
                value = (self.value)(device, own).filter(is_below);
            }
            taking.known.insert((device, ranges), value);
            value
        };
        if let Some(value) = value {
            (taking.found)(to, value);
        }
        Ok(())
    }

    /// Whether the devices to come can do what is left before the limit.
    fn is_enough(&self, after: usize, to: Reached) -> bool {
        if self.limit == i64::MAX {
            return true;
        }
        let left: Ticks = if self.is_v() {
            self.sums.work_of((usize::from(to[0]), usize::from(to[1])))
        } else {
            let left = |chunk: usize| self.sums.work_of((usize::from(to[chunk]), self.begins[chunk + 1]));
            (0..self.chunks).map(left).sum()
        };
        let all = i128::from(left.0) * i128::from(self.sums.layers.microbatches);
        all < i128::from(self.limit) * after as i128 || all == 0
    }
}

/// A device that takes layers, one chunk after the other.
struct Taking<'t> {
    device: usize,
    /// How many devices are to come.
    after: usize,
    from: Reached,
    to: Reached,
    known: &'t mut Known,
    spent: &'t mut Steps,
    found: &'t mut dyn FnMut(Reached, i64),
}

fn narrow(at: usize) -> u16 {
    u16::try_from(at).expect("fewer layers than that, as was checked")
}
