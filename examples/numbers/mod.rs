//! How the tables of pages write numbers.

use num_rational::Ratio;

/// A number with so many decimals, rounded half up.
pub fn decimal(number: Ratio<i128>, decimals: u32) -> String {
    let scale = 10_i128.pow(decimals);
    let scaled = (number * scale + Ratio::new(1, 2)).floor().to_integer();
    let sign = if scaled < 0 { "-" } else { "" };
    let (whole, part) = (scaled.abs() / scale, scaled.abs() % scale);
    match decimals {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{part:0width$}", width = decimals as usize),
    }
}

/// A number with its sign.
pub fn signed(number: String) -> String {
    if number.starts_with('-') { number } else { format!("+{number}") }
}
