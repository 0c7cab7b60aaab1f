//! Amounts, names and texts as job files have them.

use crate::text::quantity::Scale;

/// A key as TOML writes it: plain where it can be.
pub fn name(key: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if !key.is_empty() && key.chars().all(is_plain) { key.to_owned() } else { quoted(key) }
}

/// A text as TOML writes it.
pub fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A whole number of base units in the largest unit of a list in which its decimals are exact. Units are powers of ten.
pub fn decimal(amount: i128, scale: Scale, units: &[&str]) -> String {
    let known = scale.units().iter().filter(|(unit, _)| units.contains(unit));
    let (unit, factor) = known.rev().find(|(_, factor)| amount >= *factor).unwrap_or(&("", 1));
    let (whole, part) = (amount / factor, amount % factor);
    let digits = factor.to_string().len() - 1;
    let part = if digits == 0 { String::new() } else { format!("{part:0digits$}") };
    match part.trim_end_matches('0') {
        "" => format!("\"{whole} {unit}\""),
        part => format!("\"{whole}.{part} {unit}\""),
    }
}

/// A time in nanoseconds, in the largest unit up to a millisecond, exactly.
pub fn time(nanoseconds: i128) -> String {
    if nanoseconds == 0 {
        "\"0 ns\"".to_owned()
    } else {
        decimal(nanoseconds, Scale::Time, &["ns", "us", "ms"])
    }
}

/// Bytes in the largest binary unit that divides them.
pub fn memory(bytes: i128) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let fitting = units.into_iter().find(|(_, factor)| bytes > 0 && bytes % factor == 0);
    let (unit, factor) = fitting.unwrap_or(("B", 1));
    format!("\"{} {unit}\"", bytes / factor)
}
