//! Exact numbers that need not be integers.

use std::fmt;
use std::str::FromStr;

use num_rational::Ratio;
use serde::{Serialize, Serializer};

/// An interval in ticks: a number, or `"p/q"` where it is no integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval(pub Ratio<i64>);

impl fmt::Display for Interval {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_integer() {
            serializer.serialize_i64(self.0.to_integer())
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
        let positive = |text: &str| text.parse::<i64>().ok().filter(|&number| number > 0);
        positive(numerator)
            .zip(positive(denominator))
            .map(|(numerator, denominator)| Self(Ratio::new(numerator, denominator)))
            .ok_or_else(|| format!("`{text}` is not a positive number of ticks, such as 18 or 55/3"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_printed_as_they_are_read() {
        for (text, json) in [("18", "18"), ("55/3", "\"55/3\""), ("36/2", "18")] {
            let interval: Interval = text.parse().expect(text);
            assert_eq!(serde_json::to_string(&interval).expect("a number"), json);
            assert_eq!(interval.to_string(), json.trim_matches('"'));
        }
        for text in ["", "0", "-1", "1/0", "1/", "/2", "1.5", "x"] {
            assert!(text.parse::<Interval>().is_err(), "{text}");
        }
    }
}
