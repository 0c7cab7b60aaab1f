//! The problems: a model, a way to save memory, and a budget.

use bubbleproof::job::{self, Job};
use bubbleproof::transformer::Attained;
use num_rational::Ratio;
use toml::{Table, Value};

use crate::transformers;

/// The files of `models/transformers` that are looked at.
pub const MODELS: [&str; 7] =
    ["cm-9.6b", "cm-21b", "cm-38.5b", "cm-98.5b", "llama-3-8b", "llama-3-70b", "deepseek-moe-16b"];

/// What a device may hold, in GiB.
pub const BUDGETS: [i64; 6] = [16, 24, 32, 48, 64, 80];

/// The tensor-parallel degrees within a node.
const TENSOR: [u32; 4] = [1, 2, 4, 8];

/// What copies between a device and its host carry each way. An assumption: about what PCI Express 4.0 with 16 lanes carries.
const HOST: &str = "25 GB/s";

/// A way to save memory. Pipeline and data-parallel degree, the cut and the order of passes are chosen with each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// One stage on a device, in linear order; memory is saved by the order of passes and by deeper pipelines alone.
    Linear,
    /// The same, and any stage may be recomputed.
    Recompute,
    /// The same as the first, and any activation of a transformer layer may go to the host.
    Offload,
    /// The same as the first, with any tensor degree within a node.
    Tensor,
    /// Two stages on a device, in V placement.
    V,
    /// The same, with any tensor degree within a node.
    VTensor,
}

impl Way {
    pub const ALL: [Self; 6] =
        [Self::Linear, Self::Recompute, Self::Offload, Self::Tensor, Self::V, Self::VTensor];

    /// What it is called in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Recompute => "recompute",
            Self::Offload => "offload",
            Self::Tensor => "tensor",
            Self::V => "v",
            Self::VTensor => "v-tensor",
        }
    }

    /// Whether every plan of the other way is one of this way too.
    pub fn includes(self, other: Self) -> bool {
        self == other
            || match self {
                Self::Recompute | Self::Offload | Self::Tensor => other == Self::Linear,
                Self::VTensor => other == Self::V,
                Self::Linear | Self::V => false,
            }
    }

    fn choices(self, shipped: &Table, microbatch_size: u32) -> Table {
        let is_v = matches!(self, Self::V | Self::VTensor);
        let has_tensor = matches!(self, Self::Tensor | Self::VTensor);
        let auto = |is: bool| Value::from(if is { "auto" } else { "none" });
        let mut choices = shipped.clone();
        // Every degree that suits the devices.
        choices.remove("pipeline");
        choices.insert("placement".to_owned(), if is_v { "v" } else { "linear" }.into());
        let tensor: Vec<u32> = if has_tensor { TENSOR.to_vec() } else { vec![1] };
        choices.insert("tensor".to_owned(), tensor.into());
        choices.insert("microbatch_size".to_owned(), microbatch_size.into());
        choices.insert("recompute".to_owned(), auto(self == Self::Recompute));
        choices.insert("offload".to_owned(), auto(self == Self::Offload));
        choices
    }
}

/// The text of the job file of a problem. Where the shipped file has several microbatch sizes, the first one is meant.
pub fn text(model: &str, way: Way, budget: i64) -> String {
    let mut transformer = transformers::read(model);
    let shipped = transformer.attained[0].clone();
    let size = shipped.microbatch_size;
    let alone = share_alone(model, &shipped);
    let at = |tensor| Attained { tensor, microbatch_size: size, share: alone };
    transformer.attained = TENSOR.map(at).to_vec();
    let estimated = transformer.job().expect("it fits 64 bits");
    let mut file: Table = estimated.parse().expect("a job file");
    let choices = file["choices"].as_table().expect("a table").clone();
    // What may be recomputed and offloaded is allowed once the layers say it.
    file.insert("choices".to_owned(), Way::Tensor.choices(&choices, size).into());
    let machine = file["machine"].as_table_mut().expect("a table");
    machine.insert("memory".to_owned(), format!("{budget} GiB").into());
    machine.insert("host_bandwidth".to_owned(), HOST.into());
    let job = job::parse(&file.to_string()).expect("a job file");
    for (profile, (&(tensor, size), costs)) in
        file["profile"].as_array_mut().expect("a list").iter_mut().zip(&job.profiles)
    {
        let once = transformers::sum(&transformer.dimensions, &job.machine.near, tensor, size);
        for (kind, cost) in costs.layers.iter().filter(|(kind, _)| is_transformer_layer(kind)) {
            let layer = profile["layer"][kind].as_table_mut().expect("a table");
            layer.insert("forward".to_owned(), format!("{} ns", cost.forward + 2 * once).into());
            layer
                .insert("backward_input".to_owned(), format!("{} ns", cost.backward_input + 2 * once).into());
            layer.insert("offload".to_owned(), format!("{} B", cost.activation).into());
        }
    }
    file.insert("choices".to_owned(), way.choices(&choices, size).into());
    file.to_string()
}

/// The job of such a text.
pub fn job(text: &str) -> Job {
    job::parse(text).expect("a job file")
}

/// The share of the peak that layers attain while tensor ranks sum nothing, so that with the sums they attain the shipped share.
fn share_alone(model: &str, shipped: &Attained) -> Ratio<i128> {
    let transformer = transformers::read(model);
    let job = job(&transformer.job().expect("it fits 64 bits"));
    let at = (shipped.tensor, shipped.microbatch_size);
    let once = transformers::sum(&transformer.dimensions, &job.machine.near, at.0, at.1);
    let layers = job.profiles[&at].layers.iter().filter(|(kind, _)| is_transformer_layer(kind));
    let costs = layers.map(|(_, cost)| cost.forward + cost.backward_input + cost.backward_weight);
    let longest = costs.max().expect("a transformer has layers");
    shipped.share * i128::from(longest) / i128::from(longest - 4 * once)
}

fn is_transformer_layer(kind: &str) -> bool {
    !matches!(kind, "embedding" | "head")
}
