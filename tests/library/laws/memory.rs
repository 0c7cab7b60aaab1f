//! Laws of memory in replay.

use bubbleproof::model::Units;
use bubbleproof::replay::{Violation, memory_along, replay};
use proptest::prelude::*;

use crate::laws::naive;
use crate::laws::random::schedules;

proptest! {
    #[test]
    fn the_peak_is_what_a_naive_count_along_the_order_finds((model, schedule) in schedules(0)) {
        let peaks = replay(&model, &schedule).peak_memory;
        let naive: Vec<Units> =
            schedule.orders().iter().map(|order| Units(naive::peak_of_order(&model, order))).collect();
        prop_assert_eq!(peaks, naive);
    }

    #[test]
    fn the_peak_is_what_starts_and_ends_alone_tell_when_every_pass_takes_time(
        (model, schedule) in schedules(1),
    ) {
        let verdict = replay(&model, &schedule);
        let starts = verdict.timing.expect("it was made to run").starts;
        let naive: Vec<Units> = schedule
            .orders()
            .iter()
            .zip(&starts)
            .map(|(order, starts)| Units(naive::peak_of_times(&model, order, starts)))
            .collect();
        prop_assert_eq!(verdict.peak_memory, naive);
    }

    #[test]
    fn the_curve_of_each_device_rises_to_its_peak_and_falls_to_nothing((model, schedule) in schedules(0)) {
        let curves = memory_along(&model, &schedule);
        let peaks: Vec<Units> = curves
            .iter()
            .map(|curve| curve.iter().map(|held| held.during).max().unwrap_or_default())
            .collect();
        prop_assert_eq!(peaks, replay(&model, &schedule).peak_memory);
        for (curve, order) in curves.iter().zip(schedule.orders()) {
            prop_assert_eq!(curve.len(), order.len());
            prop_assert_eq!(curve.last().map_or(Units::ZERO, |held| held.after), Units::ZERO);
            prop_assert!(curve.iter().all(|held| held.after <= held.during));
            prop_assert!(curve.windows(2).all(|pair| pair[0].after <= pair[1].during));
        }
    }

    #[test]
    fn a_schedule_fits_its_peak_and_nothing_less((model, schedule) in schedules(0), device: prop::sample::Index) {
        let peaks = replay(&model, &schedule).peak_memory;
        let mut capacities: Vec<_> = peaks.iter().copied().map(Some).collect();
        let enough = model.with_activation_capacity(capacities.clone()).expect("a model");
        prop_assert!(replay(&enough, &schedule).is_valid());

        let device = device.index(capacities.len());
        prop_assume!(peaks[device] > Units::ZERO);
        capacities[device] = Some(peaks[device] - Units(1));
        let verdict = replay(&model.with_activation_capacity(capacities).expect("a model"), &schedule);
        prop_assert!(!verdict.is_valid());
        for violation in verdict.violations {
            let Violation::OverCapacity { at, live, capacity, holding, more, .. } = violation else {
                return Err(TestCaseError::fail(format!("not over capacity: {violation}")));
            };
            prop_assert_eq!(at.device.index(), device);
            prop_assert_eq!((live, capacity), (peaks[device], peaks[device] - Units(1)));
            let order = &schedule.order(at.device)[..=at.position];
            let ended = |forward| order.iter().any(|&pass| {
                (pass.kind.letter() == 'W' || pass.kind.letter() == 'B') && pass.with_kind(bubbleproof::model::Kind::F) == forward
            });
            let held: Vec<_> =
                order.iter().copied().filter(|pass| pass.kind.letter() == 'F' && !ended(*pass)).collect();
            prop_assert_eq!(holding.len() + more, held.len());
            prop_assert!(held.starts_with(&holding));
        }
    }
}
