//! `--memory`: a capacity on every device, in units, in bytes, or relative to 1F1B.

use clap::Args;
use num_rational::Ratio;

use super::error::Error;
use super::list::List;
use crate::amounts;
use crate::limit::{self, LimitError};
use crate::model::{Model, Units};
use crate::text::Shown;

/// The option that sets a capacity.
#[derive(Debug, Clone, Args)]
pub struct MemoryLimit {
    /// The memory of each device, in place of the model's limits: units of the model file, a percentage of 1F1B's, or an amount such as 60GiB
    ///
    /// A percentage refers to the peak memory of 1F1B with equal stages: one microbatch per device, each as
    /// large as the largest device's activations. An amount with a unit (B, KiB, MiB, GiB, TiB, kB, MB, GB, TB) needs a model
    /// whose unit of memory is one of these. Rounded down.
    #[arg(long, value_name = "N|P%|SIZE", value_parser = single)]
    memory: Option<limit::MemoryLimit>,
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
    #[arg(long, value_name = "N|P%|SIZE,...", value_parser = list)]
    memory: Option<List<limit::MemoryLimit>>,
}

impl MemoryLimits {
    /// Each of them; one that sets nothing if none is given.
    pub fn all(&self) -> Vec<MemoryLimit> {
        self.memory.as_ref().map_or_else(
            || vec![MemoryLimit { memory: None }],
            |list| list.iter().map(|limit| MemoryLimit { memory: Some(limit.clone()) }).collect(),
        )
    }
}

fn list(text: &str) -> Result<List<limit::MemoryLimit>, String> {
    List::of(text, single)
}

fn single(text: &str) -> Result<limit::MemoryLimit, String> {
    text.parse().map_err(|error: LimitError| match error {
        LimitError::List(_) => format!(
            "{} is a list, but this command takes a single amount; `optimize` and `compare` take lists",
            Shown(text)
        ),
        error => error.to_string(),
    })
}

/// Advice of the library, with the option that it is about.
fn with_option(error: &LimitError, advice: String) -> String {
    match error {
        LimitError::NoUnit { .. } => advice.replacen("write ", "write --memory ", 1),
        _ => advice,
    }
}

/// `--memory` with a limit in units of a model, ready to be typed.
pub fn typed(units: i64, model: &Model) -> String {
    let number = Ratio::from_integer(i128::from(units));
    // Units that a number alone does not mean are bytes.
    let unit = if model.plain_units(number) == Some(number) { "" } else { "B" };
    format!("--memory {units}{unit}")
}

impl MemoryLimit {
    /// Whether a capacity was asked for.
    pub const fn is_given(&self) -> bool {
        self.memory.is_some()
    }

    /// The capacity as it was asked for.
    pub fn text(&self) -> Option<&str> {
        self.memory.as_ref().map(limit::MemoryLimit::text)
    }

    /// Whether it was asked for in other than units of the model.
    pub fn is_relative(&self) -> bool {
        self.memory.as_ref().is_some_and(limit::MemoryLimit::is_relative)
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
        self.memory.as_ref().map(|limit| limit.units(model)).transpose().map_err(|error| Error::Usage {
            message: format!("--memory {}: {error}", self.text().unwrap_or_default()),
            help: error.advice().map(|advice| with_option(&error, advice)),
        })
    }
}
