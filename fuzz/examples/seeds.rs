//! Writes the seeds of every target to `corpus/TARGET`, from where libFuzzer begins: `seeds CHECKOUT`.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let checkout = PathBuf::from(env::args().nth(1).expect("the checkout"));
    for (target, _) in bubbleproof_fuzz::TARGETS {
        let folder = checkout.join("fuzz/corpus").join(target);
        fs::create_dir_all(&folder).expect("a folder for the seeds");
        for (number, seed) in bubbleproof_fuzz::seeds(target, &checkout).iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:03}")), seed).expect("a seed is written");
        }
    }
}
