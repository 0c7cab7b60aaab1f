//! Blocks for V placement whose offsets differ by the same amount from each device to the next, all of
//! them tried.
//!
//! The F of chunk 0 and the I of chunk 1 advance by `delta0` from device to device, the F of chunk 1 and
//! the I of chunk 0 by `delta1` back (arXiv 2405.15362, section 3.1); or by one pair of values up to some
//! device and another pair after it (Appendix A there). More than an interval above its least value
//! neither an advance nor a gap is of use: less by an interval meets no other passes, and every lifespan
//! is shorter. The Ws are free on every device.

use bubbleproof::block::Passes;

use super::{Row, Table, Takes, Times, UNEQUAL, UNIT, listed, shown, v};

/// How many values the advance from device to device may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offsets {
    Uniform,
    TwoValues,
}

pub fn table() -> Table {
    let unit = (3..=6_u32).flat_map(|devices| (6..=10).map(move |interval| (UNIT, devices, interval)));
    let unequal =
        (3..=8_u32).flat_map(|devices| [18, 20, 22, 24].map(move |interval| (UNEQUAL, devices, interval)));
    let rows = unit.chain(unequal).map(|(times, devices, interval)| {
        let most = if times == UNIT { 8 } else { 20 };
        let takes = if interval <= most { Takes::Little } else { Takes::Long };
        let problem = vec![listed(times), devices.to_string(), interval.to_string()];
        Row::new(problem, takes, move || {
            let of = |offsets| least_memory(devices as usize, times, interval, offsets);
            let two = if times == UNIT { of(Offsets::TwoValues) } else { None };
            let free = super::least_memory(&v(devices, times), Passes::SPLIT, interval);
            vec![free.to_string(), shown(two), shown(of(Offsets::Uniform))]
        })
    });
    Table {
        name: "uniform",
        head: "| F,I,W | d | T | free | two values | uniform |\n| --- | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

/// The least peak in chunk activations at an interval, over integer offsets.
pub fn least_memory(devices: usize, times: Times, interval: i64, offsets: Offsets) -> Option<i64> {
    let [forward, input, _] = times;
    let lag = forward.max(input);
    let advances: Vec<[i64; 2]> =
        (lag..lag + interval).flat_map(|one| (lag..lag + interval).map(move |other| [one, other])).collect();
    let mut best = None;
    for &before in &advances {
        search(&vec![before; devices - 1], times, interval, &mut best);
        if offsets == Offsets::Uniform {
            continue;
        }
        for &after in advances.iter().filter(|&&after| after != before) {
            for switch in 1..devices - 1 {
                let hops: Vec<[i64; 2]> =
                    (0..devices - 1).map(|hop| if hop < switch { before } else { after }).collect();
                search(&hops, times, interval, &mut best);
            }
        }
    }
    best
}

/// Tries all gaps at the turning points for given advances.
fn search(hops: &[[i64; 2]], times: Times, interval: i64, best: &mut Option<i64>) {
    let [forward, input, _] = times;
    let total: i64 = hops.iter().flatten().sum();
    for turn in forward..forward + interval {
        for lowest in forward..forward + interval {
            for back in input..input + interval {
                // On the last device: F1 - F0, I1 - F1, I0 - I1.
                let mut gaps = [turn, lowest + total, back];
                let mut peak = peak_of(gaps, times, interval);
                for &[one, other] in hops.iter().rev() {
                    let Some(so_far) = peak.filter(|&peak| best.is_none_or(|best| peak < best)) else {
                        break;
                    };
                    gaps = [gaps[0] + one + other, gaps[1] - one - other, gaps[2] + one + other];
                    peak = peak_of(gaps, times, interval).map(|peak| peak.max(so_far));
                }
                if let Some(peak) = peak.filter(|&peak| best.is_none_or(|best| peak < best)) {
                    *best = Some(peak);
                }
            }
        }
    }
}

/// The least peak of a device with these gaps between F0, F1, I1 and I0, its Ws wherever they fit;
/// nothing if passes collide.
fn peak_of(gaps: [i64; 3], [forward, input, weight]: Times, interval: i64) -> Option<i64> {
    let at = [0, gaps[0], gaps[0] + gaps[1], gaps[0] + gaps[1] + gaps[2]];
    let long = [forward, forward, input, input];
    let room = |node: usize| {
        let next =
            (0..4).filter(|&other| other != node).map(|other| (at[other] - at[node]).rem_euclid(interval));
        next.min().expect("four passes") - long[node]
    };
    let room = [room(0), room(1), room(2), room(3)];
    if room.iter().any(|&room| room < 0) {
        return None;
    }
    // The gap right after pass `node`: the first such after the I of the chunk.
    let after = |chunk: usize, node: usize| {
        let own = at[3 - chunk];
        at[node] + interval * (own - at[node] + interval - 1).div_euclid(interval)
    };
    let mut least = None;
    for low in 0..4 {
        for high in 0..4 {
            let need = if low == high { 2 * weight } else { weight };
            if room[low] < need || room[high] < need {
                continue;
            }
            let released = [after(0, low), after(1, high)];
            let live = |start: i64| -> i64 {
                (0..2)
                    .map(|chunk| {
                        (start - at[chunk]).div_euclid(interval)
                            - (start - released[chunk] - 1).div_euclid(interval)
                    })
                    .sum()
            };
            let peak = live(at[0]).max(live(at[1]));
            least = Some(least.map_or(peak, |least: i64| least.min(peak)));
        }
    }
    least
}
