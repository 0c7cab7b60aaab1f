//! The frame of a timeline on a page: figures, legend and tables, without any script.

use std::fmt::Write as _;

use super::lanes;
use crate::amounts::{self, plural};
use crate::analysis::Work;
use crate::draw::xml::escape;
use crate::draw::{Picture, meaning, percent};
use crate::model::Kind;

/// What a browser shows of a timeline around its canvas, and without any script.
pub(super) fn panel(picture: &Picture<'_>, at: usize, several: bool, out: &mut String) {
    let title = escape(&picture.title());
    let unit = escape(&picture.model.costs().unit);
    let (open, name) = if several {
        (
            format!("<section class=\"panel\" aria-labelledby=\"panel-{at}\">"),
            format!("<h2 id=\"panel-{at}\">{title}</h2>"),
        )
    } else {
        (format!("<section class=\"panel\" aria-label=\"{title}\">"), String::new())
    };
    write(out, &open);
    if several {
        write(out, &name);
    }
    write(out, &format!("<p class=\"facts\">{}</p>", escape(&picture.facts().join("; "))));
    write(
        out,
        &format!(
            "<div class=\"frame\"><div class=\"sheet\"><canvas tabindex=\"0\" role=\"application\" \
             aria-roledescription=\"timeline\" aria-describedby=\"spoken\" aria-label=\"Timeline of {title}. Arrow keys go from pass to \
             pass, a question mark lists all keys.\"></canvas></div></div>"
        ),
    );
    write(out, "<ul class=\"legend\">");
    let chunks = picture.chunks();
    for kind in picture.kinds() {
        let samples: Vec<String> =
            (0..chunks).map(|chunk| format!("<i data-colour=\"{kind} {chunk}\"></i>")).collect();
        let samples = samples.concat();
        write(out, &format!("<li>{samples} {kind} {}</li>", meaning(kind)));
    }
    if let Some(shades) = picture.shades() {
        write(out, &format!("<li>{shades}</li>"));
    }
    works(picture, out);
    write(out, "<li><i class=\"bubble\"></i> bubble</li>");
    if picture.schedule.overlap_count() > 0 {
        write(out, "<li><i class=\"pair\"></i> overlapped pair</li>");
    }
    if !picture.critical.is_empty() {
        write(out, "<li><i class=\"path\"></i> critical path</li>");
    }
    write(out, &format!("<li><i class=\"memory\"></i> {}</li>", escape(&picture.memory_meaning())));
    if picture.devices().any(|device| picture.capacity(device).is_some()) {
        write(out, "<li><i class=\"capacity\"></i> memory limit</li>");
    }
    write(out, "</ul>");
    write(out, "<details><summary>Phases, and figures of each device</summary>");
    let phases = picture.phases().list();
    let phases =
        phases.map(|(phase, from, to)| format!("{phase} {from} to {to}")).collect::<Vec<_>>().join(", ");
    write(out, &format!("<p class=\"phases\">{phases} {}</p>", plural(&unit)));
    write(out, "<table>");
    write(
        out,
        "<thead><tr><th scope=\"col\">device</th><th scope=\"col\">passes</th><th scope=\"col\">start</th><th \
         scope=\"col\">end</th><th scope=\"col\">idle</th><th scope=\"col\">peak memory</th><th \
         scope=\"col\">limit</th></tr></thead><tbody>",
    );
    for device in picture.devices() {
        let (start, end) = picture.span(device).unwrap_or_default();
        let capacity = picture
            .capacity(device)
            .map_or("none".to_owned(), |capacity| amounts::amount(capacity.0, &picture.model.memory().unit));
        write(
            out,
            &format!(
                "<tr><th scope=\"row\">{device}</th><td>{}</td><td>{start}</td><td>{end}</td><td>{} \
                 %</td><td>{}</td><td>{capacity}</td></tr>",
                picture.schedule.order(device).len(),
                percent(picture.idle_share(device), 2),
                escape(&picture.peak_of(device)),
            ),
        );
    }
    out.push_str("</tbody></table>");
    lanes_table(picture, out);
    write(out, "</details>");
    write(out, "</section>");
}

/// What the colours beside and behind the passes mean.
fn works(picture: &Picture<'_>, out: &mut String) {
    for work in picture.works() {
        let (thin, keys) = match work {
            Work::Optimizer => ("", vec![lanes::key(work)]),
            Work::Activation => (THIN, vec!['F']),
            Work::Gradient => {
                let kinds = picture.kinds().into_iter().filter(|kind| kind.yields_input_gradient());
                (THIN, kinds.map(Kind::letter).collect())
            }
            Work::ToHost | Work::FromHost | Work::Gather | Work::Reduction => (THIN, vec![lanes::key(work)]),
        };
        let sample = |key: char| format!("<i{thin} data-colour=\"{} 0\"></i>", escape(&key.to_string()));
        let samples: Vec<String> = keys.into_iter().map(sample).collect();
        write(out, &format!("<li>{} {}</li>", samples.concat(), work.name()));
    }
}

/// The mark of a sample that stands for a task in a lane.
const THIN: &str = " class=\"thin\"";

/// The figures of links, copy engines and collective streams.
fn lanes_table(picture: &Picture<'_>, out: &mut String) {
    if picture.lanes.is_empty() {
        return;
    }
    write(
        out,
        "<table><thead><tr><th scope=\"col\">device</th><th scope=\"col\">beside its passes</th><th \
         scope=\"col\">tasks</th><th scope=\"col\">busy</th></tr></thead><tbody>",
    );
    for lane in &picture.lanes {
        write(
            out,
            &format!(
                "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
                lane.device,
                lane.engine,
                lane.jobs.len(),
                lane.busy()
            ),
        );
    }
    out.push_str("</tbody></table>");
}

fn write(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("writing to a string cannot fail");
}
