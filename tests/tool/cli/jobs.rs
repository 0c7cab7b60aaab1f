//! Job files: their cuts, their plans, and what is wrong with them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use bubbleproof::certificate::{self, Certificate, JobStatement, Objective, Optimality};
use bubbleproof::job::{self, Choice, Cut};
use bubbleproof::model::Ticks;
use bubbleproof::optimize::Options;
use bubbleproof::plan::{Partition, optimize_cut};

use super::{JOB, MODEL, tool, tool_with_input};

const LLAMA: &str = "models/jobs/llama-32.toml";

#[test]
fn a_cut_is_found_checked_and_compared_with_others() {
    for (name, arguments) in [
        ("cut", &["optimize", JOB, "--pipeline", "4", "--placement", "linear"][..]),
        ("cut_even", &["optimize", JOB, "--pipeline", "4", "--placement", "linear", "--partition", "even"]),
        (
            "cut_given",
            &["optimize", JOB, "--pipeline", "4", "--placement", "linear", "--partition", "3,2,2,1"],
        ),
        (
            "cut_of_other_stages",
            &["optimize", JOB, "--pipeline", "4", "--placement", "linear", "--partition", "4,4"],
        ),
        (
            "cut_of_other_layers",
            &["optimize", JOB, "--pipeline", "4", "--placement", "linear", "--partition", "4,4,4,4"],
        ),
        (
            "cut_with_an_empty_stage",
            &["optimize", JOB, "--pipeline", "4", "--placement", "linear", "--partition", "4,4,0,0"],
        ),
        ("cut_that_is_none", &["optimize", JOB, "--partition", "half"]),
        ("choice_left_open", &["optimize", JOB]),
        ("choice_that_is_none", &["optimize", JOB, "--pipeline", "3"]),
        ("cut_of_a_model", &["optimize", MODEL, "--partition", "even"]),
        ("memory_of_a_job", &["optimize", JOB, "--memory", "50%"]),
        ("span_of_a_job", &["optimize", JOB, "--pipeline", "4", "--placement", "v", "--minimize", "span"]),
        ("job_in_place_of_a_model", &["compare", JOB]),
        ("plan", &["plan", JOB]),
        ("plan_of_a_model", &["plan", MODEL]),
    ] {
        insta::assert_snapshot!(name, tool(arguments).transcript());
    }
}

#[test]
fn a_plan_is_written_checked_and_run() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plan");
    let folder = folder.to_str().expect("a path in UTF-8");
    let planned = tool(&["plan", JOB, "-o", folder]);
    assert_eq!(planned.status, 0, "{}", planned.transcript());
    let file = |name: &str| format!("{folder}/{name}");
    let (schedule, model) = (file("schedule.json"), file("model.toml"));
    for name in ["pytorch.csv", "torchtitan.csv", "torchtitan.args", "report.html"] {
        assert!(fs::exists(file(name)).expect("a folder"), "{name}: {}", planned.transcript());
    }
    assert_eq!(tool(&["verify", &schedule, "--model", &model]).status, 0);
    let checked = tool(&["check", &schedule, "--model", JOB]);
    insta::assert_snapshot!("plan_checked", checked.transcript());
    let of_model = tool(&["check", &schedule, "--model", &model]);
    assert_eq!(of_model.status, 0, "{}", of_model.transcript());
    // Another job has another certificate.
    let other = tool(&["check", &schedule, "--model", LLAMA]);
    assert!(other.status == 1 && other.out.contains("another job"), "{}", other.transcript());
}

/// The attributes of the first tag of a page that has this text in it.
fn attribute(page: &str, tag: &str, name: &str) -> Option<String> {
    let (_, rest) = page.split_once(tag)?;
    let (inside, _) = rest.split_once('>')?;
    let (_, value) = inside.split_once(&format!("{name}=\""))?;
    Some(value.split('"').next()?.to_owned())
}

