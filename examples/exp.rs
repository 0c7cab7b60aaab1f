//! exp
use bubbleproof::certificate::*;
use bubbleproof::model::*;
fn main() {
    let a: Vec<i64> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    let (d, m, cap) = (a[0] as u32, a[1] as u32, a[2]);
    let model = Model::equal_stages(Placement::v(d).unwrap(), m, [a[3], a[4], a[5], a[6]])
        .unwrap()
        .with_uniform_capacity(Some(Units(cap)))
        .unwrap();
    let budget = a[7] as u64;
    let t = std::time::Instant::now();
    let closed = lower_bound_within(&model, Metric::Makespan, 0);
    let b = lower_bound_within(&model, Metric::Makespan, budget);
    let t1 = t.elapsed();
    let h = holds(&model, Metric::Makespan, &b);
    let t2 = t.elapsed() - t1;
    let s = steady_bound(&model, budget);
    println!(
        "{a:?}: closed {} {:?} bound {} in {t1:?}; {h:?} in {t2:?}; steady {s} ({:.3}) in {:?}",
        closed.value,
        b.reason,
        b.value,
        *s.numer() as f64 / *s.denom() as f64,
        t.elapsed() - t1 - t2
    );
}
