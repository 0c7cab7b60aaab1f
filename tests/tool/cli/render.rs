//! `render`: pictures, pages and traces.

use std::fmt::Write as _;

use serde_json::Value;

use super::{BROKEN, EXTENSIBLE, FAMILY, MODEL, SCHEDULE, assert_recorded, tool};

#[test]
fn the_picture_of_the_readme_is_what_the_tool_draws() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("timeline.svg");
    let file = file.to_str().expect("a plain name");
    let model = "models/profiles/uneven-342.toml";
    assert_eq!(
        tool(&[
            "render",
            "docs/schedule.json",
            "--model",
            model,
            "--memory",
            "4",
            "--width",
            "1000",
            "-o",
            file
        ])
        .status,
        0
    );
    let read = |file: &str| std::fs::read_to_string(file).expect("readable");
    assert!(
        read(file) == read("docs/timeline.svg"),
        "draw it again: bubbleproof render docs/schedule.json --model {model} --memory 4 --width 1000 -o \
         docs/timeline.svg"
    );
}

#[test]
fn pictures_have_the_form_that_their_name_says() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("a plain name").to_owned();
    let (svg, text) = (path("timeline.svg"), path("timeline.txt"));
    assert_eq!(tool(&["render", SCHEDULE, "-o", &svg]).out, format!("wrote {svg}\n"));
    assert!(std::fs::read_to_string(&svg).expect("written").contains("<svg"));
    assert_eq!(tool(&["render", SCHEDULE, "-o", &text]).status, 0);
    assert_eq!(tool(&["render", SCHEDULE, "-o", "timeline.png"]).status, 2);
    assert_eq!(std::fs::read_to_string(&text).expect("written"), tool(&["render", SCHEDULE]).out);
    assert!(tool(&["render", SCHEDULE, "--color", "always"]).out.contains('\u{1b}'));
    assert!(tool(&["render", SCHEDULE, "--width", "48"]).out.lines().all(|line| line.chars().count() <= 48));
}

#[test]
fn a_schedule_over_its_memory_limit_is_drawn_and_said_to_be_invalid() {
    let directory = tempfile::tempdir().expect("a directory");
    let svg = directory.path().join("timeline.svg");
    let svg = svg.to_str().expect("a plain name");
    let drawn = |memory: &str| {
        let ran = tool(&[
            "render",
            "docs/schedule.json",
            "--model",
            "models/profiles/uneven-342.toml",
            "--memory",
            memory,
            "-o",
            svg,
        ]);
        let text = std::fs::read_to_string(svg).expect("written");
        let marked = |start: &str| {
            text.lines().filter(|line| line.starts_with(start) && line.contains("fill=\"#b00020\"")).count()
        };
        let invalid = ran.err.lines().find(|line| line.contains("invalid")).map(str::to_owned);
        (ran.status, invalid, [marked("<circle"), marked("<text")])
    };
    assert_eq!(drawn("4"), (0, None, [0, 0]));
    let (status, invalid, marked) = drawn("3");
    assert_eq!(status, 0);
    assert_eq!(
        invalid.as_deref(),
        Some(
            "note: the schedule `optimized` is invalid: device 0, position 3: `5F0` raises the memory in use to 4, 1 over the \
             limit of 3; `verify` lists 61 more violations"
        )
    );
    // The mark and the figure of each device that exceeds the limit.
    assert!(marked[0] > 0 && marked[0] == marked[1], "{marked:?}");
}

#[test]
fn a_page_shows_several_schedules_and_a_trace_is_json() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("a plain name").to_owned();
    let (page, trace, svg) = (path("page.html"), path("trace.json"), path("drawing.svg"));
    let read = |file: &str| std::fs::read_to_string(file).expect("written");
    assert_eq!(tool(&["render", SCHEDULE, "-o", &page]).out, format!("wrote {page}\n"));
    assert_eq!(read(&page).matches("<canvas").count(), 1);
    assert_eq!(tool(&["render", SCHEDULE, EXTENSIBLE, "-o", &page]).status, 0);
    assert_eq!(read(&page).matches("<canvas").count(), 2);
    assert!(read(&page).starts_with("<!doctype html>") && read(&page).ends_with("</html>\n"));

    assert_eq!(tool(&["render", SCHEDULE, "--model", MODEL, "-o", &trace]).status, 0);
    let found: Value = serde_json::from_str(&read(&trace)).expect("JSON");
    let events = found["traceEvents"].as_array().expect("a list");
    let passes = tool(&["replay", SCHEDULE, "--model", MODEL, "--json"]).json()["passes"].clone();
    let shown = events.iter().filter(|event| event["ph"] == "X");
    let shown: Vec<_> =
        shown.map(|event| (&event["pid"], &event["name"], &event["args"]["start_tick"])).collect();
    let passes = passes.as_array().expect("a list");
    let expected: Vec<_> =
        passes.iter().map(|pass| (&pass["device"], &pass["pass"], &pass["start"])).collect();
    assert_eq!(shown, expected);

    let size = ["--width", "700", "--height", "300"];
    assert_eq!(
        tool(&[&["render", SCHEDULE, "-o", &svg][..], &size, &["--hide", "title,memory"]].concat()).status,
        0
    );
    assert!(read(&svg).contains("width=\"700\" height=\"300\""));
    assert_eq!(tool(&["render", SCHEDULE, BROKEN, "-o", &page]).status, 1);
}

