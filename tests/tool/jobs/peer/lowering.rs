//! Messages between passes, and the steps by which the peer tells phases apart.

use std::collections::{HashMap, HashSet};

use super::line::{Action, Line};
use super::orders::Row;

/// Rows with messages, by the rule of PyTorch: devices take turns, and a pass that may run is followed by its sending, while its
/// receiving goes to the end of the other row. A blank is a turn.
pub fn with_messages(rows: &[Row], line: Line) -> Vec<Vec<Action>> {
    let mut lowered: Vec<Vec<Action>> = vec![Vec::new(); rows.len()];
    let mut done: HashSet<Action> = HashSet::new();
    let mut next = vec![0; rows.len()];
    while rows.iter().zip(&next).any(|(row, &at)| at < row.len()) {
        let before = next.clone();
        for (device, row) in rows.iter().enumerate() {
            let Some(&slot) = row.get(next[device]) else { continue };
            if let Some(pass) = slot {
                if !line.needs(pass).iter().all(|need| done.contains(need)) {
                    continue;
                }
                lowered[device].push(pass);
                done.insert(pass);
                for part in line.message(pass).into_iter().flatten() {
                    lowered[line.device(part.stage)].push(part);
                    done.insert(part);
                }
            }
            next[device] += 1;
        }
        assert_ne!(before, next, "no device can go on");
    }
    lowered
}

/// The step in which each action runs if every action, messages too, takes one. What another device ran in a step may be used in
/// that step, at the second look.
pub fn steps(rows: &[Vec<Action>], line: Line) -> HashMap<Action, usize> {
    let mut at: HashMap<Action, usize> = HashMap::new();
    let mut next = vec![0; rows.len()];
    let mut step = 0;
    while rows.iter().zip(&next).any(|(row, &at)| at < row.len()) {
        let before = next.clone();
        let mut ran = vec![false; rows.len()];
        for _look in 0..2 {
            for (device, row) in rows.iter().enumerate() {
                let Some(&action) = row.get(next[device]) else { continue };
                if !ran[device] && line.needs(action).iter().all(|need| at.contains_key(need)) {
                    at.insert(action, step);
                    ran[device] = true;
                    next[device] += 1;
                }
            }
        }
        assert_ne!(before, next, "no device can go on");
        step += 1;
    }
    at
}
