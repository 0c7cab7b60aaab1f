//! `--memory`: a capacity on every device, in units, in bytes, or relative to 1F1B.

use std::str::FromStr;

use clap::Args;
use num_rational::Ratio;

use super::error::Error;
use super::list::List;
use super::time_arg::with_unit_meant;
use crate::amounts;
use crate::catalog::one_f_one_b_memory;
use crate::model::{Model, Units};
use crate::text::Shown;
use crate::text::quantity::{Quantity, Scale};

/// The option that sets a capacity.
#[derive(Debug, Clone, Args)]
pub struct MemoryLimit {
    /// The memory of each device, in place of the model's limits: units of the model file, a percentage of 1F1B's, or an amount such as 60GiB
    ///
    /// A percentage refers to the peak memory of 1F1B with equal stages: one microbatch per device, each as
    /// large as the largest device's activations. An amount with a unit (B, KiB, MiB, GiB, TiB, kB, MB, GB, TB) needs a model
    /// whose unit of memory is one of these. Rounded down.
    #[arg(long, value_name = "N|P%|SIZE")]
    memory: Option<Amount>,
}

/// The option that sets a capacity, or several, one after the other.
#[derive(Debug, Clone, Args)]
pub struct MemoryLimits {
    /// The memory of each device, in place of the model's limits: units of the model file, a percentage of 1F1B's, or an amount such as 60GiB;
    /// or a list of these, such as 50%,75%,60GiB
    ///
    /// A percentage refers to the peak memory of 1F1B with equal stages: one microbatch per device, each as
    /// large as the largest device's activations. An amount with a unit (B, KiB, MiB, GiB, TiB, kB, MB, GB, TB) needs a model
    /// whose unit of memory is one of these. Rounded down.
    #[arg(long, value_name = "N|P%|SIZE,...", value_parser = List::<Amount>::from_str)]
    memory: Option<List<Amount>>,
}

impl MemoryLimits {
    /// Each of them; one that sets nothing if none is given.
    pub fn all(&self) -> Vec<MemoryLimit> {
        self.memory.as_ref().map_or_else(
            || vec![MemoryLimit { memory: None }],
            |list| list.iter().map(|amount| MemoryLimit { memory: Some(amount.clone()) }).collect(),
        )
    }
}

/// An amount of memory, and how it was written. How plays no part in whether two are the same.
#[derive(Debug, Clone)]
struct Amount {
    text: String,
    value: Value,
}

impl PartialEq for Amount {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// What an amount is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    /// In units of the model's file.
    Plain(Ratio<i128>),
    /// As a share of what 1F1B needs.
    Share(Ratio<i128>),
    /// In bytes.
    Bytes(Ratio<i128>),
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains(',') {
            return Err(format!(
                "{} is a list, but this command takes a single amount; `optimize` and `compare` take lists",
                Shown(text)
            ));
        }
        value(text).map(|value| Self { text: text.to_owned(), value })
    }
}

fn value(text: &str) -> Result<Value, String> {
    let wrong = || format!("`{text}` is neither an amount, such as 16, nor a percentage, such as 50%");
    if let Some(percent) = text.strip_suffix('%') {
        return percentage(percent).map(Value::Share).ok_or_else(wrong);
    }
    // A unit is what sets an amount in bytes apart, right or wrong.
    if text.starts_with(|letter: char| letter.is_ascii_digit()) && text.ends_with(char::is_alphabetic) {
        let bytes = Quantity::parse(text).and_then(|amount| amount.in_base(Scale::Memory));
        return bytes.map(Value::Bytes).map_err(|error| with_unit_meant(&error));
    }
    let plain = Quantity::parse(text).ok().filter(|amount| amount.unit.is_empty());
    plain.map(|amount| Value::Plain(amount.number)).ok_or_else(wrong)
}

/// An exact share from a percentage with decimals, such as `33.3`.
pub fn percentage(text: &str) -> Option<Ratio<i128>> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| {
        let number = !text.is_empty() && text.len() <= 9 && text.bytes().all(|digit| digit.is_ascii_digit());
        if number { text.parse::<i128>().ok() } else { None }
    };
    let scale = 10_i128.pow(u32::try_from(decimals.len()).ok().filter(|&length| length <= 9)?);
    Some(Ratio::new(digits(whole)? * scale + digits(decimals)?, 100 * scale))
}

