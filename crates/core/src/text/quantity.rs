//! Amounts as people write them: `3.27 ms`, `1.70 GiB`, `25 GB/s`. Decimals are exact.
//!
//! ```
//! use bubbleproof_core::text::quantity::{Quantity, Scale};
//! use num_rational::Ratio;
//!
//! let time = Quantity::parse("3.27 ms")?;
//! // In nanoseconds.
//! assert_eq!(time.in_base(Scale::Time)?, Ratio::from_integer(3_270_000));
//! assert!(time.in_base(Scale::Memory).is_err());
//! # Ok::<(), bubbleproof_core::text::quantity::QuantityError>(())
//! ```

use std::fmt;

use num_rational::Ratio;

use super::Shown;

/// What an amount is an amount of, and with that the units that it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scale {
    /// Durations, in nanoseconds.
    Time,
    /// Memory, in bytes.
    Memory,
    /// What a link carries, in bytes per second.
    Bandwidth,
    /// Floating-point operations.
    Operations,
    /// Floating-point operations per second.
    Speed,
}

impl Scale {
    /// The units, each with how much of the base unit it is.
    #[must_use]
    pub const fn units(self) -> &'static [(&'static str, i128)] {
        match self {
            Self::Time => &[("ns", 1), ("us", 1_000), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)],
            Self::Memory => &[
                ("B", 1),
                ("byte", 1),
                ("bytes", 1),
                ("KB", 1_000),
                ("kB", 1_000),
                ("MB", 1_000_000),
                ("GB", 1_000_000_000),
                ("TB", 1_000_000_000_000),
                ("KiB", 1 << 10),
                ("MiB", 1 << 20),
                ("GiB", 1 << 30),
                ("TiB", 1 << 40),
            ],
            Self::Bandwidth => &[
                ("B/s", 1),
                ("KB/s", 1_000),
                ("MB/s", 1_000_000),
                ("GB/s", 1_000_000_000),
                ("TB/s", 1_000_000_000_000),
                ("KiB/s", 1 << 10),
                ("MiB/s", 1 << 20),
                ("GiB/s", 1 << 30),
                ("TiB/s", 1 << 40),
            ],
            Self::Operations => &[
                ("FLOP", 1),
                ("MFLOP", 1_000_000),
                ("GFLOP", 1_000_000_000),
                ("TFLOP", 1_000_000_000_000),
                ("PFLOP", 1_000_000_000_000_000),
            ],
            Self::Speed => &[
                ("FLOP/s", 1),
                ("GFLOP/s", 1_000_000_000),
                ("TFLOP/s", 1_000_000_000_000),
                ("PFLOP/s", 1_000_000_000_000_000),
            ],
        }
    }

    /// What it measures, as messages call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Memory => "memory",
            Self::Bandwidth => "bandwidth",
            Self::Operations => "work",
            Self::Speed => "speed",
        }
    }

    /// An amount that its unit makes plain.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::Time => "3.27 ms",
            Self::Memory => "1.5 GiB",
            Self::Bandwidth => "25 GB/s",
            Self::Operations => "2.5 TFLOP",
            Self::Speed => "312 TFLOP/s",
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A number that is not negative, and the unit behind it, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity {
    /// The number, exactly as written.
    pub number: Ratio<i128>,
    /// The unit as written; empty where there is none.
    pub unit: String,
    /// The number as written.
    pub written: String,
}

/// Why a text is no amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantityError {
    /// No number at its beginning.
    #[error("\"{}\" is not a number with a unit", Shown(.0))]
    NoNumber(String),
    /// A number below zero.
    #[error("\"{}\" is negative", Shown(.0))]
    Negative(String),
    /// More digits than are kept.
    #[error("\"{}\" has more than {most} digits", Shown(.0), most = Quantity::MOST_DIGITS)]
    TooLong(String),
    /// More digits behind the point than are kept.
    #[error("\"{}\" has more than {most} decimals: round it, or choose a smaller unit", Shown(.0), most = Quantity::MOST_DIGITS)]
    TooFine(String),
    /// A unit of something else, or of nothing.
    #[error("\"{}\" is no unit of {scale}: use one of {}", Shown(.unit), names(*.scale))]
    Unit {
        /// The unit.
        unit: String,
        /// What was to be measured.
        scale: Scale,
    },
    /// No unit where one is needed.
    #[error("{} has no unit: write \"{}\", for example", Shown(.number), .scale.example())]
    NoUnit {
        /// The number as written.
        number: String,
        /// What was to be measured.
        scale: Scale,
    },
}

fn names(scale: Scale) -> String {
    scale.units().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

impl Quantity {
    /// How many digits a number may have in all, so that no product overflows.
    pub const MOST_DIGITS: usize = 18;

    /// Reads `3.27 ms`, `3.27ms`, `327`, `1e-3 s`.
    ///
    /// # Errors
    /// When it does not begin with a number, or the number is negative or too long.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let text = text.trim();
        if text.starts_with('-') {
            return Err(QuantityError::Negative(text.to_owned()));
        }
        let end = end_of_number(text);
        let (written, unit) = text.split_at(end);
        let number = decimal(written).map_err(|problem| match problem {
            NotDecimal::NoNumber => QuantityError::NoNumber(text.to_owned()),
            NotDecimal::TooLong => QuantityError::TooLong(text.to_owned()),
            NotDecimal::TooFine => QuantityError::TooFine(text.to_owned()),
        })?;
        Ok(Self { number, unit: unit.trim().to_owned(), written: written.to_owned() })
    }

    /// The amount in the base unit of a scale: nanoseconds, bytes, bytes per second.
    ///
    /// # Errors
    /// When its unit is none of the scale, or there is none.
    pub fn in_base(&self, scale: Scale) -> Result<Ratio<i128>, QuantityError> {
        if self.unit.is_empty() {
            return Err(QuantityError::NoUnit { number: self.written.clone(), scale });
        }
        let known = scale.units().iter().find(|(name, _)| *name == self.unit);
        let (_, factor) = known.ok_or_else(|| QuantityError::Unit { unit: self.unit.clone(), scale })?;
        Ok(self.number * Ratio::from_integer(*factor))
    }
}

