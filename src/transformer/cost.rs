//! What layers cost, by published formulas.

use num_rational::Ratio;

use super::{Attained, Attention, Dimensions, Experts, Layer, Training, Transformer};

/// An amount that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {0} of a layer are too large to count")]
pub struct TooLarge(pub &'static str);

/// What one layer costs for one microbatch on one rank. Times in nanoseconds, memory in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// Duration of F.
    pub forward: i128,
    /// Duration of I.
    pub backward_input: i128,
    /// Duration of W.
    pub backward_weight: i128,
    /// What F keeps for the backward.
    pub activation: i128,
    /// What I leaves for W.
    pub retained_for_weight: i128,
    /// What F keeps if the layer is recomputed: its input. Nothing for the embedding, which is not.
    pub checkpoint: Option<i128>,
    /// Weights and gradients.
    pub weights: i128,
    /// The state of the optimiser.
    pub optimizer_state: i128,
    /// Gradients.
    pub gradients: i128,
    /// What it sends to the next stage.
    pub output: i128,
    /// Floating-point operations of F, I and W of the model, over all ranks.
    pub operations: i128,
}

/// Parameters of a layer.
struct Parameters {
    /// Those of matrices, which tensor parallelism divides.
    divided: i128,
    /// Those of norms, routers and positions, which every rank has.
    whole: i128,
}

/// Amounts per token of a microbatch. Elements are of activations.
struct PerToken {
    /// Parameters of the matrices that a token is multiplied by.
    multiplied: i128,
    /// Elements that F keeps.
    kept: i128,
    /// Elements that W needs: inputs of linear layers, and gradients of their outputs.
    for_weight: i128,
    /// Bytes of dropout masks and of what is kept in 32 bits.
    bytes: i128,
}

impl Dimensions {
    /// `a d`, the size of all heads of a token.
    fn queries(&self) -> i128 {
        i128::from(self.heads) * i128::from(self.head_size)
    }

    /// `g d`, the size of all keys of a token.
    fn keys(&self) -> i128 {
        i128::from(self.kv_heads) * i128::from(self.head_size)
    }

    /// The matrices of a feed-forward layer.
    const fn matrices(&self) -> i128 {
        if self.gated { 3 } else { 2 }
    }

    /// The matrices of attention: queries, keys, values, and the projection of the result.
    fn attention(&self) -> i128 {
        i128::from(self.hidden) * 2 * (self.queries() + self.keys())
    }

    /// Parameters of a norm.
    fn norm(&self) -> i128 {
        i128::from(self.hidden) * if self.biases { 2 } else { 1 }
    }

    /// Parameters of a layer. For GPT `12 h^2 + 13 h` a block, and `(V + s) h` the embedding (Narayanan et al., arXiv
    /// 2104.04473, section 2).
    fn parameters(&self, layer: Layer) -> Parameters {
        let [hidden, vocabulary, sequence] = [self.hidden, self.vocabulary, self.sequence].map(i128::from);
        let feed = |ffn: u32| self.matrices() * hidden * i128::from(ffn);
        // Of queries, keys and values, and of the projection.
        let biases = if self.biases { self.queries() + 2 * self.keys() + hidden } else { 0 };
        match layer {
            Layer::Embedding => Parameters {
                divided: vocabulary * hidden,
                whole: if self.learned_positions { sequence * hidden } else { 0 },
            },
            Layer::Block => {
                let own = (self.matrices() - 1) * i128::from(self.ffn) + hidden;
                let biases = biases + if self.biases { own } else { 0 };
                Parameters { divided: self.attention() + feed(self.ffn) + biases, whole: 2 * self.norm() }
            }
            Layer::Experts => {
                let (all, router) = self.experts.as_ref().map_or((0, 0), |experts| {
                    let count = i128::from(experts.count) + i128::from(experts.shared);
                    (count * feed(experts.ffn), hidden * i128::from(experts.count))
                });
                Parameters { divided: self.attention() + all + biases, whole: 2 * self.norm() + router }
            }
            Layer::Head => Parameters { divided: vocabulary * hidden, whole: self.norm() },
        }
    }

