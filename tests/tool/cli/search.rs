//! `optimize` and `block`: what they find, and what they say is proved.

use serde_json::Value;

use super::optimized::Optimized;
use super::{FAMILY, FIGURES, MODEL, V_MODEL, assert_keys, tool, tool_with_input};

#[test]
fn optimize_gives_the_keys_that_programs_rely_on_and_a_schedule_that_verifies() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("schedule.json");
    let file = file.to_str().expect("a plain name");
    let run = tool(&["optimize", V_MODEL, "--memory", "75%", "--devices", "2", "-o", file, "--json"]).json();
    assert_keys(&run, FIGURES);
    assert_keys(
        &run,
        &["lower_bound", "gap", "gap_exact", "optimal", "proof", "interval", "engine", "schedule"],
    );
    let written = std::fs::read_to_string(file).expect("it was written");
    let written: Value = serde_json::from_str(&written).expect("a schedule file");
    assert_eq!(written, run["schedule"]);
    assert_eq!(written["provenance"]["devices"], 2);

    let verified = tool(&["verify", file, "--model", V_MODEL, "--memory", "75%", "--json"]).json();
    assert_eq!(verified["valid"], true, "{verified}");
    for key in FIGURES {
        assert_eq!(verified[key], run[key], "{key}");
    }
    let checked = tool(&["check", file, "--model", V_MODEL, "--memory", "75%", "--devices", "2", "--json"]);
    let checked = checked.json();
    assert_eq!(checked["valid"], true, "{checked}");
    assert_eq!(checked["claims"].as_array().map(Vec::len), Some(if run["optimal"] == true { 3 } else { 2 }));
    for key in FIGURES {
        assert_eq!(checked[key], run[key], "{key}");
    }
    let (value, bound) = (run["makespan"].as_i64(), run["lower_bound"].as_i64());
    assert!(bound <= value);
    assert_eq!(run["optimal"], bound == value);
}

/// The bound is 149; that nothing is below 150 takes a search.
#[cfg(feature = "lcg")]
#[test]
fn optimality_that_only_a_search_could_prove_is_told_from_what_the_bound_proves() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("schedule.json");
    let file = file.to_str().expect("a plain name");
    let problem = ["models/profiles/uneven-342.toml", "--devices", "5", "--microbatches", "5"];
    let limits = ["--memory", "5", "-o", file];
    let arguments: Vec<&str> = ["optimize"].iter().chain(&problem).chain(&limits).copied().collect();
    let said = tool(&arguments).out;
    assert!(said.contains("none: exhaustive search ("), "{said}");
    assert!(said.contains("found no better schedule"), "{said}");
    let run = tool(&[arguments.as_slice(), &["--json"]].concat()).json();
    assert_eq!((run["makespan"].as_i64(), run["lower_bound"].as_i64()), (Some(150), Some(150)));
    assert!(run["certified_bound"].as_i64() < run["lower_bound"].as_i64(), "{run}");
    assert_eq!(run["optimal"], true);
    assert!(run["proof"].as_str().is_some_and(|proof| proof.starts_with("exhaustive search (")), "{run}");
    let checked = tool(&["check", file, "--json"]).json();
    assert_eq!(checked["valid"], true, "{checked}");
}

