//! Patterns of one device: in which cyclic order its passes run, and in which repetition each lies.
//!
//! The nodes of a device with `v` chunks are its Fs and its backwards (I or B) along the chain of one
//! microbatch: F of chunk `c` is node `c`, the backward of chunk `c` is node `2v-1-c`. Between two
//! neighbours in the cyclic order lies a gap, in which first Ws run and then Rs.

/// The most nodes of a device: two chunks.
pub(super) const NODES: usize = 4;

/// One device's passes and memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Figures {
    /// How many chunks it has: one or two.
    pub chunks: usize,
    /// Durations of the nodes.
    pub duration: [i64; NODES],
    /// Durations of W, by chunk, if it is a pass of its own.
    pub weight: Option<[i64; 2]>,
    /// Durations of R, by chunk, if there is recomputation.
    pub recompute: Option<[i64; 2]>,
    /// What F acquires, by chunk.
    pub by_forward: [i64; 2],
    /// What R acquires.
    pub by_recompute: [i64; 2],
    /// What the backward node releases.
    pub by_input: [i64; 2],
    /// What W releases.
    pub by_weight: [i64; 2],
    /// The capacity.
    pub capacity: i64,
}

impl Figures {
    /// The number of nodes.
    pub const fn nodes(&self) -> usize {
        2 * self.chunks
    }

    /// Whether two devices differ in nothing but their capacities, if in anything.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        *self == Self { capacity: self.capacity, ..other.clone() }
    }

    /// The backward node of a chunk.
    pub const fn backward(&self, chunk: usize) -> usize {
        2 * self.chunks - 1 - chunk
    }
}

/// A pass of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Node(usize),
    Weight(usize),
    Recompute(usize),
}

/// A cyclic order with the gaps of W and R.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// The cyclic order; node 0 is first.
    order: [usize; NODES],
    /// The position of each node in it.
    position: [usize; NODES],
    nodes: usize,
    /// After which position W runs, by chunk.
    weight: [usize; 2],
    /// After which position R runs, by chunk.
    recompute: [usize; 2],
    /// What it takes from the start of each position to the start of the next.
    length: [i64; NODES],
    /// By chunk: how many repetitions after its I its W lies, and how many before it R.
    later: [i64; 2],
    earlier: [i64; 2],
    /// The peak, less what copies hold from F to the backward.
    pub base: i64,
}

/// The distance from one node to another: at least `length`, and a repetition less when it leads
/// over the end of the cyclic order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Distance {
    pub length: i64,
    pub wraps: bool,
}

/// All shapes of a device.
///
/// W takes the first occurrence of its gap after its I, R the last one of its gap before: anything
/// else only holds memory longer. A W that takes no time runs right after its I, and such an R right before its backward.
pub(super) fn shapes(figures: &Figures) -> Vec<Shape> {
    const ORDERS: [[usize; NODES]; 6] =
        [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 1, 3], [0, 2, 3, 1], [0, 3, 1, 2], [0, 3, 2, 1]];
    let orders: &[[usize; NODES]] = if figures.chunks == 1 { &[[0, 1, 2, 3]] } else { &ORDERS };
    let mut shapes = Vec::new();
    for &order in orders {
        let mut position = [0; NODES];
        for (at, &node) in order.iter().enumerate() {
            position[node] = at;
        }
        // By chunk: the gap after or before its backward where nothing takes time. F of chunk 0 is first in the order, so there is
        // one before every backward.
        let gaps = |durations: Option<[i64; 2]>, chunk: usize, before: usize| {
            if chunk >= figures.chunks {
                0..1
            } else if durations.is_some_and(|durations| durations[chunk] > 0) {
                0..figures.nodes()
            } else {
                let at = position[figures.backward(chunk)] - before;
                at..at + 1
            }
        };
        let weight = |chunk| gaps(figures.weight, chunk, 0);
        let recompute = |chunk| gaps(figures.recompute, chunk, 1);
        for (w0, w1, r0, r1) in itertools::iproduct!(weight(0), weight(1), recompute(0), recompute(1)) {
            shapes.push(Shape::new(figures, order, position, [w0, w1], [r0, r1]));
        }
    }
    shapes
}