#[test]
fn a_part_of_a_schedule_is_drawn_and_a_caption_is_printed() {
    let directory = tempfile::tempdir().expect("a directory");
    let svg = directory.path().join("part.svg").to_str().expect("a plain name").to_owned();
    let run = tool(&["render", SCHEDULE, "--model", MODEL, "-o", &svg, "--to", "12us", "--caption"]);
    let caption = run.out.strip_prefix(&format!("wrote {svg}\n\n")).expect("a caption");
    let drawing = std::fs::read_to_string(&svg).expect("written");
    assert!(drawing.contains(&format!("<desc>{}</desc>", caption.trim_end())), "{caption}");
    assert!(caption.contains("The drawing shows 0 to 12 us of 29 us"), "{caption}");
    let json = tool(&["render", SCHEDULE, "--model", MODEL, "-o", &svg, "--caption", "--json"]).json();
    assert!(json["caption"].as_str().is_some_and(|caption| !caption.contains("drawing shows")), "{json}");
}

#[test]
fn the_block_of_a_family_is_drawn_and_shown_as_tables() {
    let directory = tempfile::tempdir().expect("a directory");
    let svg = directory.path().join("block.svg").to_str().expect("a plain name").to_owned();
    let both = ["render", "models/blocks/1f1b.toml", FAMILY, "--block", "--devices", "4", "-o", &svg];
    assert_eq!(tool(&both).out, format!("wrote {svg}\n"));
    let drawing = std::fs::read_to_string(&svg).expect("written");
    assert_eq!(drawing.matches(">(a) One microbatch").count(), 2);
    assert_eq!(drawing.matches("by the builder of v-half").count(), 1);
    let json = tool(&["render", FAMILY, "--block", "--devices", "4", "--json"]).json();
    let inspected = tool(&["block", FAMILY, "--devices", "4", "--json"]).json();
    for key in ["interval", "lifespans", "activation_peak"] {
        assert_eq!(json["blocks"][0][key], inspected[key], "{key}");
    }
    assert_eq!(json["blocks"][0]["passes"].as_array().map(Vec::len), Some(8 * 3));
}

#[test]
fn options_without_meaning_for_a_picture_are_refused() {
    let mut text = String::new();
    for arguments in [
        &["render", SCHEDULE, "-o", "picture.png"][..],
        &["render", SCHEDULE, EXTENSIBLE],
        &["render", SCHEDULE, "--height", "300"],
        &["render", SCHEDULE, "-o", "page.html", "--hide", "memory"],
        &["render", SCHEDULE, "-o", "trace.json", "--width", "300"],
        &["render", SCHEDULE, "--all"],
        &["render", SCHEDULE, "-o", "timeline.svg", "--from", "9", "--to", "9"],
        &["render", SCHEDULE, "-o", "timeline.svg", "--to", "1 fortnight"],
        &["render", SCHEDULE, "--caption"],
        &["render", SCHEDULE, "--block", "--devices", "4"],
        &["render", FAMILY, "--block"],
        &["render", FAMILY, "--block", "--devices", "4", "-o", "page.html"],
        &["render", FAMILY, "--block", "--devices", "4", "--from", "3"],
        &["render", FAMILY, "--block", "--devices", "4", "--microbatches", "8"],
        &["render", FAMILY, "--block", "--devices", "2", "--model", super::MODEL],
        &["render", SCHEDULE, "-o", "timeline.svg", "--width", "30"],
        &["render", SCHEDULE, "-o", "timeline.svg", "--height", "30"],
    ] {
        let run = tool(arguments);
        assert_eq!(run.status, 2, "{arguments:?}");
        writeln!(text, "$ bubbleproof {}\n{}", arguments.join(" "), run.err).expect("a text");
    }
    assert_recorded("options_without_meaning_for_a_picture_are_refused", &text);
}