enum NotDecimal {
    NoNumber,
    TooLong,
    TooFine,
}

/// Where the number at the beginning of a text ends. An `e` belongs to it only where digits follow.
fn end_of_number(text: &str) -> usize {
    let is_plain = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == '_';
    let end = text.find(|letter| !is_plain(letter)).unwrap_or(text.len());
    let Some(exponent) = text[end..].strip_prefix(['e', 'E']) else { return end };
    let signed = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let digits = signed.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(signed.len());
    if digits == 0 { end } else { text.len() - signed.len() + digits }
}

/// The exact value of a decimal, such as `1_000`, `0.5` or `2.5e-3`.
fn decimal(text: &str) -> Result<Ratio<i128>, NotDecimal> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = whole.chars().chain(part.chars()).filter(|&letter| letter != '_').collect();
    let is_number = whole.starts_with(|letter: char| letter.is_ascii_digit())
        && (mantissa.len() == whole.len() || part.starts_with(|letter: char| letter.is_ascii_digit()))
        && digits.bytes().all(|digit| digit.is_ascii_digit());
    if !is_number {
        return Err(NotDecimal::NoNumber);
    }
    let digits = digits.trim_start_matches('0');
    let exponent: i64 = exponent.parse().map_err(|_| NotDecimal::TooLong)?;
    let decimals = part.chars().filter(char::is_ascii_digit).count();
    let power = exponent - i64::try_from(decimals).map_err(|_| NotDecimal::TooLong)?;
    if digits.is_empty() {
        return Ok(Ratio::from_integer(0));
    }
    let most = i64::try_from(Quantity::MOST_DIGITS).map_err(|_| NotDecimal::TooLong)?;
    if digits.len() > Quantity::MOST_DIGITS || power > most {
        return Err(NotDecimal::TooLong);
    }
    if power < -most {
        return Err(NotDecimal::TooFine);
    }
    let number = digits.parse::<i128>().map_err(|_| NotDecimal::TooLong)?;
    let scale = 10_i128.pow(u32::try_from(power.unsigned_abs()).map_err(|_| NotDecimal::TooLong)?);
    Ok(if power < 0 { Ratio::new(number, scale) } else { Ratio::from_integer(number * scale) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (text, scale, value) in [
            ("3.27 ms", Scale::Time, Ratio::from_integer(3_270_000)),
            ("3.27ms", Scale::Time, Ratio::from_integer(3_270_000)),
            ("1e-3 s", Scale::Time, Ratio::from_integer(1_000_000)),
            ("0.1 ns", Scale::Time, Ratio::new(1, 10)),
            ("1_000 us", Scale::Time, Ratio::from_integer(1_000_000)),
            ("0 s", Scale::Time, Ratio::from_integer(0)),
            ("1.5 GiB", Scale::Memory, Ratio::from_integer(3 << 29)),
            ("1.5 GB", Scale::Memory, Ratio::from_integer(1_500_000_000)),
            ("1e18 B", Scale::Memory, Ratio::from_integer(1_000_000_000_000_000_000)),
            ("123456789012345678 ns", Scale::Time, Ratio::from_integer(123_456_789_012_345_678)),
            ("1e-18 s", Scale::Time, Ratio::new(1, 1_000_000_000)),
            ("2e9 B/s", Scale::Bandwidth, Ratio::from_integer(2_000_000_000)),
            ("312 TFLOP/s", Scale::Speed, Ratio::from_integer(312_000_000_000_000)),
        ] {
            assert_eq!(Quantity::parse(text).and_then(|found| found.in_base(scale)), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_is_refused_with_its_reason() {
        for (text, scale, reason) in [
            ("fortnight", Scale::Time, "\"fortnight\" is not a number with a unit"),
            ("", Scale::Time, "\"\" is not a number with a unit"),
            (".5 ms", Scale::Time, "\".5 ms\" is not a number with a unit"),
            ("5. ms", Scale::Time, "\"5. ms\" is not a number with a unit"),
            ("1.2.3 ms", Scale::Time, "\"1.2.3 ms\" is not a number with a unit"),
            ("-1 ms", Scale::Time, "\"-1 ms\" is negative"),
            ("1e99 s", Scale::Time, "\"1e99 s\" has more than 18 digits"),
            ("1234567890123456789 ns", Scale::Time, "\"1234567890123456789 ns\" has more than 18 digits"),
            (
                "0.0012345678901234567 s",
                Scale::Time,
                "\"0.0012345678901234567 s\" has more than 18 decimals: round it, or choose a smaller unit",
            ),
            (
                "1e-19 s",
                Scale::Time,
                "\"1e-19 s\" has more than 18 decimals: round it, or choose a smaller unit",
            ),
            ("1e19 s", Scale::Time, "\"1e19 s\" has more than 18 digits"),
            ("1 fortnight", Scale::Time, "\"fortnight\" is no unit of time: use one of ns, us, µs, ms, s"),
            ("7", Scale::Memory, "7 has no unit: write \"1.5 GiB\", for example"),
        ] {
            let refused = Quantity::parse(text).and_then(|found| found.in_base(scale));
            assert_eq!(refused.expect_err(text).to_string(), reason);
        }
    }
}
