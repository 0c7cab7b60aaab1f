//! The index of the library, as people read it.

use std::fmt::Write as _;

use super::{NamedTheorem, ProofFile, named};
use crate::prove::expected::Expected;

/// `proofs/README.md`: every theorem with its files.
#[must_use]
pub fn index(files: &[ProofFile]) -> String {
    let mut text = String::from(
        "# Proofs\n\n\
         Every theorem of [docs/theorems.md](../docs/theorems.md) as files of SMT-LIB 2, one for each case. A file asks for a \
         counterexample: the answer `unsat` proves the case. A negative control is a false statement near the theorem, a \
         mutated twin, and its answer must be `sat`, which shows that the question is not empty. The answer that a \
         file must get stands in it as `(set-info :status ...)`.\n\n\
         `make proofs` writes this folder anew and decides every file with Z3 \
         ([times](times.md)); `cargo test` checks that the folder is what the library writes and that Z3 agrees \
         with every status; `make proofs-cvc5` asks cvc5 too.\n\n\
         | theorem | files | negative controls | domain |\n| --- | ---: | ---: | --- |\n",
    );
    let theorems = named();
    for theorem in &theorems {
        let of = |negative_control: bool| {
            files_of(theorem, files).filter(|file| file.is_negative_control() == negative_control).count()
        };
        writeln!(
            text,
            "| [{}: {}](#{}) | {} | {} | {} |",
            theorem.name,
            theorem.title,
            theorem.anchor,
            of(false),
            of(true),
            theorem.domain
        )
        .expect("texts grow");
    }
    for theorem in &theorems {
        section(&mut text, theorem, files);
    }
    text
}

fn files_of<'a>(theorem: &NamedTheorem, files: &'a [ProofFile]) -> impl Iterator<Item = &'a ProofFile> {
    let name = theorem.name;
    files.iter().filter(move |file| file.theorem == name)
}

fn section(text: &mut String, theorem: &NamedTheorem, files: &[ProofFile]) {
    let NamedTheorem { name, title, statement, domain, by_solver, on_paper, anchor } = theorem;
    let paper = if on_paper.is_empty() { "nothing" } else { on_paper };
    write!(
        text,
        "\n## {name}: {title}\n\n{statement}\n\n\
         - Domain: {domain}.\n- By the solver: {by_solver}.\n- On paper, in the [documentation](../docs/theorems.md#{anchor}): {paper}.\n\n\
         | file | answer | states | domain |\n| --- | --- | --- | --- |\n"
    )
    .expect("texts grow");
    for ProofFile { name, statement, domain, expected, .. } in files_of(theorem, files) {
        let answer = if *expected == Expected::Sat { "**sat**".to_owned() } else { expected.to_string() };
        let statement = statement.replace('|', "\\|");
        writeln!(text, "| [{name}]({name}.smt2) | {answer} | {statement} | {domain} |").expect("texts grow");
    }
}
