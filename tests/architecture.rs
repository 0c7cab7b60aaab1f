//! The layers of the crate: which module may import which, and where no floating point may be.
//!
//! The trusted base must not depend on anything that proposes schedules. Good intentions do not last;
//! this test reads the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every module at the top of the crate and the modules it may import, in layers. `src/lib.rs` and
/// `src/main.rs` are no modules. A new module has to be entered here.
const LAYERS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("stop", &[]),
    ("schedule", &["model"]),
    ("replay", &["model", "schedule"]),
    ("comm", &["model", "schedule"]),
    ("certificate", &["model", "schedule", "replay"]),
    ("block", &["model", "schedule"]),
    ("catalog", &["model", "schedule", "block", "replay"]),
    ("encode", &["model", "block"]),
    (
        "optimize",
        &["model", "stop", "schedule", "replay", "comm", "certificate", "block", "catalog", "encode"],
    ),
    ("prove", &["model", "stop", "schedule", "replay", "block", "encode"]),
    ("trace", &["model", "schedule", "replay"]),
    ("interchange", &["model", "schedule", "replay", "comm"]),
    ("draw", &["model", "schedule", "replay"]),
    (
        "regress",
        &[
            "model",
            "schedule",
            "replay",
            "comm",
            "certificate",
            "block",
            "catalog",
            "optimize",
            "prove",
            "interchange",
        ],
    ),
    (
        "cli",
        &[
            "model",
            "stop",
            "schedule",
            "replay",
            "comm",
            "certificate",
            "block",
            "catalog",
            "encode",
            "optimize",
            "prove",
            "trace",
            "interchange",
            "draw",
            "regress",
        ],
    ),
];

/// What decides whether a schedule is right. Only definitions stand above it.
const TRUSTED: &[&str] = &["replay", "comm", "certificate"];

/// What the trusted base may import of this crate at most.
const TRUSTED_MAY_IMPORT: &[&str] = &["model", "schedule", "replay"];

/// The packages that the trusted base may use.
const TRUSTED_PACKAGES: &[&str] =
    &["std", "num_integer", "num_rational", "serde", "serde_json", "sha2", "thiserror"];

