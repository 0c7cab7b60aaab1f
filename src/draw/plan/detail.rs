//! One plan: its figures, its cut with the work of every device, and their memory.

use std::fmt::Write as _;

use itertools::Itertools as _;

use super::palette::class;
use super::{Entry, Key, memory, time};
use crate::amounts;
use crate::draw::colour::{Colour, Ground};
use crate::draw::xml::{decimal, escape};
use crate::draw::{Picture, meaning, percent};
use crate::job::Job;
use crate::model::{Device, Kind, Stage, Ticks, Units};

/// What a device does for one microbatch: by chunk and kind, the ticks.
type Work = Vec<(usize, Kind, Ticks)>;

/// The section of a plan. The best and the naive one are shown without a script, the others are not.
pub(super) fn section(job: &Job, entry: &Entry<'_, '_>) -> String {
    let key = entry.key;
    let (mark, hidden) = match key {
        Key::Number(1) => (" best", ""),
        Key::Naive(_) => (" naive", ""),
        Key::Number(_) => ("", " hidden"),
    };
    let timeline = entry.timeline.map_or_else(String::new, |at| format!(" data-timeline=\"{at}\""));
    let mut out = format!(
        "<section class=\"detail{mark}\" data-plan=\"{key}\"{timeline} aria-labelledby=\"detail-{key}\"{hidden}>\n<h3 \
         id=\"detail-{key}\">{}</h3>\n<p>{}</p>\n",
        escape(&entry.title()),
        figures(job, entry)
    );
    let works: Vec<Work> = entry.plan.picture.devices().map(|device| work(entry, device)).collect();
    out.push_str(&legend(entry, &works));
    out.push_str(&table(job, entry, &works));
    if entry.timeline.is_none() {
        out.push_str("<p class=\"muted\">Its timeline is left out to keep this page small.</p>\n");
    }
    out + "</section>\n"
}

/// The figures of a plan in a sentence.
fn figures(job: &Job, entry: &Entry<'_, '_>) -> String {
    let plan = entry.plan;
    let mut parts = vec![format!("{} a step", time(job, plan.time()))];
    parts.extend(plan.samples_per_second.map(|rate| format!("{} samples/s", amounts::digits(rate))));
    parts.extend(plan.utilisation.map(|rate| format!("utilisation {} %", percent(rate, 2))));
    parts.push(format!("bubble rate {} %", percent(plan.picture.timing.metrics.bubble_rate, 2)));
    parts.push(format!("at most {} on a device", memory(job, plan.peak())));
    parts.extend(
        entry.none_below.map(|bound| format!("no plan with this choice is below {}", time(job, bound))),
    );
    if let Key::Number(_) = entry.key {
        parts.push(format!("found by {}", escape(plan.engine)));
    }
    parts.join("; ")
}

/// What a device does for one microbatch, on average, with recomputation where replay ran some.
fn work(entry: &Entry<'_, '_>, device: Device) -> Work {
    let picture = &entry.plan.picture;
    let mut sums: Vec<(usize, Kind, Ticks)> = Vec::new();
    for span in picture.passes(device) {
        let (chunk, kind) = (picture.chunk(span.pass), span.pass.kind);
        match sums.iter_mut().find(|(at, of, _)| (*at, *of) == (chunk, kind)) {
            Some((.., sum)) => *sum += span.duration(),
            None => sums.push((chunk, kind, span.duration())),
        }
    }
    let microbatches = i64::from(picture.schedule.microbatches()).max(1);
    for (.., sum) in &mut sums {
        *sum = Ticks((sum.0 + microbatches / 2) / microbatches);
    }
    sums.sort_by_key(|&(chunk, kind, _)| (chunk, kind as usize));
    sums
}

fn total(work: &Work) -> Ticks {
    work.iter().map(|&(.., ticks)| ticks).sum()
}

fn mean(works: &[Work]) -> Ticks {
    let sum: i128 = works.iter().map(|work| i128::from(total(work).0)).sum();
    let count = works.len().max(1) as i128;
    Ticks(i64::try_from((sum + count / 2) / count).unwrap_or(i64::MAX))
}

/// What the colours of the bars mean, and the mean.
fn legend(entry: &Entry<'_, '_>, works: &[Work]) -> String {
    let chunks = entry.plan.picture.chunks();
    let kinds = works.iter().flatten().map(|&(_, kind, _)| kind as usize).sorted_unstable().dedup();
    let mut out = "<ul class=\"legend\">".to_owned();
    for kind in kinds.map(|kind| Kind::ALL[kind]) {
        let samples =
            (0..chunks).map(|chunk| format!("<i class=\"{}\"></i>", class(kind, chunk, chunks))).join("");
        write!(out, "<li>{samples} {kind} {}</li>", meaning(kind)).expect("writing to a string cannot fail");
    }
    out + "<li><i class=\"mean\"></i> mean of the devices</li><li><i class=\"weights\"></i> weights</li><li><i class=\"kept\"></i> \
           activations</li><li><i class=\"capacity\"></i> memory limit</li></ul>\n"
}

