//! Certificates that were tampered with. A digest alone protects nothing, since anybody can compute
//! it anew: most of these have the right digests and say something false.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::file::{Figures, Statement, digest, digest_of_schedule, digest_of_statement};
use super::*;
use crate::model::{self, Device, Kind, Pass, Placement, Ticks};
use crate::replay::replay;
use crate::schedule::{self, Offloaded, Schedule};

/// Three devices of the 3,4,2 model, 12 microbatches, three quarters of 1F1B's memory; made by
/// `bubbleproof optimize models/profiles/uneven-342.toml --devices 3 --microbatches 12 --memory 75%`.
const GENUINE: &str = include_str!("../../../../tests/corpus/certificates/genuine.json");

fn genuine() -> Schedule {
    schedule::parse(GENUINE).expect("a schedule file")
}

fn certificate(schedule: &Schedule) -> Certificate {
    serde_json::from_value(schedule.certificate.clone().expect("there is one")).expect("a certificate")
}

/// The schedule with another statement, whose digest is right.
fn stating(mut schedule: Schedule, alter: impl FnOnce(&mut Statement)) -> Schedule {
    let mut certificate = certificate(&schedule);
    alter(&mut certificate.statement);
    certificate.sha256 = digest_of_statement(&certificate.statement);
    schedule.certificate = Some(certificate.to_json());
    schedule
}

/// The schedule with its orders changed, and all digests made to match.
fn ordered(schedule: &Schedule, alter: impl FnOnce(&mut Vec<Vec<Pass>>)) -> Schedule {
    let mut orders = schedule.orders().to_vec();
    alter(&mut orders);
    let mut other = Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders)
        .expect("one order per device");
    other.certificate = schedule.certificate.clone();
    let sha256 = digest_of_schedule(&other);
    stating(other, |statement| statement.schedule_sha256 = sha256)
}

/// The schedule with another problem, and all digests made to match.
fn about(schedule: Schedule, from: &str, to: &str) -> Schedule {
    stating(schedule, |statement| {
        assert!(statement.problem.contains(from), "{}", statement.problem);
        statement.problem = statement.problem.replace(from, to);
        statement.problem_sha256 = digest(statement.problem.as_bytes());
    })
}

/// By it other files can name the problem.
#[test]
fn a_certificate_names_the_problem_that_it_is_about() {
    let schedule = genuine();
    let problem = &certificate(&schedule).statement.problem;
    assert_eq!(certificate(&schedule).problem_digest(), digest(problem.as_bytes()));
    let model = check(&schedule, None).expect("it is genuine").problem;
    assert_eq!(problem_digest(&model), digest(problem.as_bytes()));
    let engines =
        [SearchEngine::ClauseGeneration, SearchEngine::BranchAndBound].map(|engine| engine.to_string());
    assert_eq!(engines, ["lcg", "branch and bound"]);
}

#[test]
fn a_genuine_certificate_is_accepted_with_and_without_its_model() {
    let schedule = genuine();
    let checked = check(&schedule, None).expect("it is genuine");
    let value = Ticks(238);
    assert_eq!(checked.claims, [Claim::Runs { value }, Claim::LowerBound { value }, Claim::Optimal]);
    assert!(checked.claims.iter().all(Claim::is_checked));
    check(&schedule, Some(&checked.problem)).expect("it is about this model");
}

#[test]
fn what_only_a_search_could_confirm_is_not_called_checked() {
    let searched = stating(genuine(), |statement| {
        statement.optimality =
            Optimality::Search { engine: SearchEngine::ClauseGeneration, none_below: Ticks(238) };
    });
    let claims = check(&searched, None).expect("nothing in it is false").claims;
    let unchecked: Vec<&Claim> = claims.iter().filter(|claim| !claim.is_checked()).collect();
    assert!(matches!(unchecked.as_slice(), [Claim::Searched { none_below: Ticks(238), .. }]));
}

/// By claim of an accepted certificate: 1 if it is machine-checked, 0 otherwise.
fn machine_checked(schedule: &Schedule) -> Vec<u8> {
    let checked = check(schedule, None).expect("nothing in it is false");
    checked.claims.iter().map(|claim| u8::from(checked.is_machine_checked(claim))).collect()
}

