use serde_json::Value;

use super::*;
use crate::block::family;
use crate::draw::colour::Ground;
use crate::model::{Links, Memory, Messages, Model, Pass, Placement, Sharding, StepEnd};
use crate::replay::{GatherTimes, Verdict, end_of, memory_along, replay};
use crate::schedule::Schedule;

fn problem(name: &str, devices: u32, microbatches: u32, times: [i64; 4]) -> (Model, Schedule) {
    let block = family::shipped(name).expect("it is shipped").block(devices).expect("within the domain");
    let model = Model::equal_stages(block.placement().clone(), microbatches, times).expect("a model");
    let schedule = block.expand(&model, microbatches).expect("a schedule").named(name);
    (model, schedule)
}

/// The same problem with its times in another unit.
fn timed_in(unit: &str, (model, schedule): &(Model, Schedule)) -> (Model, Schedule) {
    let costs = Costs { unit: unit.to_owned(), ..model.costs().clone() };
    let (placement, memory) = (model.placement().clone(), model.memory().clone());
    let model = Model::new("m".to_owned(), None, placement, model.microbatches(), costs, memory);
    (model.expect("a model"), schedule.clone())
}

fn page_of(problems: &[(Model, Schedule)]) -> Result<String, PageError> {
    let verdicts: Vec<Verdict> = problems.iter().map(|(model, schedule)| replay(model, schedule)).collect();
    let pictures: Vec<Picture<'_>> = problems
        .iter()
        .zip(&verdicts)
        .map(|((model, schedule), verdict)| Picture::of(model, schedule, verdict).expect("it runs"))
        .collect();
    page(&pictures)
}

fn data_of(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").expect("there is data");
    let (data, _) = rest.split_once("</script>").expect("it ends");
    serde_json::from_str(data).expect("JSON")
}

#[test]
fn the_structure_and_the_data_of_a_page_are_as_ever() {
    let page = page_of(&[problem("v-half", 2, 3, [3, 4, 2, 1]), problem("1f1b", 2, 3, [3, 4, 2, 1])]);
    let page = page.expect("a page");
    let without = page.replace(STYLE, "(style)\n").replace(&(SCRIPT.concat() + START), "(script)\n");
    assert!(without.len() < page.len() / 2);
    insta::assert_snapshot!(without);
}

/// The passes of a device with their starts and what is live during and after them, from the data of a page.
fn unpacked(row: &Value) -> Vec<(String, i64, i64, i64, i64)> {
    let number = |value: &Value| value.as_i64().expect("a number");
    let list = |key: &str| row[key].as_array().expect("a list").clone();
    let unrolled = |key: &str| -> Vec<i64> {
        let runs: Vec<i64> = list(key).iter().map(number).collect();
        runs.chunks(2).flat_map(|run| vec![run[0]; usize::try_from(run[1]).expect("a count")]).collect()
    };
    let classes = list("classes");
    let mut last = vec![-1; classes.len()];
    let (mut now, mut live) = (0, number(&row["resident"]));
    let passes = list("passes").into_iter().zip(unrolled("steps")).zip(unrolled("waits"));
    passes
        .map(|((which, step), wait)| {
            let which = usize::try_from(number(&which)).expect("a class");
            let class = &classes[which];
            last[which] += step;
            let start = now + wait;
            now = start + number(&class[3]);
            let during = live + number(&class[4]);
            live = during - number(&class[5]);
            let kind = class[1].as_str().expect("a letter");
            (format!("{}{kind}{}", class[0], last[which]), start, now, during, live)
        })
        .collect()
}

#[test]
fn the_data_of_a_page_unpacks_to_what_replay_found() {
    for name in ["1f1b", "zb-h2", "v-min", "v-zb", "interleaved-1f1b-2"] {
        for times in [[1, 1, 1, 0], [3, 4, 2, 1], [18_522, 18_086, 9_337, 601]] {
            let (model, schedule) = problem(name, 4, 11, times);
            let memory =
                Memory { weights: vec![Units(7); model.stages() as usize], ..model.memory().clone() };
            let (placement, costs) = (model.placement().clone(), model.costs().clone());
            let model = Model::new("heavy".to_owned(), None, placement, 11, costs, memory).expect("a model");
            let timing = replay(&model, &schedule).timing.expect("it runs");
            let memory = memory_along(&model, &schedule);
            let data = data_of(&page_of(&[(model.clone(), schedule.clone())]).expect("a page"));
            let rows = data["schedules"][0]["devices"].as_array().expect("a list");
            for (device, row) in rows.iter().enumerate() {
                let expected: Vec<_> = schedule.orders()[device]
                    .iter()
                    .zip(&timing.starts[device])
                    .zip(&memory[device])
                    .map(|((&pass, &start), held)| {
                        let end = end_of(&model, &schedule, pass, start);
                        (pass.to_string(), start.0, end.0, held.during.0, held.after.0)
                    })
                    .collect();
                assert_eq!(unpacked(row), expected, "{name}, device {device}");
            }
        }
    }
}

