//! What JSON files must not hold beside what the readers of each format refuse: duplicate keys and control
//! characters.
//!
//! Most JSON readers silently take the first or the last of two equal keys, and they differ in which. So a file with
//! duplicate keys says one thing to us and another to someone else.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{Shown, first_control};

/// What is wrong with a JSON text, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JsonError {
    /// What is wrong, without its place.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in bytes; 0 where a line ends before it.
    pub column: usize,
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        let whole = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = super::message(whole.strip_suffix(&place).unwrap_or(&whole));
        Self { message, line: error.line(), column: error.column() }
    }
}

/// Refuses a JSON text in which an object has a key twice, or a key or a string has a
/// [control character](super::is_control).
///
/// `texts` are the strings that may have lines, because they are texts of their own with a reader of their own: each
/// the keys that lead to it from the top.
///
/// # Errors
/// At the first place that is wrong; also when the text is no JSON, or has a number that is no integer, which no
/// format of ours has.
pub fn strict(text: &str, texts: &[&[&str]]) -> Result<(), JsonError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    Strict { key: None, texts }.deserialize(&mut reader)?;
    Ok(reader.end()?)
}

/// Visits a value and all in it.
struct Strict<'a> {
    /// The key in front of the value.
    key: Option<&'a str>,
    /// The rests of the paths that go on from this value.
    texts: &'a [&'a [&'a str]],
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if self.texts.iter().any(|rest| rest.is_empty()) {
            return Ok(());
        }
        let Some(control) = first_control(text) else { return Ok(()) };
        let of = self.key.map_or_else(|| "a string".to_owned(), |key| format!("`{}`", Shown(key)));
        Err(E::custom(format_args!("{of} has the control character {control}: \"{}\"", Shown(text))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Strict { key: self.key, texts: &[] })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = object.next_key::<String>()? {
            if let Some(control) = first_control(&key) {
                let key = Shown(&key);
                return Err(A::Error::custom(format_args!(
                    "a key has the control character {control}: `{key}`"
                )));
            }
            if keys.contains(&key) {
                return Err(A::Error::custom(format_args!("the key `{}` is a duplicate", Shown(&key))));
            }
            let below = self.texts.iter().filter_map(|path| path.split_first());
            let below: Vec<&[&str]> =
                below.filter(|(first, _)| **first == key).map(|(_, rest)| rest).collect();
            object.next_value_seed(Strict { key: Some(&key), texts: &below })?;
            keys.insert(key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_keys_and_control_characters_are_refused_at_every_depth() {
        for (text, said) in [
            (r#"{"a": 1, "a": 1}"#, "the key `a` is a duplicate"),
            (r#"{"a": 1, "\u0061": 2}"#, "the key `a` is a duplicate"),
            (r#"[[{"b": {"a": null, "c": true, "a": -1}}]]"#, "the key `a` is a duplicate"),
            (r#"{"a": "x\ny"}"#, "`a` has the control character U+000A (line break): \"x\\ny\""),
            (r#"{"a": [["\u001b[2J"]]}"#, "`a` has the control character U+001B (escape)"),
            (r#""\u202e""#, "a string has the control character U+202E"),
            ("{\"a\u{85}\": 1}", "a key has the control character U+0085: `a\\u{85}`"),
            (r#"{"text": {"text": "x\ny"}}"#, "`text` has the control character"),
            (r#"{"text": ["x\ny"]}"#, "`text` has the control character"),
            (r#"{"a": "#, "EOF"),
            ("{} {}", "trailing characters"),
        ] {
            let error = strict(text, &[&["text"]]).expect_err(text);
            assert!(error.message.contains(said), "{text}: {error}");
        }
        for text in [r#"{"a": {"a": [1, "é", null, {"a": true}]}, "b": -3}"#, r#"{"text": "x\ny"}"#] {
            assert_eq!(strict(text, &[&["text"]]), Ok(()), "{text}");
        }
    }

    #[test]
    fn the_place_is_that_of_what_is_wrong() {
        let error = strict("{\n  \"a\": 1,\n  \"b\": 2,\n  \"a\": 3\n}", &[]).expect_err("a duplicate");
        assert_eq!(error.line, 4, "{error:?}");
        let error = strict("{\"a\": \"\\n\", \"b\": 1}", &[]).expect_err("a line break");
        assert_eq!((error.line, error.column), (1, 10));
    }
}
