use super::*;
use crate::model::{Costs, Memory, Ticks};
use crate::replay::replay;

fn profile(p: u32, m: u32, t: [i64; 4], act: [i64; 2]) -> Model {
    let n = p as usize;
    Model::new("x".into(), None, Placement::linear(p).unwrap(), m,
        Costs { unit: "us".into(), forward: vec![Ticks(t[0]); n], backward_input: vec![Ticks(t[1]); n], backward_weight: vec![Ticks(t[2]); n], communication: vec![Ticks(t[3]); n - 1] },
        Memory { unit: "u".into(), activation: vec![Units(act[0]); n], retained_for_weight: vec![Units(act[1]); n], checkpoint: None, capacity: vec![None; n] }).unwrap()
}

#[test]
fn explore() {
    let csv = std::fs::read_to_string("/work/shared/facts/zb_profiled_times.csv").unwrap();
    let rates = std::fs::read_to_string("/work/shared/facts/zb_bubble_rates.csv").unwrap();
    for line in csv.lines().skip(1) {
        let c: Vec<&str> = line.split(',').collect();
        let n = |i: usize| c[i].parse::<i64>().unwrap();
        let t = |i: usize| (c[i].parse::<f64>().unwrap() * 1000.).round() as i64;
        let (a, h, s) = (n(8), n(9), n(10));
        let model = profile(n(1) as u32, n(2) as u32, [t(3), t(4), t(5), t(6)], [34 * h + 5 * a * s, 32 * h]);
        print!("{} {} {} ", c[0], c[1], c[2]);
        for (e, pubname) in [("1f1b", "1F1B"), ("zb-h1", "ZB-H1"), ("zb-h2", "ZB-H2"), ("zb-1p", "ZB-1p"), ("zb-2p", "ZB-2p")] {
            let start = std::time::Instant::now();
            let s = find(e).unwrap().generate(&model).unwrap();
            let el = start.elapsed();
            let r = replay(&model, &s).timing.unwrap().metrics.bubble_rate;
            let pb = rates.lines().find(|l| l.starts_with(&format!("{},{},{},{},", c[0], c[1], c[2], pubname))).map(|l| l.split(',').nth(4).unwrap()).unwrap_or("-");
            print!(" {e} {:.4} ({pb}) {:?};", *r.numer() as f64 / *r.denom() as f64, el);
        }
        println!();
    }
    for d in [3, 4, 5, 6, 7, 8, 12, 16] {
        let model = Model::unit(Placement::v(d).unwrap(), 4 * d).unwrap();
        for e in ["1f1b-v", "v-min", "v-half", "v-zb"] {
            let s = find(e).unwrap().generate(&model).unwrap();
            let v = replay(&model, &s);
            print!("{e} d {d} peak {} span {} faults {:?}; ", v.peak_memory_max(), v.timing.unwrap().metrics.device_span.0 - 6 * 4 * d as i64, block(e, model.placement()).unwrap().faults(&model).len());
        }
        println!();
    }
    for d in [2, 3, 4, 6, 8] { for v in [1, 2, 3, 4] { 
        let model = Model::unit(Placement::looped(d, v).unwrap(), 4 * d).unwrap();
        print!("d {d} v {v}: ");
        for e in ["interleaved-1f1b", "interleaved-1f1b-uniform"] {
            let Ok(s) = find(e).unwrap().generate(&model) else { continue };
            let vd = replay(&model, &s);
            print!("{e} peak {} span {} ; ", vd.peak_memory_max(), vd.timing.unwrap().metrics.device_span.0 - 3 * v as i64 * 4 * d as i64);
        }
        for h in 1..=4 {
            let b = blocks::interleaved_steps(model.placement(), h);
            let s = v::from_block(&model, &b);
            let vd = replay(&model, &s);
            print!("hop {h}: faults {} peak {} {} span {} ; ", b.faults(&model).len(), b.steady_peak(&model).iter().max().unwrap(), vd.peak_memory_max(), vd.timing.unwrap().metrics.device_span.0 - 3 * v as i64 * 4 * d as i64);
        }
        println!();
    } }
}
#[test]
fn timeline() {
    let d: u32 = std::env::var("D").map_or(4, |x| x.parse().unwrap());
    let e = std::env::var("E").unwrap_or("v-half".into());
    let model = Model::unit(Placement::v(d).unwrap(), 3 * d).unwrap();
    let s = find(&e).unwrap().generate(&model).unwrap();
    let v = replay(&model, &s);
    let t = v.timing.unwrap();
    for (i, (o, st)) in s.orders().iter().zip(&t.starts).enumerate() {
        let mut line = vec!["    ".to_string(); t.metrics.makespan.0 as usize];
        for (p, at) in o.iter().zip(st) { line[at.0 as usize] = format!("{}{}{:<2}", p.kind.to_string().to_lowercase().replace('f', if p.stage.0 < d { "f" } else { "F" }).replace('i', if p.stage.0 < d { "i" } else { "I" }).replace('w', if p.stage.0 < d { "w" } else { "W" }), p.microbatch, ""); line[at.0 as usize].truncate(4); }
        println!("{i} span {} peak {}: {}", st.last().unwrap().0 + model.duration(o.last().unwrap().stage, o.last().unwrap().kind).0 - st[0].0 - 6 * 3 * d as i64, v.peak_memory[i], line.join(""));
    }
}
#[test]
fn diag() {
    let model = profile(8, 24, [18522, 18086, 9337, 601], [34 * 2304 + 5 * 24 * 1024, 32 * 2304]);
    let s = find("zb-2p").unwrap().generate(&model).unwrap();
    let v = replay(&model, &s);
    let t = v.timing.unwrap();
    for (i, (o, st)) in s.orders().iter().zip(&t.starts).enumerate() {
        let mut at = st[0]; let mut line = String::new();
        for (p, x) in o.iter().zip(st) { if *x > at { line += &format!(" [{}]", x.0 - at.0); } at = *x + model.duration(p.stage, p.kind); line += &format!(" {}{}", p.kind, p.microbatch); }
        println!("{i} start {} end {at} span {} mem {}: {line}", st[0], at.0 - st[0].0, v.peak_memory[i]);
    }
}
