use std::time::Duration;

use super::*;
use crate::block::family::{SHIPPED, shipped};

#[test]
fn every_shipped_family_is_proved_completely() {
    for (name, _) in SHIPPED {
        if !name.starts_with("v") {
            continue;
        }
        let family = shipped(name).expect("it is shipped");
        for Judgement { theorem, verdict, spent } in
            prove(&family, Duration::from_secs(60), |_| ()).expect("it is well formed")
        {
            println!("{} {:?} {spent:?}", theorem.statement, verdict);
        }
    }
}
