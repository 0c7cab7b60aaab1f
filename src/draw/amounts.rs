//! Times and amounts of memory with the unit that suits them: `1.278 s`, `49.7 GiB`.

use num_rational::Ratio;

/// Ticks with four digits in the unit that suits them, or as counted where ticks have no unit that is known.
pub(crate) fn time(ticks: i64, unit: &str) -> String {
    let nanoseconds = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return super::in_unit(ticks, unit),
    };
    let scales = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
    scaled(i128::from(ticks) * nanoseconds, &scales)
}

/// Units of memory with four digits in the unit that suits them, or as counted where they are not bytes.
pub(crate) fn memory(units: i64, unit: &str) -> String {
    let bytes = match unit {
        "B" | "byte" | "bytes" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return format!("{units} {unit}"),
    };
    scaled(i128::from(units) * bytes, &[("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)])
}

fn scaled(amount: i128, scales: &[(&str, i128)]) -> String {
    let fits = scales.iter().find(|(_, size)| amount.abs() >= *size);
    let &(name, size) = fits.or(scales.last()).expect("there are scales");
    format!("{} {name}", digits(Ratio::new(amount, size)))
}

/// A number with four digits, or all of those before the point, rounded half up.
pub(crate) fn digits(number: Ratio<i128>) -> String {
    let whole = number.to_integer().abs();
    let decimals: u32 = match whole {
        _ if number.is_integer() => 0,
        0..=9 => 3,
        10..=99 => 2,
        100..=999 => 1,
        _ => 0,
    };
    let scale = 10_i128.pow(decimals);
    let rounded = (number * scale + Ratio::new(1, 2)).floor().to_integer();
    if decimals == 0 {
        return rounded.to_string();
    }
    let sign = if rounded < 0 { "-" } else { "" };
    let (whole, part) = (rounded.abs() / scale, rounded.abs() % scale);
    format!("{sign}{whole}.{part:0>width$}", width = decimals as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_shown() {
        for (ticks, unit, text) in [
            (3_146_570_000, "ns", "3.147 s"),
            (999_900_000, "ns", "999.9 ms"),
            (42_280, "us", "42.28 ms"),
            (7, "ns", "7 ns"),
            (0, "ns", "0 ns"),
            (3_000, "ms", "3 s"),
            (1_234_567, "s", "1234567 s"),
            (9_999_600, "ns", "10.000 ms"),
            (5, "tick", "5 ticks"),
        ] {
            assert_eq!(time(ticks, unit), text);
        }
        assert_eq!(memory(53_365_080_883, "byte"), "49.70 GiB");
        assert_eq!(memory(12, "stage-activation"), "12 stage-activation");
    }
}