/// The theorems in Rocq are about Fs, Is and Ws, and about no other tables. What a search found nobody has derived.
#[test]
fn machine_checked_is_what_theorems_in_rocq_are_about() {
    assert_eq!(machine_checked(&genuine()), [1, 1, 1]);
    let searched = searched_under(Model::clone);
    assert_eq!(machine_checked(&searched), [1, 1, 0]);
    let with_step = searched_under(|model| {
        let stages = model.stages() as usize;
        let step = model::StepEnd { reduce: vec![Ticks(0); stages], optimizer: vec![Ticks(1); stages] };
        model.with_step(Some(step)).expect("a step")
    });
    let with_step = stating(with_step, |statement| statement.optimality = Optimality::Open);
    assert_eq!(machine_checked(&with_step), [0, 0]);
    // A backward in one pass: I, and W right behind it.
    let whole = ordered(&genuine(), |orders| {
        let order = &mut orders[0];
        let at = order.windows(2).position(|two| {
            let [first, second] = two else { return false };
            (first.kind, second.kind) == (Kind::I, Kind::W)
                && (first.stage, first.microbatch) == (second.stage, second.microbatch)
        });
        let at = at.expect("some W follows its I");
        order[at].kind = Kind::B;
        order.remove(at + 1);
    });
    let problem = check(&genuine(), None).expect("it is genuine").problem;
    let verdict = replay(&problem, &whole);
    let whole = stating(whole, |statement| {
        statement.metrics = Figures::of(&verdict.timing.as_ref().expect("it runs").metrics, &verdict);
        statement.optimality = Optimality::Open;
    });
    assert_eq!(machine_checked(&whole), [0, 0]);
    // Of the reasons those alone that Rocq has a theorem for.
    let area = BoundReason::Area { device: Device(0) };
    let offload = BoundReason::Offload { device: Device(0) };
    assert_eq!([area, offload].map(|reason| reason.is_machine_checked()), [true, false]);
    // Nothing is proved there about plans.
    let checked = check(&genuine(), None).expect("it is genuine");
    let value = Ticks(238);
    for claim in [
        Claim::OverCuts { value },
        Claim::OverPlans { value, choices: 1 },
        Claim::SearchedCuts { none_below: value },
    ] {
        assert!(!checked.is_machine_checked(&claim), "{claim:?}");
    }
}

#[test]
fn plain_passes_have_one_direction_and_no_recomputation() {
    let placement = || Placement::linear(1).expect("a placement");
    let schedule = |order: &str| {
        let order = order.split(' ').map(|pass| pass.parse().expect("a pass")).collect();
        Schedule::new(placement(), 1, vec![order]).expect("a schedule")
    };
    let plain = schedule("0F0 0I0 0W0");
    let model = Model::equal_stages(placement(), 1, [1, 1, 1, 0]).expect("a model");
    assert!(check::is_of_plain_passes(&plain, &model));
    for other in ["0F0 0B0", "0F0 0R0 0I0 0W0"] {
        assert!(!check::is_of_plain_passes(&schedule(other), &model), "{other}");
    }
    let two = schedule("0F0 0F1 0I0 0W0 0I1 0W1");
    let paired = two.clone().with_overlaps(vec![vec![1]]).expect("a pair of the order");
    assert_eq!([&two, &paired].map(|of| check::is_of_plain_passes(of, &model)), [true, false]);
    let checkpoint = Some(vec![model::Units(0)]);
    let again = model.with_plain_memory(model::Memory { checkpoint, ..model.memory().clone() });
    assert!(!check::is_of_plain_passes(&plain, &again.expect("a checkpoint")));
    let both_ways = Placement::bidirectional(1).expect("a placement");
    let both_ways = Model::equal_stages(both_ways, 2, [1, 1, 1, 0]).expect("a model");
    assert!(!check::is_of_plain_passes(&plain, &both_ways));
}

