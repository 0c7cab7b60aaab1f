//! Reading the dimensions of a transformer, and how it is trained.

use std::collections::BTreeSet;

use num_rational::Ratio;

use super::{Attained, Attention, Dimensions, Experts, Training, Transformer, text};
use crate::model::reading::{FileError, Table, TomlProblem, Value, document, root};
use crate::text::quantity::{Quantity, Scale};

/// The largest sizes, so that no product overflows 127 bits.
const MOST_LAYERS: u32 = 4_000;
const MOST_SIZE: u32 = 1 << 20;
const MOST_TOKENS: u32 = 1 << 24;
const MOST_EXPERTS: u32 = 1 << 12;
const MOST_RANKS: u32 = 1 << 12;
const MOST_BYTES: u32 = 64;

/// Reads a file of dimensions.
///
/// # Errors
/// At the first thing wrong, with its place.
pub fn parse(text: &str) -> Result<Transformer, FileError> {
    let document = document(text)?;
    let file = root(&document);
    file.only(&["name", "source", "transformer", "training", "attained", "machine", "choices"])?;
    let attained = read_attained(&file.require("attained")?)?;
    let machine = file.require("machine")?.table()?;
    let choices_value = file.require("choices")?;
    let choices = choices_value.table()?;
    every_choice_is_attained(&choices_value, &choices, &attained)?;
    let peak_value = machine.require("peak")?;
    let peak = quantity(&peak_value)?
        .in_base(Scale::Speed)
        .map_err(|error| peak_value.error(TomlProblem::Quantity { key: peak_value.key(), error }))?;
    if !peak.is_integer() || peak <= Ratio::from_integer(0) || peak > Ratio::from_integer(10_i128.pow(21)) {
        return Err(rule(&peak_value, "must be a whole number of FLOP/s, at most a million PFLOP/s"));
    }
    Ok(Transformer {
        name: file.require("name")?.text()?.to_owned(),
        source: file.get("source").map(|value| value.text().map(str::to_owned)).transpose()?,
        dimensions: read_dimensions(&file.require("transformer")?.table()?)?,
        training: read_training(&file.require("training")?.table()?)?,
        attained,
        peak,
        copied: format!("[machine]\n{}\n[choices]\n{}", text::copy(&machine)?, text::copy(&choices)?),
    })
}

fn rule(value: &Value<'_>, rule: impl Into<String>) -> FileError {
    value.error(TomlProblem::Rule { key: value.key(), rule: rule.into() })
}

/// An integer within limits.
fn size(value: &Value<'_>, least: u32, most: u32) -> Result<u32, FileError> {
    let found = value.count(least)?;
    if found <= most {
        return Ok(found);
    }
    let (key, value_text) = (value.key(), found.to_string());
    Err(value.error(TomlProblem::Range {
        key,
        value: value_text,
        least: i64::from(least),
        most: i64::from(most),
    }))
}

fn quantity(value: &Value<'_>) -> Result<Quantity, FileError> {
    let text = value.as_text().or_else(|| value.as_number());
    let text = text.ok_or_else(|| value.wrong_type("a text with a number and a unit"))?;
    Quantity::parse(text).map_err(|error| value.error(TomlProblem::Quantity { key: value.key(), error }))
}

fn truth(table: &Table<'_>, key: &str) -> Result<bool, FileError> {
    table.get(key).map_or(Ok(false), |value| value.truth())
}

fn read_dimensions(table: &Table<'_>) -> Result<Dimensions, FileError> {
    table.only(&[
        "layers",
        "hidden",
        "heads",
        "kv_heads",
        "head_size",
        "ffn",
        "gated",
        "biases",
        "vocabulary",
        "sequence",
        "learned_positions",
        "tied",
        "experts",
    ])?;
    let required = |key, most| size(&table.require(key)?, 1, most);
    let (hidden, heads) = (required("hidden", MOST_SIZE)?, required("heads", MOST_RANKS)?);
    let kv_heads = match table.get("kv_heads") {
        Some(value) => {
            let found = size(&value, 1, heads)?;
            if !heads.is_multiple_of(found) {
                return Err(rule(&value, format!("must divide the {heads} heads")));
            }
            found
        }
        None => heads,
    };
    let head_size = match table.get("head_size") {
        Some(value) => size(&value, 1, MOST_SIZE)?,
        None if hidden.is_multiple_of(heads) => hidden / heads,
        None => {
            let value = table.require("heads")?;
            return Err(rule(&value, format!("does not divide the hidden size {hidden}: state `head_size`")));
        }
    };
    let layers = required("layers", MOST_LAYERS)?;
    let experts = table.get("experts").map(|value| read_experts(&value.table()?, layers)).transpose()?;
    Ok(Dimensions {
        layers,
        hidden,
        heads,
        kv_heads,
        head_size,
        // Where every layer has experts there is no dense one to describe.
        ffn: match (&experts, table.get("ffn")) {
            (Some(Experts { dense_layers: 0, .. }), None) => 0,
            _ => required("ffn", MOST_SIZE)?,
        },
        gated: truth(table, "gated")?,
        biases: truth(table, "biases")?,
        vocabulary: required("vocabulary", MOST_TOKENS)?,
        sequence: required("sequence", MOST_TOKENS)?,
        learned_positions: truth(table, "learned_positions")?,
        tied: truth(table, "tied")?,
        experts,
    })
}

