use num_rational::Ratio;

use crate::model::{Model, ModelFile, Ticks, Units, parse, parse_stated, print, read};

/// A model of two stages with these lines in `[time]` and `[memory]`.
fn text(time: &str, memory: &str) -> String {
    format!(
        "name = \"x\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 2\n[time]\n{time}\n[memory]\n{memory}\n"
    )
}

const TIMES: &str = "forward = 3\nbackward_input = 3\nbackward_weight = 3";

fn model(time: &str, memory: &str) -> ModelFile {
    read(&text(time, memory)).unwrap_or_else(|error| panic!("{time} {memory}: {error}"))
}

fn error(time: &str, memory: &str) -> String {
    parse(&text(time, memory)).expect_err("wrong").to_string()
}

fn forward(model: &Model) -> [Ticks; 2] {
    [model.costs().forward[0], model.costs().forward[1]]
}

#[test]
fn integers_are_counts_of_the_unit_that_the_file_names() {
    let file = model(&format!("unit = \"us\"\n{TIMES}"), "unit = \"MiB\"\nactivation = [5, 6]");
    assert_eq!(forward(&file.model), [Ticks(3); 2]);
    assert_eq!((file.model.costs().unit.as_str(), file.model.memory().unit.as_str()), ("us", "MiB"));
    assert!(file.scaled.is_empty() && file.scaling().is_none());
}

#[test]
fn decimals_and_amounts_with_units_are_scaled_exactly() {
    let time =
        "unit = \"ms\"\nforward = [13.08, \"13.08 ms\"]\nbackward_input = 7\nbackward_weight = \"250 us\"";
    let file = model(time, "unit = \"stage-activation\"\nactivation = 2");
    assert_eq!(forward(&file.model), [Ticks(13_080_000); 2]);
    assert_eq!(file.model.costs().backward_input, [Ticks(7_000_000); 2]);
    assert_eq!(file.model.costs().backward_weight, [Ticks(250_000); 2]);
    assert_eq!(
        (file.model.costs().unit.as_str(), file.model.memory().unit.as_str()),
        ("ns", "stage-activation")
    );
    assert_eq!(
        file.scaling().as_deref(),
        Some("the model has amounts with decimals or units: times exactly in nanoseconds")
    );
    let memory = "activation = [\"6.8 GiB\", \"0.5 KiB\"]\ncapacity = [\"80 GB\", \"none\"]";
    let file = model(TIMES, memory);
    assert_eq!(file.model.memory().activation, [Units(7_301_444_404), Units(512)]);
    assert_eq!(file.model.memory().capacity, [Some(Units(80_000_000_000)), None]);
    assert_eq!(
        file.scaling().as_deref(),
        Some("the model has amounts with decimals or units: memory rounded to whole bytes")
    );
}

#[test]
fn what_is_needed_is_rounded_up_and_limits_and_low_ends_are_rounded_down() {
    let time =
        "forward = { low = \"1.5 ns\", high = \"2.5 ns\" }\nbackward_input = \"0.1 ns\"\nbackward_weight = 0";
    let file = model(time, "activation = \"1.5 B\"\ncapacity = \"9.5 B\"").model;
    assert_eq!(forward(&file), [Ticks(3); 2]);
    assert_eq!(file.low_ends().map(|costs| costs.forward[0]), Some(Ticks(1)));
    assert_eq!(file.costs().backward_input[0], Ticks(1));
    assert_eq!((file.memory().activation[0], file.memory().capacity[0]), (Units(2), Some(Units(9))));
}

#[test]
fn a_bandwidth_is_a_count_of_units_for_each_tick_or_an_amount() {
    let copies = |time: &str, memory: &str, bandwidth: &str| {
        let text = format!("{}\n[offload]\nbandwidth = {bandwidth}\n", text(time, memory));
        let file = parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        file.offload().expect("a table").to_host[0]
    };
    let plain = "forward = 3\nbackward_input = 3\nbackward_weight = 3";
    assert_eq!(copies(plain, "activation = 7", "2"), Ticks(4));
    let (us, mib) = (format!("unit = \"us\"\n{plain}"), "unit = \"MiB\"\nactivation = 100");
    assert_eq!(copies(&us, mib, "2"), Ticks(50));
    // 100 MiB are 104.8576 MB, which 25 GB/s take 4195 us for.
    assert_eq!(copies(&us, mib, "\"25 GB/s\""), Ticks(4195));
    // Two MiB for each microsecond, in bytes and nanoseconds.
    let exact = "unit = \"us\"\nforward = 3.5\nbackward_input = 3\nbackward_weight = 3";
    assert_eq!(copies(exact, mib, "2"), Ticks(50_000));
    let exact_memory = "unit = \"MiB\"\nactivation = 100.5";
    assert_eq!(copies(&us, exact_memory, "2"), Ticks(51));
    assert_eq!(copies(exact, exact_memory, "2"), Ticks(50_250));
    let text = format!("{}\n[offload]\nbandwidth = \"25 GB/s\"\n", text(plain, "activation = 7"));
    assert!(parse(&text).is_err());
}

