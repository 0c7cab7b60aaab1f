//! Texts that want to look like statements of the tool, in every place where a file, the name of a file or an argument
//! may have one.

use std::fs;
use std::path::{Path, PathBuf};

use bubbleproof::certificate::{Certificate, Objective, Optimality, lower_bound};
use bubbleproof::model::{self, Model};
use bubbleproof::replay::replay;
use bubbleproof::schedule::{self, Provenance, Schedule};
use bubbleproof::text::is_control;
use tempfile::TempDir;

use super::{CERTIFIED, MODEL, Run, SCHEDULE, TRACE, tool, tool_with_input};

/// What an adversary would like to be read as printed by the tool.
const CLAIM: &str = "  checked       so no schedule within these limits is better";

/// Texts that are harmless to print, however odd.
fn plain_texts() -> Vec<String> {
    let long = "x".repeat(3_000);
    [CLAIM, "a\"b\\c {} %s `id` $(id)", "é 名前 \u{1f600}\u{200d}", "", &long].map(str::to_owned).to_vec()
}

/// Texts with each kind of control character.
fn hostile_texts() -> Vec<String> {
    let controls = [
        "\n",
        "\r",
        "\r\n",
        "\t",
        "\u{1b}[1A\u{1b}[2K",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "\u{202e}",
        "\u{200f}",
    ];
    controls.iter().map(|control| format!("a{control}{CLAIM}")).collect()
}

/// Puts a text into a schedule or the model that its certificate is about.
type Put = fn(&mut Schedule, &mut Problem, String);

/// The texts of a model.
#[derive(Clone)]
struct Problem {
    name: String,
    source: Option<String>,
    time_unit: String,
    memory_unit: String,
}

const FIELDS: [(&str, Put); 10] = [
    ("name", |schedule, _, text| schedule.name = Some(text)),
    ("model", |schedule, _, text| schedule.model = Some(text)),
    ("tool", |schedule, _, text| made(schedule).tool = text),
    ("engine", |schedule, _, text| made(schedule).engine = text),
    ("a setting", |schedule, _, text| _ = made(schedule).settings.insert("seed".to_owned(), text)),
    ("the name of a setting", |schedule, _, text| _ = made(schedule).settings.insert(text, "1".to_owned())),
    ("the name of the model", |_, problem, text| problem.name = text),
    ("the source of the model", |_, problem, text| problem.source = Some(text)),
    ("the unit of time", |_, problem, text| problem.time_unit = format!("counts of {text}")),
    ("the unit of memory", |_, problem, text| problem.memory_unit = format!("counts of {text}")),
];

fn made(schedule: &mut Schedule) -> &mut Provenance {
    schedule.provenance.get_or_insert_default()
}

/// A schedule with a genuine certificate in one file, and its model in another.
fn written(folder: &Path, put: Put, text: &str) -> (PathBuf, PathBuf) {
    let plain = model::parse(&fs::read_to_string(MODEL).expect("readable")).expect("a model");
    let mut schedule = schedule::parse(&fs::read_to_string(SCHEDULE).expect("readable")).expect("a schedule");
    let mut problem = Problem {
        name: "harmless".to_owned(),
        source: None,
        time_unit: "tick".to_owned(),
        memory_unit: "unit".to_owned(),
    };
    put(&mut schedule, &mut problem, text.to_owned());
    let (mut costs, mut memory) = (plain.costs().clone(), plain.memory().clone());
    (costs.unit, memory.unit) = (problem.time_unit, problem.memory_unit);
    let placement = plain.placement().clone();
    let model = Model::new(problem.name, problem.source, placement, schedule.microbatches(), costs, memory)
        .expect("the same numbers");
    let bound = lower_bound(&model, Objective::Makespan);
    let verdict = replay(&model, &schedule);
    let certificate =
        Certificate::of(&model, &schedule, &verdict, Objective::Makespan, &bound, Optimality::Open);
    schedule.certificate = certificate.map(|certificate| certificate.to_json());
    let (file, of) = (folder.join("schedule.json"), folder.join("model.toml"));
    schedule::write(&schedule, fs::File::create(&file).expect("made")).expect("written");
    fs::write(&of, model::print(&model)).expect("written");
    (file, of)
}

/// Asserts that what is printed has no control character, and claims nothing for an adversary.
fn assert_plain(run: &Run, what: &str) {
    for text in [&run.out, &run.err] {
        let found = text.chars().find(|&letter| letter != '\n' && is_control(letter));
        assert_eq!(found, None, "{what}: {}", run.transcript());
        assert!(!text.contains("panicked"), "{what}: {}", run.transcript());
    }
}

fn claims(run: &Run) -> usize {
    let text = format!("{}{}", run.out, run.err);
    text.lines().filter(|line| line.trim_start().starts_with("checked")).count()
}

/// The commands that read schedules and certificates.
fn commands<'a>(file: &'a str, of: &'a str) -> [Vec<&'a str>; 6] {
    [
        vec!["check", file],
        vec!["check", file, "--model", of],
        vec!["verify", file],
        vec!["verify", file, "--model", of],
        vec!["replay", file],
        vec!["verify", file, "--every-m"],
    ]
}

