//! Optima with proofs, checked by two programs that are not ours; and tampered ones, which must be rejected.
//!
//! ```sh
//! make certify        # installs the checkers into .deps and runs this
//! cargo run --example certify -- CHECKERS FOLDER
//! ```
//!
//! `CHECKERS` is the folder with `pumpkin-checker` and `veripb`; statements, proofs and schedules are left in
//! `FOLDER`. Ends with an error when a proof is not accepted, an optimum is not the one on record, or
//! something tampered with is not rejected.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bubbleproof::files;
use bubbleproof::model::{Model, Placement, Ticks, Units};
use bubbleproof::optimize::exact::linear::{Binary, LinearProgram};
use bubbleproof::optimize::exact::proof::{Certified, certify};
use bubbleproof::optimize::{Options, optimize};
use bubbleproof::stop::Stop;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Placement, devices, microbatches, capacity, `[F, I, W, latency]`, the optimum on record.
type Problem = (&'static str, u32, u32, i64, [i64; 4], Option<i64>);

/// The optima on record were found by other engines (a constraint solver and a branch and bound).
const PROBLEMS: &[Problem] = &[
    ("v", 2, 4, 3, [1, 1, 1, 0], None),
    ("v", 2, 8, 3, [1, 1, 1, 0], Some(51)),
    ("v", 3, 4, 4, [1, 1, 1, 1], None),
    ("v", 3, 8, 4, [1, 1, 1, 0], Some(53)),
    ("v", 4, 2, 4, [3, 4, 2, 0], Some(66)),
    ("v", 4, 5, 4, [3, 4, 2, 0], Some(137)),
    ("v", 4, 8, 3, [3, 4, 2, 0], Some(286)),
    ("linear", 3, 6, 2, [3, 4, 2, 1], None),
    ("linear", 4, 8, 3, [1, 1, 1, 0], None),
    ("looped", 2, 4, 4, [1, 2, 1, 0], None),
    ("linear", 4, 4, 4, [18522, 18086, 9337, 601], None),
];

const LIMIT: Duration = Duration::from_secs(120);

struct Checkers(PathBuf);

impl Checkers {
    /// Whether the checker of these files accepts, and what it says.
    fn accepts(
        &self,
        program: &str,
        statement: &Path,
        proof: &Path,
    ) -> Result<(bool, String), Box<dyn Error>> {
        let path = self.0.join(program);
        let output = Command::new(&path)
            .args([statement, proof])
            .output()
            .map_err(|error| format!("cannot run {}: {error}; `make certify` installs it", path.display()))?;
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let verdict = if program == "veripb" { "s VERIFIED UNSATISFIABLE" } else { "Proof is valid!" };
        Ok((output.status.success() && text.lines().any(|line| line == verdict), text))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let (Some(checkers), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: certify CHECKERS FOLDER".into());
    };
    let checkers = Checkers(checkers);
    fs::create_dir_all(&folder)?;
    println!(
        "problem                          optimum  found, s  pumpkin-checker: proof  time  verdict   veripb: proof  time  verdict"
    );
    for &(place, devices, microbatches, capacity, times, record) in PROBLEMS {
        let placement = match place {
            "v" => Placement::v(devices)?,
            "looped" => Placement::looped(devices, 2)?,
            _ => Placement::linear(devices)?,
        };
        let model = Model::equal_stages(placement, microbatches, times)?;
        let model = model.with_uniform_activation_capacity(Some(Units(capacity)))?;
        let times: Vec<String> = times.iter().map(ToString::to_string).collect();
        let stem = format!("{place}-d{devices}-m{microbatches}-capacity{capacity}-{}", times.join("-"));
        let begin = Instant::now();
        let start = optimize(&model, &Options::default(), &mut |_| ())?.schedule;
        let found = certify(&model, &start, &Stop::after(LIMIT))?.ok_or("no proof within the time limit")?;
        print!("{stem:31}  {:>7}  {:8.1}", found.makespan.to_string(), begin.elapsed().as_secs_f64());
        if let Some(record) = record.filter(|&record| Ticks(record) != found.makespan) {
            return Err(format!("{stem}: the optimum on record is {record}").into());
        }
        for (name, text) in found.files(&stem) {
            files::write(&folder.join(name), text)?;
        }
        for [program, statement, proof] in Certified::commands(&stem) {
            let begin = Instant::now();
            let proof = folder.join(proof);
            let (accepted, text) = checkers.accepts(&program, &folder.join(statement), &proof)?;
            let (size, time) = (fs::metadata(&proof)?.len() / 1024, begin.elapsed().as_millis());
            let verdict = if accepted { "accepted" } else { "REJECTED" };
            print!("  {size:10} kB {time:5} ms  {verdict}");
            if !accepted {
                return Err(format!("\n{stem}: {program} rejects the proof:\n{text}").into());
            }
        }
        println!();
    }
    tamper(&checkers, &folder)
}

/// Problems that were changed so that the claim is false, and proofs that were changed.
fn tamper(checkers: &Checkers, folder: &Path) -> Result<(), Box<dyn Error>> {
    let model = Model::equal_stages(Placement::v(2)?, 4, [1, 1, 1, 0])?;
    let limited = |capacity| model.with_uniform_activation_capacity(Some(Units(capacity)));
    let start = optimize(&limited(3)?, &Options::default(), &mut |_| ())?.schedule;
    let prove = |model: &Model| certify(model, &start, &Stop::after(LIMIT));
    let right = prove(&limited(3)?)?.ok_or("no proof")?;
    let other = prove(&limited(4)?)?.ok_or("no proof")?;
    assert!(right.makespan > other.makespan, "less memory takes longer");
    let horizon = LinearProgram::new(&limited(3)?, right.makespan)?;
    let late_opb = Binary::new(&horizon).opb();
    let mut log = String::new();
    GzDecoder::new(right.log.as_slice()).read_to_string(&mut log)?;
    let without = |text: &str, word: &str| -> String {
        text.split_inclusive('\n').filter(|line| !line.contains(word)).collect()
    };
    // The coefficients of the memory at one F become harmless: the inequality is there, and says nothing.
    let relaxed = |text: &str, from: &str, to: &str| text.replacen(from, to, 1);
    let first_step = |text: &str, mark: &str| -> String {
        let at = text.lines().position(|line| line.starts_with(mark)).expect("there is such a step");
        let kept = text.split_inclusive('\n').enumerate().filter(|(line, _)| *line != at);
        kept.map(|(_, line)| line).collect()
    };
    let cases: Vec<(&str, &str, String, String)> = vec![
        ("the horizon raised to the optimum", "fzn", horizon.flatzinc(), log.clone()),
        ("the horizon raised to the optimum", "opb", late_opb, right.pbp.clone()),
        ("a looser capacity", "fzn", other.flatzinc.clone(), log.clone()),
        ("a looser capacity", "opb", other.opb.clone(), right.pbp.clone()),
        ("the dependencies dropped", "opb", without(&right.opb, ">= 1 ;"), right.pbp.clone()),
        ("an inference deleted", "fzn", right.flatzinc.clone(), first_step(&log, "i ")),
        ("a deduction deleted", "fzn", right.flatzinc.clone(), first_step(&log, "n ")),
        ("a premise altered", "fzn", right.flatzinc.clone(), relaxed(&log, ">= ", ">= 1")),
        ("the conclusion deleted", "fzn", right.flatzinc.clone(), first_step(&log, "c ")),
        ("a sum deleted", "opb", right.opb.clone(), first_step(&right.pbp, "pol ")),
        ("a clause altered", "opb", right.opb.clone(), relaxed(&right.pbp, "rup 1 ~", "rup 1 ")),
        ("the last clause deleted", "opb", right.opb.clone(), without(&right.pbp, "rup >= 1")),
        ("the proof of another problem", "fzn", right.flatzinc.clone(), {
            let mut text = String::new();
            GzDecoder::new(other.log.as_slice()).read_to_string(&mut text)?;
            text
        }),
        ("the proof of another problem", "opb", right.opb.clone(), other.pbp.clone()),
    ];
    println!("\ntampered                              checker");
    for (at, (what, form, statement, proof)) in cases.iter().enumerate() {
        let (program, extension) =
            if *form == "opb" { ("veripb", "pbp") } else { ("pumpkin-checker", "drcp.gz") };
        let path = |extension: &str| folder.join(format!("tampered-{at}.{extension}"));
        files::write(&path(form), statement)?;
        if *form == "opb" {
            files::write(&path(extension), proof)?;
        } else {
            files::write_with(&path(extension), |out| {
                let mut packed = GzEncoder::new(out, Compression::fast());
                packed.write_all(proof.as_bytes())?;
                packed.finish().map(|_| ())
            })?;
        }
        let (accepted, _) = checkers.accepts(program, &path(form), &path(extension))?;
        println!("{what:36}  {program:15}  {}", if accepted { "ACCEPTED" } else { "rejected" });
        if accepted {
            return Err(format!("{program} accepts what is wrong: {what}").into());
        }
    }
    forge(checkers, folder, &horizon)
}

/// A log that a schedule of the optimal makespan does not exist, without any reasoning: that a variable from
/// 0 to 1 is neither. pumpkin-checker 0.5.0 takes both for a property of the range, which is why its word
/// is not enough; the same claim is no proof for VeriPB.
fn forge(checkers: &Checkers, folder: &Path, program: &LinearProgram) -> Result<(), Box<dyn Error>> {
    let order = program.variables().last().ok_or("there are orders")?.name();
    let first = program.inequalities().len() + 1;
    let atoms = [">= 0", "<= 1", "!= 0", "!= 1"];
    let mut forged = String::new();
    for (code, atom) in (1..).zip(atoms) {
        writeln!(forged, "a {code} [{order} {atom}]\ni {} 0 {code} l:initial_domain", first + code - 1)?;
    }
    writeln!(forged, "n {} 0 {first} {} {} {}\nc UNSAT", first + 4, first + 1, first + 2, first + 3)?;
    let (statement, log) = (folder.join("forged.fzn"), folder.join("forged.drcp"));
    files::write(&statement, program.flatzinc())?;
    files::write(&log, forged)?;
    let (accepted, _) = checkers.accepts("pumpkin-checker", &statement, &log)?;
    println!(
        "{:36}  {:15}  {}",
        "a forged range",
        "pumpkin-checker",
        if accepted { "accepted: a known gap of this checker" } else { "rejected: the gap is closed" }
    );
    let binary = Binary::new(program);
    let (statement, proof) = (folder.join("forged.opb"), folder.join("forged.pbp"));
    files::write(&statement, binary.opb())?;
    let constraints = binary.constraints();
    files::write(
        &proof,
        format!(
            "pseudo-Boolean proof version 3.0\nf {constraints};\nrup 1 {order} >= 1;\nrup 1 ~{order} >= 1;\n\
             rup >= 1;\noutput NONE;\nconclusion UNSAT : -1;\nend pseudo-Boolean proof;\n"
        ),
    )?;
    let (accepted, _) = checkers.accepts("veripb", &statement, &proof)?;
    println!("{:36}  {:15}  {}", "the same claim", "veripb", if accepted { "ACCEPTED" } else { "rejected" });
    if accepted { Err("veripb accepts a forged proof".into()) } else { Ok(()) }
}
