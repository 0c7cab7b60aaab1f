//! Tables of all choices: those with a plan, and those without one.

use std::fmt::Write as _;

use super::summary::breakable;
use super::{Entry, Key, PlanPage, memory, time};
use crate::amounts;
use crate::draw::percent;
use crate::draw::xml::escape;
use crate::job::{Choice, Job};

/// What the parts of the names of these choices mean, such as those of `p4 t1 d2 b1 v recompute`, in one sentence.
pub(crate) fn names_explained<'c>(choices: impl IntoIterator<Item = &'c Choice>) -> String {
    let mut text =
        "p pipeline, t tensor, d data-parallel degree; b samples of a microbatch; then the placement"
            .to_owned();
    let (mut recompute, mut offload) = (false, false);
    for Choice { saving, .. } in choices {
        recompute |= saving.recompute;
        offload |= saving.offload;
    }
    if recompute {
        text.push_str("; recompute: stages may be recomputed");
    }
    if offload {
        text.push_str("; offload: activations may go to the host");
    }
    text
}

/// How many choices without a plan are listed.
const LISTED: usize = 300;

/// The table of plans.
pub(super) fn planned(job: &Job, entries: &[Entry<'_, '_>]) -> String {
    let has_rate = entries.iter().any(|entry| entry.plan.samples_per_second.is_some());
    let has_utilisation = entries.iter().any(|entry| entry.plan.utilisation.is_some());
    let mut heads: Vec<&str> = vec!["plan", "choice", "step"];
    heads.extend(has_rate.then_some("samples/s"));
    heads.extend(has_utilisation.then_some("utilisation"));
    heads.extend(["bubble", "memory", "bound", "layers of the stages", "remark"]);
    let head = |head: &str| match head {
        "plan" | "choice" | "layers of the stages" | "remark" => {
            format!("<th scope=\"col\" class=\"text\">{head}</th>")
        }
        _ => format!("<th scope=\"col\">{head}</th>"),
    };
    let heads: String = heads.into_iter().map(head).collect();
    let rows: String = entries.iter().map(|entry| row(job, entry, has_rate, has_utilisation)).collect();
    let names = names_explained(entries.iter().map(|entry| entry.choice));
    format!(
        "<p class=\"muted\">Choices: {names}.</p>\n<div class=\"scroll\"><table class=\"plans\">\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}

fn row(job: &Job, entry: &Entry<'_, '_>, has_rate: bool, has_utilisation: bool) -> String {
    let Entry { key, choice, none_below, because, plan, .. } = entry;
    let (span, peak) = (plan.time(), plan.peak());
    let bound = none_below.map_or_else(String::new, |bound| format!(" data-bound=\"{bound}\""));
    let mut row = format!(
        "<tr data-plan=\"{key}\" data-makespan=\"{span}\" data-peak=\"{peak}\" data-cut=\"{}\"{bound}><th scope=\"row\" class=\"text\"><button \
         type=\"button\" disabled>{key}</button></th><td class=\"text\">{choice}</td><td>{}</td>",
        plan.cut,
        time(job, span)
    );
    let mut cell = |text: Option<String>| {
        write!(row, "<td>{}</td>", text.unwrap_or_else(|| "-".to_owned()))
            .expect("writing to a string cannot fail");
    };
    if has_rate {
        cell(plan.samples_per_second.map(amounts::digits));
    }
    if has_utilisation {
        cell(plan.utilisation.map(|rate| format!("{} %", percent(rate, 2))));
    }
    cell(Some(format!("{} %", percent(plan.picture.timing.metrics.bubble_rate, 2))));
    cell(Some(memory(job, peak)));
    cell(none_below.map(|bound| time(job, bound)));
    let remark = match key {
        Key::Number(1) => "the best plan",
        Key::Number(_) => because,
        Key::Naive(true) => "layers cut evenly, 1F1B",
        Key::Naive(false) => "layers cut evenly, 1F1B; does not fit into memory",
    };
    row + &format!(
        "<td class=\"text\">{}</td><td class=\"text\">{}</td></tr>\n",
        breakable(&plan.cut.to_string()),
        escape(remark)
    )
}

/// The choices without a plan, with the reasons.
pub(super) fn others(page: &PlanPage<'_>) -> String {
    let without = page.choices.iter().filter(|choice| choice.plan.is_none());
    let count = without.clone().count();
    if count == 0 {
        return String::new();
    }
    let mut rows = String::new();
    for choice in without.take(LISTED) {
        let bound =
            choice.none_below.map(|bound| (format!(" data-bound=\"{bound}\""), time(page.job, bound)));
        let (bound, shown) = bound.unwrap_or_else(|| (String::new(), "-".to_owned()));
        writeln!(
            rows,
            "<tr data-status=\"{status}\"{bound}><th scope=\"row\" class=\"text\">{}</th><td class=\"text\">{status}</td><td>{shown}</td><td \
             class=\"text\">{}</td></tr>",
            choice.choice,
            escape(&choice.because),
            status = choice.status,
        )
        .expect("writing to a string cannot fail");
    }
    let more = match count.saturating_sub(LISTED) {
        0 => String::new(),
        more => format!("<p class=\"muted\">And {more} more; <code>plan --json</code> lists them.</p>\n"),
    };
    let open = if count <= 40 { " open" } else { "" };
    format!(
        "<section aria-labelledby=\"others\">\n<h2 id=\"others\">Choices without a plan</h2>\n<details{open}><summary>{count} of {}: \
         dropped by a bound, do not fit, or were not searched</summary>\n<div class=\"scroll\"><table class=\"others\">\n<thead><tr><th \
         scope=\"col\" class=\"text\">choice</th><th scope=\"col\" class=\"text\">what became of it</th><th scope=\"col\">no plan below</th><th \
         scope=\"col\" class=\"text\">reason</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n{more}</details>\n</section>\n",
        page.choices.len()
    )
}
