//! Decimal numbers as they are written, without a detour through floating point.

/// A decimal number times a power of ten, rounded half up to an integer; nothing where the text is no number
/// as JSON has them, or does not fit.
///
/// Microseconds times 10^3 give nanoseconds, exactly if there are three decimals or fewer.
pub(super) fn scaled(text: &str, power: i32) -> Option<i64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            (mantissa, exponent.strip_prefix('+').unwrap_or(exponent).parse::<i32>().ok()?)
        }
        None => (text, 0),
    };
    let (negative, mantissa) =
        mantissa.strip_prefix('-').map_or((false, mantissa), |positive| (true, positive));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(part.bytes());
    if whole.is_empty() || !digits().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    // The number of digits before the point once it is moved.
    let kept = i64::try_from(whole.len()).ok()? + i64::from(exponent) + i64::from(power);
    // Twice the value, so that a half is an integer: sign and all, before rounding.
    let mut value: i128 = 0;
    let mut rest = digits();
    for _ in 0..kept.clamp(0, 40) {
        let digit = rest.next().map_or(0, |digit| i128::from(digit - b'0'));
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    if kept > 40 && digits().any(|digit| digit != b'0') {
        return None;
    }
    // What is cut off, compared with a half.
    let next = if kept < 0 { 0 } else { rest.next().map_or(0, |digit| digit - b'0') };
    let beyond = kept >= 0 && rest.any(|digit| digit != b'0');
    let up = if negative { next > 5 || (next == 5 && beyond) } else { next >= 5 };
    let value = value + i128::from(up);
    i64::try_from(if negative { -value } else { value }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_scaled_as_they_are_written() {
        for (text, power, value) in [
            ("4448538227511.464", 3, Some(4_448_538_227_511_464)),
            // A float of 53 bits would end in ...992.
            ("9007199254740.993", 3, Some(9_007_199_254_740_993)),
            ("12", 3, Some(12_000)),
            ("0.1", 3, Some(100)),
            ("0.0004", 3, Some(0)),
            ("0.0005", 3, Some(1)),
            ("1.23449", 3, Some(1_234)),
            ("-0.0005", 3, Some(0)),
            ("-0.00051", 3, Some(-1)),
            ("-1.5", 3, Some(-1_500)),
            ("1.5e3", 0, Some(1_500)),
            ("1.5E+2", 3, Some(150_000)),
            ("15e-4", 3, Some(2)),
            ("15e-9", 3, Some(0)),
            ("0e999", 3, Some(0)),
            ("1e999", 3, None),
            ("9223372036854775807", 0, Some(i64::MAX)),
            ("9223372036854775808", 0, None),
            ("", 3, None),
            (".5", 3, None),
            ("1.2.3", 3, None),
            ("0x10", 3, None),
        ] {
            assert_eq!(scaled(text, power), value, "{text}");
        }
    }
}