fn read_experts(table: &Table<'_>, layers: u32) -> Result<Experts, FileError> {
    table.only(&["count", "per_token", "ffn", "shared", "dense_layers"])?;
    let count = size(&table.require("count")?, 1, MOST_EXPERTS)?;
    Ok(Experts {
        count,
        per_token: size(&table.require("per_token")?, 1, count)?,
        ffn: size(&table.require("ffn")?, 1, MOST_SIZE)?,
        shared: table.get("shared").map_or(Ok(0), |value| size(&value, 0, MOST_EXPERTS))?,
        dense_layers: table.get("dense_layers").map_or(Ok(0), |value| size(&value, 0, layers))?,
    })
}

fn read_training(table: &Table<'_>) -> Result<Training, FileError> {
    table.only(&["weights", "gradients", "optimizer_state", "activation", "dropout", "attention"])?;
    let bytes = |key| -> Result<u32, FileError> {
        let value = table.require(key)?;
        let found = quantity(&value)?
            .in_base(Scale::Memory)
            .map_err(|error| value.error(TomlProblem::Quantity { key: value.key(), error }))?;
        let whole = found.is_integer().then(|| u32::try_from(found.to_integer()).ok()).flatten();
        whole
            .filter(|&bytes| bytes <= MOST_BYTES)
            .ok_or_else(|| rule(&value, format!("must be a whole number of bytes, at most {MOST_BYTES}")))
    };
    let attention = table.require("attention")?;
    Ok(Training {
        weights: bytes("weights")?,
        gradients: bytes("gradients")?,
        optimizer_state: bytes("optimizer_state")?,
        activation: bytes("activation")?,
        dropout: truth(table, "dropout")?,
        attention: match attention.text()? {
            "stored" => Attention::Stored,
            "recomputed" => Attention::Recomputed,
            "flash" => Attention::Flash,
            other => {
                let (key, found) = (attention.key(), other.to_owned());
                let known = &["stored", "recomputed", "flash"];
                return Err(attention.error(TomlProblem::Name { key, found, known }));
            }
        },
    })
}

fn read_attained(value: &Value<'_>) -> Result<Vec<Attained>, FileError> {
    let list = value.list().ok_or_else(|| value.wrong_type("a list of [[attained]] tables"))?;
    let mut attained: Vec<Attained> = Vec::new();
    for entry in &list {
        let table = entry.table()?;
        table.only(&["tensor", "microbatch_size", "share"])?;
        let degree = |key| size(&table.require(key)?, 1, MOST_RANKS);
        let (tensor, microbatch_size) = (degree("tensor")?, degree("microbatch_size")?);
        if attained.iter().any(|other| (other.tensor, other.microbatch_size) == (tensor, microbatch_size)) {
            return Err(rule(
                entry,
                format!("is a second one for tensor = {tensor} and microbatch_size = {microbatch_size}"),
            ));
        }
        let share = read_share(&table.require("share")?)?;
        attained.push(Attained { tensor, microbatch_size, share });
    }
    if attained.is_empty() { Err(rule(value, "has no entry")) } else { Ok(attained) }
}

/// A percentage above 0 and up to 100, with four decimals at most.
fn read_share(value: &Value<'_>) -> Result<Ratio<i128>, FileError> {
    let found = quantity(value)?;
    let is_fine = (found.number * 10_000).is_integer();
    let is_share = found.number > Ratio::from_integer(0) && found.number <= Ratio::from_integer(100);
    if found.unit != "%" || !is_fine || !is_share {
        return Err(rule(
            value,
            "must be a share of the peak, such as \"45 %\": up to 100 %, with at most four decimals",
        ));
    }
    Ok(found.number / 100)
}

/// Refuses choices for which no attained speed is stated.
fn every_choice_is_attained(
    place: &Value<'_>,
    choices: &Table<'_>,
    attained: &[Attained],
) -> Result<(), FileError> {
    let chosen = |key, of: fn(&Attained) -> u32| -> Result<BTreeSet<u32>, FileError> {
        let Some(value) = choices.get(key) else {
            return Ok(attained.iter().map(of).collect());
        };
        value.one_or_many().iter().map(|value| value.count(1)).collect()
    };
    let degrees = chosen("tensor", |at| at.tensor)?;
    let sizes = chosen("microbatch_size", |at| at.microbatch_size)?;
    for &tensor in &degrees {
        for &size in &sizes {
            if !attained.iter().any(|at| (at.tensor, at.microbatch_size) == (tensor, size)) {
                return Err(rule(
                    place,
                    format!(
                        "leave a choice without a speed: there is no [[attained]] for tensor = {tensor} and microbatch_size = {size}"
                    ),
                ));
            }
        }
    }
    Ok(())
}
