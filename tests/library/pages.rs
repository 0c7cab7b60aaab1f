//! Pages with computed tables: what each says is computed again.

use std::fs;

use rayon::prelude::*;

use crate::page::{Row, Table, Takes, around, path};

/// Compares a table with the one in its page, rows side by side; of rows that take long only the problem is compared, unless all
/// are asked for. Says how many rows were computed.
pub fn computed(page: &str, table: &Table, all: bool) -> usize {
    let text = fs::read_to_string(path(page)).expect("a page");
    let (_, lines, _) = around(&text, table.name).expect("a place in the page");
    assert_eq!(lines[..2].join("\n"), table.head);
    assert_eq!(lines.len() - 2, table.rows.len(), "rows of `{}`", table.name);
    let is_computed = |(line, row): (&&str, &Row)| {
        assert!(line.starts_with(&row.beginning()), "`{line}` is not about `{}`", row.beginning());
        let asked = all || row.takes == Takes::Little;
        if asked {
            assert_eq!(*line, row.line());
        }
        asked
    };
    lines[2..].par_iter().zip(&table.rows).map(is_computed).filter(|&computed| computed).count()
}
