//! Colours of passes as rules of a style sheet, for both themes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Entry;
use crate::draw::colour::{Colour, Ground};
use crate::model::Kind;

/// The class of what has the colour of passes of this kind in a chunk out of so many.
pub(super) fn class(kind: Kind, chunk: usize, chunks: usize) -> String {
    format!("{kind}-{chunk}-{chunks}")
}

/// The rules for every colour that these plans have.
pub(super) fn rules(entries: &[Entry<'_, '_>]) -> String {
    let chunks: BTreeSet<usize> = entries.iter().map(|entry| entry.plan.picture.chunks()).collect();
    let all: Vec<(Kind, usize, usize)> = chunks
        .into_iter()
        .flat_map(|chunks| (0..chunks).flat_map(move |chunk| Kind::ALL.map(|kind| (kind, chunk, chunks))))
        .collect();
    let theme = |ground| {
        let mut set = String::new();
        for &(kind, chunk, chunks) in &all {
            let colour = Colour::of(kind, chunk, chunks, ground).hex();
            write!(set, "--{}:{colour};", class(kind, chunk, chunks))
                .expect("writing to a string cannot fail");
        }
        set
    };
    let (light, dark) = (theme(Ground::Light), theme(Ground::Dark));
    let mut rules = format!(
        "\n:root {{ {light} }}\n:root[data-theme=\"dark\"] {{ {dark} }}\n@media (prefers-color-scheme: dark) {{\n  \
         :root:not([data-theme=\"light\"]) {{ {dark} }}\n}}\n@media print {{\n  :root, :root:not([data-theme=\"light\"]), :root[data-theme=\"dark\"] {{ {light} }}\n}}\n"
    );
    for (kind, chunk, chunks) in all {
        let class = class(kind, chunk, chunks);
        writeln!(rules, ".{class} {{ background: var(--{class}); }}")
            .expect("writing to a string cannot fail");
    }
    rules
}
