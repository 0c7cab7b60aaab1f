//! How fast building blocks and schedules are found. V placement unless the name says otherwise; the measured profile is the 1.5B
//! model of the zero-bubble paper (arXiv 2401.10241, table of profiled times), halved per chunk.

use bubbleproof::block::Passes;
use bubbleproof::certificate::{Objective, holds, lower_bound, lower_bound_of, lower_bound_within};
use bubbleproof::model::{Device, Model, Placement, Units};
use bubbleproof::optimize::{Options, optimize, zone};
use bubbleproof::stop::Stop;
use divan::Bencher;
use num_rational::Ratio;

fn main() {
    divan::main();
}

/// Durations of F, I and W and the latency.
const UNIT: [i64; 4] = [1, 1, 1, 0];
const UNEQUAL: [i64; 4] = [3, 4, 2, 0];
const MEASURED: [i64; 4] = [9261, 9043, 4669, 601];

fn model(devices: u32, microbatches: u32, times: [i64; 4], capacity: Option<i64>) -> Model {
    let placement = Placement::v(devices).expect("a placement");
    let model = Model::equal_stages(placement, microbatches, times).expect("a model");
    model.with_uniform_activation_capacity(capacity.map(Units)).expect("a capacity")
}

const COSTS: [[i64; 4]; 3] = [UNIT, UNEQUAL, MEASURED];

#[divan::bench(args = [8, 16, 32, 64], consts = [0, 1, 2])]
fn least_memory_by_the_exact_program<const COST: usize>(bencher: Bencher, devices: u32) {
    let model = model(devices, 1, COSTS[COST], None);
    let work = Ratio::from_integer(model.most_work().0);
    bencher.bench(|| zone::least_memory(&model, Passes::SPLIT, work, &Stop::default()));
}

#[divan::bench(args = [8, 16, 32, 64], consts = [0, 1, 2])]
fn least_interval_by_the_exact_program<const COST: usize>(bencher: Bencher, devices: u32) {
    let model = model(devices, 1, COSTS[COST], Some(i64::from(devices)));
    bencher.bench(|| zone::least_interval(&model, Passes::SPLIT, &Stop::default()));
}

/// Random durations up to 30000 and latencies up to 6000 at 32 devices, under random capacities: the same
/// for everybody, from the least that fits to full throughput.
#[divan::bench(args = 0..8, sample_count = 3)]
fn least_interval_of_random_profiles(bencher: Bencher, profile: u64) {
    let mut state = profile;
    let mut below = |end: i64| {
        // Constants of Knuth's MMIX generator.
        for _ in 0..4 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        }
        i64::try_from(state >> 33).expect("31 bits") % end
    };
    let times = [1 + below(30_000), 1 + below(30_000), 1 + below(30_000), below(6001)];
    let model = model(32, 1, times, Some(2 + below(40)));
    bencher.bench(|| zone::least_interval(&model, Passes::SPLIT, &Stop::default()));
}

#[cfg(feature = "milp")]
#[divan::bench(args = [2, 4, 6], sample_count = 3)]
fn least_interval_by_the_integer_program(bencher: Bencher, devices: u32) {
    use bubbleproof::encode::{BlockObjective, milp};
    let model = model(devices, 1, UNEQUAL, Some(2 * ((i64::from(devices) + 4) / 3)));
    bencher.bench(|| {
        milp::solve(&model, BlockObjective::LeastInterval, &Stop::after(std::time::Duration::from_secs(60)))
    });
}

/// Of one microbatch per interval, and of two.
#[cfg(feature = "lcg")]
#[divan::bench(args = [(4, 1), (8, 1), (4, 2), (6, 2)], sample_count = 3)]
fn least_interval_by_lazy_clause_generation(bencher: Bencher, (devices, period): (u32, u32)) {
    use bubbleproof::encode::{BlockObjective, lcg};
    let model = model(devices, 1, UNEQUAL, Some(2 * ((i64::from(devices) + 4) / 3)));
    let stop = Stop::after(std::time::Duration::from_secs(60));
    bencher.bench(|| lcg::solve_periodic(&model, period, BlockObjective::LeastInterval, &stop));
}

