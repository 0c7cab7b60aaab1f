//! Lists on the command line: values separated by commas, each once.

/// One value or more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T>(Vec<T>);

impl<T> List<T> {
    /// The values, in the order given.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl<T: PartialEq> List<T> {
    /// Reads a list of values that `parse` reads.
    ///
    /// # Errors
    /// When a value is wrong, missing, or a duplicate.
    pub fn of(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Self, String> {
        if !text.contains(',') {
            return Ok(Self(vec![parse(text)?]));
        }
        let texts: Vec<&str> = text.split(',').map(str::trim).collect();
        let mut values: Vec<T> = Vec::with_capacity(texts.len());
        for &text in &texts {
            if text.is_empty() {
                return Err("the list has an empty element".to_owned());
            }
            let value = parse(text)?;
            if let Some(at) = values.iter().position(|before| *before == value) {
                return Err(if texts[at] == text {
                    format!("`{text}` is a duplicate")
                } else {
                    format!("`{text}` is a duplicate of `{}`", texts[at])
                });
            }
            values.push(value);
        }
        Ok(Self(values))
    }
}

/// Reads positive numbers that fit into 32 bits.
///
/// # Errors
/// As for [`List::of`].
pub fn counts(text: &str) -> Result<List<u32>, String> {
    List::of(text, positive)
}

/// Reads one positive number that fits into 32 bits, for commands that take no list.
///
/// # Errors
/// When it is no such number.
pub fn count(text: &str) -> Result<u32, String> {
    if text.contains(',') {
        return Err(
            "this command takes a single number; `optimize`, `compare` and `frontier` take lists".to_owned()
        );
    }
    positive(text)
}

fn positive(text: &str) -> Result<u32, String> {
    let number: i64 = text.parse().map_err(|error: std::num::ParseIntError| error.to_string())?;
    let count = u32::try_from(number).ok().filter(|&count| count > 0);
    count.ok_or_else(|| format!("{number} is not in 1..={}", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_values_between_commas() {
        for (text, expected) in [
            ("4", Ok(vec![4])),
            ("16,4,8", Ok(vec![16, 4, 8])),
            ("4, 8", Ok(vec![4, 8])),
            ("0", Err("0 is not in 1..=4294967295")),
            ("4,0", Err("0 is not in 1..=4294967295")),
            ("4294967296", Err("4294967296 is not in 1..=4294967295")),
            ("x", Err("invalid digit found in string")),
            (" 4", Err("invalid digit found in string")),
            ("", Err("cannot parse integer from empty string")),
            ("4,", Err("the list has an empty element")),
            (",", Err("the list has an empty element")),
            ("4,,8", Err("the list has an empty element")),
            ("4,8,4", Err("`4` is a duplicate")),
            ("4,+4", Err("`+4` is a duplicate of `4`")),
        ] {
            if !text.contains(',') {
                assert_eq!(
                    count(text).map(|count| vec![count]),
                    expected.clone().map_err(str::to_owned),
                    "{text}"
                );
            }
            assert_eq!(counts(text).map(|list| list.0), expected.map_err(str::to_owned), "{text}");
        }
    }
}
