//! What the tables of `docs/budgets.md` say.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use bubbleproof::job::Choice;
use bubbleproof::model::Ticks;
use num_rational::Ratio;

use super::kept::{self, Answer};
use super::problems::{BUDGETS, MODELS, Way};
use crate::numbers::{decimal, signed};
pub use crate::page::{Row, Table, Takes};

/// The page that they are on.
pub const PAGE: &str = "budgets.md";

/// The models whose plans are checked in seconds; all of them take two minutes.
pub const QUICK: [&str; 3] = ["cm-9.6b", "llama-3-8b", "deepseek-moe-16b"];

/// What is compared: a way with V placement, and another way.
pub const COMPARED: [(Way, Way); 5] = [
    (Way::V, Way::Linear),
    (Way::V, Way::Recompute),
    (Way::V, Way::Offload),
    (Way::V, Way::Tensor),
    (Way::VTensor, Way::Tensor),
];

/// All tables in the order of the page.
pub fn all() -> Vec<Table> {
    vec![times(), against(), verdicts()]
}

/// What is known of a way within a budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// The shortest plan.
    pub best: Option<(Ticks, Choice)>,
    /// What no plan is shorter than; nothing where none fits.
    pub none_below: Option<Ticks>,
}

/// What is known of a model, by budget and way.
pub type Answers = BTreeMap<(i64, Way), Known>;

/// What is known of a model, once all that was kept of it has been checked.
pub fn answers(model: &str) -> &'static Answers {
    static CHECKED: [OnceLock<Answers>; MODELS.len()] = [const { OnceLock::new() }; MODELS.len()];
    let at = MODELS.iter().position(|one| *one == model).expect("a model that is looked at");
    CHECKED[at].get_or_init(|| combined(&kept::answers(model)))
}

/// What follows from all answers together: a plan is one of every way that includes its own, within every larger budget too; and
/// what holds of all plans of a way holds of those that it includes, within every smaller budget too.
fn combined(answers: &[(i64, Way, Answer)]) -> Answers {
    let mut known = Answers::new();
    for &(budget, way, ref answer) in answers {
        let found = answers.iter().filter(|(less, part, _)| *less <= budget && way.includes(*part));
        let best = found
            .filter_map(|(_, _, answer)| match answer {
                Answer::Plan { choice, makespan, .. } => Some((*makespan, *choice)),
                _ => None,
            })
            .min();
        let bounds = answers.iter().filter(|(more, whole, _)| *more >= budget && whole.includes(way));
        let none_below = bounds
            .filter_map(|(_, _, answer)| match answer {
                Answer::Plan { none_below, .. } | Answer::Open { none_below } => Some(*none_below),
                Answer::NoRoom => None,
            })
            .max();
        let none_below = none_below.filter(|_| *answer != Answer::NoRoom);
        known.insert((budget, way), Known { best, none_below });
    }
    known
}

/// Whole problems, row by row.
fn rows(cells: impl Fn(&Answers, i64) -> Vec<String> + Copy + Send + Sync + 'static) -> Vec<Row> {
    let all = MODELS.into_iter().flat_map(|model| BUDGETS.map(|budget| (model, budget)));
    all.map(|(model, budget)| {
        let problem = vec![format!("`{model}`"), budget.to_string()];
        let takes = if QUICK.contains(&model) { Takes::Little } else { Takes::Long };
        Row::new(problem, takes, move || cells(answers(model), budget))
    })
    .collect()
}

/// Seconds of a step, by way.
fn times() -> Table {
    let cells = |known: &Answers, budget| {
        let of = |way| &known[&(budget, way)];
        let fastest = Way::ALL.into_iter().filter_map(|way| of(way).best).min();
        let shown = |way| match of(way) {
            Known { none_below: None, .. } => "-".to_owned(),
            Known { best: None, .. } => "?".to_owned(),
            Known { best: Some((time, _)), .. } => {
                let is_fastest = fastest.is_some_and(|(least, _)| *time == least);
                let mark = if is_fastest { "**" } else { "" };
                format!("{mark}{}{mark}", decimal(Ratio::new(i128::from(time.0), 1_000_000_000), 3))
            }
        };
        let mut cells: Vec<String> = Way::ALL.map(shown).to_vec();
        cells.push(fastest.map_or_else(|| "-".to_owned(), |(_, choice)| choice.to_string()));
        cells
    };
    Table {
        name: "times",
        head: "| model | GiB | linear | recompute | offload | tensor | V | V and tensor | the fastest |\n\
               | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
        rows: rows(cells),
    }
}

/// By how much V placement is faster than other ways.
fn against() -> Table {
    let cells = |known: &Answers, budget| {
        COMPARED.map(|(v, other)| gain(&known[&(budget, v)], &known[&(budget, other)])).to_vec()
    };
    Table {
        name: "against",
        head: "| model | GiB | V: linear | recompute | offload | tensor | V and tensor: tensor |\n\
               | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows: rows(cells),
    }
}

/// How often V placement is faster and slower than other ways, and how often that is proved.
fn verdicts() -> Table {
    let rows = COMPARED.into_iter().map(|(v, other)| {
        Row::new(vec![v.name().to_owned(), other.name().to_owned()], Takes::Long, move || {
            let mut counts = [0; 4];
            for (model, budget) in MODELS.into_iter().flat_map(|model| BUDGETS.map(|budget| (model, budget)))
            {
                let known = answers(model);
                if let Some(verdict) = verdict(&known[&(budget, v)], &known[&(budget, other)]) {
                    counts[verdict as usize] += 1;
                }
            }
            counts.map(|count: u32| count.to_string()).to_vec()
        })
    });
    Table {
        name: "verdicts",
        head: "| this | against | proved faster | faster, as far as found | not faster, as far as found | proved slower |\n\
               | --- | --- | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

/// How V placement compares with another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No plan of the other way is as fast as one that was found, or none fits.
    ProvedFaster,
    /// The plan that was found is faster.
    Faster,
    /// The plan of the other way that was found is at least as fast.
    Slower,
    /// No plan in V placement is as fast as one of the other way.
    ProvedSlower,
}

/// How V placement compares with another way; nothing where it has no plan itself.
pub fn verdict(v: &Known, other: &Known) -> Option<Verdict> {
    let ((time, _), v_below) = (v.best?, v.none_below?);
    let Some(below) = other.none_below else { return Some(Verdict::ProvedFaster) };
    Some(match other.best {
        _ if time < below => Verdict::ProvedFaster,
        Some((found, _)) if found < v_below => Verdict::ProvedSlower,
        Some((found, _)) if found <= time => Verdict::Slower,
        _ => Verdict::Faster,
    })
}

/// By how many percent more steps a time V placement makes, as far as found; and between what that is for the best plans of both.
fn gain(v: &Known, other: &Known) -> String {
    let (Some((time, _)), Some(v_below)) = (v.best, v.none_below) else { return "-".to_owned() };
    let Some(below) = other.none_below else { return "alone fits".to_owned() };
    let more = |slow: Ticks, fast: Ticks| {
        signed(decimal((Ratio::new(i128::from(slow.0), i128::from(fast.0)) - 1) * 100, 1))
    };
    match other.best {
        Some((found, _)) => {
            format!("{} ({} to {})", more(found, time), more(below, time), more(found, v_below))
        }
        None => format!("? ({} at least)", more(below, time)),
    }
}