/// Branch and bound begins every device as soon as possible; a span that it is said to have proved may be no optimum.
#[test]
fn an_engine_vouches_only_for_what_it_minimises() {
    let problem = check(&genuine(), None).expect("it is genuine").problem;
    for objective in [Objective::Makespan, Objective::DeviceSpan] {
        for engine in SearchEngine::ALL {
            let searched = stating(genuine(), |statement| {
                statement.objective = objective;
                statement.bound = lower_bound(&problem, objective);
                statement.optimality = Optimality::Search { engine, none_below: statement.bound.value };
            });
            let checked = check(&searched, None);
            if engine == SearchEngine::BranchAndBound && objective == Objective::DeviceSpan {
                let error = checked.expect_err("it never minimises that");
                assert!(matches!(error, CertificateError::Engine { .. }), "{error}");
                assert_eq!(
                    error.to_string(),
                    "branch and bound is claimed to have searched for the least device span, which it does not minimise"
                );
            } else {
                let claims = checked.expect("nothing in it is false").claims;
                assert!(claims.iter().any(|claim| !claim.is_checked()), "{engine}, {objective}: {claims:?}");
            }
        }
    }
}

/// The genuine schedule under a problem with other tables, with the claim that a search looked at all schedules.
fn searched_under(change: impl FnOnce(&Model) -> Model) -> Schedule {
    let mut schedule = genuine();
    let problem = change(&check(&schedule, None).expect("it is genuine").problem);
    let verdict = replay(&problem, &schedule);
    let bound = lower_bound(&problem, Objective::Makespan);
    let searched = Optimality::Search { engine: SearchEngine::ClauseGeneration, none_below: bound.value };
    let certificate = Certificate::of(&problem, &schedule, &verdict, Objective::Makespan, &bound, searched);
    schedule.certificate = certificate.map(|certificate| certificate.to_json());
    schedule
}

#[test]
fn no_search_vouches_for_tables_that_it_leaves_out() {
    let with_pairs = |model: &Model| {
        let pairs = model::PairDurations::Uniform(Ticks(8));
        let overlap = model::Overlap { forward_backward: pairs, ..model::Overlap::default() };
        model.with_overlap(overlap).expect("at least 6 and at most 9")
    };
    let with_step = |model: &Model| {
        let stages = model.stages() as usize;
        let step = model::StepEnd { reduce: vec![Ticks(0); stages], optimizer: vec![Ticks(1); stages] };
        model.with_step(Some(step)).expect("a step")
    };
    let with_both = |model: &Model| with_step(&with_pairs(model));
    for (tables, searched) in [
        ("[overlap]", searched_under(with_pairs)),
        ("[step]", searched_under(with_step)),
        ("[overlap] and [step]", searched_under(with_both)),
    ] {
        let Err(error) = check(&searched, None) else { panic!("accepted: {tables}") };
        assert!(matches!(error, CertificateError::LeavesOut { .. }), "{error}");
        assert_eq!(
            error.to_string(),
            format!(
                "lcg is claimed to have searched all schedules, but it leaves out {tables} of the problem"
            )
        );
        // What it claims beside that is true.
        let open = stating(searched, |statement| statement.optimality = Optimality::Open);
        check(&open, None).expect("nothing in it is false");
    }
    check(&searched_under(Model::clone), None).expect("the search knows all of this");
}