#[test]
fn the_curve_of_a_search_ends_with_its_answer() {
    let folder = tempfile::tempdir().expect("a directory");
    let picture = folder.path().join("search.svg");
    let picture = picture.to_str().expect("a plain name");
    // The span is minimised after the makespan. No makespan is below 21, which is no bound on the span: 19 is possible.
    let problem =
        ["models/profiles/unit-linear.toml", "--devices", "4", "--microbatches", "6", "--memory", "200%"];
    for objective in ["makespan", "span"] {
        let options = ["--minimize", objective, "--curve", picture];
        let arguments = [&["optimize"][..], &problem, &options].concat();
        let run = tool(&[&arguments[..], &["--json"]].concat()).json();
        let of = |key: &str| -> Vec<Option<i64>> {
            let points = run["curve"].as_array().expect("a curve");
            points.iter().map(|point| point[key].as_i64()).collect()
        };
        let (best, bounds) = (of("best"), of("lower_bound"));
        let value = &run[if objective == "span" { "device_span" } else { "makespan" }];
        assert_eq!((best.last(), bounds.last()), (Some(&value.as_i64()), Some(&run["lower_bound"].as_i64())));
        let best: Vec<i64> = best.into_iter().flatten().collect();
        assert!(best.is_sorted_by(|a, b| a >= b) && bounds.is_sorted(), "{run}");
        let drawn = std::fs::read_to_string(picture).expect("it was drawn");
        assert!(drawn.starts_with("<svg") && drawn.contains("time of the search"), "{drawn}");
        let said = tool(&arguments).out;
        assert!(said.ends_with(&format!("wrote {picture}\n")), "{said}");
    }
    let refused = |arguments: &[&str]| {
        let run = tool(&[&["optimize"], arguments].concat());
        assert_eq!(run.status, 2, "{}", run.err);
        run.err
    };
    assert!(refused(&[V_MODEL, "--curve", "curve.png"]).contains("does not end in `.svg`"));
    assert!(
        refused(&[V_MODEL, "--microbatches", "4,6", "--curve", picture])
            .contains("--curve is for one search")
    );
}

#[test]
fn what_is_infeasible_comes_with_a_reason() {
    for arguments in
        [&["optimize", MODEL, "--memory", "0", "--json"], &["block", V_MODEL, "--memory", "1", "--json"]]
    {
        let run = tool(arguments);
        let object = run.json();
        assert_eq!((run.status, &object["feasible"]), (1, &Value::Bool(false)), "{object}");
        assert!(!object["reason"].as_str().expect("a reason").is_empty());
    }
}

#[test]
fn block_gives_the_keys_that_programs_rely_on() {
    let keys = [
        "interval",
        "activation_peak",
        "activation_peak_max",
        "paper_bound",
        "lifespans",
        "offsets",
        "proven",
        "engine",
    ];
    let best = tool(&["block", V_MODEL, "--json"]).json();
    assert_keys(&best, &keys);
    assert_eq!(
        (&best["interval"], &best["activation_peak_max"]),
        (&Value::from(18), &Value::from(4)),
        "{best}"
    );
    assert_eq!((&best["proven"], &best["engine"]), (&Value::Bool(true), &Value::from("exact")));
    assert_eq!(best["offsets"].as_object().expect("by pass").len(), 18);

    let family = tool(&["block", FAMILY, "--devices", "4", "--json"]).json();
    assert_keys(&family, &keys);
    assert_eq!(family["faults"], serde_json::json!([]));
}

/// Looped placement with times and memory that lie far apart: in floating point, a shortest block of the first
/// has an interval of 7286646 ticks, and the second has none. Both are wrong. The times of the first fit into 32 bits.
#[cfg(feature = "milp")]
const FAR_APART: [&str; 2] = [
    "name = \"far apart\"\npipeline = { devices = 2, placement = \"looped\", chunks = 2, microbatches = 4 }\n\
     [time]\nforward = [1, 42, 47, 2]\nbackward_input = [49, 3, 6581698, 2]\n\
     backward_weight = [20, 33, 3, 7286473]\ncommunication = 1\n\
     [memory]\nactivation = [542672336265, 2, 7, 847144854]\ncapacity = 543519481127\n",
    "name = \"far apart\"\npipeline = { devices = 3, placement = \"looped\", chunks = 2, microbatches = 4 }\n\
     [time]\nforward = [3, 1, 7, 2, 3, 2]\nbackward_input = [3, 3, 2, 5636678, 6345055, 501846391]\n\
     backward_weight = [23, 2, 7181451261, 1, 19, 2]\ncommunication = 0\n\
     [memory]\nactivation = [2, 98125822125, 20, 677651487703, 989894583, 2]\ncapacity = 776767204413\n",
];