#[test]
fn numbers_beside_a_file_mean_what_they_mean_in_it() {
    let whole = |number: i64| Ratio::from_integer(i128::from(number));
    let plain = |time: &str, memory: &str| {
        let model = model(time, memory).model;
        [model.plain_ticks(whole(3)), model.plain_units(whole(3))]
    };
    let (us, gib) = (format!("unit = \"us\"\n{TIMES}"), "unit = \"GiB\"\nactivation = 7");
    let in_parts = us.replacen("= 3", "= 3.5", 1);
    assert_eq!(plain(&us, gib), [Some(whole(3)), Some(whole(3))]);
    assert_eq!(plain(&in_parts, gib), [Some(whole(3000)), Some(whole(3))]);
    assert_eq!(plain(&us, "unit = \"GiB\"\nactivation = 7.5"), [Some(whole(3)), Some(whole(3 << 30))]);
    assert_eq!(plain(TIMES, "activation = \"7.5 GiB\""), [Some(whole(3)), None]);
    let without = model(TIMES, "activation = \"7.5 GiB\"").model;
    assert_eq!(without.plain_units(whole(0)), Some(whole(0)), "zero has no unit");
    let scaled = model(&in_parts, gib).model;
    assert_eq!(scaled, scaled.in_finer_ticks(1).expect("the same"), "they play no part in what is equal");
    let finer = scaled.in_finer_ticks(10).expect("a model");
    assert_eq!(finer.plain_ticks(whole(3)), Some(whole(30_000)));
}

#[test]
fn a_unit_that_is_not_known_is_refused_and_a_name_for_counts_is_not() {
    for unit in ["fortnight", "sec", "Ms", "", "GiB", "-"] {
        let found = error(&format!("unit = \"{unit}\"\n{TIMES}"), "");
        assert_eq!(found, format!("`time.unit` is \"{unit}\", which is no unit of time"));
    }
    for unit in ["gib", "Gb", "ms"] {
        let found = error(TIMES, &format!("unit = \"{unit}\""));
        assert_eq!(found, format!("`memory.unit` is \"{unit}\", which is no unit of memory"));
    }
    for unit in ["stage-activation", "s*b per layer", "unit", "chunk activation"] {
        assert_eq!(model(TIMES, &format!("unit = \"{unit}\"")).model.memory().unit, unit);
    }
    for (unit, read) in [("tick", "tick"), ("ticks", "tick"), ("µs", "us"), ("forward-pass", "forward-pass")]
    {
        assert_eq!(model(&format!("unit = \"{unit}\"\n{TIMES}"), "").model.costs().unit, read);
    }
}

/// Certificates may be about models that were made by programs, whose units have any names.
#[test]
fn what_a_certificate_states_may_have_any_unit() {
    for (time, memory) in [("fortnight", "MiBs"), ("", "ms"), ("ticks", "µs"), ("µs", "")] {
        let text = text(&format!("unit = \"{time}\"\n{TIMES}"), &format!("unit = \"{memory}\""));
        let model = parse_stated(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((model.costs().unit.as_str(), model.memory().unit.as_str()), (time, memory));
        assert_eq!(parse_stated(&print(&model)), Ok(model));
    }
}

#[test]
fn amounts_that_cannot_be_scaled_are_refused_with_the_reason() {
    for (time, memory, reason) in [
        (
            "forward = [3, \"3 ms\"]\nbackward_input = 3\nbackward_weight = 3",
            "",
            "`time.forward[0]` counts in tick, but other amounts of time in this file have units: give it one, such as \"3.27 ms\"",
        ),
        (
            "forward = 3.5\nbackward_input = 3\nbackward_weight = 3",
            "",
            "`time.forward` is no whole number of tick: name a unit of time, such as \"3.27 ms\"",
        ),
        (
            "unit = \"ms\"\nforward = \"3 GiB\"\nbackward_input = 3\nbackward_weight = 3",
            "",
            "`time.forward` is wrong: \"GiB\" is no unit of time: use one of ns, us, µs, ms, s",
        ),
        (
            "unit = \"ms\"\nforward = -3.5\nbackward_input = 3\nbackward_weight = 3",
            "",
            "`time.forward` is wrong: \"-3.5\" is negative",
        ),
        (
            "unit = \"s\"\nforward = 1e12\nbackward_input = 3\nbackward_weight = 3",
            "",
            "`time.forward` is too large to count",
        ),
        (TIMES, "capacity = \"80 GiB\"", "missing key `memory.activation`"),
        (
            TIMES,
            "activation = true",
            "`memory.activation` must be an amount of memory, such as 12 or \"1.5 GiB\", or a list of these, but is true",
        ),
    ] {
        assert_eq!(error(time, memory), reason);
    }
}
