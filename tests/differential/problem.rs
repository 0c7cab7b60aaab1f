//! A problem as a line of integers, which `brute.rs` describes.

use std::collections::BTreeMap;

use crate::machine::Machine;

pub struct Problem {
    pub span: bool,
    pub devices: usize,
    pub stages: usize,
    pub microbatches: usize,
    pub device: Vec<usize>,
    pub time: [Vec<i64>; 3],
    pub latency: Vec<i64>,
    pub activation: Vec<i64>,
    pub retained: Vec<i64>,
    pub checkpoint: Vec<i64>,
    pub room: Vec<Option<i64>>,
    /// Of F, R, I, W and B.
    pub workspace: [Vec<i64>; 5],
    /// The durations of pairs: by the stage of F, whether it is beside a B, and the stage of that.
    pub pairs: BTreeMap<(usize, bool, usize), i64>,
    /// The most that an F of a stage saves in a pair.
    pub saves: Vec<i64>,
    pub machine: Machine,
    pub fused: bool,
}

/// The problem, the value below which a schedule is asked for, and how many choices may be made.
pub fn parse(line: &str) -> (Problem, Option<i64>, u64) {
    let mut numbers = line.split_whitespace().map(|word| word.parse::<i64>().expect("an integer"));
    let mut next = || numbers.next().expect("another integer");
    let span = next() == 1;
    let [devices, stages, microbatches] = [next() as usize, next() as usize, next() as usize];
    let mut list = |count: usize| (0..count).map(|_| next()).collect::<Vec<i64>>();
    let device: Vec<usize> = list(stages).into_iter().map(|device| device as usize).collect();
    let time = [list(stages), list(stages), list(stages)];
    let latency = list(stages - 1);
    let (activation, retained, weights, checkpoint) = (list(stages), list(stages), list(stages), list(stages));
    let capacity = list(devices);
    let (occupancy, node) = (list(stages - 1), list(devices));
    let (reduce, optimizer) = (list(stages), list(stages));
    let workspace = [list(stages), list(stages), list(stages), list(stages), list(stages)];
    let receive = list(stages - 1);
    let count = list(1)[0] as usize;
    let pairs: Vec<Vec<i64>> = (0..count).map(|_| list(4)).collect();
    let rest = list(3);
    let pairs: BTreeMap<(usize, bool, usize), i64> =
        pairs.into_iter().map(|pair| ((pair[0] as usize, pair[1] == 1, pair[2] as usize), pair[3])).collect();
    let saves = (0..stages).map(|stage| {
        let of_pair = |(&(forward, fused, backward), &ticks): (&(usize, bool, usize), &i64)| {
            let alone = time[0][forward] + time[1][backward] + if fused { time[2][backward] } else { 0 };
            (forward == stage).then_some(alone - ticks)
        };
        pairs.iter().filter_map(of_pair).max().unwrap_or(0)
    });
    let saves = saves.collect();
    let machine = Machine::new(&device, devices, occupancy, node, reduce, optimizer, receive);
    let room = (0..devices).map(|i| {
        let held: i64 = (0..stages).filter(|&stage| device[stage] == i).map(|stage| weights[stage]).sum();
        (capacity[i] >= 0).then(|| capacity[i] - held)
    });
    let room: Vec<Option<i64>> = room.collect();
    let problem = Problem {
        span, devices, stages, microbatches, device, time, latency, activation, retained, checkpoint, room,
        workspace, pairs, saves, machine,
        fused: rest[0] == 1,
    };
    (problem, (rest[1] >= 0).then_some(rest[1]), rest[2] as u64)
}