#[cfg(feature = "milp")]
#[test]
fn numbers_too_far_apart_for_floating_point_are_no_answer_and_no_defect() {
    for (model, command) in [
        (FAR_APART[0], &["block", "-", "--minimize", "interval", "--engine", "milp"][..]),
        (FAR_APART[1], &["block", "-", "--minimize", "memory"]),
        (FAR_APART[1], &["frontier", "-"]),
    ] {
        let run = tool_with_input(command, model);
        assert_eq!(run.status, 3, "{command:?}: {}", run.transcript());
        assert!(run.out.is_empty(), "{command:?}: {}", run.out);
        assert!(run.err.contains("too far apart") && run.err.contains("--engine smt"), "{}", run.err);
        assert!(!run.err.contains("internal error"), "{}", run.err);
    }
    for engine in [&[][..], &["--engine", "smt"]] {
        let run = tool_with_input(
            &[&["--json", "block", "-", "--minimize", "interval"], engine].concat(),
            FAR_APART[0],
        );
        let best = run.json();
        let expected = (&Value::Bool(true), &Value::from(7_286_643));
        assert_eq!((&best["proven"], &best["interval"]), expected, "{best}");
    }
    // Amounts that 32 bits do not tell apart are rounded down, and answers are exact all the same.
    let frontier = tool_with_input(&["--json", "frontier", "-"], FAR_APART[0]).json();
    let points = frontier["points"].as_array().expect("points");
    assert!(
        !points.is_empty() && points.iter().all(|point| point["proven"] == Value::Bool(true)),
        "{frontier}"
    );
}

#[cfg(feature = "milp")]
#[test]
fn a_solver_in_floating_point_claims_and_what_is_exact_is_proved() {
    let model = "name = \"looped\"\npipeline = { devices = 3, placement = \"looped\", chunks = 2, microbatches = 6 }\n\
                 [time]\nforward = 3\nbackward_input = 4\nbackward_weight = 7\ncommunication = 1\n";
    // Propagation shows, without the solver, that nothing is shorter.
    let milp = ["--engine", "milp", "--json"];
    let shortest = tool_with_input(&[&["block", "-", "--memory", "5"], &milp[..]].concat(), model).json();
    assert_eq!((&shortest["proven"], shortest.get("claimed_by")), (&Value::Bool(true), None), "{shortest}");
    let least = tool_with_input(&[&["block", "-", "--minimize", "memory"], &milp[..]].concat(), model);
    let claimed = least.json();
    assert_eq!(claimed["proven"], Value::Bool(false), "{claimed}");
    assert!(["HiGHS", "microlp"].contains(&claimed["claimed_by"].as_str().expect("a solver")), "{claimed}");
    assert!(claimed["bound"].is_number(), "what is proved without the solver: {claimed}");
    assert!(least.err.contains("proves nothing") && least.err.contains("--engine smt"), "{}", least.err);
    let text = tool_with_input(&["block", "-", "--minimize", "memory", "--engine", "milp"], model);
    assert!(
        text.out.contains("not proved; ") && text.out.contains("in floating point, found no better block")
    );
    // What decides in exact arithmetic proves it.
    let proved = tool_with_input(&["block", "-", "--minimize", "memory", "--json"], model).json();
    assert_eq!((&proved["proven"], proved.get("claimed_by")), (&Value::Bool(true), None), "{proved}");
    let whole = tool_with_input(&["frontier", "-", "--json"], model);
    let frontier = whole.json();
    for point in frontier["points"].as_array().expect("points") {
        assert_eq!((&point["proven"], &point["bound"]), (&Value::Bool(true), &point["interval"]), "{point}");
    }
}