impl Amount {
    /// The amount in units of a model, rounded down.
    fn in_units(&self, model: &Model) -> Result<Units, Error> {
        let units = match self.value {
            Value::Plain(number) => number * self.units_in_plain_number(model)?,
            Value::Share(share) => share * i128::from(one_f_one_b_memory(model).0),
            Value::Bytes(amount) => amount / self.bytes_in_unit(model)?,
        };
        Ok(Units(i64::try_from(units.floor().to_integer()).unwrap_or(i64::MAX)))
    }

    /// What a number without a unit counts.
    fn units_in_plain_number(&self, model: &Model) -> Result<i128, Error> {
        let is_zero = matches!(self.value, Value::Plain(number) if number == Ratio::from_integer(0));
        let any = is_zero.then_some(1);
        model.units_per_plain_number().or(any).map(i128::from).ok_or_else(|| {
            let amounts = format!("`{}` has amounts with units, so a limit needs one, too", model.name());
            Error::usage(
                format!("--memory {}: {amounts}", self.text),
                format!("write --memory {}GiB, or the unit that you mean", self.text),
            )
        })
    }

    fn bytes_in_unit(&self, model: &Model) -> Result<i128, Error> {
        let unit = &model.memory().unit;
        let known = Scale::Memory.units().iter().find(|(name, _)| name == unit);
        known.map(|&(_, bytes)| bytes).ok_or_else(|| {
            Error::usage(
                format!(
                    "--memory {}: an amount of bytes, but `{}` counts memory in {unit}",
                    self.text,
                    model.name()
                ),
                format!(
                    "give a number of {unit}, such as 16, or a percentage, such as 75%; or measure the model's memory \
                     in bytes: `unit = \"MiB\"` in [memory]"
                ),
            )
        })
    }
}

/// The option that sets a memory limit of so many units of a model, as it can be typed.
pub fn typed(units: i64, model: &Model) -> String {
    // A number without a unit may mean another one.
    let unit = if model.units_per_plain_number() == Some(1) { "" } else { "B" };
    format!("--memory {units}{unit}")
}

impl MemoryLimit {
    /// Whether a capacity was asked for.
    pub const fn is_given(&self) -> bool {
        self.memory.is_some()
    }

    /// The capacity as it was asked for.
    pub fn text(&self) -> Option<&str> {
        self.memory.as_ref().map(|amount| amount.text.as_str())
    }

    /// Whether it was asked for in other than units of the model.
    pub fn is_relative(&self) -> bool {
        self.memory.as_ref().is_some_and(|amount| !matches!(amount.value, Value::Plain(_)))
    }

    /// The model with the capacity asked for, or as it is.
    ///
    /// # Errors
    /// When the capacity is too large to count, or not in the model's unit, or the weights take more.
    pub fn apply(&self, model: Model) -> Result<Model, Error> {
        match self.units(&model)? {
            None => Ok(model),
            Some(units) => model.with_uniform_capacity(units).map_err(|error| {
                let error = error.in_words(|units, unit| amounts::memory(units.0, unit));
                let asked = self.text().unwrap_or_default();
                Error::Usage { message: format!("--memory {asked}: {error}"), help: None }
            }),
        }
    }

    /// The capacity asked for, in units of the model, rounded down.
    ///
    /// # Errors
    /// When it is in bytes and the model's unit is not.
    pub fn units(&self, model: &Model) -> Result<Option<Units>, Error> {
        self.memory.as_ref().map(|amount| amount.in_units(model)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model;

    #[test]
    fn amounts_are_units_percentages_or_bytes() {
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
            assert_eq!(text.parse::<Amount>().map(|amount| amount.value), Ok(value), "{text}");
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
            assert!(text.parse::<Amount>().is_err(), "{text}");
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
            let amount: Amount = text.parse().expect("an amount");
            amount.in_units(&model).map(|units| units.0).map_err(|error| error.to_string())
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
    fn amounts_in_bytes_are_rounded_down_to_units_of_the_model() {
        let within = |unit: &str, text: &str| {
            let model = format!(
                "name = \"x\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 2\n[time]\nforward = 1\n\
                 backward_input = 1\nbackward_weight = 1\n[memory]\nunit = \"{unit}\"\nactivation = 1\n"
            );
            let model = model::parse(&model).expect("a model");
            let amount: Amount = text.parse().expect("an amount");
            amount.in_units(&model).map(|units| units.0).map_err(|error| error.to_string())
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
            assert!(error.contains("60GiB") && error.contains(unit), "{error}");
        }
    }
}
