use bubbleproof::model::*;
use bubbleproof::optimize::*;
fn v(devices: u32, m: u32, [f, i, w]: [i64; 3], lat: i64, cap: i64) -> Model {
    let placement = Placement::v(devices).unwrap();
    let s = placement.stages() as usize;
    let costs = Costs {
        unit: "t".into(),
        forward: vec![Ticks(f); s],
        backward_input: vec![Ticks(i); s],
        backward_weight: vec![Ticks(w); s],
        communication: vec![Ticks(lat); s - 1],
    };
    let memory = Memory {
        unit: "c".into(),
        activation: vec![Units(1); s],
        retained_for_weight: vec![Units(1); s],
        checkpoint: None,
        capacity: vec![Some(Units(cap)); devices as usize],
    };
    Model::new("t".into(), None, placement, m, costs, memory).unwrap()
}
fn main() {
    for (t, d, m, c, known) in [
        ([1, 1, 1], 8, 32, 8, 215),
        ([1, 1, 1], 16, 32, 32, 207),
        ([1, 1, 1], 16, 64, 24, 413),
        ([1, 1, 1], 32, 256, 24, 1655),
        ([3, 4, 2], 8, 32, 10, 654),
        ([3, 4, 2], 8, 32, 16, 613),
        ([3, 4, 2], 16, 64, 24, 1319),
        ([3, 4, 2], 16, 64, 12, 1728),
        ([1, 1, 1], 64, 1024, 44, 6395),
        ([1, 1, 1], 64, 1024, 66, 6330),
        ([1, 1, 1], 64, 1024, 128, 6207),
        ([1, 1, 1], 2, 8, 3, 51),
        ([1, 1, 1], 3, 8, 4, 53),
        ([1, 1, 1], 4, 8, 5, 56),
        ([1, 1, 1], 4, 8, 8, 51),
        ([3, 4, 2], 4, 8, 3, 286),
        ([3, 4, 2], 4, 8, 5, 183),
        ([3, 4, 2], 4, 8, 7, 160),
        ([3, 4, 2], 8, 8, 8, 235),
        ([3, 4, 2], 8, 8, 16, 172),
    ] {
        let model = v(d, m, t, 0, c);
        let now = std::time::Instant::now();
        let s = optimize(&model, &Options::default(), &mut |_| ()).unwrap();
        println!(
            "{t:?} d{d} m{m} cap{c}: {} known {known} bound {} by {} interval {:?} in {:?}",
            s.value(),
            s.bound.value,
            s.engine,
            s.interval(),
            now.elapsed()
        );
    }
}
