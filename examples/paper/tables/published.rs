//! What the paper publishes, as copied to `tests/data`.

use std::fs;
use std::path::Path;

use num_rational::Ratio;

/// The first columns of a table, row by row. None of them contains a comma.
fn rows<const COLUMNS: usize>(name: &str) -> Vec<[String; COLUMNS]> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = fs::read_to_string(path).expect("a copy of the table");
    let row = |line: &str| {
        let mut cells = line.split(',').map(str::to_owned);
        std::array::from_fn(|_| cells.next().expect("as many cells as columns"))
    };
    text.lines().skip(1).map(row).collect()
}

/// A decimal number, exactly.
pub fn exact(text: &str) -> Ratio<i128> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits: i128 = format!("{whole}{part}").parse().expect("a decimal number");
    Ratio::new(digits, 10_i128.pow(u32::try_from(part.len()).expect("few digits")))
}

/// A row of Table 4 as far as it is known: a cell, or the least and the most over all cells.
pub struct Range {
    /// The model, or `all`.
    pub model: String,
    /// The names of the schedules that it is about.
    pub schedules: Vec<String>,
    /// What is given.
    pub metric: String,
    /// The least value.
    pub low: String,
    /// The most.
    pub high: String,
}

/// Table 4, as far as it is known.
pub fn table_4() -> Vec<Range> {
    let range = |[model, _, _, _, schedules, metric, low, high]: [String; 8]| Range {
        model,
        schedules: schedules.replace(" and ", "/").split('/').map(str::to_owned).collect(),
        metric,
        low,
        high,
    };
    rows("cm_table4_partial.csv").into_iter().map(range).collect()
}

/// The best utilisation that the grid search found for a schedule, in percent (Table 3); nothing where that is not known.
pub fn best_utilisation(sequence: u32, schedule: &str) -> Option<Ratio<i128>> {
    let sequence = sequence.to_string();
    let of = |row: &[String; 6]| row[2] == sequence && row[4] == schedule;
    rows("cm_table3_grid_best.csv").iter().find(|row| of(row)).map(|row| exact(&row[5]))
}
