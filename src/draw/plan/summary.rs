//! The answer in a few sentences, and the best plan beside the naive one.

use std::fmt::Write as _;

use itertools::Itertools as _;

use super::{Entry, Key, PlanPage, memory, time};
use crate::amounts;
use crate::draw::xml::escape;
use crate::draw::{counted, percent};
use crate::job::Job;
use crate::model::{Ticks, Units};
use crate::replay::Rate;

/// How much longer a time is than another one, as a share of that one.
fn longer(one: Ticks, other: Ticks) -> Rate {
    Rate::new(i128::from(one.0) - i128::from(other.0), i128::from(other.0.max(1)))
}

/// What the page is about, and the answer.
pub(super) fn lead(page: &PlanPage<'_>, best: Entry<'_, '_>, naive: Option<Entry<'_, '_>>) -> String {
    let job = page.job;
    let room =
        job.machine.memory.map_or_else(String::new, |room| format!(" of {}", memory(job, Units(room))));
    let samples = match job.choices.global_batch {
        1 => "1 sample".to_owned(),
        samples => format!("{samples} samples"),
    };
    let costs = if job.is_estimate { "Costs are an estimate, not measured." } else { "" };
    let source =
        job.source.as_deref().map_or_else(String::new, |source| format!(" Source: {}", escape(source)));
    let devices = counted(job.machine.devices, "device");
    let choices = match page.choices.len() {
        1 => "1 choice".to_owned(),
        choices => format!("{choices} choices"),
    };
    let found = best.plan.time();
    let worth = naive.map_or_else(String::new, |naive| {
        let fits = naive.key == Key::Naive(true);
        let share = longer(found, naive.plan.time());
        let (amount, word) =
            if share > Rate::from_integer(0) { (share, "longer") } else { (-share, "shorter") };
        let without = if fits { "" } else { ", which does not fit into memory" };
        format!(", {} % {word} than the naive plan{without}", percent(amount, 2))
    });
    let gap = if found == page.none_below {
        "No plan of this job is shorter.".to_owned()
    } else {
        format!(
            "No plan of this job takes less than {}, whatever its choice, cut and schedule; the best plan takes {} % more.",
            time(job, page.none_below),
            percent(longer(found, page.none_below), 2)
        )
    };
    let short = if page.is_cut_short {
        " <p>The search was cut short: alternatives may be better than listed, but none is below its bound.</p>\n"
    } else {
        ""
    };
    format!(
        "<p class=\"muted\">{devices}{room}, {samples} a step, {choices}. {costs}{source}</p>\n<p class=\"answer\">The best plan, \
         <strong>{}</strong>, takes <strong>{}</strong> a step{worth}. {gap}</p>\n{short}",
        best.choice,
        time(job, found)
    )
}

/// The best plan beside the naive one.
pub(super) fn comparison(job: &Job, pair: &[Entry<'_, '_>]) -> String {
    let [best, others @ ..] = pair else { return String::new() };
    let naive = others.first();
    let mut rows = String::new();
    let mut row = |name: &str, of: &dyn Fn(&Entry<'_, '_>) -> Option<String>, difference: Option<String>| {
        let values: Vec<Option<String>> = pair.iter().map(of).collect();
        if values.iter().all(Option::is_none) {
            return;
        }
        let differences = naive.is_some().then(|| difference.unwrap_or_default());
        let cells =
            values.into_iter().map(|value| value.unwrap_or_else(|| "-".to_owned())).chain(differences);
        let cells = cells.map(|cell| format!("<td>{cell}</td>")).join("");
        writeln!(rows, "<tr><th scope=\"row\">{name}</th>{cells}</tr>")
            .expect("writing to a string cannot fail");
    };
    let share = |one: i64, other: i64| longer(Ticks(one), Ticks(other));
    let signed = |rate: Rate| {
        let sign = if rate < Rate::from_integer(0) { "−" } else { "+" };
        let rate = if rate < Rate::from_integer(0) { -rate } else { rate };
        format!("{sign}{} %", percent(rate, 2))
    };
    let compared = |of: &dyn Fn(&Entry<'_, '_>) -> i64| naive.map(|naive| signed(share(of(best), of(naive))));
    row("choice", &|entry| Some(entry.choice.to_string()), None);
    row("layers of the stages", &|entry| Some(breakable(&entry.plan.cut.to_string())), None);
    row("step", &|entry| Some(time(job, entry.plan.time())), compared(&|entry| entry.plan.time().0));
    row("samples per second", &|entry| entry.plan.samples_per_second.map(amounts::digits), None);
    row("utilisation", &|entry| entry.plan.utilisation.map(|rate| format!("{} %", percent(rate, 2))), None);
    let bubbles = |entry: &Entry<'_, '_>| entry.plan.picture.timing.metrics.bubble_rate;
    row("bubble rate", &|entry| Some(format!("{} %", percent(bubbles(entry), 2))), None);
    let fullest = |entry: &Entry<'_, '_>| {
        let over = if entry.key == Key::Naive(false) { ": does not fit" } else { "" };
        Some(format!("{}{over}", memory(job, entry.plan.peak())))
    };
    row("memory of the fullest device", &fullest, compared(&|entry| entry.plan.peak().0));
    let heads = if naive.is_some() {
        "<th scope=\"col\">best plan</th><th scope=\"col\">naive plan</th><th scope=\"col\">difference</th>"
    } else {
        "<th scope=\"col\">best plan</th>"
    };
    let note = match naive.map(|naive| naive.key) {
        Some(Key::Naive(true)) => {
            "The naive plan has the degrees of the best one, cuts the layers evenly, and runs 1F1B."
        }
        Some(_) => {
            "The naive plan has the degrees of the best one, cuts the layers evenly, and runs 1F1B. It does not fit into memory: \
             its times are those of devices with more of it."
        }
        None => "There is no naive plan with the degrees of the best one.",
    };
    format!(
        "<div class=\"scroll\"><table class=\"comparison\">\n<thead><tr><td></td>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n\
         <p class=\"muted\">{note}</p>\n"
    )
}

/// A list that may be broken behind its commas.
pub(super) fn breakable(list: &str) -> String {
    list.replace(',', ",<wbr>")
}
