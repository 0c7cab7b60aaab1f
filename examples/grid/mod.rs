//! Problems with equal stages: the grid that `bench_table` optimises, of which `records` keeps the best schedules.

use bubbleproof::catalog::one_f_one_b_memory;
use bubbleproof::model::{Model, ModelError, Placement, Units};

/// Durations of F, I, W and the latency of a stage.
pub const TIMES: [[i64; 4]; 3] = [[1, 1, 1, 0], [3, 4, 2, 0], [6, 3, 7, 2]];

/// Devices and microbatches.
pub const SIZES: [(u32, u32); 6] = [(2, 8), (4, 8), (4, 16), (8, 32), (16, 64), (32, 128)];

/// Shares of what 1F1B holds: the capacities of every problem.
const SHARES: [(i64, i64); 4] = [(1, 1), (3, 4), (1, 2), (1, 3)];

/// The most devices for which every placement is taken: beyond that the others only repeat what is seen before.
const MOST_DEVICES_OF_ALL: u32 = 8;

/// The models of these sizes without capacities, by name: `v-3-4-2-0`.
///
/// # Errors
/// When the library refuses a model.
pub fn equal_stages(sizes: &[(u32, u32)]) -> Result<Vec<(String, Model)>, ModelError> {
    let mut models = Vec::new();
    for times in TIMES {
        let [forward, input, weight, latency] = times;
        for &(devices, microbatches) in sizes {
            for (placement_name, placement) in [
                ("v", Placement::v(devices)?),
                ("linear", Placement::linear(devices)?),
                ("looped", Placement::looped(devices, 2)?),
            ] {
                if devices > MOST_DEVICES_OF_ALL && placement_name != "v" {
                    continue;
                }
                let name = format!("{placement_name}-{forward}-{input}-{weight}-{latency}");
                models.push((name, Model::equal_stages(placement, microbatches, times)?));
            }
        }
    }
    Ok(models)
}

/// The capacities at which a model is optimised, all different, the largest first.
pub fn capacities(model: &Model) -> Vec<Units> {
    let whole = one_f_one_b_memory(model);
    let mut capacities: Vec<Units> = SHARES.iter().map(|(share, of)| Units(whole.0 * share / of)).collect();
    capacities.dedup();
    capacities
}

/// The name of a problem with its size and its capacity, as files are called.
pub fn name_with_size(name: &str, model: &Model, capacity: Units) -> String {
    format!("{name}-d{}-m{}-capacity{capacity}", model.devices(), model.microbatches())
}