type Tampered = (&'static str, Schedule);

/// Altered without making the digests match.
fn altered() -> Vec<Tampered> {
    let json = |alter: &dyn Fn(&mut serde_json::Value)| {
        let mut schedule = genuine();
        alter(schedule.certificate.as_mut().expect("there is one"));
        schedule
    };
    let mut without = genuine();
    without.certificate = None;
    let mut swapped = genuine().orders().to_vec();
    swapped[0].swap(0, 1);
    let mut reordered = Schedule::new(genuine().placement().clone(), 12, swapped).expect("a schedule");
    reordered.certificate = genuine().certificate;
    vec![
        ("no certificate", without),
        ("a list in place of a certificate", json(&|it| *it = serde_json::json!([]))),
        ("a key too many", json(&|it| it["statement"]["verified"] = true.into())),
        (
            "a key too few",
            json(&|it| _ = it["statement"].as_object_mut().expect("an object").remove("bound")),
        ),
        ("an unknown reason for the bound", json(&|it| it["statement"]["bound"]["reason"] = "trust".into())),
        ("another format", json(&|it| it["statement"]["format"] = "bubbleproof-certificate-2".into())),
        ("another makespan", json(&|it| it["statement"]["metrics"]["makespan"] = 237.into())),
        ("another digest", json(&|it| it["sha256"] = "00".into())),
        ("another order of the schedule", reordered),
    ]
}

/// Altered by somebody who knows how to compute digests.
fn forged() -> Vec<Tampered> {
    let said = |alter: fn(&mut Statement)| stating(genuine(), alter);
    vec![
        ("a digest of another problem", said(|it| it.problem_sha256 = digest(b"another"))),
        ("a problem that is no model", about(genuine(), "[time]", "[times]")),
        ("a problem with a smaller capacity", about(genuine(), "capacity = 4", "capacity = 3")),
        ("a problem with a larger capacity, under which the bound is lower", {
            about(genuine(), "capacity = 4", "capacity = 6")
        }),
        ("a problem with faster forwards", about(genuine(), "forward = 3", "forward = 2")),
        ("a problem with latency", about(genuine(), "communication = 0", "communication = 1")),
        ("a problem of more microbatches", about(genuine(), "microbatches = 12", "microbatches = 13")),
        ("a problem of another placement", about(genuine(), "\"v\"", "[[0, 1], [2, 3], [4, 5]]")),
        ("a digest of another schedule", said(|it| it.schedule_sha256 = digest(b"another"))),
        ("a pass before the one it needs", ordered(&genuine(), |orders| orders[2].swap(0, 1))),
        ("a pass left out", ordered(&genuine(), |orders| _ = orders[1].pop())),
        ("a pass done twice", {
            ordered(&genuine(), |orders| {
                let pass = orders[1][0];
                orders[1].push(pass);
            })
        }),
        ("a pass on another device", {
            ordered(&genuine(), |orders| {
                let pass = orders[0].pop().expect("a pass");
                orders[1].push(pass);
            })
        }),
        ("all forwards first, beyond the capacity", {
            ordered(&genuine(), |orders| orders[0].sort_by_key(|pass| pass.kind != Kind::F))
        }),
        ("a slower order of the last passes", {
            ordered(&genuine(), |orders| {
                let order = &mut orders[0];
                let last = order.len() - 1;
                order.swap(last - 2, last - 1);
            })
        }),
        ("a shorter makespan", said(|it| it.metrics.makespan -= 1)),
        ("a longer makespan", said(|it| it.metrics.makespan += 1)),
        ("another device span", said(|it| it.metrics.device_span -= 1)),
        ("another bubble rate", said(|it| it.metrics.bubble_rate = "0/1".to_owned())),
        ("a bubble rate that is not reduced", said(|it| it.metrics.bubble_rate = "44/476".to_owned())),
        ("another idle rate", said(|it| it.metrics.idle_rate = "1/100".to_owned())),
        ("another peak memory", said(|it| it.metrics.peak_memory[0] = 3)),
        ("the peak memory of one device left out", said(|it| _ = it.metrics.peak_memory.pop())),
        ("another objective", said(|it| it.objective = Objective::DeviceSpan)),
        ("a higher bound", said(|it| it.bound.value = Ticks(239))),
        ("a lower bound than follows", said(|it| it.bound.value = Ticks(230))),
        ("a bound for another reason", said(|it| it.bound.reason = BoundReason::Alone)),
        ("a bound that rests on a device that is not there", {
            said(|it| it.bound.reason = BoundReason::Area { device: Device(3) })
        }),
        ("a bound that rests on figures of its own", {
            said(|it| match &mut it.bound.reason {
                BoundReason::Windows { work, .. } => *work += Ticks(1),
                other => panic!("the bound rests on {other:?}"),
            })
        }),
        ("optimality by a bound that is not reached", {
            said(|it| {
                it.bound = Bound { value: Ticks(44), reason: BoundReason::Alone };
            })
        }),
        ("a search that found nothing below more than the schedule takes", {
            said(|it| {
                it.optimality =
                    Optimality::Search { engine: SearchEngine::ClauseGeneration, none_below: Ticks(239) };
            })
        }),
    ]
}

#[test]
fn every_tampered_certificate_is_rejected_for_the_right_reason() {
    let mut report = String::new();
    for (heading, tampered) in [("altered", altered()), ("forged", forged())] {
        writeln!(report, "{heading}").expect("a string takes everything");
        for (name, schedule) in tampered {
            let Err(rejected) = check(&schedule, None) else { panic!("accepted: {name}") };
            writeln!(report, "  {name}:\n    {}", shortened(&rejected.to_string())).expect("a string");
        }
    }
    insta::assert_snapshot!(report);
}

/// The bounds of every reason that the module finds on a model, best or not.
fn all_bounds(model: &Model, objective: Objective) -> Vec<Bound> {
    let relaxed = relaxed::relaxed(model);
    let (real, paths) = (path::Paths::new(model), path::Paths::new(&relaxed));
    let devices = || Device::all(model.devices());
    let of_subsets = devices().filter_map(|device| lower_bound_of(model, objective, &[device], STEPS));
    // Below what the device needs, a bound is its horizon.
    let up_to_horizons = devices().filter_map(|device| {
        let end = lower_bound_of(model, objective, &[device], STEPS)?.value - Ticks(1);
        Some(Bound { value: end, reason: BoundReason::Horizon { devices: vec![device], end } })
    });
    // So is one at a pace.
    let at_pace = |end| lower_bound_at_pace(model, interval_bound(model), end, STEPS, &mut || false);
    let at_pace = at_pace(Ticks(Model::MAX_TOTAL)).and_then(|bound| at_pace(bound.value - Ticks(1)));
    let at_pace = at_pace.filter(|_| objective == Objective::Makespan);
    devices()
        .flat_map(|device| bound::of_device(&real, &paths, device, objective))
        .chain(devices().flat_map(|device| trade::bounds(&real, &paths, device, objective)))
        .chain(of_subsets)
        .chain(up_to_horizons)
        .chain(at_pace)
        .collect()
}

/// Adds one to the figures of a bound of these names, one at a time.
fn altered_figures(bound: &Bound, names: &[&str]) -> Vec<Bound> {
    fn alter(value: &serde_json::Value, names: &[&str], found: &mut Vec<serde_json::Value>) {
        let Some(object) = value.as_object() else { return };
        for (key, part) in object {
            let mut parts = Vec::new();
            match part.as_i64() {
                Some(figure) if names.contains(&key.as_str()) => parts.push((figure + 1).into()),
                _ => alter(part, names, &mut parts),
            }
            found.extend(parts.into_iter().map(|part| {
                let mut object = object.clone();
                object.insert(key.clone(), part);
                serde_json::Value::Object(object)
            }));
        }
    }
    let mut found = Vec::new();
    alter(&serde_json::to_value(bound).expect("a bound is JSON"), names, &mut found);
    found.into_iter().map(|value| serde_json::from_value(value).expect("a bound")).collect()
}

/// On three devices in a V. Device 0 has stages 0 and 5: the last of them needs 5 + 1 or 4 + 2, and both optimiser steps
/// take 3. For device 1 this is 0 + 6 or 9 + 3, and 9; for device 2 it is 7 + 0 or 2 + 8, and 8. So the tails of the devices are
/// 6, 9 and 8; of the stages, only 3 and 4 have a longer one.
fn uneven_step() -> model::StepEnd {
    model::StepEnd {
        reduce: [5, 0, 7, 2, 9, 4].map(Ticks).to_vec(),
        optimizer: [1, 6, 0, 8, 3, 2].map(Ticks).to_vec(),
    }
}

#[test]
fn every_bound_on_the_span_of_a_device_grows_by_its_tail() {
    let v = model::Placement::v(3).expect("a placement");
    let free = Model::equal_stages(v, 20, [3, 4, 2, 1]).expect("a model");
    let mut areas = 0;
    for capacity in [None, Some(3), Some(9)] {
        let plain = free.with_uniform_activation_capacity(capacity.map(model::Units)).expect("a model");
        let model = plain.with_step(Some(uneven_step())).expect("a step");
        for (device, tail) in Device::all(3).zip([6, 9, 8].map(Ticks)) {
            assert_eq!(step::tail(&model, device), tail);
            assert_eq!(step::tail(&plain, device), Ticks::ZERO);
            for &stage in model.placement().stages_of(device) {
                let expected = [6, 9, 8, 10, 12, 6][stage.index()];
                assert_eq!(step::tail_of_stage(&model, stage), Ticks(expected), "{stage}");
                assert_eq!(step::tail_of_stage(&plain, stage), Ticks::ZERO);
            }
            for objective in [Objective::Makespan, Objective::DeviceSpan] {
                let [with, without] = [&model, &plain].map(|model| {
                    let paths = path::Paths::new(model);
                    bound::of_device(&paths, &paths, device, objective)
                });
                assert_eq!(with.len(), without.len());
                for (with, without) in with.iter().zip(&without) {
                    let is_area = matches!(with.reason, BoundReason::Area { .. });
                    areas += usize::from(is_area);
                    if is_area {
                        assert_eq!(with.value, without.value + tail, "{with:?}");
                    } else if objective == Objective::DeviceSpan {
                        assert!(with.value >= without.value + tail, "{with:?}");
                    } else {
                        assert!(with.value >= without.value + Ticks(6), "{with:?}");
                    }
                }
            }
        }
    }
    assert_eq!(areas, 2 * 2 * 3);
}

/// The last I of device 0 is of stage 0, whose W is short and whose gradients are reduced for long, or of stage 3, where it is the
/// other way round.
#[test]
fn what_follows_the_last_input_gradient_is_the_weight_of_its_stage_and_the_tail_of_that() {
    let v = model::Placement::v(2).expect("a placement");
    let equal = Model::equal_stages(v, 3, [3, 4, 2, 1]).expect("a model");
    let backward_weight = [1, 2, 2, 50].map(Ticks).to_vec();
    let uneven = equal.with_costs(model::Costs { backward_weight, ..equal.costs().clone() }).expect("costs");
    let step =
        model::StepEnd { reduce: [100, 0, 0, 1].map(Ticks).to_vec(), optimizer: [2; 4].map(Ticks).to_vec() };
    let model = uneven.with_step(Some(step)).expect("a step");
    let paths = path::Paths::new(&model);
    let bounds = bound::of_device(&paths, &paths, Device(0), Objective::DeviceSpan);
    let tails = bounds.iter().filter_map(|bound| match bound.reason {
        BoundReason::Chain { tail, .. } => Some(tail),
        _ => None,
    });
    assert_eq!(tails.collect::<Vec<_>>(), [Ticks(50 + 4)], "less than 1 + 102");
}

#[test]
fn a_model_without_its_pairs_keeps_the_end_of_its_step() {
    let v = model::Placement::v(3).expect("a placement");
    let pairs = model::PairDurations::Uniform(Ticks(8));
    let overlap = model::Overlap { forward_backward: pairs, ..model::Overlap::default() };
    let paired = Model::equal_stages(v, 20, [3, 4, 2, 1]).and_then(|model| model.with_overlap(overlap));
    let paired = paired.expect("at least 6 and at most 9");
    let model = paired.with_step(Some(uneven_step())).expect("a step");
    assert_eq!(pairs::shortened(&model).step(), model.step());
    assert_eq!(pairs::shortened(&model).with_step(None).as_ref(), Ok(&*pairs::shortened(&paired)));
    for objective in [Objective::Makespan, Objective::DeviceSpan] {
        let bound = lower_bound(&model, objective);
        assert!(bound.value >= lower_bound(&paired, objective).value + Ticks(6), "{bound:?}");
        assert_eq!(holds(&model, objective, &bound), Ok(()));
    }
}

/// Device 1 holds the second stage of one pipeline and the third of the other, whose first backward reaches it after 10 ticks: the
/// four Fs of a microbatch, and one I. Until then it runs at most four forwards, which are in no pair. It has 40 ticks of work if
/// all forwards are in pairs; so it idles 6 ticks of the makespan, and 3 after it begins.
#[test]
fn windows_are_those_of_the_direction_in_which_they_are_shorter() {
    let pairs = model::PairDurations::Uniform(Ticks(5));
    let overlap = model::Overlap { forward_backward: pairs, ..model::Overlap::default() };
    let both_ways = Placement::bidirectional(4).expect("a placement");
    let plain = Model::equal_stages(both_ways, 8, [2, 2, 2, 0]).expect("a model");
    let model = plain.with_overlap(overlap).expect("at least 4 and at most 6");
    for (objective, value, length, work) in
        [(Objective::Makespan, 46, 10, 4), (Objective::DeviceSpan, 43, 6, 3)]
    {
        let bound = lower_bound(&model, objective);
        assert_eq!(bound.value, Ticks(value));
        let first = Window { length: Ticks(length), work: Ticks(work) };
        let last = Window { length: Ticks(0), work: Ticks(0) };
        let reason = BoundReason::Windows { device: Device(1), work: Ticks(40), first, last };
        assert_eq!(bound.reason, reason);
        assert_eq!(holds(&model, objective, &bound), Ok(()));
    }
}

#[test]
fn of_passes_alone_the_best_closed_form_is_one_of_those_of_each_device() {
    let v = Placement::v(3).expect("a placement");
    for capacity in [2, 3, 6] {
        let model = Model::equal_stages(v.clone(), 20, [3, 4, 2, 1])
            .and_then(|model| model.with_uniform_activation_capacity(Some(model::Units(capacity))))
            .expect("a model");
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let each = closed_bounds(&model, objective);
            assert!(each.iter().all(|bound| holds(&model, objective, bound) == Ok(())));
            let best = each.iter().map(|bound| bound.value).max();
            assert_eq!(best, Some(lower_bound_within(&model, objective, 0).value));
        }
    }
}

