//! Tables in columns.

use std::fmt::{self, Write as _};

/// Rows of cells, aligned to the right; but the first column to the left where it has names.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
    has_names: bool,
}

impl Table {
    /// A table with these headings, the first one that of names.
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self { rows: vec![headings.iter().map(|&heading| heading.to_owned()).collect()], has_names: true }
    }

    /// A table with these headings, all of figures.
    pub fn of_figures<const N: usize>(headings: [&str; N]) -> Self {
        Self { has_names: false, ..Self::new(headings) }
    }

    /// A table with any number of headings, the first one that of names.
    pub fn of_columns(headings: Vec<String>) -> Self {
        Self { rows: vec![headings], has_names: true }
    }

    /// Adds a row of any number of cells.
    pub fn cells(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// The table without one of its columns, counted from 0.
    pub fn without(mut self, column: usize) -> Self {
        for row in &mut self.rows {
            row.remove(column);
        }
        self
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = widths[column];
                let gap = if column == 0 { "" } else { "  " };
                if column == 0 && self.has_names {
                    write!(line, "{cell:<width$}")?;
                } else {
                    write!(line, "{gap}{cell:>width$}")?;
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_right_in_every_column() {
        let mut table = Table::of_figures(["devices", "time"]);
        table.row(["4".to_owned(), "12345".to_owned()]);
        assert_eq!(table.to_string(), "devices   time\n      4  12345\n");
    }

    #[test]
    fn names_stand_left_and_figures_right() {
        let mut table = Table::new(["name", "time"]);
        table.row(["é".to_owned(), "1".to_owned()]);
        table.row(["longer".to_owned(), "12345".to_owned()]);
        assert_eq!(table.to_string(), "name     time\né           1\nlonger  12345\n");
    }
}
