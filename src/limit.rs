//! A memory limit as people write it: a number, an amount of bytes, or a share of what 1F1B needs.
//!
//! ```
//! use bubbleproof::limit::MemoryLimit;
//! use bubbleproof::model;
//!
//! let model = model::parse(&std::fs::read_to_string("models/examples/profile.toml")?)?;
//! let limit: MemoryLimit = "38GiB".parse()?;
//! assert_eq!(limit.units(&model)?.0, 38 << 30);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::str::FromStr;

use num_rational::Ratio;

use crate::advice;
use crate::catalog::one_f_one_b_memory;
use crate::model::{Model, Units};
use crate::text::Shown;
use crate::text::quantity::{Quantity, QuantityError, Scale};

/// A limit, and how it was written. How plays no part in whether two are the same.
#[derive(Debug, Clone)]
pub struct MemoryLimit {
    text: String,
    value: Value,
}

impl PartialEq for MemoryLimit {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// What a limit is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    /// In units of the model's file.
    Plain(Ratio<i128>),
    /// As a share of what 1F1B needs.
    Share(Ratio<i128>),
    /// In bytes.
    Bytes(Ratio<i128>),
}

/// Why a text is no limit, or no limit of a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// A list where there can be one limit.
    #[error("{} is a list, but this is a single limit", Shown(.0))]
    List(String),
    /// Neither a number nor a percentage.
    #[error("`{0}` is neither an amount, such as 16, nor a percentage, such as 50%")]
    Malformed(String),
    /// A number with a unit that is none of memory.
    #[error("{}", advice::with_unit_meant(.0))]
    Quantity(QuantityError),
    /// A number without a unit, for a model whose file gives every amount a unit of its own.
    #[error("`{model}` has amounts with units, so a limit needs one, too")]
    NoUnit {
        /// The limit as it was written.
        limit: String,
        /// The model.
        model: String,
    },
    /// An amount of bytes, for a model that counts something else.
    #[error("an amount of bytes, but `{model}` counts memory in {unit}")]
    NotBytes {
        /// The model.
        model: String,
        /// What it counts.
        unit: String,
    },
}

impl LimitError {
    /// What to write instead, if there is more to say than the error does.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::NoUnit { limit, .. } => Some(format!("write {limit}GiB, or the unit that you mean")),
            Self::NotBytes { unit, .. } => Some(format!(
                "give a number of {unit}, such as 16, or a percentage, such as 75%; or measure the model's memory \
                 in bytes: `unit = \"MiB\"` in [memory]"
            )),
            Self::List(_) | Self::Malformed(_) | Self::Quantity(_) => None,
        }
    }
}

impl FromStr for MemoryLimit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        if text.contains(',') {
            return Err(LimitError::List(text.to_owned()));
        }
        value(text).map(|value| Self { text: text.to_owned(), value })
    }
}

fn value(text: &str) -> Result<Value, LimitError> {
    let wrong = || LimitError::Malformed(text.to_owned());
    if let Some(percent) = text.strip_suffix('%') {
        return percentage(percent).map(Value::Share).ok_or_else(wrong);
    }
    // A unit is what sets an amount in bytes apart, right or wrong.
    if text.starts_with(|letter: char| letter.is_ascii_digit()) && text.ends_with(char::is_alphabetic) {
        let bytes = Quantity::parse(text).and_then(|amount| amount.in_base(Scale::Memory));
        return bytes.map(Value::Bytes).map_err(LimitError::Quantity);
    }
    let plain = Quantity::parse(text).ok().filter(|amount| amount.unit.is_empty());
    plain.map(|amount| Value::Plain(amount.number)).ok_or_else(wrong)
}

/// An exact share from a percentage with decimals, such as `33.3`.
pub(crate) fn percentage(text: &str) -> Option<Ratio<i128>> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| {
        let number = !text.is_empty() && text.len() <= 9 && text.bytes().all(|digit| digit.is_ascii_digit());
        if number { text.parse::<i128>().ok() } else { None }
    };
    let scale = 10_i128.pow(u32::try_from(decimals.len()).ok().filter(|&length| length <= 9)?);
    Some(Ratio::new(digits(whole)? * scale + digits(decimals)?, 100 * scale))
}

impl MemoryLimit {
    /// The limit as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is other than a number in the unit of the model's file.
    #[must_use]
    pub const fn is_relative(&self) -> bool {
        !matches!(self.value, Value::Plain(_))
    }

