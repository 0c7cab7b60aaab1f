//! Writing the job file that is estimated.

use std::fmt::Write as _;

use super::{Attained, Attention, Cost, Layer, TooLarge, Transformer};
use crate::job_text::{decimal, memory, name, quoted, time};
use crate::model::reading::{FileError, Table, Value};
use crate::text::quantity::{Quantity, Scale};

/// The least number with more digits than an amount of a job file may have.
const MOST: i128 = 10_i128.pow(18);
const _: () = assert!(Quantity::MOST_DIGITS == 18);

/// The keys of a table with their values, a line each, as they are written elsewhere.
pub(super) fn copy(table: &Table<'_>) -> Result<String, FileError> {
    let mut text = String::new();
    for (key, value) in table.entries() {
        _ = writeln!(text, "{} = {}", name(&key), copied(&value)?);
    }
    Ok(text)
}

fn copied(value: &Value<'_>) -> Result<String, FileError> {
    if let Some(list) = value.list() {
        return Ok(format!("[{}]", list.iter().map(copied).collect::<Result<Vec<_>, _>>()?.join(", ")));
    }
    if let Some(text) = value.as_text() {
        return Ok(quoted(text));
    }
    if let Some(number) = value.as_number() {
        return Ok(number.to_owned());
    }
    let expected = "a text, a decimal number, true or false, or a list of these";
    value.truth().map(|truth| truth.to_string()).map_err(|_| value.wrong_type(expected))
}

impl Transformer {
    /// The job file that is estimated.
    ///
    /// # Errors
    /// When an amount is too large.
    pub fn job(&self) -> Result<String, TooLarge> {
        let mut text = self.head();
        for at in &self.attained {
            let Attained { tensor, microbatch_size, .. } = at;
            _ = write!(text, "\n[[profile]]\ntensor = {tensor}\nmicrobatch_size = {microbatch_size}\n");
            for (_, layer) in self.dimensions.layers() {
                let cost = self.cost(layer, at)?;
                if !cost.fits() {
                    return Err(TooLarge("times, bytes or operations"));
                }
                _ = write!(text, "\n[profile.layer.{}]\n{}", layer.name(), cost.lines());
            }
        }
        text += "\n";
        text += &self.copied;
        Ok(text)
    }

    /// What stands above the costs: where they come from, and the layers.
    fn head(&self) -> String {
        let dimensions = &self.dimensions;
        let attention = match self.training.attention {
            Attention::Stored => "whose scores are kept",
            Attention::Recomputed => "whose scores are computed again in I",
            Attention::Flash => "as FlashAttention computes it",
        };
        let shares: Vec<String> = self
            .attained
            .iter()
            .map(|at| {
                let percent = at.share * 100;
                let hundredths = (percent * 10_000).to_integer();
                let share = decimal_percent(hundredths);
                format!("#   tensor = {}, microbatch_size = {}: {share} %", at.tensor, at.microbatch_size)
            })
            .collect();
        let layers = dimensions.layers().into_iter().map(|(count, layer)| match (count, layer) {
            (1, Layer::Embedding | Layer::Head) => quoted(layer.name()),
            _ => quoted(&format!("{count} {}", layer.name())),
        });
        let mut text = format!(
            "\
# An estimate, not a measurement: written by `bubbleproof estimate` from the dimensions of a transformer with {parameters}
# parameters: {count} layers, hidden size {hidden}, samples of {sequence} tokens, attention {attention}.
#
# operations  F is 2 per token and matrix parameter, I and W each the same; attention is 4 s^2 b a d in F and twice that in I
#             (arXiv 2401.10241, Table 1). The lookup of the embedding counts as none.
# times       operations, with those that the backward computes again, over share x peak x tensor. The share of the peak is
#             an input:
{shares}
# activation  the sum of what the operations of a layer keep, over tensor (arXiv 2205.05198, equations 2 and 4)
# retained_for_weight
#             inputs of linear layers and gradients of their outputs (arXiv 2401.10241, Table 1)
# weights     {weights} bytes a parameter, and {gradients} for its gradient; matrices are divided by tensor, norms are not
# No time is stated for the optimiser step.
name = {name}
",
            parameters = self.parameters(),
            count = dimensions.layers,
            hidden = dimensions.hidden,
            sequence = dimensions.sequence,
            shares = shares.join("\n"),
            weights = self.training.weights,
            gradients = self.training.gradients,
            name = quoted(&self.name),
        );
        if let Some(source) = &self.source {
            _ = writeln!(text, "source = {}", quoted(source));
        }
        text += "estimate = true\n";
        _ = writeln!(text, "layers = [{}]", layers.collect::<Vec<_>>().join(", "));
        text
    }
}

/// Ten-thousandths of a percent as a decimal.
fn decimal_percent(parts: i128) -> String {
    let text = format!("{}.{:04}", parts / 10_000, parts % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Cost {
    /// Whether every amount can be written in a job file.
    fn fits(&self) -> bool {
        let most = MOST;
        let amounts = [
            self.forward,
            self.backward_input,
            self.backward_weight,
            self.activation,
            self.retained_for_weight,
            self.weights,
            self.optimizer_state,
            self.operations,
        ];
        amounts.iter().all(|&amount| amount < most)
    }

    /// The lines of a layer.
    fn lines(&self) -> String {
        let mut lines = vec![
            ("forward", time(self.forward)),
            ("backward_input", time(self.backward_input)),
            ("backward_weight", time(self.backward_weight)),
            ("activation", memory(self.activation)),
            ("retained_for_weight", memory(self.retained_for_weight)),
        ];
        lines.extend(self.checkpoint.map(|checkpoint| ("checkpoint", memory(checkpoint))));
        lines.extend([
            ("weights", memory(self.weights)),
            ("optimizer_state", memory(self.optimizer_state)),
            ("gradients", memory(self.gradients)),
            ("output", memory(self.output)),
        ]);
        if self.operations > 0 {
            let units = ["FLOP", "MFLOP", "GFLOP", "TFLOP"];
            lines.push(("operations", decimal(self.operations, Scale::Operations, &units)));
        }
        let lines: Vec<String> = lines.into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
        lines.join("\n") + "\n"
    }
}