#[test]
fn a_report_has_the_figures_of_the_answer() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    let (folder, file) = (folder.to_str().expect("UTF-8"), folder.join("other.html"));
    let file = file.to_str().expect("UTF-8");
    let planned = tool(&["plan", JOB, "-o", folder, "--report", file, "--json"]);
    assert_eq!(planned.status, 0, "{}", planned.transcript());
    let answer = planned.json();
    let written: Vec<&str> =
        answer["written"].as_array().expect("a list").iter().filter_map(|path| path.as_str()).collect();
    let in_folder = format!("{folder}/report.html");
    assert!(written.contains(&in_folder.as_str()) && written.contains(&file), "{written:?}");
    let page = fs::read_to_string(&in_folder).expect("a page");
    assert_eq!(page, fs::read_to_string(file).expect("a page"));
    assert_eq!(attribute(&page, "<main ", "data-lower-bound"), Some(answer["lower_bound"].to_string()));
    let alternatives = answer["alternatives"].as_array().expect("a list");
    let plans: Vec<_> = alternatives.iter().filter(|one| one["status"] == "planned").collect();
    assert!(!plans.is_empty());
    for (at, one) in plans.iter().enumerate() {
        let row = format!("<tr data-plan=\"{}\"", at + 1);
        let cut = one["cut"].to_string().replace(['[', ']'], "");
        for (name, expected) in [
            ("data-makespan", one["makespan"].to_string()),
            ("data-peak", one["peak_memory_max"].to_string()),
            ("data-bound", one["lower_bound"].to_string()),
            ("data-cut", cut),
        ] {
            assert_eq!(attribute(&page, &row, name), Some(expected), "{name} of {one}");
        }
        assert!(page.contains(&format!("<td class=\"text\">{}</td>", one["name"].as_str().expect("a name"))));
    }
    let others = alternatives.iter().filter(|one| one["status"] != "planned");
    assert_eq!(page.matches("<tr data-status=").count(), others.count());
    // The naive plan is what verify says of the even cut under 1F1B.
    let naive =
        tool(&["optimize", JOB, "--pipeline", "2", "--placement", "linear", "--partition", "even", "--json"]);
    let even = attribute(&page, "<tr data-plan=\"naive\"", "data-cut").expect("a cut");
    assert_eq!(naive.json()["cut"].to_string(), format!("[{even}]"));
}

#[test]
fn what_does_not_divide_the_batch_is_noted() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("job.toml");
    let text = std::fs::read_to_string("tests/data/cli/job.toml").expect("a job");
    std::fs::write(&file, text.replace("global_batch = 8", "global_batch = 9")).expect("written");
    let file = file.to_str().expect("a plain name");
    let planned = tool(&["plan", file]);
    assert_eq!(planned.status, 0);
    assert_eq!(
        planned.err,
        "note: 2 of 4 choices are left out, because 9 samples are no multiple of the samples that all replicas take at once with d2 b1\n"
    );
    assert_eq!(tool(&["plan", "tests/data/cli/job.toml"]).err, "");
}