    /// The limit in units of a model, rounded down. A share is one of the peak memory of 1F1B with equal stages: one
    /// microbatch per device, each as large as the largest device's activations.
    ///
    /// # Errors
    /// When the model gives it no meaning: it has a unit and the model counts no bytes, or none where the model's file gives
    /// every amount one.
    pub fn units(&self, model: &Model) -> Result<Units, LimitError> {
        let units = match self.value {
            Value::Plain(number) => model.plain_units(number).ok_or_else(|| LimitError::NoUnit {
                limit: self.text.clone(),
                model: model.name().to_owned(),
            })?,
            Value::Share(share) => share * i128::from(one_f_one_b_memory(model).0),
            Value::Bytes(amount) => amount / bytes_in_unit(model)?,
        };
        Ok(Units(i64::try_from(units.floor().to_integer()).unwrap_or(i64::MAX)))
    }
}

fn bytes_in_unit(model: &Model) -> Result<i128, LimitError> {
    let unit = &model.memory().unit;
    let known = Scale::Memory.units().iter().find(|(name, _)| name == unit);
    known
        .map(|&(_, bytes)| bytes)
        .ok_or_else(|| LimitError::NotBytes { model: model.name().to_owned(), unit: unit.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model;

    #[test]
    fn limits_are_units_percentages_or_bytes() {
        for (text, value) in [
            ("0", Value::Plain(Ratio::from_integer(0))),
            ("16", Value::Plain(Ratio::from_integer(16))),
            ("60.5", Value::Plain(Ratio::new(121, 2))),
            ("50%", Value::Share(Ratio::new(1, 2))),
            ("33.3%", Value::Share(Ratio::new(333, 1000))),
            ("100.0%", Value::Share(Ratio::from_integer(1))),
            ("60GiB", Value::Bytes(Ratio::from_integer(60 << 30))),
            ("1.5 GB", Value::Bytes(Ratio::from_integer(1_500_000_000))),
        ] {
            assert_eq!(text.parse::<MemoryLimit>().map(|limit| limit.value), Ok(value), "{text}");
        }
        for text in [
            "",
            "%",
            "-1",
            "-5%",
            "1.%",
            ".5%",
            "1.5.5%",
            "1e3%",
            "+5%",
            "x",
            "0.1234567890%",
            "60 GIB",
            "50%GiB",
            "1,2",
            "-1GiB",
            "half",
            "GiB",
        ] {
            assert!(text.parse::<MemoryLimit>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_means_what_it_means_in_the_file_of_the_model() {
        let within = |memory: &str, text: &str| {
            let model = format!(
                "name = \"x\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 2\n[time]\nforward = 1\n\
                 backward_input = 1\nbackward_weight = 1\n[memory]\n{memory}\n"
            );
            let model = model::parse(&model).expect("a model");
            let limit: MemoryLimit = text.parse().expect("a limit");
            limit.units(&model).map(|units| units.0).map_err(|error| error.to_string())
        };
        let counted = "unit = \"GiB\"\nactivation = 7";
        let scaled = "unit = \"GiB\"\nactivation = 6.8";
        let without = "activation = \"6.8 GiB\"";
        for (memory, text, units) in [
            (counted, "60", 60),
            (counted, "60.5", 60),
            (scaled, "60", 60 << 30),
            (scaled, "60.5", 121 << 29),
            (scaled, "60GiB", 60 << 30),
            (without, "60GiB", 60 << 30),
            (without, "0", 0),
        ] {
            assert_eq!(within(memory, text), Ok(units), "{text} beside {memory}");
        }
        let error = within(without, "60").expect_err("no unit");
        assert!(error.contains("needs one"), "{error}");
    }

    #[test]
    fn limits_in_bytes_are_rounded_down_to_units_of_the_model() {
        let within = |unit: &str, text: &str| {
            let model = format!(
                "name = \"x\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 2\n[time]\nforward = 1\n\
                 backward_input = 1\nbackward_weight = 1\n[memory]\nunit = \"{unit}\"\nactivation = 1\n"
            );
            let model = model::parse(&model).expect("a model");
            let limit: MemoryLimit = text.parse().expect("a limit");
            limit.units(&model).map(|units| units.0).map_err(|error| error.to_string())
        };
        for (unit, text, units) in [
            ("MiB", "60GiB", 60 * 1024),
            ("GiB", "1.5 GB", 1),
            ("GiB", "1023MiB", 0),
            ("byte", "0.5KiB", 512),
            ("B", "0.1KiB", 102),
            ("MB", "1GiB", 1073),
            ("MiB", "7", 7),
            ("byte", "999999999999999TiB", i64::MAX),
        ] {
            assert_eq!(within(unit, text), Ok(units), "{text} in {unit}");
        }
        for unit in ["stage-activation", "s*b per layer"] {
            let error = within(unit, "60GiB").expect_err("no unit of bytes");
            assert!(error.contains(unit), "{error}");
        }
    }
}
