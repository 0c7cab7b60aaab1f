//! Exhaustive search for the shortest order of a pair.
//!
//! Whatever the orders on the two resources are, the parts can be listed so that each comes behind those that it waits
//! for. So it is enough to build all such lists, part by part, each part as early as possible. Of two lists with the same
//! parts, one is dropped if neither resource nor chain is free earlier in it: whatever completes it completes the other.
//!
//! The second compute stream is left out. Without it a pair can only be shorter, so the result is a lower bound with it;
//! the caller executes the order with it.

use super::{COMMUNICATION, COMPUTE, Part, Prediction, needed};

/// The beginning of a list.
#[derive(Debug, Clone)]
struct Beginning {
    /// How many parts of the forward and of the backward are in it.
    done: [usize; 2],
    /// By gradient of weights: whether it is in it.
    weights: Vec<bool>,
    /// When the two resources are free.
    free: [i64; 2],
    /// When the forward and the backward have come so far.
    arrived: [i64; 2],
    sequence: Vec<usize>,
}

impl Beginning {
    fn has_the_parts_of(&self, other: &Self) -> bool {
        self.done == other.done && self.weights == other.weights
    }

    fn is_no_later_than(&self, other: &Self) -> bool {
        let times = |it: &Self| [it.free, it.arrived].concat();
        times(self).iter().zip(times(other)).all(|(&one, other)| one <= other)
    }
}

struct Search<'a> {
    parts: &'a [Part],
    durations: &'a [i64],
    /// The forward and the backward, each part of which needs the one before it.
    chains: [Vec<usize>; 2],
    weights: Vec<usize>,
    /// Only what is shorter is looked for.
    limit: i64,
}

impl Search<'_> {
    /// All lists that go on by a part.
    fn next(&self, beginning: &Beginning) -> Vec<Beginning> {
        let mut next = Vec::new();
        for (number, chain) in self.chains.iter().enumerate() {
            let Some(&part) = chain.get(beginning.done[number]) else { continue };
            let mut longer = beginning.clone();
            let resource = self.parts[part].resource;
            let end = longer.free[resource].max(longer.arrived[number]) + self.durations[part];
            longer.free[resource] = end;
            longer.arrived[number] = end;
            longer.done[number] += 1;
            longer.sequence.push(part);
            next.push(longer);
        }
        for (number, &part) in self.weights.iter().enumerate() {
            let needed = needed(self.parts, &self.parts[part]).expect("a part of the backward");
            if beginning.weights[number] || !beginning.sequence.contains(&needed) {
                continue;
            }
            let mut longer = beginning.clone();
            // What it needs ran on the same resource, which is free only after it.
            longer.free[COMPUTE] += self.durations[part];
            longer.weights[number] = true;
            longer.sequence.push(part);
            next.push(longer);
        }
        next
    }

    /// A time that no list with this beginning falls below.
    fn bound(&self, beginning: &Beginning) -> i64 {
        let rest = |resource| {
            let parts = (0..self.parts.len()).filter(|part| !beginning.sequence.contains(part));
            let parts = parts.filter(|&part| self.parts[part].resource == resource);
            beginning.free[resource] + parts.map(|part| self.durations[part]).sum::<i64>()
        };
        let chain = |number: usize| {
            let rest = &self.chains[number][beginning.done[number]..];
            beginning.arrived[number] + rest.iter().map(|&part| self.durations[part]).sum::<i64>()
        };
        rest(COMPUTE).max(rest(COMMUNICATION)).max(chain(0)).max(chain(1))
    }
}

/// The shortest list of the parts on the two resources, and its makespan, if it is shorter than the order of the host.
pub fn shorter(parts: &[Part], durations: &[i64]) -> Option<(Vec<usize>, i64)> {
    let with = |ending: &str| -> Vec<usize> {
        let belongs = |part: &Part| part.resource <= COMMUNICATION && part.name.ends_with(ending);
        (0..parts.len()).filter(|&rank| belongs(&parts[rank])).collect()
    };
    // The host launches the parts of a chain in the order of their needs.
    let chains = [with("(F)"), with("(B)")];
    for chain in &chains {
        assert_eq!(needed(parts, &parts[chain[0]]), None);
        assert!(chain.windows(2).all(|pair| needed(parts, &parts[pair[1]]) == Some(pair[0])));
    }
    let weights = with("(W)");
    let limit = Prediction::as_launched(parts, durations).makespan();
    let search = Search { parts, durations, chains, weights, limit };

    let nothing = Beginning {
        done: [0; 2],
        weights: vec![false; search.weights.len()],
        free: [0; 2],
        arrived: [0; 2],
        sequence: Vec::new(),
    };
    let length = search.weights.len() + search.chains.concat().len();
    let mut beginnings = vec![nothing];
    for _ in 0..length {
        let mut longer: Vec<Beginning> = Vec::new();
        for next in beginnings.iter().flat_map(|beginning| search.next(beginning)) {
            let same = |other: &Beginning| other.has_the_parts_of(&next);
            if search.bound(&next) >= search.limit
                || longer.iter().any(|other| same(other) && other.is_no_later_than(&next))
            {
                continue;
            }
            longer.retain(|other| !(same(other) && next.is_no_later_than(other)));
            longer.push(next);
        }
        beginnings = longer;
    }
    let makespan = |list: &Beginning| list.free[COMPUTE].max(list.free[COMMUNICATION]);
    let best = beginnings.into_iter().min_by_key(makespan)?;
    let makespan = makespan(&best);
    Some((best.sequence, makespan))
}