#[test]
fn pairs_that_save_time_are_made_verified_and_checked() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("pairs.json");
    let file = file.to_str().expect("a plain name");
    let problem = ["--devices", "3", "--microbatches", "9"];
    let limits = ["--time-limit", "10", "-o", file, "--json"];
    let run = tool(&[&["optimize", PAIRS_MODEL], problem.as_slice(), &limits].concat()).json();
    let limits = ["--time-limit", "5", "--json"];
    let named = tool(&[&["compare", PAIRS_MODEL], problem.as_slice(), &limits].concat()).json();
    let dualpipe =
        named["schedules"].as_array().expect("a list").iter().find(|row| row["name"] == "dualpipe-v");
    let dualpipe = dualpipe.expect("V placement")["makespan"].as_i64();
    assert!(run["makespan"].as_i64() <= dualpipe, "{run}");
    let verified = tool(&["verify", file, "--model", PAIRS_MODEL]);
    assert!(
        verified.out.contains("each pair runs as one pass that takes the time that `[overlap]` gives it")
    );
    let checked =
        tool(&[&["check", file, "--model", PAIRS_MODEL, "--json"], problem.as_slice()].concat()).json();
    assert_eq!(checked["valid"], true, "{checked}");
    assert_eq!(checked["makespan"], run["makespan"]);
    // Times with pairs, in every form of picture.
    for picture in ["pairs.svg", "pairs.html", "pairs.trace.json"] {
        let picture = directory.path().join(picture);
        let drawn =
            tool(&["render", file, "--model", PAIRS_MODEL, "-o", picture.to_str().expect("a plain name")]);
        assert_eq!(drawn.status, 0, "{}", drawn.err);
    }
}

#[test]
fn the_end_of_the_step_is_part_of_what_is_found_verified_and_checked() {
    let found = Optimized::of(STEP_MODEL);
    let (file, run) = (found.file.as_str(), &found.run);
    found.assert_no_worse_than_named();
    found.assert_undecided_for_every_m("the model has [step]");
    let replayed = tool(&["replay", file, "--model", STEP_MODEL, "--json"]).json();
    let ends = replayed["step"].as_array().expect("a list");
    let last = ends.iter().map(|end| end["optimizer"][1].as_i64()).max().flatten();
    assert_eq!((ends.len(), last), (6, run["makespan"].as_i64()), "{replayed}");
    for end in ends {
        assert!(end["reduce"][1].as_i64() <= end["optimizer"][0].as_i64(), "{end}");
    }
    let checked = tool(&["check", file, "--model", STEP_MODEL]);
    assert!(
        checked.out.contains("step          reduction 5 times 2, 9; optimiser step 1 ticks"),
        "{}",
        checked.out
    );
    let [text, svg, page, trace] = found.drawn();
    assert!(text.contains("coll") && text.contains("O optimiser step, with its stage"), "{text}");
    assert!(svg.contains(">collectives</text>") && svg.contains(">optimiser step</text>"));
    assert!(page.contains("<td>collective stream</td>"));
    assert!(trace.contains("gradients of stage 5") && trace.contains("optimiser step of stage 0"));
}

#[test]
fn messages_on_links_are_part_of_what_is_found_verified_and_checked() {
    let found = Optimized::of(MESSAGES_MODEL);
    let file = found.file.as_str();
    found.assert_no_worse_than_named();
    found.assert_undecided_for_every_m("the model has [messages]");

    // Each link sends one message at a time, and each message once.
    let replayed = tool(&["replay", file, "--model", MESSAGES_MODEL, "--json"]).json();
    let links = replayed["links"].as_array().expect("a list");
    let mut messages = 0;
    for link in links {
        let sent = link["messages"].as_array().expect("a list");
        let times =
            |key: &str| sent.iter().map(|message| message[key].as_i64().expect("ticks")).collect::<Vec<_>>();
        let (starts, ends) = (times("start"), times("end"));
        assert!(starts[1..].iter().zip(&ends).all(|(start, end)| start >= end), "{link}");
        let busy: i64 = starts.iter().zip(&ends).map(|(start, end)| end - start).sum();
        assert_eq!(link["busy"].as_i64(), Some(busy));
        messages += sent.len();
    }
    assert_eq!(messages, 4 * 2 * 4, "4 microbatches, both ways, over the 4 boundaries between devices");
    let shown = tool(&["replay", file, "--model", MESSAGES_MODEL]);
    assert!(shown.out.contains("network card of node 0"), "{}", shown.out);
    assert!(shown.out.contains("device 0 to device 1"), "{}", shown.out);

    let checked = tool(&["check", file, "--model", MESSAGES_MODEL]);
    let problem =
        "messages      occupy 3 times 4, 6, 4 ticks; one network card for each of the nodes [0 1] [2]";
    assert!(checked.out.contains(problem), "{}", checked.out);
    let [text, svg, page, trace] = found.drawn();
    assert!(text.contains("card0") && text.contains(">1"), "{text}");
    assert!(svg.contains(">card of node 0</text>") && svg.contains("<title>device 0 to device 1</title>"));
    assert!(page.contains("<td>network card of node 0</td>"));
    assert!(trace.contains("link: network card of node 0") && trace.contains("activation of 1F0"));
}

