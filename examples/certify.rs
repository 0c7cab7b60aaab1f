//! x
use bubbleproof::encode::linear::*;
use bubbleproof::model::*;
use bubbleproof::optimize::*;
use std::time::*;
fn main() {
    let out = std::path::PathBuf::from(std::env::args().nth(1).unwrap());
    let cases: &[(u32, u32, i64, [i64; 4], i64)] = &[
        (2, 4, 3, [1, 1, 1, 0], 27),
        (2, 8, 3, [1, 1, 1, 0], 51),
        (3, 8, 4, [1, 1, 1, 0], 53),
        (3, 8, 5, [1, 1, 1, 0], 51),
        (3, 8, 6, [1, 1, 1, 0], 50),
        (4, 8, 5, [1, 1, 1, 0], 56),
        (4, 8, 6, [1, 1, 1, 0], 53),
        (4, 8, 7, [1, 1, 1, 0], 52),
        (4, 8, 8, [1, 1, 1, 0], 51),
        (4, 8, 3, [3, 4, 2, 0], 286),
        (4, 8, 5, [3, 4, 2, 0], 183),
        (4, 8, 7, [3, 4, 2, 0], 160),
    ];
    for &(d, m, cap, t, v) in cases {
        let model = Model::equal_stages(Placement::v(d).unwrap(), m, t)
            .unwrap()
            .with_uniform_capacity(Some(Units(cap)))
            .unwrap();
        let sol = optimize(&model, &Options::default(), &mut |_| ()).unwrap();
        assert_eq!(sol.value().0, v);
        let timing = sol.verdict.timing.clone().unwrap();
        let b = Instant::now();
        let lp = LinearProgramme::new(&model, Ticks(v - 1)).unwrap();
        let name = format!("v{d}-{m}-{cap}-{}", t[0]);
        if std::env::args().nth(2).is_some_and(|n| !name.contains(&n)) {
            continue;
        }
        std::fs::write(out.join(format!("{name}.fzn")), lp.flatzinc()).unwrap();
        let bin = Binary::new(&lp);
        std::fs::write(out.join(format!("{name}.opb")), bin.opb()).unwrap();
        let e1 = b.elapsed().as_secs_f64();
        let b = Instant::now();
        let log = out.join(format!("{name}.drcp.gz"));
        let a = finite::proof::solve(
            &lp,
            &lp.values(|pass| {
                let d = model.placement().device_of(pass.stage);
                let at = sol.schedule.order(d).iter().position(|&p| p == pass).unwrap_or_else(|| {
                    sol.schedule
                        .order(d)
                        .iter()
                        .position(|&p| {
                            p.stage == pass.stage && p.microbatch == pass.microbatch && p.kind == Kind::B
                        })
                        .unwrap()
                });
                timing.starts[d.index()][at]
            }),
            &log,
            &Stop::after(Duration::from_secs(20)),
        )
        .unwrap();
        let r = match a {
            finite::proof::Answer::Infeasible => "unsat",
            finite::proof::Answer::Feasible(_) => "SAT",
            finite::proof::Answer::Open => "open",
        };
        let b2 = Instant::now();
        let text = if r == "unsat" {
            finite::proof::translate(
                &bin,
                std::io::BufReader::new(flate2::read::GzDecoder::new(std::fs::File::open(&log).unwrap())),
            )
            .unwrap()
        } else {
            String::new()
        };
        std::fs::write(out.join(format!("{name}.pbp")), &text).unwrap();
        println!("pbp {} kB {:.2}", text.len() / 1024, b2.elapsed().as_secs_f64());
        println!(
            "{name} vars {} ineqs {} write {e1:.2} {r} {:.2} s, log {} kB",
            lp.variables().len(),
            lp.inequalities().len(),
            b.elapsed().as_secs_f64(),
            std::fs::metadata(&log).unwrap().len() / 1024
        );
    }
}