/// Ten thousand swaps, for so many microbatches per interval. Half of the memory of 1F1B, where no block keeps all devices busy.
#[divan::bench(args = [(8, 1), (8, 2), (8, 3), (16, 3)], sample_count = 3)]
fn least_interval_by_the_local_search(bencher: Bencher, (devices, period): (u32, u32)) {
    use bubbleproof::optimize::periodic::{Effort, least_interval};
    let model = model(devices, 1, MEASURED, Some(devices.into()));
    let effort = Effort { seed: 0, steps: 10_000 };
    bencher.bench(|| least_interval(&model, period, effort, &Stop::default()));
}

/// Half of the memory of 1F1B, where no block of looped placement keeps all devices busy.
#[cfg(feature = "lcg")]
#[divan::bench(args = [8, 16, 32], sample_count = 3)]
fn least_interval_of_looped_placement(bencher: Bencher, devices: u32) {
    use bubbleproof::encode::{BlockObjective, lcg};
    let placement = Placement::looped(devices, 2).expect("a placement");
    let model = Model::equal_stages(placement, 1, [3, 4, 2, 0]).expect("a model");
    let model = model.with_uniform_activation_capacity(Some(Units(devices.into()))).expect("a capacity");
    let stop = Stop::after(std::time::Duration::from_secs(60));
    bencher.bench(|| lcg::solve_periodic(&model, 1, BlockObjective::LeastInterval, &stop));
}

#[divan::bench(args = [2, 4, 6, 8], sample_count = 3)]
fn least_interval_by_smt(bencher: Bencher, devices: u32) {
    use bubbleproof::encode::{BlockObjective, smt};
    let model = model(devices, 1, UNEQUAL, Some(2 * ((i64::from(devices) + 4) / 3)));
    bencher.bench(|| {
        smt::solve(&model, BlockObjective::LeastInterval, &Stop::after(std::time::Duration::from_secs(60)))
    });
}

#[divan::bench(args = [(4, 16, 5), (8, 32, 10), (16, 64, 24)], sample_count = 3)]
fn optimize_unequal(bencher: Bencher, (devices, microbatches, capacity): (u32, u32, i64)) {
    let model = model(devices, microbatches, UNEQUAL, Some(capacity));
    let options = Options { effort: 1_000_000, exact_effort: 0, ..Options::default() };
    bencher.bench(|| optimize(&model, &options, &mut |_| ()));
}

#[divan::bench(args = [(4, 8, 4), (8, 8, 8), (8, 32, 8), (8, 1024, 8), (32, 32, 24), (64, 1024, 44), (64, 1024, 128)], consts = [0, 1, 2])]
fn lower_bound_by_default<const COST: usize>(
    bencher: Bencher,
    (devices, microbatches, capacity): (u32, u32, i64),
) {
    let model = model(devices, microbatches, COSTS[COST], Some(capacity));
    bencher.bench(|| lower_bound(&model, Objective::Makespan));
}

#[divan::bench(args = [(8, 32), (64, 1024)])]
fn lower_bound_by_closed_forms(bencher: Bencher, (devices, microbatches): (u32, u32)) {
    let model = model(devices, microbatches, MEASURED, Some(i64::from(devices)));
    bencher.bench(|| lower_bound_within(&model, Objective::Makespan, 0));
}

#[divan::bench(args = [2, 3, 4, 5, 6])]
fn lower_bound_of_the_last_two_devices(bencher: Bencher, capacity: i64) {
    let model = model(4, 1024, UNEQUAL, Some(capacity));
    let devices = [Device(2), Device(3)];
    bencher.bench(|| lower_bound_of(&model, Objective::Makespan, &devices, 100_000_000));
}

#[divan::bench(args = [4, 16, 64])]
fn check_of_a_lower_bound(bencher: Bencher, devices: u32) {
    let model = model(devices, 1024, UNEQUAL, Some(4));
    let bound = lower_bound(&model, Objective::Makespan);
    bencher.bench(|| holds(&model, Objective::Makespan, &bound));
}
