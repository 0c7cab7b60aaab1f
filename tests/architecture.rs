//! The layers: which module of `src` may import which, what the core may depend on, and where no floating
//! point may be. Good intentions do not last; this test reads the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The trusted base: the crate `bubbleproof-core`, whose modules this crate exports under their own names.
/// What that crate may depend on, its manifest says and the compiler enforces.
const CORE: &[&str] = &["text", "model", "job", "schedule", "tasks", "replay", "comm", "certificate"];

/// Every module at the top of this crate and those of its own modules that it may import, in layers.
/// `src/lib.rs` and `src/main.rs` are no modules. A new module has to be entered here.
const LAYERS: &[(&str, &[&str])] = &[
    ("stop", &[]),
    ("parallel", &[]),
    ("estimate", &[]),
    ("amounts", &[]),
    ("rise", &[]),
    ("files", &[]),
    ("job_text", &[]),
    ("smt", &["stop"]),
    ("analysis", &[]),
    ("kernel", &["stop"]),
    ("block", &["kernel"]),
    ("lowering", &["rise"]),
    ("advice", &["block"]),
    ("catalog", &["stop", "kernel", "block"]),
    ("limit", &["advice", "catalog"]),
    ("encode", &["stop", "smt", "kernel", "block"]),
    ("bounds", &[]),
    (
        "optimize",
        &["stop", "parallel", "estimate", "analysis", "kernel", "block", "catalog", "encode", "bounds"],
    ),
    ("store", &[]),
    ("plan", &["stop", "parallel", "store", "catalog", "optimize"]),
    ("prove", &["stop", "smt", "block", "encode"]),
    ("trace", &["job_text", "rise", "analysis"]),
    ("interchange", &["analysis"]),
    ("fault", &["amounts", "block", "advice", "interchange", "trace"]),
    ("draw", &["amounts", "analysis", "kernel", "block"]),
    ("transformer", &["job_text"]),
    (
        "regress",
        &[
            "stop",
            "files",
            "smt",
            "analysis",
            "block",
            "catalog",
            "prove",
            "lowering",
            "interchange",
            "amounts",
        ],
    ),
    (
        "cli",
        &[
            "stop",
            "estimate",
            "files",
            "smt",
            "store",
            "analysis",
            "block",
            "advice",
            "catalog",
            "encode",
            "bounds",
            "optimize",
            "plan",
            "prove",
            "trace",
            "lowering",
            "interchange",
            "draw",
            "transformer",
            "regress",
            "amounts",
            "limit",
            "fault",
        ],
    ),
];

/// Modules beside the core in which truth is decided: integers and exact rationals only.
const EXACT: &[&str] = &[
    "analysis",
    "kernel",
    "block",
    "encode::bisection",
    "encode::exact",
    "encode::lcg",
    "encode::ranges",
    "encode::smt",
    "encode::statements",
    "optimize::exact",
    "optimize::zone",
    "prove",
    "regress",
    "transformer",
];

/// What the core must not contain: output, files, clocks, threads, and orders that differ from run to run.
const NOT_IN_CORE: &[&str] = &[
    "unsafe",
    "include",
    "thread",
    "process",
    "Instant",
    "SystemTime",
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "dbg!",
    "stdin",
    "stdout",
    "stderr",
    "std::fs",
    "std::env",
    "std::net",
    "HashMap",
    "HashSet",
    "static mut",
];

