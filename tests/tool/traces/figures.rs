//! Published tables as they are copied here, and figures as pages print them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The rows of a table in `tests/data`, by column. Lines that begin with `#` say where it comes from.
pub fn rows(name: &str) -> Vec<BTreeMap<String, String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = fs::read_to_string(&path).expect("a copy of the table");
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), header.len(), "{name}: {line}");
        header.iter().zip(cells).map(|(&key, cell)| (key.to_owned(), cell.to_owned())).collect()
    };
    lines.map(row).collect()
}

/// A decimal number of a row, times ten to the power of so many digits: it has no more decimals than that.
pub fn field(row: &BTreeMap<String, String>, column: &str, digits: usize) -> i64 {
    let text = &row[column];
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    assert!(part.len() <= digits, "{text} has more than {digits} decimals");
    format!("{whole}{part:0<digits$}").parse().expect("a decimal number")
}

/// A share in percent with two decimals, rounded half away from zero.
pub fn percent(part: i64, whole: i64) -> String {
    let (part, whole) = (i128::from(part), i128::from(whole));
    let size = (part.abs() * 20_000 + whole) / (2 * whole);
    format!("{}{}.{:02}", if part < 0 && size > 0 { "-" } else { "" }, size / 100, size % 100)
}

/// The same with its sign in any case.
pub fn signed(part: i64, whole: i64) -> String {
    let text = percent(part, whole);
    if text.starts_with('-') { text } else { format!("+{text}") }
}

/// Nanoseconds as milliseconds with one decimal.
pub fn milliseconds(nanoseconds: i64) -> String {
    let tenths = (nanoseconds + 50_000) / 100_000;
    format!("{}.{}", tenths / 10, tenths % 10)
}