/// What the colours of the timelines mean, those of every plan that may be shown: each has passes of other kinds.
pub(super) fn legend_of_timelines(entries: &[Entry<'_, '_>]) -> String {
    let pictures: Vec<&Picture<'_>> =
        entries.iter().filter(|entry| entry.timeline.is_some()).map(|entry| &entry.plan.picture).collect();
    let counts: Vec<usize> =
        pictures.iter().map(|picture| picture.chunks()).sorted_unstable().dedup().collect();
    let mut out = "<ul class=\"legend\">".to_owned();
    for kind in Kind::ALL {
        if !pictures.iter().any(|picture| picture.kinds().contains(&kind)) {
            continue;
        }
        let samples = counts
            .iter()
            .flat_map(|&chunks| (0..chunks).map(move |chunk| (chunk, chunks)))
            .unique_by(|&(chunk, chunks)| Colour::of(kind, chunk, chunks, Ground::Light).hex())
            .map(|(chunk, chunks)| format!("<i class=\"{}\"></i>", class(kind, chunk, chunks)))
            .join("");
        write!(out, "<li>{samples} {kind} {}</li>", meaning(kind)).expect("writing to a string cannot fail");
    }
    out + "<li><i class=\"bubble\"></i> bubble</li><li><i class=\"path\"></i> critical path</li><li><i class=\"memory\"></i> \
           memory</li></ul>\n"
}

/// A part of a whole in hundredths of a percent, as a style has it.
fn share(part: i64, whole: i64) -> String {
    let hundredths = i128::from(part) * 10_000 / i128::from(whole.max(1));
    format!("{}%", decimal(i64::try_from(hundredths).unwrap_or(10_000).clamp(0, 10_000)))
}

/// The devices: layers, work, memory, idle time.
fn table(job: &Job, entry: &Entry<'_, '_>, works: &[Work]) -> String {
    let picture = &entry.plan.picture;
    let (mean, chunks) = (mean(works), picture.chunks());
    let widest = works.iter().map(total).max().unwrap_or_default().max(mean).0;
    let capacity = job.machine.memory.map(Units);
    let most = entry.plan.peak().max(capacity.unwrap_or_default()).0;
    let over = |ticks: Ticks| {
        let (ticks, mean) = (i128::from(ticks.0), i128::from(mean.0.max(1)));
        percent(crate::replay::Rate::new((ticks - mean).max(0), mean), 1)
    };
    let heaviest = works.iter().map(total).max().unwrap_or_default();
    let mut out = format!(
        "<p>The busiest device works {} for a microbatch, {} % above the mean of {}.</p>\n<div class=\"scroll\"><table \
         class=\"devices\">\n<thead><tr><th scope=\"col\">device</th><th scope=\"col\" class=\"text\">layers of its stages</th><th \
         scope=\"col\" class=\"text\">work per microbatch</th><th scope=\"col\" class=\"text\">peak memory</th><th \
         scope=\"col\">idle</th></tr></thead>\n<tbody>\n",
        time(job, heaviest),
        over(heaviest),
        time(job, mean)
    );
    for (device, work) in picture.devices().zip(works) {
        let peak = picture.peak_memory[device.index()];
        let resident = picture.model.resident(device).min(peak);
        let bars = work
            .iter()
            .map(|&(chunk, kind, ticks)| {
                format!(
                    "<i class=\"{}\" style=\"width:{}\"></i>",
                    class(kind, chunk, chunks),
                    share(ticks.0, widest)
                )
            })
            .join("");
        let line = capacity.map_or_else(String::new, |capacity| {
            format!("<b class=\"capacity\" style=\"left:{}\"></b>", share(capacity.0, most))
        });
        writeln!(
            out,
            "<tr data-work=\"{worked}\" data-peak=\"{peak}\"><th scope=\"row\">{device}</th><td class=\"text\">{}</td><td \
             class=\"bar\"><div>{bars}<b class=\"mean\" style=\"left:{}\"></b></div>{}</td><td class=\"bar\"><div><i class=\"weights\" \
             style=\"width:{}\"></i><i class=\"kept\" style=\"width:{}\"></i>{line}</div>{}</td><td>{} %</td></tr>",
            layers(job, entry, device),
            share(mean.0, widest),
            time(job, total(work)),
            share(resident.0, most),
            share(peak.0 - resident.0, most),
            memory(job, peak),
            percent(picture.idle_share(device), 1),
            worked = total(work),
        )
        .expect("writing to a string cannot fail");
    }
    out + "</tbody></table></div>\n"
}

/// The layers of the stages of a device, stage by stage.
fn layers(job: &Job, entry: &Entry<'_, '_>, device: Device) -> String {
    let ranges: Vec<std::ops::Range<usize>> = entry.plan.cut.ranges().collect();
    let placement = entry.plan.picture.schedule.placement();
    let stage = |&stage: &Stage| {
        let range = ranges.get(stage.index()).cloned().unwrap_or_default();
        let layers = job.layers.get(range).unwrap_or_default();
        let runs = layers.iter().dedup_with_count().map(|(count, kind)| match count {
            1 => escape(kind),
            _ => format!("{count} {}", escape(kind)),
        });
        let runs = runs.collect::<Vec<_>>().join(" + ");
        let runs = if runs.is_empty() { "none".to_owned() } else { runs };
        format!("<span>{stage}:</span> {runs}")
    };
    placement.stages_of(device).iter().map(stage).collect::<Vec<_>>().join("<br>")
}
