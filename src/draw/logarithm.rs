//! Decimal logarithms in integers, for axes.

/// One decade of a logarithm.
pub(super) const DECADE: i64 = 1 << 16;

/// The decimal logarithm of a positive number, in parts of a [`DECADE`]; at most one part too low.
pub(super) fn log10(value: u128) -> i64 {
    const BITS: u32 = 48;
    const MOST: u128 = 10_u128.pow(23);
    let (mut value, mut log) = (value.max(1), 0);
    while value >= MOST {
        value /= 10;
        log += DECADE;
    }
    let mut power = 1;
    while value / power >= 10 {
        power *= 10;
        log += DECADE;
    }
    let mut rest = (value << BITS) / power;
    let mut part = DECADE;
    while part > 1 {
        part /= 2;
        rest = (rest * rest) >> BITS;
        if rest >= 10 << BITS {
            rest /= 10;
            log += part;
        }
    }
    log
}

/// 1, 2, 5, 10, 20, 50 and so on.
pub(super) fn round_numbers() -> impl Iterator<Item = i128> {
    (0..30).flat_map(|zeros| [1, 2, 5].map(|digit| digit * 10_i128.pow(zeros)))
}