/// Modules in which truth is decided: integers and exact rationals only.
const EXACT: &[&str] = &["model", "schedule", "replay", "comm", "certificate", "block", "regress"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// A file of a module, without comments and tests.
struct Source {
    /// The path from `src`.
    path: String,
    /// The modules around its contents: `src/a/b.rs` is `["a", "b"]`.
    module: Vec<String>,
    code: String,
}

/// Every source file outside tests, the two roots excepted.
fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![source()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.extend(read(&path));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn read(path: &Path) -> Option<Source> {
    let relative = path.strip_prefix(source()).expect("it was found there");
    let mut module: Vec<String> = relative
        .with_extension("")
        .iter()
        .map(|part| part.to_str().expect("a plain name").to_owned())
        .collect();
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    let root = module.len() == 1 && (module[0] == "lib" || module[0] == "main");
    if root || module.iter().any(|part| part == "tests") {
        return None;
    }
    let code = code_of(&fs::read_to_string(path).expect("a source file"));
    Some(Source { path: relative.display().to_string(), module, code })
}

/// A text without comments, and without the test module that ends a file.
fn code_of(text: &str) -> String {
    let text = text.find("#[cfg(test)]\nmod tests").map_or(text, |tests| &text[..tests]);
    text.lines().map(|line| &line[..comment_at(line)]).collect::<Vec<_>>().join("\n")
}

/// Where a comment begins in a line; two slashes inside a text begin none.
fn comment_at(line: &str) -> usize {
    let slashes = line.match_indices("//").map(|(at, _)| at);
    let outside = |at: &usize| line[..*at].replace("\\\"", "").matches('"').count().is_multiple_of(2);
    slashes.into_iter().find(outside).unwrap_or(line.len())
}

/// The names at the top of the crate that code inside `module` reaches through `crate::` or through
/// as many `super::` as lead there.
fn imports(module: &[String], code: &str) -> BTreeSet<String> {
    let ways_up = ["crate::".to_owned(), "super::".repeat(module.len())];
    let mut names = BTreeSet::new();
    for way in ways_up {
        for (at, _) in code.match_indices(&way) {
            // `bubble_crate::` is another word, and a longer row of `super::` is seen from its start.
            if code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':')
            {
                continue;
            }
            names.extend(first_names(&code[at + way.len()..]));
        }
    }
    names.remove("super");
    names
}

/// The names that a path continues with: one, or several in braces.
fn first_names(rest: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.chars().take_while(|letter| letter.is_alphanumeric() || "_*".contains(*letter)).collect()
    };
    let Some(group) = rest.strip_prefix('{') else { return vec![word(rest)] };
    let (mut names, mut depth, mut begins) = (Vec::new(), 0, true);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            letter if begins && !letter.is_whitespace() => {
                names.push(word(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

/// Whether a word stands in code by itself.
fn has_word(code: &str, word: &str) -> bool {
    let part_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    code.match_indices(word).any(|(at, _)| {
        !code[..at].ends_with(part_of_word) && !code[at + word.len()..].starts_with(part_of_word)
    })
}

/// The packages that `use` declarations name first.
fn packages(code: &str) -> BTreeSet<String> {
    let declared = code.lines().filter_map(|line| {
        let line = line.trim_start();
        let line =
            line.strip_prefix("pub").map_or(line, |rest| rest.trim_start_matches("(crate)").trim_start());
        line.strip_prefix("use ")
    });
    let own = |name: &String| name == "crate" || name == "super" || name == "self";
    declared.flat_map(first_names).filter(|name| !own(name)).collect()
}

fn allowed(module: &str) -> &'static [&'static str] {
    let found = LAYERS.iter().find(|(name, _)| *name == module);
    found.unwrap_or_else(|| panic!("the module `{module}` must be entered in the table of layers")).1
}

#[test]
fn every_module_imports_only_what_its_layer_may() {
    let mut faults = Vec::new();
    for Source { path, module, code } in sources() {
        let may = allowed(&module[0]);
        for name in imports(&module, &code) {
            if name != module[0] && !may.contains(&name.as_str()) {
                faults.push(format!("{path} imports `{name}`, but `{}` may import {may:?} only", module[0]));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn layers_are_in_order_and_the_trusted_base_stands_on_definitions_alone() {
    for (position, (module, may)) in LAYERS.iter().enumerate() {
        for below in *may {
            assert!(LAYERS[..position].iter().any(|(name, _)| name == below), "{module} above {below}");
        }
        if TRUSTED.contains(module) {
            assert!(may.iter().all(|name| TRUSTED_MAY_IMPORT.contains(name)), "{module}: {may:?}");
        }
    }
    for trusted in TRUSTED {
        assert!(LAYERS.iter().any(|(name, _)| name == trusted), "{trusted}");
    }
}

#[test]
fn the_trusted_base_uses_no_package_but_the_plainest() {
    // `replay` splits into files that call each other by these names.
    for Source { path, module, code } in sources() {
        if !TRUSTED.contains(&module[0].as_str()) {
            continue;
        }
        for package in packages(&code) {
            let own = source().join(&module[0]).join(format!("{package}.rs")).exists();
            assert!(own || TRUSTED_PACKAGES.contains(&package.as_str()), "{path} uses `{package}`");
        }
        for word in ["unsafe", "include", "good_lp", "z3", "pumpkin_solver", "rand", "rayon"] {
            assert!(!has_word(&code, word), "{path}: `{word}`");
        }
        assert!(!code.contains("#[path"), "{path} takes a module from elsewhere");
    }
}

#[test]
fn where_truth_is_decided_there_is_no_floating_point() {
    for Source { path, module, code } in sources() {
        if EXACT.contains(&module[0].as_str()) {
            for word in ["f32", "f64"] {
                assert!(!has_word(&code, word), "{path} uses {word}");
            }
        }
    }
}

#[test]
fn this_test_sees_every_form_of_import() {
    let path = |parts: &[&str]| parts.iter().map(|&part| part.to_owned()).collect::<Vec<_>>();
    let cases: [(&[&str], &str, &[&str]); 10] = [
        (&["replay"], "use crate::model::Pass;", &["model"]),
        (&["replay"], "let x = crate::block::squeeze(a, b);", &["block"]),
        (&["replay"], "use crate::{block::{squeeze, reorder}, model};", &["block", "model"]),
        (&["replay"], "use crate::{\n    encode,\n    model::{self, Pass},\n};", &["encode", "model"]),
        (&["replay"], "use super::block::squeeze;", &["block"]),
        (&["replay", "execute"], "use super::layout::Layout;", &[]),
        (&["replay", "execute"], "use super::super::block;", &["block"]),
        (&["replay"], "use crate::*;", &["*"]),
        (
            &["replay"],
            &code_of(
                "/// See [`x`](crate::block::x).\n// crate::encode\nlet url = \"https://a\"; // crate::cli",
            ),
            &[],
        ),
        (&["replay"], &code_of("let url = \"https://a\"; crate::cli::run();"), &["cli"]),
    ];
    for (module, code, expected) in cases {
        let expected: BTreeSet<String> = path(expected).into_iter().collect();
        assert_eq!(imports(&path(module), code), expected, "{code}");
    }
    assert!(has_word("x as f64;", "f64") && !has_word("let conf64 = 1;", "f64"));
    assert_eq!(packages("use z3::Solver;\npub use std::fmt;\nuse super::x;").len(), 2);
    assert!(sources().iter().any(|source| source.path == "replay/execute.rs"));
}
