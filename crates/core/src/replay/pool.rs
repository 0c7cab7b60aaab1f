//! The smallest pool of buffers, for runtimes that allocate them ahead of the step.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::Buffer;
use crate::model::{Model, Units};

/// The buffers that a device needs at least if each keeps its place in memory and takes messages of one size only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BufferPool {
    /// How many there are of every size.
    pub counts: BTreeMap<Units, usize>,
    /// By message, in the order of the buffers that were given: which one of its size it goes into, counted from 0.
    pub assigned: Vec<usize>,
}

impl BufferPool {
    /// The number of buffers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.values().sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// What all of them take, in units.
    #[must_use]
    pub fn units(&self) -> Units {
        self.counts.iter().map(|(&size, &count)| size * i64::try_from(count).unwrap_or(i64::MAX)).sum()
    }
}

/// The smallest pool for the buffers of a device. Messages that take no memory need none.
///
/// In the order in which receives are posted, each takes the first buffer of its size that is free, or a new one. A new one is
/// only taken while all others of its size are in use, so there are as many as are ever in use at once, and fewer cannot do.
#[must_use]
pub fn buffer_pool(model: &Model, buffers: &[Buffer]) -> BufferPool {
    /// The buffers of one size.
    #[derive(Default)]
    struct Sized {
        count: usize,
        free: BinaryHeap<Reverse<usize>>,
        /// By position of the pass that ends its use.
        in_use: BinaryHeap<Reverse<(usize, usize)>>,
    }
    let mut sizes: BTreeMap<Units, Sized> = BTreeMap::new();
    let mut assigned = vec![0; buffers.len()];
    let mut by_post: Vec<usize> = (0..buffers.len()).collect();
    by_post.sort_by_key(|&at| (buffers[at].posted, buffers[at].used));
    for at in by_post {
        let Buffer { posted, used, boundary, .. } = buffers[at];
        let size = model.receive_after(boundary);
        if size == Units::ZERO {
            continue;
        }
        let Sized { count, free, in_use } = sizes.entry(size).or_default();
        while let Some(&Reverse((end, number))) = in_use.peek()
            && end < posted
        {
            in_use.pop();
            free.push(Reverse(number));
        }
        let number = free.pop().map_or_else(
            || {
                *count += 1;
                *count - 1
            },
            |Reverse(number)| number,
        );
        in_use.push(Reverse((used, number)));
        assigned[at] = number;
    }
    BufferPool { counts: sizes.into_iter().map(|(size, of_size)| (size, of_size.count)).collect(), assigned }
}