#[test]
fn no_figure_of_any_reason_can_be_changed() {
    let v = model::Placement::v(3).expect("a placement");
    let tight = Model::equal_stages(v, 20, [3, 4, 2, 1])
        .and_then(|model| model.with_uniform_activation_capacity(Some(crate::model::Units(3))))
        .expect("a model");
    let stepped = tight.with_step(Some(uneven_step())).expect("a step");
    let level = |kept: i64, ticks: i64| model::RecomputeLevel {
        checkpoint: vec![model::Units(kept); 6],
        duration: Some(vec![Ticks(ticks); 6]),
    };
    let levels = model::Recompute { levels: vec![level(0, 4), level(1, 0)], fused: false };
    let again = tight.with_recompute(Some(levels)).expect("levels");
    let mut seen = std::collections::BTreeSet::new();
    let objectives = [Objective::Makespan, Objective::DeviceSpan];
    for (tight, objective) in
        [&tight, &stepped, &again].into_iter().flat_map(|it| objectives.map(|of| (it, of)))
    {
        for bound in all_bounds(tight, objective) {
            assert_eq!(holds(tight, objective, &bound), Ok(()), "{bound:?}");
            let names =
                ["value", "work", "length", "idle", "span", "head", "tail", "held", "turn", "growth", "end"];
            let altered = altered_figures(&bound, &names);
            assert!(!altered.is_empty());
            for altered in altered {
                assert!(holds(tight, objective, &altered).is_err(), "{altered:?} in place of {bound:?}");
            }
            let reason = serde_json::to_value(&bound.reason).expect("a reason is JSON");
            seen.extend(reason.as_object().and_then(|reason| reason.keys().next().cloned()));
        }
    }
    let all = ["area", "chain", "horizon", "pace", "ramps", "recomputation", "subset", "turnover", "windows"];
    assert_eq!(
        seen.iter().collect::<Vec<_>>(),
        all,
        "list a new reason here, and its figures in `names` above"
    );
}