    /// What a token takes in a layer.
    ///
    /// What F keeps is the sum of Korthikanti et al. (arXiv 2205.05198, section 4.1) over the operations that a layer has: the
    /// inputs of both norms, `2h`; of the matrices of attention, `h`; queries, keys and values, `ad + 2gd`; of the projection,
    /// `ad`; of the feed-forward layer, `h`; then with a gate both halves and their product, `3f`, else both sides of
    /// the activation function, `2f`; two masks of `h` bytes. For GPT that is `34 sbh` bytes. Experts keep the same for
    /// each of the k that a token visits, with its input and its output once each, and the router's probabilities in 32 bits;
    /// the load is taken to be even. The head keeps the inputs of norm and matrix, and logits in 32 bits (section 4.3).
    ///
    /// W needs the input of each linear layer and the gradient of its output: for GPT `32 sbh` bytes (Qi et al., arXiv
    /// 2401.10241, Table 1).
    fn per_token(&self, layer: Layer, training: &Training) -> PerToken {
        let [hidden, vocabulary] = [self.hidden, self.vocabulary].map(i128::from);
        let (queries, keys) = (self.queries(), self.keys());
        // The gradients of both halves with a gate, or of the one without; and the input of the second matrix.
        let inner = |ffn: u32| i128::from(ffn) * self.matrices();
        let (attention_kept, attention_for_weight) =
            (2 * hidden + 2 * queries + 2 * keys, 2 * hidden + 2 * queries + 2 * keys);
        let mut bytes = if training.dropout { 2 * hidden } else { 0 };
        if training.attention == Attention::Flash {
            // The logarithm of the sum of exponentials, by head, in 32 bits (Dao, arXiv 2307.08691, section 3.1).
            bytes += 4 * i128::from(self.heads);
        }
        match layer {
            Layer::Embedding => PerToken {
                multiplied: 0,
                kept: 0,
                for_weight: 0,
                bytes: if training.dropout { hidden } else { 0 },
            },
            Layer::Block => PerToken {
                multiplied: self.attention() + self.matrices() * hidden * i128::from(self.ffn),
                kept: attention_kept + 2 * hidden + inner(self.ffn),
                for_weight: attention_for_weight + 2 * hidden + inner(self.ffn),
                bytes,
            },
            Layer::Experts => {
                let none = Experts { count: 0, per_token: 0, ffn: 0, shared: 0, dense_layers: 0 };
                let experts = self.experts.as_ref().unwrap_or(&none);
                let [count, visited, shared] =
                    [experts.count, experts.per_token, experts.shared].map(i128::from);
                let inside = visited * (2 * hidden + inner(experts.ffn)) + shared * inner(experts.ffn);
                PerToken {
                    multiplied: self.attention()
                        + hidden * count
                        + (visited + shared) * self.matrices() * hidden * i128::from(experts.ffn),
                    kept: attention_kept + 2 * hidden + inside,
                    for_weight: attention_for_weight + 2 * hidden + inside,
                    bytes: bytes + 4 * count,
                }
            }
            Layer::Head => PerToken {
                multiplied: hidden * vocabulary,
                kept: 2 * hidden,
                for_weight: hidden + vocabulary,
                bytes: 4 * vocabulary,
            },
        }
    }
}

/// The duration in nanoseconds of so many operations, rounded up.
fn duration(operations: i128, speed: Ratio<i128>) -> Result<i128, TooLarge> {
    let work = operations.checked_mul(1_000_000_000).and_then(|work| work.checked_mul(*speed.denom()));
    let work = work.ok_or(TooLarge("operations"))?;
    Ok(rounded_up(work, *speed.numer()))
}

