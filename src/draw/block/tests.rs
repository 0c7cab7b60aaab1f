use super::live::live;
use super::steps::StepKind;
use super::*;
use crate::block::family::{SHIPPED, shipped};
use crate::model::{Device, Units};

/// A family at a number of devices, if it has a block there.
fn family(name: &str, devices: u32) -> Option<(Block, Model)> {
    let family = shipped(name).expect("it is shipped");
    Some((family.block(devices).ok()?, family.model(devices, 1).ok()?))
}

#[test]
fn the_most_that_is_live_modulo_the_interval_is_the_steady_peak() {
    for (name, _) in SHIPPED {
        for devices in [1, 2, 3, 4, 7, 8] {
            let Some((block, model)) = family(name, devices) else { continue };
            for (device, peak) in Device::all(devices).zip(block.steady_peak(&model)) {
                let live = live(&block, &model, device);
                assert_eq!(
                    live.iter().map(|&(_, held)| held).max(),
                    Some(peak.0.into()),
                    "{name} {devices} {device}"
                );
                assert!(live.windows(2).all(|pair| pair[0].0 < pair[1].0), "{live:?}");
            }
        }
    }
}

#[test]
fn each_step_runs_every_pass_and_none_makes_the_schedule_longer() {
    for (name, _) in SHIPPED {
        let Some((block, model)) = family(name, 4) else { continue };
        let picture = BlockPicture::new(name, &block, &model).expect("a picture");
        let passes = block.passes().count() * picture.microbatches() as usize / block.period() as usize;
        let makespans: Vec<i64> = picture.steps.iter().map(|step| step.makespan).collect();
        assert_eq!(picture.steps.len(), 2, "{name}");
        assert!(makespans.windows(2).all(|pair| pair[1] <= pair[0]), "{name}: {makespans:?}");
        for step in &picture.steps {
            assert_eq!(step.rows.iter().map(Vec::len).sum::<usize>(), passes, "{name}: {:?}", step.kind);
            for row in &step.rows {
                assert!(row.windows(2).all(|pair| pair[0].end <= pair[1].start), "{name}: {:?}", step.kind);
            }
        }
    }
}

#[test]
fn a_builder_that_changes_the_order_adds_a_step() {
    let (block, model) = family("v-half", 4).expect("a block");
    let picture = BlockPicture::new("v-half", &block, &model).expect("a picture");
    let of = |microbatches| model.clone().with_microbatches(microbatches).expect("a model");
    let model_of = of(picture.microbatches());
    let same = block.expand(&model_of, picture.microbatches()).expect("a schedule");
    assert_eq!(picture.clone().with_reordering(&same).expect("a picture").steps.len(), 2);
    let schedule = crate::catalog::find("v-half").expect("a name").generate(&model_of).expect("a schedule");
    let picture = picture.with_reordering(&schedule).expect("a picture");
    let last = picture.steps.last().expect("a step");
    assert!(matches!(last.kind, StepKind::Reordered(_)) && last.makespan <= picture.steps[1].makespan);
}

#[test]
fn a_block_is_drawn_from_its_offsets_to_a_schedule() {
    let (block, model) = family("1f1b", 2).expect("a block");
    let picture = BlockPicture::new("1f1b", &block, &model).expect("a picture");
    insta::assert_snapshot!("block_svg", blocks(&[picture], Some(400)).expect("room"));
}

#[test]
fn blocks_stand_side_by_side_and_need_room() {
    let subjects = ["1f1b", "v-half"].map(|name| (name, family(name, 4).expect("a block")));
    let pictures: Vec<BlockPicture<'_>> = subjects
        .iter()
        .map(|(name, (block, model))| BlockPicture::new(name, block, model).expect("a picture"))
        .collect();
    let text = blocks(&pictures, None).expect("room");
    assert_eq!(text.matches(">(a) ").count(), 2);
    assert_eq!(text.matches("translate(0 ").count(), text.matches("translate(510 ").count(), "{text}");
    let error = blocks(&pictures, Some(500)).expect_err("too narrow");
    assert_eq!(error.to_string(), "a drawing of 2 blocks needs a width of at least 664 pixels, not 500");
}

#[test]
fn a_block_that_collides_has_no_schedule() {
    let (block, model) = family("zb-h1", 3).expect("a block");
    let passes: Vec<_> = block.passes().collect();
    let narrow = Block::periodic(block.placement().clone(), 1, 1, Ticks(2), passes).expect("offsets");
    let text =
        blocks(&[BlockPicture::new("narrow", &narrow, &model).expect("a picture")], None).expect("room");
    assert!(text.contains("faults") && !text.contains(">(c) "), "{text}");
    assert_eq!(block.steady_peak(&model).len(), 3);
    assert!(block.steady_peak(&model).iter().all(|&peak| peak == Units(3)));
}
