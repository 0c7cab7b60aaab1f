//! Places in a JSON text: which a JSON reader gives only as line and column, or not at all.

use std::ops::Range;

/// The byte at a line and a column, both from 1, the column in bytes, as `serde_json` counts them.
pub fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum::<usize>();
    (before + column.saturating_sub(1)).min(text.len())
}

/// The place of a key of the outermost object, with its quotes.
pub fn key_at_top(text: &str, key: &str) -> Option<Range<usize>> {
    let mut depth = 0_usize;
    let mut opened: Option<usize> = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if let Some(start) = opened {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    opened = None;
                    let is_key = text[at + 1..].trim_start().starts_with(':');
                    if depth == 1 && is_key && &text[start + 1..at] == key {
                        return Some(start..at + 1);
                    }
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => opened = Some(at),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_at_the_top_only() {
        let text = r#"{"a": "b", "c\"": {"b": 1}, "d": ["b"], "b": 2}"#;
        let found = key_at_top(text, "b").expect("it is there");
        assert_eq!(found, text.len() - 7..text.len() - 4);
        assert_eq!(key_at_top(text, "e"), None);
        assert_eq!(key_at_top("", "b"), None);
    }

    #[test]
    fn lines_and_columns_lead_to_bytes() {
        for (line, column, offset) in [(1, 1, 0), (1, 0, 0), (2, 1, 3), (2, 2, 4), (9, 9, 5)] {
            assert_eq!(offset_of("ab\ncd", line, column), offset, "{line}:{column}");
        }
    }
}
