//! The transformers that we ship, and what tensor parallelism adds to the times of their layers.

use std::fs;
use std::path::Path;

use bubbleproof::job::Network;
use bubbleproof::transformer::{self, Dimensions, Transformer};

/// A file of `models/transformers`.
pub fn read(name: &str) -> Transformer {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/transformers");
    let text = fs::read_to_string(folder.join(format!("{name}.toml"))).expect("shipped dimensions");
    transformer::parse(&text).expect("shipped dimensions")
}

/// How long the tensor-parallel ranks of a node sum the activations of a microbatch, which they do twice in F and twice in I of a
/// layer: as a ring, in which each of t ranks sends `2 (t-1)/t` of `2 s b h` bytes (Narayanan et al., arXiv 2104.04473, section
/// 3.2).
pub fn sum(dimensions: &Dimensions, within_node: &Network, tensor: u32, microbatch_size: u32) -> i64 {
    if tensor == 1 {
        return 0;
    }
    let [samples, tokens, hidden, ranks] =
        [microbatch_size, dimensions.sequence, dimensions.hidden, tensor].map(i64::from);
    let sent = 2 * (2 * tokens * samples * hidden) * (ranks - 1) / ranks;
    within_node.message(sent).expect("it fits 64 bits")
}