/// With digests cut short.
fn shortened(text: &str) -> String {
    let is_digest = |word: &&str| {
        let word = word.trim_end_matches(',');
        word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let short = |word: &str| match word.strip_suffix(',') {
        _ if !is_digest(&word) => word.to_owned(),
        Some(_) => "<digest>,".to_owned(),
        None => "<digest>".to_owned(),
    };
    text.split(' ').map(short).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_certificate_about_another_model_than_the_one_asked_about_is_rejected() {
    let schedule = genuine();
    let problem = check(&schedule, None).expect("it is genuine").problem;
    let other = problem.with_uniform_activation_capacity(None).expect("no capacities");
    let rejected = check(&schedule, Some(&other));
    let Err(CertificateError::OtherProblem { stated, asked, .. }) = rejected else { panic!("{rejected:?}") };
    // The first line that differs.
    assert!(stated.starts_with("`capacity = ") && asked == "nothing", "{stated}, {asked}");
    let longer = problem.with_microbatches(13).expect("a model");
    let Err(error) = check(&schedule, Some(&longer)) else { panic!("it is another problem") };
    let CertificateError::OtherProblem { stated, asked, .. } = error else { panic!("{error:?}") };
    assert_eq!([stated, asked], ["`microbatches = 12`", "`microbatches = 13`"]);
}

/// As a file that has been through another system may have them.
#[test]
fn the_ends_of_its_lines_do_not_make_a_problem_another_one() {
    let problem = check(&genuine(), None).expect("it is genuine").problem;
    let schedule = stating(genuine(), |statement| {
        statement.problem = statement.problem.replace('\n', "\r\n");
        statement.problem_sha256 = digest(statement.problem.as_bytes());
    });
    check(&schedule, Some(&problem)).expect("it is about this model");
}

#[test]
fn a_problem_with_capacities_on_some_devices_only_is_stated_whole() {
    let schedule = genuine();
    let problem = check(&schedule, None).expect("it is genuine").problem;
    let capacities = vec![Some(model::Units(4)), None, Some(model::Units(4))];
    let problem = problem.with_activation_capacity(capacities).expect("capacities");
    let verdict = replay(&problem, &schedule);
    let bound = lower_bound(&problem, Objective::Makespan);
    let certificate =
        Certificate::of(&problem, &schedule, &verdict, Objective::Makespan, &bound, Optimality::Open);
    let mut certified = schedule;
    certified.certificate = certificate.map(|certificate| certificate.to_json());
    assert_eq!(check(&certified, None).expect("it is true").problem, problem);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever byte of the certificate is changed: it is rejected, or says the same.
    #[test]
    fn no_byte_of_a_certificate_can_be_changed(at in 0..10_000_usize, to in 0x20..0x7f_u8) {
        let schedule = genuine();
        let text = serde_json::to_string(&schedule.certificate).expect("JSON");
        let mut bytes = text.clone().into_bytes();
        let at = at % bytes.len();
        bytes[at] = to;
        let Ok(json) = serde_json::from_slice::<serde_json::Value>(&bytes) else { return Ok(()) };
        let same = Some(&json) == schedule.certificate.as_ref();
        let mut changed = schedule;
        changed.certificate = Some(json);
        prop_assert_eq!(check(&changed, None).is_ok(), same);
    }
}

#[test]
fn schedules_that_differ_in_pairs_offloads_or_directions_have_different_digests() {
    let read = |order: &str| order.split(' ').map(|pass| pass.parse().expect("a pass")).collect();
    let placement = Placement::linear(1).expect("a placement");
    let orders = vec![read("0F0 0F1 0B0 0F2 0B1 0B2")];
    let plain = Schedule::new(placement, 3, orders).expect("a schedule");
    let paired = |pairs: &[usize]| {
        digest_of_schedule(&plain.clone().with_overlaps(vec![pairs.to_vec()]).expect("pairs of the order"))
    };
    assert_eq!(paired(&[]), digest_of_schedule(&plain));
    // A file without pairs keeps the digest that it has always had.
    let expected = digest(br#"[[[0]],3,[["0F0","0F1","0B0","0F2","0B1","0B2"]]]"#);
    assert_eq!(digest_of_schedule(&plain), expected);
    let digests = [paired(&[]), paired(&[1]), paired(&[2]), paired(&[3]), paired(&[1, 3])];
    for (position, digest) in digests.iter().enumerate() {
        assert!(!digests[..position].contains(digest), "{position}");
    }
    // What is offloaded counts, and from where to where.
    let offloaded = |offloads: &[(usize, usize)]| {
        let pass = "0F0".parse().expect("a pass");
        let list = offloads.iter().map(|&(freed, fetched)| Offloaded { pass, freed, fetched }).collect();
        digest_of_schedule(&plain.clone().with_offloads(vec![list]).expect("offloads"))
    };
    let offloaded = [offloaded(&[(1, 2)]), offloaded(&[(2, 3)]), offloaded(&[(1, 3)]), offloaded(&[])];
    let different: std::collections::BTreeSet<&String> = offloaded.iter().collect();
    assert_eq!((different.len(), &offloaded[3]), (4, &expected));
    // The same stages on the same devices, once passed one after the other and once from either end.
    let orders = || vec![read("0F0 0F1 0B0 0B1"), read("1F0 1F1 1B0 1B1")];
    let on = |placement: Result<Placement, _>| {
        let schedule = Schedule::new(placement.expect("a placement"), 2, orders()).expect("a schedule");
        digest_of_schedule(&schedule.with_overlaps(vec![vec![1], vec![1]]).expect("pairs of the orders"))
    };
    assert_eq!(
        Placement::v(2).expect("a placement").lists(),
        Placement::bidirectional(2).expect("a placement").lists()
    );
    assert_ne!(on(Placement::v(2)), on(Placement::bidirectional(2)));
}