#[test]
fn offloaded_activations_are_part_of_what_is_found_verified_and_checked() {
    let found = Optimized::of(OFFLOAD_MODEL);
    let (file, run) = (found.file.as_str(), &found.run);
    found.assert_no_worse_than_named();
    found.assert_undecided_for_every_m("the schedule offloads activations");
    let offloaded: Vec<i64> =
        run["offloaded"].as_array().expect("a list").iter().filter_map(serde_json::Value::as_i64).collect();
    assert!(offloaded.len() == 4 && offloaded[0] > 0, "{run}");
    assert!(run["peak_memory_max"].as_i64() <= Some(200), "{run}");

    // Without copies it takes longer: the table is all that makes the difference.
    let plain = found.path("plain.toml");
    let text = std::fs::read_to_string(OFFLOAD_MODEL).expect("a model");
    std::fs::write(&plain, text.split("[offload]").next().expect("a model")).expect("a file");
    let without = tool(&["optimize", &plain, "--time-limit", "10", "--json"]).json();
    assert!(run["makespan"].as_i64() < without["makespan"].as_i64(), "{run} {without}");
    let refused = tool(&["verify", file, "--model", &plain]);
    assert_eq!(refused.status, 1, "{}", refused.out);
    assert!(refused.out.contains("is offloaded, but the model has no [offload] table"), "{}", refused.out);

    // Each engine copies one activation at a time.
    let replayed = tool(&["replay", file, "--model", OFFLOAD_MODEL, "--json"]).json();
    for (device, copies) in replayed["copies"].as_array().expect("a list").iter().enumerate() {
        for engine in ["to_host", "from_host"] {
            let list = copies[engine]["copies"].as_array().expect("a list");
            let times =
                |key: &str| list.iter().map(|copy| copy[key].as_i64().expect("ticks")).collect::<Vec<_>>();
            let (starts, ends) = (times("start"), times("end"));
            assert_eq!(i64::try_from(list.len()).ok(), offloaded.get(device).copied());
            assert!(starts.iter().skip(1).zip(&ends).all(|(start, end)| start >= end), "{copies}");
            assert_eq!(copies[engine]["busy"].as_i64(), Some(5 * offloaded[device]));
        }
    }
    let shown = tool(&["replay", file, "--model", OFFLOAD_MODEL]);
    assert!(shown.out.contains("  offloaded     ") && shown.out.contains("from the host"), "{}", shown.out);
    let checked = tool(&["check", file, "--model", OFFLOAD_MODEL]);
    let problem = "offload       100 MiB; to the host 5, back 5 ticks";
    assert!(checked.out.contains(problem), "{}", checked.out);

    let [text, svg, page, trace] = found.drawn();
    assert!(text.contains(">host") && text.contains("<host"), "{text}");
    assert!(svg.contains(">to the host</text>") && svg.contains(">from the host</text>"));
    for drawn in [&page, &trace] {
        assert!(drawn.contains("copies to the host") && drawn.contains("copies from the host"));
    }
    for form in ["pytorch", "pytorch-comms", "torchtitan", "megatron"] {
        let refused = tool(&["convert", file, "-o", &found.path("other"), "--to", form]);
        assert_eq!(refused.status, 2, "{form}: {}", refused.err);
        assert!(refused.err.contains("offloads activations"), "{form}: {}", refused.err);
    }
    let again = found.path("again.json");
    assert_eq!(tool(&["convert", file, "-o", &again]).status, 0);
    let read = |file: &str| std::fs::read_to_string(file).expect("a schedule");
    assert_eq!(read(&again), read(file));
}