#[test]
fn a_page_loads_nothing_and_no_name_ends_its_script() {
    let (model, schedule) = problem("1f1b", 2, 2, [1, 1, 1, 0]);
    let page = page_of(&[(model, schedule.named("</script><b>&"))]).expect("a page");
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("<title>&lt;/script&gt;&lt;b&gt;&amp; on equal-1-1-1"));
    for foreign in ["http", "@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
        assert!(
            !page.contains(foreign) || foreign == "http" && page.matches("http").count() == 1,
            "{foreign}"
        );
    }
    assert!(page.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'"));
}

#[test]
fn the_style_has_the_grounds_that_the_colours_are_made_for() {
    let (light, dark) = STYLE.split_once(":root[data-theme=\"dark\"]").expect("two themes");
    for (style, ground) in [(light, Ground::Light), (dark, Ground::Dark)] {
        assert!(style.contains(&format!("--ground: {};", ground.colour().hex())), "{ground:?}");
        assert!(style.contains(&format!("--bubble: {};", ground.bubble().hex())), "{ground:?}");
    }
    // A preference for dark, and the choice of it, are the same theme.
    let theme = |from: &str| -> Vec<String> {
        let (_, rest) = STYLE.split_once(from).expect("a theme");
        let (theme, _) = rest.split_once('}').expect("it ends");
        theme.lines().map(str::trim).filter(|line| line.starts_with("--")).map(str::to_owned).collect()
    };
    assert_eq!(theme(":root[data-theme=\"dark\"]"), theme(":root:not([data-theme=\"light\"])"));
}

#[test]
fn units_of_time_are_brought_together_where_they_can_be() {
    let one = problem("1f1b", 2, 2, [3, 4, 2, 1]);
    let page = page_of(&[timed_in("us", &one), timed_in("ns", &one)]).expect("a page");
    let data = data_of(&page);
    assert_eq!(data["schedules"][0]["time_unit"], "ns");
    let makespan = |at: usize| data["schedules"][at]["makespan"].as_i64().expect("a number");
    assert_eq!(makespan(0), 1000 * makespan(1));
    let starts = |at: usize| unpacked(&data["schedules"][at]["devices"][1]);
    for (coarse, fine) in starts(0).iter().zip(starts(1)) {
        assert_eq!((coarse.1, coarse.2), (1000 * fine.1, 1000 * fine.2));
    }
    let refused = page_of(&[timed_in("us", &one), timed_in("cycle", &one)]).expect_err("no common unit");
    assert_eq!(refused, PageError::Units { one: "us".to_owned(), other: "cycle".to_owned() });
    assert!(page_of(&[timed_in("cycle", &one), timed_in("cycle", &one)]).is_ok());
}

#[test]
fn what_a_browser_cannot_count_is_refused() {
    assert_eq!(page_of(&[]), Err(PageError::Empty));
    let long = page_of(&[problem("1f1b", 2, 2, [1 << 53, 1, 1, 0])]).expect_err("too long");
    assert!(matches!(long, PageError::TooLong(_)));
    let (model, schedule) = problem("1f1b", 2, 2, [1, 1, 1, 0]);
    let capacity = vec![Some(Units((1 << 53) + 1)), None];
    let much = page_of(&[(model.with_activation_capacity(capacity).expect("a model"), schedule)])
        .expect_err("too much");
    assert!(matches!(much, PageError::TooMuch(_)));
}

