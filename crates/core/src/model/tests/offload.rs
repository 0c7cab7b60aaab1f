//! Offloading in model files, and models with offloading.

use super::*;

/// The complete file, of four stages, with offloading.
fn with_offload(table: &str) -> String {
    format!("{COMPLETE}\n[offload]\n{table}")
}

fn activations(model: &Model) -> Vec<Units> {
    model.memory().activation.clone()
}

#[test]
fn offloading_is_read_and_printed_back() {
    let plain = parse(COMPLETE).expect("a model");
    assert_eq!((plain.offload(), plain.can_offload()), (None, false));
    assert!(!print(&plain).contains("offload"));
    let whole = activations(&plain);
    for (text, offload) in [
        (
            "to_host = 5\nfrom_host = [6, 7, 8, 9]\n",
            Offload { moved: whole.clone(), to_host: ticks(&[5; 4]), from_host: ticks(&[6, 7, 8, 9]) },
        ),
        (
            "moved = 1\nto_host = 0\nfrom_host = 3\n",
            Offload { moved: vec![Units(1); 4], to_host: ticks(&[0; 4]), from_host: ticks(&[3; 4]) },
        ),
        (
            "moved = [0, 1, 2, 3]\nbandwidth = 2\n",
            Offload {
                moved: [0, 1, 2, 3].map(Units).to_vec(),
                to_host: ticks(&[0, 1, 1, 2]),
                from_host: ticks(&[0, 1, 1, 2]),
            },
        ),
    ] {
        let model = parse(&with_offload(text)).expect("a model");
        assert_eq!(model.offload(), Some(&offload));
        assert_eq!(plain.with_offload(Some(offload.clone())), Ok(model.clone()));
        assert_eq!(model.with_offload(None), Ok(plain.clone()));
        assert_eq!(parse(&print(&model)), Ok(model.clone()), "{}", print(&model));
        assert_eq!(model.beyond_passes().map(|tables| tables.to_string()).as_deref(), Some("[offload]"));
        // What changes something else leaves it as it is.
        for variant in [
            model.with_microbatches(3),
            model.with_step(None),
            Ok(model.with_own_links()),
            Ok(model.without_weights()),
            Ok(model.memory_floor().into_owned()),
        ] {
            assert_eq!(variant.expect("a model").offload(), Some(&offload));
        }
    }
    let nothing = parse(&with_offload("moved = 0\nbandwidth = 1\n")).expect("a model");
    assert_eq!((nothing.can_offload(), nothing.beyond_passes()), (false, None));
}

#[test]
fn every_complaint_about_offloading_points_at_its_place() {
    let too_much = format!("to_host = [0, 0, 0, {}]", Model::MAX_TOTAL);
    let whole = activations(&parse(COMPLETE).expect("a model"));
    let over = (whole[1] + Units(1)).0;
    let (more, complaint) = (
        format!("moved = [0, {over}, 0, 0]"),
        format!("`offload.moved` of stage 1 is {over}, more than its activation of {}", whole[1]),
    );
    let cases = [
        ("to_host = 5\n", "", "missing key `offload.to_host`", "[offload]"),
        ("from_host", "bandwith = 3\nfrom_host", "unknown key `offload.bandwith`", "bandwith"),
        (
            "to_host = 5",
            "to_host = [5, 6]",
            "`offload.to_host` has 2 values, but there are 4 stages",
            "[5, 6]",
        ),
        ("to_host = 5", "to_host = -5", "`offload.to_host` must not be negative, but is -5", "-5"),
        (
            "from_host",
            "bandwidth = 3\nfrom_host",
            "`offload.to_host` is 5, but `offload.bandwidth` says how long copies take; state one of the two",
            "5",
        ),
        ("to_host = 5\nfrom_host = 6", "bandwidth = 0", "`offload.bandwidth` must not be zero", "0"),
        ("moved = 1", more.as_str(), complaint.as_str(), &more["moved = ".len()..]),
        (
            "to_host = 5",
            too_much.as_str(),
            "the times of all passes and of all copies to the host and back together exceed 288230376151711744 ticks; choose \
             a coarser unit",
            "[offload]",
        ),
    ];
    for (piece, replacement, message, place) in cases {
        let text = with_offload("moved = 1\nto_host = 5\nfrom_host = 6\n").replace(piece, replacement);
        let error = parse(&text).expect_err(replacement);
        assert_eq!((error.to_string(), &text[error.span.clone()]), (message.to_owned(), place));
    }
}

