use super::*;
use crate::model::{Costs, Memory, Model, Placement, Ticks, Units};
use std::time::{Duration, Instant};

fn uniform(placement: Placement, f: i64, i: i64, w: i64, c: i64, cap: Option<i64>) -> Model {
    let s = placement.stages() as usize; let d = placement.devices() as usize;
    Model::new("x".into(), None, placement, 1, Costs { unit: "tick".into(), forward: vec![Ticks(f); s], backward_input: vec![Ticks(i); s], backward_weight: vec![Ticks(w); s], communication: vec![Ticks(c); s - 1] },
      Memory { unit: "u".into(), activation: vec![Units(1); s], retained_for_weight: vec![Units(1); s], checkpoint: None, capacity: vec![cap.map(Units); d] }).unwrap()
}
fn show(o: &Outcome) -> String { match o { Outcome::Optimal(a) => format!("opt T={} peak={} ", a.interval, a.peak_max()), Outcome::Bounded { answer, bound } => format!("bounded {:?} {bound:?}", answer.as_ref().map(|a| (a.interval, a.peak_max()))), o => format!("{o:?}") } }
#[test]
fn scratch() {
    let ds: Vec<u32> = std::env::var("DS").unwrap_or("2,3,4,5,6,7,8".into()).split(',').map(|x| x.parse().unwrap()).collect();
    let eng = std::env::var("ENG").unwrap_or("smt,milp".into());
    let limit = Duration::from_secs(120);
    for &d in &ds {
        for (f, i, w, c) in [(1, 1, 1, 0), (3, 4, 2, 0), (9261, 9043, 4669, 601)] {
            if d > 8 && f != 9261 { continue; } if std::env::var("ONLY").is_ok_and(|o| o != f.to_string()) { continue; }
            let m = uniform(Placement::v(d).unwrap(), f, i, w, c, None);
            let t = 2 * (f + i + w);
            let cap = if f == 9261 { d as i64 } else { 2 * ((d as i64 + 4) / 3) };
            let mi = uniform(Placement::v(d).unwrap(), f, i, w, c, Some(cap));
            let what = std::env::var("WHAT").unwrap_or("mem,int".into()); for (name, m, o) in [("mem", &m, Objective::LeastMemory { interval: Ticks(t) }), ("int", &mi, Objective::LeastInterval)] {
                if !what.contains(name) { continue; }
                if eng.contains("smt") { let s = Instant::now(); let r = smt::solve(m, o, limit).map(|o| show(&o)); println!("smt {name} d={d} {f},{i},{w} {:?} {:?}", r, s.elapsed()); }
                if eng.contains("milp") { let s = Instant::now(); let r = milp::solve(m, o, limit).map(|o| show(&o)); println!("milp {name} d={d} {f},{i},{w} {:?} {:?}", r, s.elapsed()); }
            }
        }
    }
}
