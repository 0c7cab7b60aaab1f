//! Job files estimated from the dimensions of a transformer.
//!
//! [`parse`] reads dimensions, training settings, attained speed, machine and choices. [`Transformer::job`] writes the job file
//! that follows: operations and bytes of each kind of layer by published formulas (see [`Transformer::cost`]), and times by
//! the share of the machine's peak that layers attain. All arithmetic is exact; times and memory are rounded up at the end.
//!
//! ```
//! use bubbleproof::{job, transformer};
//!
//! let text = std::fs::read_to_string("models/transformers/llama-3-8b.toml")?;
//! let job = job::parse(&transformer::parse(&text)?.job()?)?;
//! assert!(job.is_estimate);
//! assert_eq!(job.layers.len(), 34);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cost;
mod file;
mod text;

pub use cost::{Cost, TooLarge};
pub use file::parse;

use num_rational::Ratio;

/// What a job file can be estimated from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transformer {
    /// What it is called.
    pub name: String,
    /// Where its figures come from.
    pub source: Option<String>,
    /// Its dimensions.
    pub dimensions: Dimensions,
    /// How it is trained.
    pub training: Training,
    /// How fast layers run, each entry for its tensor-parallel degree and microbatch size.
    pub attained: Vec<Attained>,
    /// The most floating-point operations per second of a device.
    pub peak: Ratio<i128>,
    /// The tables `[machine]` and `[choices]` of the job file.
    copied: String,
}

/// The dimensions of a transformer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property that models have or have not")]
pub struct Dimensions {
    /// Transformer layers, without embedding and head; L.
    pub layers: u32,
    /// The size of a token between layers, h.
    pub hidden: u32,
    /// Attention heads, a.
    pub heads: u32,
    /// Heads of keys and values, g; as many as `heads` without grouped queries.
    pub kv_heads: u32,
    /// The size of a head, d.
    pub head_size: u32,
    /// The size between the two halves of a dense feed-forward layer, f.
    pub ffn: u32,
    /// Whether feed-forward layers have a gate, and so three matrices.
    pub gated: bool,
    /// Whether linear layers have biases and norms are `LayerNorm`, as in GPT.
    pub biases: bool,
    /// Tokens of the vocabulary, V.
    pub vocabulary: u32,
    /// Tokens of a sample, s.
    pub sequence: u32,
    /// Whether positions are learned, as in GPT.
    pub learned_positions: bool,
    /// Whether the head uses the matrix of the embedding. The first and the last stage then have a copy each.
    pub tied: bool,
    /// Experts in place of dense feed-forward layers, if there are any.
    pub experts: Option<Experts>,
}

/// A mixture of experts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experts {
    /// Routed experts of a layer, E.
    pub count: u32,
    /// Experts that a token is routed to, k.
    pub per_token: u32,
    /// The size between the two halves of an expert.
    pub ffn: u32,
    /// Experts that every token goes through.
    pub shared: u32,
    /// How many of the first layers are dense.
    pub dense_layers: u32,
}

/// How a transformer is trained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Training {
    /// Bytes per parameter of its weights.
    pub weights: u32,
    /// Bytes per parameter of its gradients.
    pub gradients: u32,
    /// Bytes per parameter of the state of the optimiser.
    pub optimizer_state: u32,
    /// Bytes per element of activations, e.
    pub activation: u32,
    /// Whether there is dropout, whose masks take a byte per element.
    pub dropout: bool,
    /// How attention is computed.
    pub attention: Attention,
}

/// How attention is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// F keeps the s × s matrices.
    Stored,
    /// The backward computes them again: selective recomputation (Korthikanti et al., arXiv 2205.05198, section 5).
    Recomputed,
    /// No matrix is ever whole; the backward computes scores again (Dao, arXiv 2307.08691).
    Flash,
}

/// The share of the machine's peak that layers attain, tensor-parallel communication included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attained {
    /// The tensor-parallel degree, t.
    pub tensor: u32,
    /// Samples in a microbatch, b.
    pub microbatch_size: u32,
    /// The share, more than 0 and at most 1.
    pub share: Ratio<i128>,
}

/// A kind of layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// From tokens to vectors.
    Embedding,
    /// Attention and a dense feed-forward layer.
    Block,
    /// Attention and experts.
    Experts,
    /// The last norm, the logits and the loss.
    Head,
}

impl Layer {
    /// What it is called in job files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::Block => "block",
            Self::Experts => "experts",
            Self::Head => "head",
        }
    }
}

impl Dimensions {
    /// The kinds of layers in order, each with how often it occurs.
    #[must_use]
    pub fn layers(&self) -> Vec<(u32, Layer)> {
        let dense =
            self.experts.as_ref().map_or(self.layers, |experts| experts.dense_layers.min(self.layers));
        let all = [
            (1, Layer::Embedding),
            (dense, Layer::Block),
            (self.layers - dense, Layer::Experts),
            (1, Layer::Head),
        ];
        all.into_iter().filter(|(count, _)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests;