#[test]
fn recomputation_and_full_backwards_are_needed_where_they_are() {
    let placement = Placement::linear(2).expect("a placement");
    let order =
        |text: &str| -> Vec<Pass> { text.split(' ').map(|pass| pass.parse().expect("a pass")).collect() };
    let orders = vec![order("0F0 0R0 0I0 0W0"), order("1F0 1B0")];
    let schedule = Schedule::new(placement.clone(), 1, orders).expect("a schedule");
    let model = Model::unit(placement, 1).expect("a model");
    let data = data_of(&page_of(&[(model, schedule)]).expect("a page"));
    let needs = |device: usize, class: usize| {
        data["schedules"][0]["devices"][device]["classes"][class][6].to_string()
    };
    assert_eq!(needs(0, 0), "[]");
    assert_eq!(needs(0, 1), "[[0,\"F\",0]]");
    assert_eq!(needs(0, 2), "[[0,\"F\",0],[0,\"R\",0],[1,\"I\",0],[1,\"B\",0]]");
    assert_eq!(needs(0, 3), "[[0,\"I\",0]]");
    assert_eq!(needs(1, 1), "[[1,\"F\",0],[1,\"R\",0]]");
}

#[test]
fn a_page_knows_what_runs_beside_and_behind_the_passes() {
    let (model, schedule) = timed_in("us", &problem("v-half", 2, 3, [3, 4, 2, 1]));
    let messages = Messages { occupancy: vec![Ticks(2); 3], links: Links::Pair };
    let step = StepEnd { reduce: [5, 1, 0, 2].map(Ticks).to_vec(), optimizer: vec![Ticks(2); 4] };
    let sharding = Sharding { gather: vec![Ticks(3); 4], gathered: vec![Units::ZERO; 4], stages: 1 };
    let model = model.with_messages(Some(messages)).and_then(|model| model.with_step(Some(step)));
    let model = model.and_then(|model| model.with_sharding(Some(sharding)));
    let problem = (model.expect("a model"), schedule);
    let timing = replay(&problem.0, &problem.1).timing.expect("it runs");
    let page = page_of(std::slice::from_ref(&problem)).expect("a page");
    let data = data_of(&page);
    let number = |value: &Value| value.as_i64().expect("a number");
    let mut found = Vec::new();
    for lane in data["schedules"][0]["lanes"].as_array().expect("a list") {
        let mut now = 0;
        for job in lane["jobs"].as_array().expect("a list") {
            let class = &lane["classes"][usize::try_from(number(&job[0])).expect("a class")];
            let start = now + number(&job[2]);
            now = start + number(&class[5]);
            let subject = match class[4].as_str() {
                Some(kind) => format!("{}{kind}{}", class[3], job[1]),
                None => class[3].to_string(),
            };
            let key = class[1].as_str().expect("a key");
            for theme in ["light", "dark"] {
                let shades = &data["schedules"][0]["colours"][theme][key];
                let chunk = usize::try_from(number(&class[2])).expect("a chunk");
                assert!(shades[chunk][0].as_str().is_some_and(|colour| colour.starts_with('#')), "{key}");
            }
            found.push((lane["name"].to_string(), class[0].to_string(), subject, start, now));
        }
    }
    let mut expected = Vec::new();
    let quoted = |text: &str| format!("\"{text}\"");
    for link in &timing.links {
        for (by, during) in &link.messages {
            let work = if by.kind == crate::model::Kind::F { "activation sent" } else { "gradient sent" };
            let name = quoted(&link.link.to_string());
            expected.push((name, quoted(work), by.to_string(), during.start.0, during.end.0));
        }
    }
    for (stage, times) in timing.step.iter().enumerate() {
        let device = problem.0.placement().device_of(crate::model::Stage::at(stage));
        let (reduce, step) = (&times.reduce, &times.optimizer);
        if reduce.start < reduce.end {
            let name = quoted("collective stream");
            let work = quoted("reduction of gradients");
            expected.push((name, work, stage.to_string(), reduce.start.0, reduce.end.0));
        }
        let name = quoted(&format!("device {device}"));
        expected.push((name, quoted("optimiser step"), stage.to_string(), step.start.0, step.end.0));
    }
    for GatherTimes { gathering, during } in timing.gathers.iter().flatten() {
        let (name, work) = (quoted("collective stream"), quoted("gather of weights"));
        expected.push((name, work, gathering.stage.to_string(), during.start.0, during.end.0));
    }
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    for legend in [
        "gather of weights</li>",
        "optimiser step</li>",
        "activation sent</li>",
        "reduction of gradients</li>",
    ] {
        assert!(page.contains(legend), "{legend}");
    }
    assert!(page.contains("<td>device 0 to device 1</td>"));
    // The last optimiser step ends the row of its device.
    let ends = |device: u32| format!("<tr><th scope=\"row\">{device}</th><td>18</td>");
    assert!(page.contains(&ends(0)) && page.contains(&format!("<td>{}</td>", timing.metrics.makespan)));
}