#[test]
fn a_report_of_a_hostile_job_is_no_script() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile.html");
    let file = file.to_str().expect("UTF-8");
    let job = fs::read_to_string(JOB).expect("a job");
    let hostile = job.replace("small-job", "</script><script>alert(1)</script>");
    let planned = tool_with_input(&["plan", "-", "--report", file], &hostile);
    assert_eq!(planned.status, 0, "{}", planned.transcript());
    let page = fs::read_to_string(file).expect("a page");
    assert_eq!(page.matches("<script").count(), 2);
    assert!(page.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn what_is_claimed_over_cuts_and_plans_is_derived_again() {
    let text = fs::read_to_string(JOB).expect("a job");
    let job = job::parse(&text).expect("a job");
    let choices = job.choices().expect("choices");
    let choice =
        choices.iter().find(|choice| choice.to_string() == "p4 t1 d1 b1 linear").expect("it is open");
    let layers = job.layers(choice).expect("layers");
    let found = optimize_cut(&layers, &Partition::Even, &Options::default(), &mut |_| ()).expect("a plan");
    let genuine = JobStatement {
        job: text,
        choice: *choice,
        cut: found.cut.clone(),
        no_cut_below: found.no_cut_below,
        searched: None,
        no_plan_below: None,
    };
    let check = |claimed: JobStatement| {
        let (model, solution) = (&found.model, &found.solution);
        let mut schedule = solution.schedule.clone();
        let objective = Objective::Makespan;
        let certificate = Certificate::of(
            model,
            &schedule,
            &solution.verdict,
            objective,
            &solution.bound,
            Optimality::Open,
        );
        schedule.certificate = certificate.map(|certificate| certificate.with_job(claimed).to_json());
        certificate::check(&schedule, None).map_err(|error| error.to_string())
    };
    assert!(check(genuine.clone()).is_ok());
    let (bound, value) = (found.no_cut_below, found.solution.value());
    assert!(bound < value, "the even cut is not the best");
    let other = *choices.iter().find(|other| *other != choice).expect("another choice");
    for (forged, reason) in [
        (JobStatement { no_cut_below: bound + Ticks(1), ..genuine.clone() }, "over all cuts does not hold"),
        (JobStatement { no_plan_below: Some(value), ..genuine.clone() }, "over all plans does not hold"),
        (JobStatement { searched: Some(value + Ticks(1)), ..genuine.clone() }, "contradicts the schedule"),
        (
            JobStatement { cut: Cut::new(vec![3, 2, 2, 1]), ..genuine.clone() },
            "not that of the job at the cut 3,2,2,1",
        ),
        (JobStatement { cut: Cut::new(vec![8]), ..genuine.clone() }, "the cut has 1 stages, the placement 4"),
        (JobStatement { choice: other, ..genuine.clone() }, "the cut has 4 stages, the placement 2"),
        (
            JobStatement { choice: Choice { data: 2, ..*choice }, ..genuine.clone() },
            "does not leave the choice",
        ),
        (JobStatement { job: "name = 1".to_owned(), ..genuine.clone() }, "the job is not a valid job"),
        (
            JobStatement { job: genuine.job.replace("forward = 3", "forward = 2"), ..genuine.clone() },
            "not that of the job",
        ),
    ] {
        let refused = check(forged.clone()).expect_err(reason);
        assert!(refused.contains(reason), "{reason}: {refused}");
    }
}

#[test]
fn a_job_that_is_wrong_is_refused_at_its_place() {
    let right = fs::read_to_string(JOB).expect("a job");
    let changed = |from: &str, to: &str| {
        assert!(right.contains(from), "{from}");
        right.replacen(from, to, 1)
    };
    let mut all = String::new();
    for (what, text) in [
        ("no costs of a kind", changed("[layer.head]", "[layer.haed]")),
        ("a kind that is missing", changed("\"head\"]", "\"head\", \"mtp\"]")),
        ("a misspelt key", changed("backward_weight = 2\nweights", "backward_wieght = 2\nweights")),
        ("a unit that is none", changed("forward = 3", "forward = \"3 fortnight\"")),
        ("a unit beside none", changed("forward = 3", "forward = \"3 ms\"")),
        ("a fraction without a unit", changed("forward = 3", "forward = 3.5")),
        ("a negative time", changed("forward = 3", "forward = -3")),
        ("no layers", changed("[\"embedding\", \"6 block\", \"head\"]", "[]")),
        ("a million layers", changed("6 block", "1000000 block")),
        ("a number of nothing", changed("6 block", "six block")),
        ("a degree without costs", changed("pipeline = [2, 4]", "pipeline = [2, 4]\ntensor = [1, 2]")),
        ("a placement that is none", changed("\"v\"]", "\"spiral\"]")),
        ("no degree that fits", changed("pipeline = [2, 4]", "pipeline = [3]")),
        (
            "a batch that does not divide",
            changed("global_batch = 8", "global_batch = 7").replace("[2, 4]", "2"),
        ),
        ("memory for no plan", changed("memory = 24", "memory = 8")),
        (
            "a space too large",
            changed(
                "pipeline = [2, 4]",
                &format!(
                    "pipeline = {:?}\ntensor = {:?}\nmicrobatch_size = 1",
                    (1..=400).collect::<Vec<_>>(),
                    vec![1]
                ),
            )
            .replace(
                "placement = [\"linear\", \"v\"]",
                &format!(
                    "placement = {:?}\nrecompute = [\"none\", \"auto\"]\noffload = [\"none\", \"auto\"]",
                    looped()
                ),
            )
            .replace("activation = 2", "activation = 2\ncheckpoint = 1\noffload = 1"),
        ),
        ("no TOML", format!("{right}oops\n")),
        ("times that cannot be counted", changed("forward = 3", "forward = 900000000000000000")),
        ("more passes than are supported", changed("global_batch = 8", "global_batch = 4000000000")),
        (
            "profiles that are missing",
            format!("{right}\n[[profile]]\n[[profile]]\ntensor = 2\n[[profile]]\nmicrobatch_size = 2\n"),
        ),
        (
            "no host bandwidth",
            changed("activation = 2", "activation = 2\noffload = 1") + "offload = \"auto\"\n",
        ),
        ("nothing to recompute", format!("{right}recompute = \"auto\"\n")),
        ("bandwidth without units", changed("latency = 1", "latency = 1\nbandwidth = \"5 GB/s\"")),
        ("more kept than there is", changed("retained_for_weight = 1", "checkpoint = 3")),
        ("a second profile", format!("{right}\n[[profile]]\n[[profile]]\n")),
    ] {
        let run = tool_with_input(&["plan", "-"], &text);
        assert!(run.status == 2 || run.status == 1, "{what}: {}", run.transcript());
        _ = writeln!(all, "{what}: {}", run.transcript());
    }
    insta::assert_snapshot!("wrong_jobs", all);
}

/// Placements of 2 to 64 chunks, with four-fold savings more than can be gone through.
fn looped() -> Vec<String> {
    (2..=64).map(|chunks| format!("looped {chunks}")).collect()
}

#[cfg(not(feature = "store"))]
#[test]
fn a_build_that_keeps_no_results_says_how_to_get_one_that_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("results.sqlite");
    let name = store.to_str().expect("a plain name");
    for more in [&[][..], &["--shard", "1/2"], &["--merge", "no-such-store.sqlite"]] {
        let run = tool(&[&["plan", JOB, "--store", name][..], more].concat());
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{}", run.transcript());
        assert!(run.err.contains("built without the feature `store`"), "{}", run.err);
        assert!(run.err.contains("build the tool with it"), "{}", run.err);
    }
    assert!(!store.exists());
}
