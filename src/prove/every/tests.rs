use super::*;
use crate::block::family;
use crate::catalog;
use crate::model::Placement;

fn unit(placement: &Placement) -> Model {
    Model::unit(placement.clone(), 1).expect("a small model")
}

fn proved(answer: Result<EveryM, EveryError>) -> Proof {
    match answer.expect("an answer") {
        EveryM::Proved(proof) => *proof,
        other => panic!("not proved: {other:?}"),
    }
}

fn v_block(name: &str, devices: u32) -> Proof {
    let placement = Placement::v(devices).expect("a placement");
    let block = catalog::block(name, &placement).expect("a V block");
    proved(every_m_of_block(&block, &unit(&placement)))
}

#[test]
fn spike() {
    for name in ["v-min", "v-half", "v-zb"] {
        for devices in 1..=16 {
            let proof = v_block(name, devices);
            println!(
                "{name} {devices}: {} | span {} | {:?} from {} {:?} to {}",
                proof.makespan,
                proof.device_span,
                proof.peak_memory.iter().max(),
                proof.peak_from,
                proof.repetition,
                proof.replayed_to
            );
        }
    }
    for (name, _) in family::SHIPPED {
        let family = family::shipped(name).unwrap();
        for devices in [2, 5, 8] {
            let Ok(model) = family.model(devices, 1) else { continue };
            let proof = proved(every_m_of_block(&family.block(devices).unwrap(), &model));
            println!(
                "{name} {devices}: {} | {:?}  {:?}",
                proof.makespan, proof.peak_memory, proof.repetition
            );
        }
    }
    for (name, m) in [
        ("1f1b", 12),
        ("zb-h1", 14),
        ("gpipe", 12),
        ("zb-2p", 30),
        ("v-half", 24),
        ("v-min", 24),
        ("v-zb", 24),
        ("interleaved-1f1b", 24),
    ] {
        for devices in [2, 4] {
            let entry = catalog::find(name).unwrap();
            let p = match entry.needs {
                catalog::Needs::V => Placement::v(devices),
                catalog::Needs::Looped => Placement::looped(devices, 2),
                _ => Placement::linear(devices),
            }
            .unwrap();
            let model = Model::unit(p, m).unwrap();
            let s = entry.generate(&model).unwrap();
            match every_m_of_schedule(&s, &model).unwrap() {
                EveryM::Proved(proof) => println!(
                    "{name} {devices} {m}: {} | {:?}  {:?}",
                    proof.makespan, proof.peak_memory, proof.repetition
                ),
                EveryM::Unknown(r) => println!("{name} {devices} {m}: {r}"),
                o => println!("{o:?}"),
            }
        }
    }
}
