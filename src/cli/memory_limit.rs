//! `--memory`: a capacity on every device, in units or relative to 1F1B.

use std::str::FromStr;

use clap::Args;
use num_rational::Ratio;

use super::error::Error;
use crate::catalog::one_f_one_b_memory;
use crate::model::{Model, Units};

/// The option that sets a capacity.
#[derive(Debug, Clone, Args)]
pub struct MemoryLimit {
    /// The memory of each device, in place of the model's limits: units, or a percentage of 1F1B's
    ///
    /// A percentage refers to the peak memory of 1F1B with equal stages: one microbatch per device, each as
    /// large as the largest device's activations. Rounded down.
    #[arg(long, value_name = "N|P%")]
    memory: Option<Amount>,
}

/// An amount of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Amount {
    /// In units.
    Units(i64),
    /// As a share of what 1F1B needs.
    Share(Ratio<i128>),
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is neither an amount, such as 16, nor a percentage, such as 50%");
        match text.strip_suffix('%') {
            None => text.parse().ok().filter(|&units| units >= 0).map(Self::Units).ok_or_else(wrong),
            Some(percent) => percentage(percent).map(Self::Share).ok_or_else(wrong),
        }
    }
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

impl MemoryLimit {
    /// Whether a capacity was asked for.
    pub const fn is_given(&self) -> bool {
        self.memory.is_some()
    }

    /// The model with the capacity asked for, or as it is.
    ///
    /// # Errors
    /// When the capacity is too large to count, or the weights take more.
    pub fn apply(&self, model: Model) -> Result<Model, Error> {
        match self.units(&model) {
            None => Ok(model),
            Some(units) => model
                .with_uniform_capacity(units)
                .map_err(|error| Error::Usage { message: format!("--memory {units}: {error}"), help: None }),
        }
    }

    /// The capacity asked for, in units.
    pub fn units(&self, model: &Model) -> Option<Units> {
        match self.memory? {
            Amount::Units(units) => Some(Units(units)),
            Amount::Share(share) => {
                let whole = i128::from(one_f_one_b_memory(model).0);
                let part = (share * Ratio::from_integer(whole)).floor().to_integer();
                Some(Units(i64::try_from(part).unwrap_or(i64::MAX)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_units_or_percentages() {
        for (text, amount) in [
            ("0", Amount::Units(0)),
            ("16", Amount::Units(16)),
            ("50%", Amount::Share(Ratio::new(1, 2))),
            ("33.3%", Amount::Share(Ratio::new(333, 1000))),
            ("100.0%", Amount::Share(Ratio::from_integer(1))),
        ] {
            assert_eq!(text.parse(), Ok(amount), "{text}");
        }
        for text in ["", "%", "-1", "1.5", "-5%", "1.%", ".5%", "1.5.5%", "1e3%", "+5%", "x", "0.1234567890%"]
        {
            assert!(text.parse::<Amount>().is_err(), "{text}");
        }
    }
}
