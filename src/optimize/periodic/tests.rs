use super::*;
use crate::model::{Placement, Units};
use std::time::{Duration, Instant};

#[test]
#[ignore]
fn table() {
    let steps: usize = std::env::var("STEPS").ok().and_then(|s| s.parse().ok()).unwrap_or(100_000);
    let mem: usize = std::env::var("MEM").ok().and_then(|s| s.parse().ok()).unwrap_or(1000);
    for (t, d, cap, k, want) in [
        ([1, 1, 1, 0], 5, 4, 1, "8"),
        ([1, 1, 1, 0], 5, 4, 2, "7"),
        ([1, 1, 1, 0], 7, 4, 2, "9"),
        ([1, 1, 1, 0], 8, 6, 2, "7"),
        ([1, 1, 1, 0], 7, 5, 2, "8.5"),
        ([1, 1, 1, 0], 5, 5, 3, "6.67"),
        ([3, 4, 2, 0], 4, 5, 2, "20"),
        ([3, 4, 2, 0], 5, 4, 2, "25"),
        ([3, 4, 2, 0], 5, 5, 2, "22.5"),
        ([3, 4, 2, 0], 6, 4, 2, "28.5"),
        ([3, 4, 2, 0], 6, 5, 2, "25.5"),
    ] {
        let model = Model::equal_stages(Placement::v(d).unwrap(), 1, t)
            .unwrap()
            .with_uniform_capacity(Some(Units(cap)))
            .unwrap();
        for seed in 0..3 {
            let at = Instant::now();
            let found =
                search(&model, k, steps, mem, seed, &Stop::after(Duration::from_secs(60))).unwrap().unwrap();
            let t = found.interval / i64::from(k);
            println!("{t:?} d={d} cap={cap} K={k} want {want} {:.2} s", at.elapsed().as_secs_f64());
        }
    }
}

#[test]
#[ignore]
fn open_rows() {
    let steps: usize = std::env::var("STEPS").ok().and_then(|s| s.parse().ok()).unwrap_or(100_000);
    let mem: usize = std::env::var("MEM").ok().and_then(|s| s.parse().ok()).unwrap_or(1000);
    let ks: Vec<u32> =
        std::env::var("KS").unwrap_or("2".into()).split(',').map(|s| s.parse().unwrap()).collect();
    for k in ks {
        for (t, d, cap, want) in [
            ([1, 1, 1, 0], 8, 6, "7 6.67"),
            ([1, 1, 1, 0], 7, 5, "8.5 8"),
            ([1, 1, 1, 0], 5, 5, "6.67 6.4"),
            ([3, 4, 2, 0], 4, 5, "20 19.33"),
            ([3, 4, 2, 0], 5, 4, "25 24.5"),
            ([3, 4, 2, 0], 5, 5, "22.5 22"),
            ([3, 4, 2, 0], 6, 4, "28.5 28"),
            ([3, 4, 2, 0], 6, 5, "25.5 23.75"),
        ] {
            let model = Model::equal_stages(Placement::v(d).unwrap(), 1, t)
                .unwrap()
                .with_uniform_capacity(Some(Units(cap)))
                .unwrap();
            let at = Instant::now();
            let mut all: Vec<_> = (0..4)
                .map(|seed| {
                    let found = search(&model, k, steps, mem, seed, &Stop::after(Duration::from_secs(60)))
                        .unwrap()
                        .unwrap();
                    let t = found.interval / i64::from(k);
                    *t.numer() as f64 / *t.denom() as f64
                })
                .collect();
            all.sort_by(f64::total_cmp);
            println!(
                "{t:?} d={d} cap={cap} K={k} want {want}: {all:.3?} {:.2} s",
                at.elapsed().as_secs_f64()
            );
        }
    }
}