impl Shape {
    fn new(
        figures: &Figures,
        order: [usize; NODES],
        position: [usize; NODES],
        weight: [usize; 2],
        recompute: [usize; 2],
    ) -> Self {
        let mut length = [0; NODES];
        for (at, length) in length.iter_mut().enumerate().take(figures.nodes()) {
            *length = figures.duration[order[at]];
        }
        let (mut later, mut earlier) = ([0; 2], [0; 2]);
        for chunk in 0..figures.chunks {
            let backward = position[figures.backward(chunk)];
            if let Some(durations) = figures.weight {
                length[weight[chunk]] += durations[chunk];
                later[chunk] = i64::from(weight[chunk] < backward);
            }
            if let Some(durations) = figures.recompute {
                length[recompute[chunk]] += durations[chunk];
                earlier[chunk] = i64::from(recompute[chunk] >= backward);
            }
        }
        let nodes = figures.nodes();
        let mut shape = Self { order, position, nodes, weight, recompute, length, later, earlier, base: 0 };
        shape.base = shape.peak_of_one(figures);
        shape
    }

    /// The passes in the cyclic order, each with its place in it.
    ///
    /// Which W of a gap is first changes no peak, and neither does which R is.
    pub(super) fn steps(&self, figures: &Figures) -> Vec<Step> {
        let mut steps = Vec::new();
        let chunks = || (0..figures.chunks).rev();
        for at in 0..self.nodes {
            steps.push(Step::Node(self.order[at]));
            if figures.weight.is_some() {
                steps.extend(chunks().filter(|&chunk| self.weight[chunk] == at).map(Step::Weight));
            }
            if figures.recompute.is_some() {
                steps.extend(chunks().filter(|&chunk| self.recompute[chunk] == at).map(Step::Recompute));
            }
        }
        steps
    }

    /// The repetition of a pass when the nodes lie in these.
    pub(super) fn copy(&self, figures: &Figures, step: Step, copy: &[i64; NODES]) -> i64 {
        match step {
            Step::Node(node) => copy[node],
            Step::Weight(chunk) => copy[figures.backward(chunk)] + self.later[chunk],
            Step::Recompute(chunk) => copy[figures.backward(chunk)] - self.earlier[chunk],
        }
    }

    /// The peak when every node lies in repetition 0. In other ones it is larger by what each chunk's
    /// F acquires, times the repetitions from its F to its backward.
    ///
    /// At an instant of repetition 0, the copies of a pass in repetition `n` that have started are those
    /// numbered `-n` and less if the pass lies earlier in the cyclic order, else those numbered less than
    /// `-n`. Summed over what is acquired and released, only these differences remain.
    fn peak_of_one(&self, figures: &Figures) -> i64 {
        let steps = self.steps(figures);
        let amount = |step: Step| match step {
            Step::Node(node) if node < figures.chunks => figures.by_forward[node],
            Step::Node(node) => -figures.by_input[figures.nodes() - 1 - node],
            Step::Weight(chunk) => -figures.by_weight[chunk],
            Step::Recompute(chunk) => figures.by_recompute[chunk],
        };
        let before: i64 =
            steps.iter().map(|&step| -amount(step) * self.copy(figures, step, &[0; NODES])).sum();
        let mut live = before;
        let mut peak = i64::MIN;
        for step in steps {
            live += amount(step);
            if !matches!(step, Step::Weight(_)) {
                peak = peak.max(live);
            }
        }
        peak
    }

    /// How far after one node another one starts, both in repetition 0.
    pub(super) fn distance(&self, from: usize, to: usize) -> Distance {
        let (start, end) = (self.position[from], self.position[to]);
        let wraps = end <= start && from != to;
        let end = if wraps { end + self.nodes } else { end };
        let length = (start..end).map(|at| self.length[at % self.nodes]).sum();
        Distance { length, wraps }
    }

    /// At least this many repetitions lie between F and the backward of a chunk, so that R lies between
    /// them.
    pub(super) fn least_copies(&self, figures: &Figures, chunk: usize) -> i64 {
        if figures.recompute.is_none() {
            return i64::MIN / 4;
        }
        self.earlier[chunk] + i64::from(self.recompute[chunk] < self.position[chunk])
    }
}

/// A shape with the repetition of each node, that of node 0 being 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pattern {
    pub shape: Shape,
    pub copy: [i64; NODES],
}

impl Pattern {
    /// The exact steady peak of the device.
    pub(super) fn peak(&self, figures: &Figures) -> i64 {
        let apart = |chunk: usize| self.copy[figures.backward(chunk)] - self.copy[chunk];
        self.shape.base
            + (0..figures.chunks).map(|chunk| figures.by_forward[chunk] * apart(chunk)).sum::<i64>()
    }
}