#[test]
fn gathered_weights_are_part_of_what_is_found_verified_and_checked() {
    let found = Optimized::of(SHARDING_MODEL);
    let (file, run) = (found.file.as_str(), &found.run);
    found.assert_no_worse_than_named();
    found.assert_replays_to("makespan");
    found.assert_undecided_for_every_m("the model has [step]");
    assert!(run["peak_memory_max"].as_i64() <= Some(60), "{run}");

    // A stream does one thing at a time, and the passes of a stage come behind the gather of its weights.
    let replayed = tool(&["replay", file, "--model", SHARDING_MODEL, "--json"]).json();
    let streams = replayed["gathers"].as_array().expect("a list");
    assert_eq!(streams.len(), 3);
    for stream in streams {
        let mut during: Vec<[i64; 2]> = Vec::new();
        let mut busy = 0;
        for gather in stream["gathers"].as_array().expect("a list") {
            let [start, end] = ["start", "end"].map(|key| gather[key].as_i64().expect("ticks"));
            assert_eq!(end - start, if gather["stage"] == 5 { 3 } else { 2 });
            busy += end - start;
            during.push([start, end]);
            let passes = replayed["passes"].as_array().expect("a list").iter();
            let mut own = passes.filter(|pass| pass["device"] == stream["device"]);
            let used = usize::try_from(gather["used"].as_u64().expect("a position")).expect("a position");
            let pass = own.nth(used).expect("a pass");
            assert!(pass["start"].as_i64() >= Some(end), "{gather} {pass}");
            assert!(pass["pass"].as_str().expect("a pass").starts_with(&gather["stage"].to_string()));
        }
        assert_eq!(stream["busy"].as_i64(), Some(busy));
        for end in replayed["step"].as_array().expect("a list") {
            let [stage, device] =
                [&end["stage"], &stream["device"]].map(|value| value.as_i64().expect("a number"));
            if device == stage.min(5 - stage) {
                during.push([0, 1].map(|at| end["reduce"][at].as_i64().expect("ticks")));
            }
        }
        during.sort_unstable();
        assert!(during.windows(2).all(|two| two[0][1] <= two[1][0]), "{during:?}");
    }
    let shown = tool(&["replay", file, "--model", SHARDING_MODEL]);
    assert!(shown.out.contains("device  gathers  busy  share of the makespan"), "{}", shown.out);

    let checked = tool(&["check", file, "--model", SHARDING_MODEL]);
    let problem = "sharding      gather 5 times 2, 3 ticks, 20 stage-activation; 1 stage at a time";
    assert!(checked.out.contains(problem), "{}", checked.out);

    // Without gathers all takes less time.
    let plain = found.path("plain.toml");
    let text = std::fs::read_to_string(SHARDING_MODEL).expect("a model");
    std::fs::write(&plain, text.split("[sharding]").next().expect("a model")).expect("a file");
    let without = tool(&["verify", file, "--model", &plain, "--json"]).json();
    assert!(without["makespan"].as_i64() < run["makespan"].as_i64(), "{run} {without}");
}