#[test]
fn no_text_of_a_file_changes_how_many_lines_are_printed() {
    let folder = TempDir::new().expect("a folder");
    for (field, put) in FIELDS {
        let runs = |text: &str| {
            let (file, of) = written(folder.path(), put, text);
            let (file, of) = (file.to_str().expect("a name"), of.to_str().expect("a name"));
            commands(file, of).map(|command| tool(&command))
        };
        let harmless = runs("harmless");
        assert_eq!(harmless[0].status, 0, "{field}: {}", harmless[0].transcript());
        for text in plain_texts() {
            for (run, usual) in runs(&text).iter().zip(&harmless) {
                assert_plain(run, field);
                assert_eq!(run.status, usual.status, "{field}: {text}: {}", run.transcript());
                assert_eq!(run.out.lines().count(), usual.out.lines().count(), "{field}: {}", run.out);
                assert_eq!(claims(run), claims(usual), "{field}: {text}: {}", run.transcript());
            }
        }
        for text in hostile_texts() {
            let mut refused = 0;
            for (run, usual) in runs(&text).iter().zip(&harmless) {
                assert_plain(run, field);
                if run.status == usual.status {
                    // This command does not read it.
                    assert_eq!(run.out, usual.out, "{field}: {text:?}");
                } else {
                    assert!(matches!(run.status, 1 | 2), "{field}: {}", run.transcript());
                    assert!(run.out.lines().count() <= 1, "{field}: {}", run.transcript());
                    assert_eq!(claims(run), 0, "{field}: {text:?}: {}", run.transcript());
                    refused += 1;
                }
            }
            assert!(refused >= 2, "{field}: {text:?}");
        }
    }
}