/// The packages that the core may depend on.
const CORE_PACKAGES: &[&str] =
    &["num-integer", "num-rational", "serde", "serde_json", "sha2", "thiserror", "toml"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A file of a module, without comments and tests.
struct Source {
    /// The path from the root of the checkout.
    path: String,
    /// The modules around its contents: `src/a/b.rs` is `["a", "b"]`.
    module: Vec<String>,
    code: String,
}

/// Every source file of a crate outside tests, its roots excepted.
fn sources(of: &str) -> Vec<Source> {
    let mut found = Vec::new();
    let top = root().join(of);
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.extend(read(&top, &path));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn read(top: &Path, path: &Path) -> Option<Source> {
    let relative = path.strip_prefix(top).expect("it was found there");
    let mut module: Vec<String> = relative
        .with_extension("")
        .iter()
        .map(|part| part.to_str().expect("a plain name").to_owned())
        .collect();
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    let is_root = module.len() == 1 && (module[0] == "lib" || module[0] == "main");
    if is_root || module.iter().any(|part| part == "tests") {
        return None;
    }
    let code = code_of(&fs::read_to_string(path).expect("a source file"));
    let path = path.strip_prefix(root()).expect("it is in the checkout").display().to_string();
    Some(Source { path, module, code })
}

/// A text without comments, and without the test module that ends a file. One in a file of its own may be declared
/// anywhere.
fn code_of(text: &str) -> String {
    let text = text.find("#[cfg(test)]\nmod tests {").map_or(text, |tests| &text[..tests]);
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

fn allowed(module: &str) -> &'static [&'static str] {
    let found = LAYERS.iter().find(|(name, _)| *name == module);
    found.unwrap_or_else(|| panic!("the module `{module}` must be entered in the table of layers")).1
}

#[test]
fn every_module_imports_only_what_its_layer_may() {
    let mut faults = Vec::new();
    for Source { path, module, code } in sources("src") {
        let may = allowed(&module[0]);
        for name in imports(&module, &code) {
            let name = name.as_str();
            if name != module[0] && !CORE.contains(&name) && !may.contains(&name) {
                faults.push(format!("{path} imports `{name}`, but `{}` may import {may:?} only", module[0]));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn layers_are_in_order() {
    for (position, (module, may)) in LAYERS.iter().enumerate() {
        for below in *may {
            assert!(LAYERS[..position].iter().any(|(name, _)| name == below), "{module} above {below}");
        }
    }
}

#[test]
fn the_core_depends_on_the_plainest_packages_alone() {
    let manifest = fs::read_to_string(root().join("crates/core/Cargo.toml")).expect("the manifest");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let of = |table: &str| -> BTreeSet<String> {
        manifest
            .get(table)
            .and_then(|value| value.as_table())
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect()
    };
    assert_eq!(of("dependencies"), CORE_PACKAGES.iter().map(ToString::to_string).collect());
    for table in ["features", "build-dependencies", "target"] {
        assert!(of(table).is_empty(), "the core has [{table}]");
    }
    for Source { path, code, .. } in sources("crates/core/src") {
        for word in NOT_IN_CORE {
            assert!(!has_word(&code, word), "{path}: `{word}`");
        }
        assert!(!code.contains("#[path"), "{path} takes a module from elsewhere");
    }
}

#[test]
fn where_truth_is_decided_there_is_no_floating_point() {
    let of = |exact: &str| -> Vec<Source> {
        let parts: Vec<&str> = exact.split("::").collect();
        let is_in =
            |source: &Source| source.module.iter().zip(&parts).filter(|(a, b)| a == b).count() == parts.len();
        let found: Vec<Source> = sources("src").into_iter().filter(is_in).collect();
        assert!(!found.is_empty(), "there is no module {exact}");
        found
    };
    let beside = EXACT.iter().flat_map(|exact| of(exact));
    for Source { path, code, .. } in sources("crates/core/src").into_iter().chain(beside) {
        for word in ["f32", "f64"] {
            assert!(!has_word(&code, word), "{path} uses {word}");
        }
    }
}

/// The macros of pyo3 expand to unsafe code, so that no lint can forbid it there.
#[test]
fn the_extension_module_has_no_unsafe_code_of_its_own() {
    let found = sources("crates/python/src");
    assert!(found.iter().any(|source| source.path.ends_with("search.rs")));
    for Source { path, code, .. } in found {
        assert!(!has_word(&code, "unsafe"), "{path} has unsafe code");
    }
}

/// Whoever made a file chose its name. `FileName`, or `Escaped`, keeps a name with a line break on its line.
#[test]
fn no_name_of_a_file_is_printed_as_it_is() {
    for Source { path, code, .. } in sources("src").into_iter().chain(sources("crates/core/src")) {
        assert!(!code.contains(".display()"), "{path} prints the name of a file with its control characters");
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
    let middle = "mod a;\n#[cfg(test)]\nmod tests;\n\nuse crate::cli;\n\n#[cfg(test)]\nmod tests {\n    use crate::draw;\n}";
    let seen: Vec<String> = imports(&path(&["replay"]), &code_of(middle)).into_iter().collect();
    assert_eq!(seen, ["cli"], "what follows the declaration of a test module is seen, what is in one is not");
    assert!(has_word("x as f64;", "f64") && !has_word("let conf64 = 1;", "f64"));
    assert!(
        sources("crates/core/src").iter().any(|source| source.path == "crates/core/src/tasks/execute.rs")
    );
}

/// The packages that the library is built from, beside itself, with these features and what these edges reach.
fn packages(features: &[&str], edges: &str) -> BTreeSet<String> {
    let tree = std::process::Command::new(env!("CARGO"))
        .args(["tree", "--frozen", "--package", "bubbleproof", "--prefix", "none", "--format", "{p}"])
        .args(["--edges", edges])
        .args(features)
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).expect("names are text");
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn the_library_alone_has_nothing_of_the_tool() {
    let tool = [
        "clap",
        "clap_builder",
        "clap_complete",
        "ctrlc",
        "signal-hook",
        "indicatif",
        "miette",
        "quick-junit",
        "terminal_size",
    ];
    // Neither without features nor with the engines.
    for features in [&["--no-default-features"][..], &["--no-default-features", "--features", "lcg,milp"]] {
        let found = packages(features, "normal");
        assert!(found.contains("bubbleproof-core"), "{found:?}");
        for package in tool {
            assert!(!found.contains(package), "the library depends on {package} with {features:?}");
        }
    }
}

#[test]
fn the_defaults_are_built_without_native_tools() {
    let found = packages(&[], "normal,build");
    assert!(
        found.contains("clap") && found.contains("microlp") && found.contains("pumpkin-core"),
        "{found:?}"
    );
    for package in [
        "bindgen",
        "cc",
        "clang-sys",
        "cmake",
        "highs-sys",
        "libsqlite3-sys",
        "pkg-config",
        "vcpkg",
        "z3-sys",
    ] {
        assert!(!found.contains(package), "the defaults depend on {package}");
    }
}