#[test]
fn plans_gather_weights_by_the_rule_that_replay_times() {
    let found = Optimized::of(SHARDING_MODEL);
    let file = found.file.as_str();
    let elsewhere = "elsewhere in this file than by the rule";
    let (one, three) = (found.path("one.csv"), found.path("three.csv"));
    let to = |path: &str, model: &[&str]| {
        let converted = tool(&[&["convert", file, "-o", path, "--to", "pytorch-comms"], model].concat());
        assert_eq!(converted.status, 0, "{}", converted.err);
        std::fs::read_to_string(path).expect("a plan").matches("UNSHARD").count()
    };
    // One stage at a time is gathered more often than two, which each device has.
    let [often, once] = [to(&one, &["--model", SHARDING_MODEL]), to(&three, &[])];
    assert!(often > once && once == 6, "{often} {once}");
    let replayed = tool(&["replay", file, "--model", SHARDING_MODEL, "--json"]).json();
    let streams = replayed["gathers"].as_array().expect("a list").iter();
    let gathers: usize = streams.map(|stream| stream["gathers"].as_array().expect("a list").len()).sum();
    assert_eq!(often, gathers);
    let verified = tool(&["verify", &one, "--model", SHARDING_MODEL]);
    assert!(verified.status == 0 && !verified.out.contains(elsewhere), "{}", verified.out);
    let verified = tool(&["verify", &three, "--model", SHARDING_MODEL]);
    assert!(verified.status == 0 && verified.out.contains(elsewhere), "{}", verified.out);
    let refused = tool(&["convert", file, "-o", &found.path("m.json"), "--model", SHARDING_MODEL]);
    assert_eq!(refused.status, 2, "{}", refused.err);
}

#[test]
fn gathers_are_drawn() {
    let found = Optimized::of(SHARDING_MODEL);
    let [text, svg, page, trace] = found.drawn();
    assert!(text.contains("coll") && text.contains("A gather of weights, with its stage"), "{text}");
    assert!(svg.contains(">collectives</text>") && svg.contains(">gather of weights</text>"));
    assert!(page.contains("<td>collective stream</td>") && page.contains("gather of weights"));
    assert!(trace.contains("\"collective stream\"") && trace.contains("\"weights of stage 5\""));
    // Times that the model repeats are not enough for every number of microbatches.
    let text = std::fs::read_to_string(SHARDING_MODEL).expect("a model");
    let (before, after) = text.split_once("[step]").expect("a step");
    let sharding = after.split_once("[sharding]").expect("a table").1;
    let model = found.path("no-step.toml");
    std::fs::write(&model, format!("{before}[sharding]{sharding}")).expect("a file");
    let every = tool(&["verify", &found.file, "--model", &model, "--every-m"]);
    assert_eq!(every.status, 3, "{}", every.out);
    assert!(every.out.contains("[sharding]"), "{}", every.out);
}

#[test]
fn commands_that_know_passes_alone_refuse_models_that_say_more() {
    let directory = tempfile::tempdir().expect("a directory");
    let folder = directory.path().to_str().expect("a plain name");
    let models = [
        (PAIRS_MODEL, "has [overlap]"),
        (MESSAGES_MODEL, "has [messages]"),
        (STEP_MODEL, "has [step]"),
        (OFFLOAD_MODEL, "has [offload]"),
        (SHARDING_MODEL, "has [step] and [sharding]"),
    ];
    for (model, tables) in models {
        for command in ["block", "frontier", "explain", "certify"] {
            let output: &[&str] = if command == "certify" { &["-o", folder] } else { &[] };
            let refused = tool(&[&[command, model], output].concat());
            assert_eq!(refused.status, 2, "{command}: {}", refused.err);
            assert!(refused.err.contains(tables), "{command}: {}", refused.err);
        }
    }
}

const PAIRS_MODEL: &str = "models/profiles/deepseek-pair-v.toml";
const MESSAGES_MODEL: &str = "tests/corpus/valid/messages.toml";
const STEP_MODEL: &str = "tests/corpus/valid/step.toml";
const SHARDING_MODEL: &str = "tests/data/cli/sharding.toml";
const OFFLOAD_MODEL: &str = "tests/data/cli/offload.toml";
