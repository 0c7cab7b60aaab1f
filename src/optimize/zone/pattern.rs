//! Patterns of one device: in which cyclic order its passes run, and in which repetition each lies.

use std::ops::ControlFlow;

/// Nodes of a device: F0, F1, I1, I0 in the order of their dependencies.
pub(super) const F0: usize = 0;
pub(super) const F1: usize = 1;
pub(super) const I1: usize = 2;
pub(super) const I0: usize = 3;

/// The orders in which F1, I1, I0 can follow F0.
const ORDERS: [[usize; 4]; 6] = [
    [F0, F1, I1, I0],
    [F0, F1, I0, I1],
    [F0, I1, F1, I0],
    [F0, I1, I0, F1],
    [F0, I0, F1, I1],
    [F0, I0, I1, F1],
];

/// One device's durations and memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    /// Durations of F0, F1, I1, I0.
    pub duration: [i64; 4],
    /// Durations of W0 and W1.
    pub weight: [i64; 2],
    /// What chunk 0 and 1 hold until I ends.
    pub until_input: [i64; 2],
    /// What they hold until W ends.
    pub until_weight: [i64; 2],
    /// The cap.
    pub capacity: i64,
}

/// A difference constraint: `to` starts at least `length + height * T` after `from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub from: usize,
    pub to: usize,
    pub length: i64,
    pub height: i64,
}

/// A pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The cyclic order, beginning with F0.
    pub order: [usize; 4],
    /// The repetition of each node, that of F0 being 0.
    pub copy: [i64; 4],
    /// After which position of `order` W0 and W1 run.
    pub gap: [usize; 2],
}

impl Pattern {
    /// The constraints between neighbours in the cyclic order: `o_v - o_u >= length + height * T`.
    pub(super) fn links(&self, figures: &Figures) -> [Link; 4] {
        std::array::from_fn(|at| {
            let (from, to) = (self.order[at], self.order[(at + 1) % 4]);
            let weights: i64 =
                (0..2).filter(|&chunk| self.gap[chunk] == at).map(|chunk| figures.weight[chunk]).sum();
            let wrap = i64::from(at == 3);
            let height = self.copy[to] - self.copy[from] - wrap;
            Link { from, to, length: figures.duration[from] + weights, height }
        })
    }

    /// The repetition of the W of a chunk: the first occurrence of its gap after its I.
    pub(super) fn weight_copy(&self, chunk: usize) -> i64 {
        let input = if chunk == 0 { I0 } else { I1 };
        self.copy[input] + i64::from(self.gap[chunk] < self.position(input))
    }

    fn position(&self, node: usize) -> usize {
        self.order.iter().position(|&other| other == node).expect("an order holds every node")
    }

    /// The exact steady peak of the device.
    ///
    /// A copy of a pass in repetition `n` that comes later in the cyclic order than the instant
    /// looked at has ended `-n-1` times by then, an earlier one `-n` times. When F0 starts, F0 has
    /// started 0 times by this count and F1 `-n(F1)-1` times; when F1 starts, `-n(F1)` times.
    pub(super) fn peak(&self, figures: &Figures) -> i64 {
        let second = self.position(F1);
        let (mut at_first, mut at_second) = (0, 0);
        for chunk in 0..2 {
            let input = if chunk == 0 { I0 } else { I1 };
            let ends = [
                (figures.until_input[chunk], self.copy[input], self.position(input) > second),
                (figures.until_weight[chunk], self.weight_copy(chunk), self.gap[chunk] >= second),
            ];
            for (holds, copy, later) in ends {
                let (by_first, by_second) = if chunk == 0 {
                    (copy + 1, copy + i64::from(later))
                } else {
                    (copy - self.copy[F1], copy - self.copy[F1] + i64::from(later))
                };
                at_first += holds * by_first;
                at_second += holds * by_second;
            }
        }
        at_first.max(at_second)
    }
}

/// How many repetitions F1 may lie behind F0, I1 behind F1, and I0 behind I1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Apart {
    pub least: [i64; 3],
    pub most: [i64; 3],
}

/// Calls `each` with every pattern that keeps to the cap and to these distances, until it breaks off.
pub(super) fn for_each(
    figures: &Figures,
    Apart { least, most }: Apart,
    mut each: impl FnMut(Pattern) -> ControlFlow<()>,
) -> ControlFlow<()> {
    // What any order and gaps hold at the least with these repetitions, when F0 starts. It grows
    // with each repetition when those after it move along, so the loops may end at the cap.
    let fits = |second: i64, input: i64, end: i64| {
        let whole = |chunk: usize| figures.until_input[chunk] + figures.until_weight[chunk];
        whole(0) * (end + 1) + whole(1) * (input - second) <= figures.capacity
    };
    for second in least[0]..=most[0] {
        if !fits(second, second + least[1], second + least[1] + least[2]) {
            break;
        }
        for input in second + least[1]..=second + most[1] {
            if !fits(second, input, input + least[2]) {
                break;
            }
            for end in input + least[2]..=input + most[2] {
                if !fits(second, input, end) {
                    break;
                }
                arrange(figures, [0, second, input, end], &mut each)?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// All orders and gaps for given repetitions.
fn arrange(
    figures: &Figures,
    copy: [i64; 4],
    each: &mut impl FnMut(Pattern) -> ControlFlow<()>,
) -> ControlFlow<()> {
    for order in ORDERS {
        for gap in itertools::iproduct!(0..4, 0..4) {
            let pattern = Pattern { order, copy, gap: [gap.0, gap.1] };
            if pattern.peak(figures) <= figures.capacity {
                each(pattern)?;
            }
        }
    }
    ControlFlow::Continue(())
}