#[test]
fn offloading_that_is_none_is_refused() {
    let model = parse(COMPLETE).expect("a model");
    let with = |moved: &[i64], to_host: &[i64], from_host: &[i64]| {
        let moved = moved.iter().copied().map(Units).collect();
        model.with_offload(Some(Offload { moved, to_host: ticks(to_host), from_host: ticks(from_host) }))
    };
    let length = |key| Err(ModelError::Length { key, found: 3, expected: 4, of: "stages" });
    assert_eq!(with(&[0; 3], &[1; 4], &[1; 4]), length("offload.moved"));
    assert_eq!(with(&[0; 4], &[1; 3], &[1; 4]), length("offload.to_host"));
    assert_eq!(with(&[0; 4], &[1; 4], &[1; 3]), length("offload.from_host"));
    let negative = |key| Err(ModelError::Negative { key, value: -1 });
    assert_eq!(with(&[0, -1, 0, 0], &[1; 4], &[1; 4]), negative("offload.moved"));
    assert_eq!(with(&[0; 4], &[1, 1, 1, -1], &[1; 4]), negative("offload.to_host"));
    assert_eq!(with(&[0; 4], &[1; 4], &[-1; 4]), negative("offload.from_host"));
    assert_eq!(with(&[0; 4], &[i64::MAX; 4], &[1; 4]), Err(ModelError::OffloadOverflow));
}

#[test]
fn the_floor_of_offloading_keeps_no_more_than_is_left_or_checkpointed() {
    let plain = parse(COMPLETE).expect("a model").with_recompute(None).expect("a model");
    let offload =
        Offload { moved: units(&[0, 1, 999, 1000]), to_host: ticks(&[1; 4]), from_host: ticks(&[1; 4]) };
    let level = |checkpoint: &[i64]| {
        let levels = vec![RecomputeLevel { checkpoint: units(checkpoint), duration: None }];
        Some(Recompute { levels, fused: false })
    };
    let with = |recompute| {
        plain.with_recompute(recompute).and_then(|model| model.with_offload(Some(offload.clone())))
    };
    let floor = |recompute| with(recompute).expect("a model").offload_floor();
    assert_eq!(Ok(floor(None)), plain.with_recompute(level(&[1000, 999, 1, 0])));
    assert_eq!(Ok(floor(level(&[1000, 7, 7, 7]))), plain.with_recompute(level(&[1000, 7, 1, 0])));
    assert_eq!(plain.offload_floor(), plain);
}

#[test]
fn offloading_that_is_the_same_on_every_stage_has_other_sizes() {
    let text = "name = \"n\"\n[pipeline]\ndevices = 2\nplacement = \"v\"\nmicrobatches = 8\n\
                [time]\nforward = 1\nbackward_input = 2\nbackward_weight = 3\n[offload]\nmoved = 1\nto_host = 4\n\
                from_host = 5\n";
    let resized = parse(text).expect("a model").resized(3).expect("all stages are alike");
    let same = Offload { moved: vec![Units(1); 6], to_host: ticks(&[4; 6]), from_host: ticks(&[5; 6]) };
    assert_eq!(resized.offload(), Some(&same));
    for (piece, replacement, key) in [
        ("moved = 1", "moved = [1, 1, 1, 0]", "offload.moved"),
        ("to_host = 4", "to_host = [4, 4, 4, 3]", "offload.to_host"),
        ("from_host = 5", "from_host = [5, 6, 5, 5]", "offload.from_host"),
    ] {
        let model = parse(&text.replace(piece, replacement)).expect("a model");
        assert_eq!(model.resized(3), Err(ModelError::NotResizable { key }));
    }
}