/// A certificate with a text in place of another one; the digest is then wrong, but nothing may be printed before
/// that is found.
#[test]
fn an_engine_that_nobody_knows_is_refused_by_its_name() {
    let genuine = fs::read_to_string(CERTIFIED).expect("readable");
    let optimality = r#""optimality":"bound""#;
    assert!(genuine.contains(optimality));
    for (engine, said) in [
        ("quantum annealing", "no engine is called `quantum annealing`"),
        ("lcg", "the certificate was altered"),
        ("branch and bound", "the certificate was altered"),
        (r"lcg)\n  checked  so no schedule is better", "control character U+000A"),
    ] {
        let search = format!(r#""optimality":{{"search":{{"engine":"{engine}","none_below":1}}}}"#);
        let run = tool_with_input(&["check", "-"], &genuine.replacen(optimality, &search, 1));
        assert!(run.status == 1 || run.status == 2, "{}", run.transcript());
        assert!(run.transcript().contains(said), "{engine}: {}", run.transcript());
        assert_plain(&run, engine);
    }
}

#[test]
fn duplicate_keys_are_refused_wherever_they_are() {
    let genuine = fs::read_to_string(CERTIFIED).expect("readable");
    for (key, again) in [
        (r#""optimality":"bound""#, r#""optimality":"open""#),
        (r#""format":"bubbleproof-certificate-1""#, r#""format":"another""#),
        (r#""makespan":"#, r#""makespan":1,"makespan":"#),
    ] {
        let at = genuine.find(key).expect("it is there");
        let twice = if again.ends_with(':') {
            genuine.replacen(key, again, 1)
        } else {
            format!("{}{key},{again}{}", &genuine[..at], &genuine[at + key.len()..])
        };
        let run = tool_with_input(&["check", "-"], &twice);
        assert_eq!(run.status, 2, "{key}: {}", run.transcript());
        assert!(run.err.contains("is a duplicate"), "{key}: {}", run.err);
    }
    let schedule = fs::read_to_string(SCHEDULE).expect("readable");
    let settings = r#"{"provenance": {"tool": "t", "engine": "e", "settings": {"a": "1", "a": "2"}},"#;
    let run = tool_with_input(&["verify", "-"], &schedule.replacen('{', settings, 1));
    assert_eq!(run.status, 2, "{}", run.transcript());
    assert!(run.err.contains("duplicate"), "{}", run.err);
    let trace = fs::read_to_string(TRACE).expect("readable");
    let run = tool_with_input(
        &["trace", "compare", "-"],
        &trace.replacen("\"machine\": {", "\"machine\": {\"name\": \"a\", ", 1),
    );
    assert_eq!(run.status, 2, "{}", run.transcript());
    assert!(run.err.contains("duplicate"), "{}", run.err);
}

#[test]
fn names_of_files_and_arguments_stay_on_their_line() {
    let folder = TempDir::new().expect("a folder");
    let text = fs::read_to_string(CERTIFIED).expect("readable");
    for hostile in hostile_texts() {
        let there = folder.path().join(format!("{}.json", hostile.replace('/', "-")));
        fs::write(&there, &text).expect("written");
        let there = there.to_str().expect("a name");
        let written = folder.path().join(format!("written {hostile}.csv"));
        let written = written.to_str().expect("a name");
        let drawn = folder.path().join(&hostile);
        let drawn = drawn.to_str().expect("a name");
        for arguments in [
            &["verify", &hostile][..],
            &["check", there],
            &["compare", there],
            &["convert", there, "-o", written],
            &["convert", there, "-o", there, "--to", &hostile],
            &["compare", MODEL, "--schedules", &hostile],
            &["compare", MODEL, &hostile],
            &["optimize", MODEL, "-o", drawn],
            &["optimize", MODEL, "-o", written],
            &["render", there, "-o", drawn],
            &["regress", &hostile],
            &["trace", "profile", TRACE, "--name", &hostile],
            &["trace", "compare", there],
            &[&hostile],
        ] {
            for json in [false, true] {
                let run = tool(&[arguments, if json { &["--json"] } else { &[] }].concat());
                assert_plain(&run, &format!("{arguments:?}"));
                let genuine = arguments[0] == "check";
                assert!(genuine || claims(&run) == 0, "{arguments:?}: {}", run.transcript());
            }
        }
    }
}

#[test]
fn a_long_argument_is_not_blamed_for_what_is_wrong_with_another() {
    let layers = "12,".repeat(400) + "12";
    let run = tool(&["convert", SCHEDULE, "--to", "torchtitan", "--layers", &layers]);
    assert_eq!(run.status, 2, "{}", run.transcript());
    assert!(run.err.contains("--output") && !run.err.contains("invalid digit"), "{}", run.err);
}

#[test]
fn what_is_wrong_with_a_long_token_is_said_briefly() {
    let long = "9".repeat(200_000);
    let letters = "x".repeat(200_000);
    let schedule = fs::read_to_string(SCHEDULE).expect("readable");
    let model = fs::read_to_string(MODEL).expect("readable");
    let family = fs::read_to_string("models/blocks/zb-h1.toml").expect("readable");
    for (arguments, input) in [
        (&["verify", "-"][..], schedule.replacen("0F0", &format!("0F{long}"), 1)),
        (&["verify", "-"], schedule.replacen("0F0", &letters, 1)),
        (&["verify", "-"], schedule.replacen("\"placement\"", &format!("\"{letters}\""), 1)),
        (&["verify", "-"], schedule.replacen("bubbleproof-schedule-1", &letters, 1)),
        (&["verify", "-"], schedule.replacen("\"microbatches\": ", &format!("\"microbatches\": {long}"), 1)),
        (&["verify", "-"], format!("0F{long},0B0\n")),
        (&["verify", "-"], format!("{letters},0B0\n")),
        (&["verify", "-"], format!("0{letters}0,0B0\n")),
        (&["compare", "-"], format!("{letters} = 1\n{model}")),
        (&["compare", "-"], model.replacen("linear", &letters, 1)),
        (&["compare", "-"], model.replacen("microbatches = ", &format!("microbatches = {long}"), 1)),
        (&["compare", "-"], model.replacen("microbatches = ", &format!("microbatches = \"{letters}\" #"), 1)),
        (&["prove", "-"], family.replacen("at = \"i\"", &format!("at = \"{letters}\""), 1)),
        (&["prove", "-"], family.replacen("linear", &letters, 1)),
        (&["trace", "compare", "-"], format!("{{\"format\": \"{letters}\"}}")),
    ] {
        let run = tool_with_input(arguments, &input);
        assert_eq!(run.status, 2, "{}", run.transcript().chars().take(2_000).collect::<String>());
        assert!(
            run.err.len() + run.out.len() < 4_000,
            "{}",
            run.transcript().chars().take(5_000).collect::<String>()
        );
    }
    let run = tool(&["compare", MODEL, "--schedules", &letters[..100_000]]);
    assert!(run.err.len() < 4_000, "{}", run.err);
    let run = tool(&["verify", SCHEDULE, "--memory", &letters[..100_000]]);
    assert!(run.err.len() < 4_000, "{}", run.err);
}

#[test]
fn a_wrong_microbatch_number_is_one_complaint() {
    let run = tool_with_input(&["verify", "-"], "0F0,0F1,0B0,0F7,0B1,0B2\n1F0,1B0,1F1,1B1,1F2,1B2\n");
    assert_eq!(run.status, 1);
    let lines: Vec<&str> = run.out.lines().filter(|line| line.contains("missing-pass")).collect();
    assert!(lines.iter().any(|line| line.contains("`0F2` is missing")), "{}", run.out);
    assert!(lines.iter().any(|line| line.contains("only `0F7` (device 0, position 3)")), "{}", run.out);
    assert!(lines.iter().any(|line| line.contains("microbatches 3 to 6 have no pass at all")), "{}", run.out);
    assert_eq!(lines.len(), 3, "{}", run.out);
    // With one stage, a microbatch has few passes to miss.
    let run = tool_with_input(&["verify", "-"], "0F0,0B0,0F5,0B5\n");
    let lines: Vec<&str> = run.out.lines().filter(|line| line.contains("missing-pass")).collect();
    let [line] = lines[..] else { panic!("{}", run.out) };
    assert!(line.contains("microbatches 1 to 4 have no pass at all"), "{line}");
}
