//! How long overlapped pairs take, and which there are.

use super::*;

#[test]
fn only_a_forward_beside_a_backward_saves_time() {
    let model =
        Model::equal_stages(Placement::linear(2).expect("a placement"), 2, [5, 5, 5, 0]).expect("a model");
    let forward_input = PairDurations::Uniform(Ticks(6));
    let model = model.with_overlap(Overlap { forward_input, ..Overlap::default() }).expect("a model");
    let step = |passes: &[&str]| {
        let passes: Vec<Pass> = passes.iter().map(|pass| pass.parse().expect("a pass")).collect();
        model.step_duration(&passes)
    };
    assert_eq!([step(&["0F1", "0I0"]), step(&["0I0", "0F1"])], [Ticks(6); 2]);
    assert_eq!(
        [step(&["0I0", "0W0"]), step(&["0W0", "0I0"]), step(&["0F1", "0B0"])],
        [Ticks(10), Ticks(10), Ticks(15)]
    );
    assert_eq!(step(&["0I0"]), Ticks(5));
}

#[test]
fn pairs_are_of_stages_that_exist() {
    let model = Model::unit(Placement::linear(2).expect("a placement"), 2).expect("a model");
    for stages @ (forward, backward) in [(Stage(2), Stage(0)), (Stage(0), Stage(2)), (Stage(7), Stage(9))] {
        let forward_backward = PairDurations::Listed([(stages, Ticks(2))].into());
        let refused = model.with_overlap(Overlap { forward_backward, ..Overlap::default() });
        let key = "overlap.forward_backward";
        assert_eq!(refused, Err(ModelError::PairOfNoStage { key, forward, backward, stages: 2 }));
    }
}

#[test]
fn pairs_are_no_more_than_can_be_gone_through() {
    let with = |stages: Vec<Vec<Stage>>, overlap: Overlap| {
        Model::unit(Placement::new(stages).expect("a placement"), 1).expect("a model").with_overlap(overlap)
    };
    let pairs = || Overlap { forward_backward: PairDurations::Uniform(Ticks(2)), ..Overlap::default() };
    let one = |stages: u32| vec![Stage::all(stages).collect()];
    assert!(with(one(2048), pairs()).is_ok());
    // A further device with a further pair.
    let mut more = one(2048);
    more.push(vec![Stage(2048)]);
    assert_eq!(with(more.clone(), pairs()), Err(ModelError::TooManyPairs { pairs: 4_194_305 }));
    assert!(with(more, Overlap::default()).is_ok());
    let text = "[pipeline]\ndevices = 1\nplacement = \"looped\"\nchunks = 2049\nmicrobatches = 1\n\
                [time]\nforward = 1\nbackward_input = 1\nbackward_weight = 1\n\
                [memory]\nactivation = 1\n[overlap]\nforward_input = 2\n";
    let error = parse(&format!("name = \"pairs\"\n{text}")).expect_err("too many pairs");
    assert_eq!(
        error.to_string(),
        "[overlap] is about 4198401 pairs of stages of one device, more than the 4194304 supported: a device with k stages \
         has k times k"
    );
}

#[test]
fn pairs_of_certain_stages_have_no_other_size() {
    let model = Model::unit(Placement::v(2).expect("a placement"), 2).expect("a model");
    let with = |durations: PairDurations| {
        model
            .with_overlap(Overlap { forward_input: durations, ..Overlap::default() })
            .expect("durations that suit")
    };
    let uniform = with(PairDurations::Uniform(Ticks(1)));
    let larger = uniform.resized(3).expect("it is the same on every stage");
    assert_eq!((larger.devices(), larger.overlap()), (3, uniform.overlap()));
    let listed = with(PairDurations::Listed([((Stage(0), Stage(3)), Ticks(1))].into()));
    assert_eq!(listed.resized(3), Err(ModelError::NotResizable { key: "overlap.forward_input" }));
}
