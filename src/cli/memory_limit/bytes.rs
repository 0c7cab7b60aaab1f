//! Amounts of memory in bytes and their multiples, exactly.

use num_rational::Ratio;

/// What the multiples of a byte are called, with the bytes in each.
const UNITS: [(&str, i128); 12] = [
    ("B", 1),
    ("byte", 1),
    ("bytes", 1),
    ("kB", 1000),
    ("KB", 1000),
    ("MB", 1000 * 1000),
    ("GB", 1000 * 1000 * 1000),
    ("TB", 1000 * 1000 * 1000 * 1000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// How many bytes a unit has, if it is one of bytes.
pub fn in_unit(unit: &str) -> Option<i128> {
    UNITS.iter().find(|(name, _)| *name == unit).map(|&(_, bytes)| bytes)
}

/// The bytes of an amount such as `60GiB` or `1.5 GB`, which need not be whole.
///
/// # Errors
/// With what is wrong, where it is not a decimal number with a unit of bytes.
pub fn bytes(text: &str) -> Result<Ratio<i128>, String> {
    let at = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..at], text[at..].trim_start());
    let number = decimal(number).ok_or_else(|| format!("`{text}` does not begin with a decimal number"))?;
    let factor = in_unit(unit).ok_or_else(|| {
        format!("`{unit}` is no unit of bytes: known are B, KiB, MiB, GiB, TiB, kB, MB, GB and TB")
    })?;
    Ok(number * factor)
}

/// An exact decimal, such as `1.5`: digits, and digits behind a point if there is one.
fn decimal(text: &str) -> Option<Ratio<i128>> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    // So that no product with a unit is too large to count.
    let digits = |text: &str, most: usize| {
        let is_number =
            !text.is_empty() && text.len() <= most && text.bytes().all(|digit| digit.is_ascii_digit());
        if is_number { text.parse::<i128>().ok() } else { None }
    };
    let (whole, part) = (digits(whole, 15)?, digits(decimals, 9)?);
    let scale = 10_i128.pow(u32::try_from(decimals.len()).ok()?);
    Some(Ratio::new(whole * scale + part, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        for (text, expected) in [
            ("60GiB", Ratio::from_integer(60 << 30)),
            ("1.5 GB", Ratio::from_integer(1_500_000_000)),
            ("800MiB", Ratio::from_integer(800 << 20)),
            ("0.1 KiB", Ratio::new(512, 5)),
            ("7 bytes", Ratio::from_integer(7)),
            (
                "999999999999999.999999999TiB",
                Ratio::new(999_999_999_999_999_999_999_999 * (1 << 40), 1_000_000_000),
            ),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_of_bytes_is_refused() {
        for (text, said) in [
            ("60GIB", "`GIB` is no unit of bytes"),
            ("60 giraffes", "`giraffes` is no unit"),
            ("60", "`` is no unit"),
            ("50% GiB", "`% GiB` is no unit"),
            ("GiB", "does not begin with a decimal"),
            ("1. GiB", "does not begin"),
            (".5GiB", "does not begin"),
            ("1.5.5GiB", "does not begin"),
            ("-1GiB", "does not begin"),
            ("1e3GiB", "`e3GiB` is no unit"),
            ("1000000000000000GiB", "does not begin"),
        ] {
            let error = bytes(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
