//! Scratch.
use std::time::Instant;
use bubbleproof_core::{certificate, job, model::Ticks};
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let job = job::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    for choice in job.choices().unwrap() {
        let layers = job.layers(&choice).unwrap();
        let t = Instant::now();
        let q = certificate::quick_bound_over_cuts(&layers, Ticks(i64::MAX));
        println!("{choice}: quick {q:?} {:?}", t.elapsed());
        let t = Instant::now();
        println!("  full {:?} {:?}", certificate::lower_bound_over_cuts(&layers, Ticks(i64::MAX)), t.elapsed());
        let mut n = 0;
        certificate::visit_cuts(&layers, Ticks(i64::MAX), &mut |v, c| { n += 1; println!("  {v} {c}"); n < 4 });
    }
}