/// A quotient, rounded up.
const fn rounded_up(amount: i128, parts: i128) -> i128 {
    (amount + parts - 1) / parts
}

impl Transformer {
    /// What a layer costs at a tensor-parallel degree and microbatch size, with sequence parallelism.
    ///
    /// - F multiplies each token by every matrix: `2 sb` operations per parameter. W does the same; so does I. Attention adds
    ///   `4 s^2 b a d` to F, all scores counted, and twice that to I. For GPT: F `sbh(24h + 4s)`, I `sbh(24h + 8s)`,
    ///   W `24 sbh^2` (Qi et al., arXiv 2401.10241, Table 1). The lookup of the embedding counts as none. What a backward computes
    ///   again takes time, but is none of the model's operations: with attention recomputed I takes three times what F
    ///   does for it, with flash 2.5 times (Dao, arXiv 2307.08691, section 4.1).
    /// - A time is operations over share, peak and t.
    /// - Activations are divided by t (Korthikanti et al., arXiv 2205.05198, equation 4). Stored scores take `(2e + 1) a s^2 b`
    ///   bytes with dropout, `e a s^2 b` without. A checkpoint is the input of the layer, `e sbh`; so is what it sends.
    /// - Matrices are divided by t; norms, routers and positions are not.
    ///
    /// # Errors
    /// When an amount is too large.
    pub fn cost(&self, layer: Layer, at: &Attained) -> Result<Cost, TooLarge> {
        let Self { dimensions, training, .. } = self;
        let [hidden, sequence, samples, ranks] =
            [dimensions.hidden, dimensions.sequence, at.microbatch_size, at.tensor].map(i128::from);
        let tokens = sequence * samples;
        let token = dimensions.per_token(layer, training);
        let is_block = matches!(layer, Layer::Block | Layer::Experts);
        let scores = if is_block { tokens * sequence * i128::from(dimensions.heads) } else { 0 };
        // Half of what F does for attention: one of its two products.
        let product = 2 * scores * i128::from(dimensions.head_size);
        let linear = 2 * tokens * token.multiplied;
        let again = match training.attention {
            Attention::Stored => 4,
            Attention::Recomputed => 6,
            Attention::Flash => 5,
        };
        let speed = at.share * self.peak * ranks;
        let element = i128::from(training.activation);
        let stored = match (training.attention, training.dropout) {
            (Attention::Stored, true) => (2 * element + 1) * scores,
            (Attention::Stored, false) => element * scores,
            _ => 0,
        };
        let input = rounded_up(element * tokens * hidden, ranks);
        let parameters = dimensions.parameters(layer);
        let held = rounded_up(parameters.divided, ranks) + parameters.whole;
        let activation = tokens * (element * token.kept + token.bytes) + stored;
        Ok(Cost {
            forward: duration(linear + 2 * product, speed)?,
            backward_input: duration(linear + again * product, speed)?,
            backward_weight: duration(linear, speed)?,
            activation: rounded_up(activation, ranks),
            retained_for_weight: rounded_up(tokens * element * token.for_weight, ranks),
            checkpoint: (layer != Layer::Embedding).then_some(input),
            weights: held * (i128::from(training.weights) + i128::from(training.gradients)),
            optimizer_state: held * i128::from(training.optimizer_state),
            gradients: held * i128::from(training.gradients),
            output: if layer == Layer::Head { 0 } else { input },
            operations: 3 * linear + 6 * product,
        })
    }

    /// All parameters of the model; a tied matrix counts once.
    #[must_use]
    pub fn parameters(&self) -> i128 {
        let of = |(count, layer): (u32, Layer)| {
            let parameters = self.dimensions.parameters(layer);
            i128::from(count) * (parameters.divided + parameters.whole)
        };
        let tied = if self.dimensions.tied { self.dimensions.parameters(Layer::Head).divided } else { 0 };
        self.dimensions.layers().into_iter().map(of).sum::<i128>() - tied
    }
}
