use super::*;
use crate::draw::colour::{Colour, Ground};
use crate::job;
use crate::model::{Kind, Microbatch, Model, Pass, Stage};
use crate::replay::{Verdict, replay};
use crate::schedule::Schedule;

const JOB: &str = r#"
name = "small"
layers = ["embedding", "2 block", "head"]
[layer.embedding]
forward = 1
backward_input = 0
backward_weight = 2
weights = 4
[layer.block]
forward = 3
backward_input = 4
backward_weight = 2
activation = 2
weights = 2
[layer.head]
forward = 6
backward_input = 6
backward_weight = 6
activation = 1
weights = 4
[machine]
devices = 2
memory = 24
[choices]
global_batch = 2
pipeline = 2
placement = ["linear", "v"]
"#;

/// A choice of a job with a cut and a schedule of one microbatch after the other.
struct Made {
    choice: Choice,
    cut: Cut,
    model: Model,
    schedule: Schedule,
    verdict: Verdict,
}

impl Made {
    fn of(job: &Job, choice: usize, cut: &[u32]) -> Self {
        let choice = job.choices().expect("choices")[choice];
        let cut = Cut::new(cut.to_vec());
        let model = job.layers(&choice).expect("layers").model(&cut).expect("a model");
        let placement = model.placement().clone();
        let order = |device| {
            let stages = placement.stages_of(device).to_vec();
            let mut passes = Vec::new();
            for microbatch in Microbatch::all(model.microbatches()) {
                let pass = |stage: Stage, kind| Pass::new(stage, kind, microbatch);
                passes.extend(stages.iter().map(|&stage| pass(stage, Kind::F)));
                passes.extend(
                    stages.iter().rev().flat_map(|&stage| [pass(stage, Kind::I), pass(stage, Kind::W)]),
                );
            }
            passes
        };
        let orders = crate::model::Device::all(model.devices()).map(order).collect();
        let schedule =
            Schedule::new(model.placement().clone(), model.microbatches(), orders).expect("a schedule");
        let verdict = replay(&model, &schedule);
        assert!(verdict.is_valid(), "{verdict:?}");
        Self { choice, cut, model, schedule, verdict }
    }

    fn planned(&self) -> Planned<'_> {
        let picture = Picture::of(&self.model, &self.schedule, &self.verdict).expect("it runs");
        Planned { cut: &self.cut, picture, samples_per_second: None, utilisation: None, engine: "<hand>" }
    }

    fn choice(&self, none_below: i64, because: &str) -> PlanChoice<'_> {
        PlanChoice {
            choice: &self.choice,
            none_below: Some(Ticks(none_below)),
            status: "planned",
            because: because.to_owned(),
            plan: Some(self.planned()),
        }
    }
}

/// A page with a plan for either placement and the naive plan.
fn page(text: &str) -> String {
    let job = job::parse(text).expect("a job");
    let (v, linear) = (Made::of(&job, 1, &[1, 1, 1, 1]), Made::of(&job, 0, &[3, 1]));
    let naive = Made::of(&job, 0, &[2, 2]);
    let dropped = PlanChoice {
        choice: &linear.choice,
        none_below: Some(Ticks(90)),
        status: "dropped",
        because: "no plan with it is <shorter>".to_owned(),
        plan: None,
    };
    let page = PlanPage {
        job: &job,
        none_below: Ticks(50),
        is_cut_short: false,
        choices: vec![v.choice(50, ""), linear.choice(60, "none shorter was found"), dropped],
        naive: Some(NaiveShown { choice: &naive.choice, fits: true, plan: naive.planned() }),
    };
    page.html().expect("a page")
}

#[test]
fn the_structure_of_a_page_is_as_ever() {
    let page = page(JOB);
    let (style, script) = (page::STYLE.to_owned() + STYLE, page::SCRIPT.concat() + SCRIPT);
    let without = page.replace(&style, "(style)\n").replace(&script, "(script)\n");
    let without = without
        .replace(page::TOOLBAR, "(toolbar)\n")
        .replace(&page::help("The wheel with Ctrl and a pinch zoom"), "(help)\n");
    let (before, rest) = without.split_once("id=\"data\">").expect("there is data");
    let (_, after) = rest.split_once("</script>").expect("it ends");
    insta::assert_snapshot!(format!("{before}id=\"data\">(data)</script>{after}"));
}

#[test]
fn a_page_loads_nothing_and_no_text_of_a_job_is_markup() {
    let hostile = "</script><script>alert(1)</script><b onload='x'>&\\\"";
    let text = JOB.replace("\"small\"", &format!("\"{hostile}\"\nsource = \"{hostile}\""));
    let page = page(&text);
    assert_eq!(page.matches("</script>").count(), 2);
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<b onload") && !page.contains("<hand>"));
    assert!(page.contains("<title>Plan of &lt;/script&gt;&lt;script&gt;alert(1)"), "the name is shown");
    // The names of namespaces and of a header are no addresses that are asked for.
    let rest = page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "");
    for foreign in ["http", "@import", "url(", "fetch(", "XMLHttpRequest", "import(", "src="] {
        assert!(!rest.contains(foreign), "{foreign}");
    }
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    assert_eq!(page(JOB), page(JOB));
}

#[test]
fn a_page_needs_a_plan() {
    let job = job::parse(JOB).expect("a job");
    let page =
        PlanPage { job: &job, none_below: Ticks(1), is_cut_short: false, choices: vec![], naive: None };
    assert_eq!(page.html(), Err(PageError::Empty));
}

#[test]
fn a_naive_plan_that_does_not_fit_says_so_everywhere() {
    let job = job::parse(JOB).expect("a job");
    let (best, naive) = (Made::of(&job, 1, &[1, 1, 1, 1]), Made::of(&job, 0, &[2, 2]));
    let shown = NaiveShown { choice: &naive.choice, fits: false, plan: naive.planned() };
    let page = PlanPage {
        job: &job,
        none_below: Ticks(50),
        is_cut_short: true,
        choices: vec![best.choice(50, "")],
        naive: Some(shown),
    };
    let page = page.html().expect("a page");
    for text in [
        "than the naive plan, which does not fit into memory",
        "It does not fit into memory",
        "naive, does not fit</text>",
        "Naive plan, which does not fit: ",
        "1F1B; does not fit into memory</td>",
        "The search was cut short",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn bars_of_a_device_are_as_long_as_its_work() {
    let job = job::parse(JOB).expect("a job");
    let made = Made::of(&job, 0, &[3, 1]);
    let page = PlanPage {
        job: &job,
        none_below: Ticks(1),
        is_cut_short: false,
        choices: vec![made.choice(1, "")],
        naive: None,
    };
    let page = page.html().expect("a page");
    // Device 0: 1+3+3, 0+4+4 and 2+2+2 ticks, of 21; device 1: 18 ticks. The mean is 19.5, rounded up.
    assert!(page.contains("data-work=\"21\"") && page.contains("data-work=\"18\""), "{page}");
    for bar in
        ["F-0-1\" style=\"width:33.33%", "I-0-1\" style=\"width:38.09%", "W-0-1\" style=\"width:28.57%"]
    {
        assert!(page.contains(bar), "{bar}");
    }
    assert!(page.contains("class=\"mean\" style=\"left:95.23%\""));
    assert!(page.contains("works 21 ticks for a microbatch, 5.0 % above the mean of 20 ticks"));
    assert!(page.contains("<span>0:</span> embedding + 2 block</td>"));
}

#[test]
fn the_frontier_has_no_plan_that_another_one_beats() {
    let job = job::parse(JOB).expect("a job");
    let made = [Made::of(&job, 1, &[1, 1, 1, 1]), Made::of(&job, 0, &[3, 1]), Made::of(&job, 0, &[1, 3])];
    let page = PlanPage {
        job: &job,
        none_below: Ticks(1),
        is_cut_short: false,
        choices: made.iter().map(|made| made.choice(1, "")).collect(),
        naive: None,
    };
    let worth: Vec<(Units, Ticks)> =
        made.iter().map(|made| (made.planned().peak(), made.planned().time())).collect();
    let html = page.html().expect("a page");
    for (at, &(peak, time)) in worth.iter().enumerate() {
        let better = |&(other, quicker): &(Units, Ticks)| {
            other <= peak && quicker <= time && (other, quicker) != (peak, time)
        };
        let is_frontier = !worth.iter().any(better);
        let points: Vec<&str> = html
            .lines()
            .filter(|line| {
                line.contains("class=\"point") && line.contains(&format!("data-plan=\"{}\"", at + 1))
            })
            .collect();
        assert_eq!(points.len(), 1);
        let shown = points[0].contains("frontier");
        assert!(shown == is_frontier || at == 0, "{worth:?} {points:?}");
    }
}

#[test]
fn colours_are_those_of_timelines_in_both_themes() {
    let page = page(JOB);
    for (ground, chunk) in [(Ground::Light, 0), (Ground::Dark, 1)] {
        let colour = Colour::of(Kind::F, chunk, 2, ground).hex();
        assert!(page.contains(&format!("--F-{chunk}-2:{colour};")), "{ground:?}");
    }
    assert!(page.contains(".F-1-2 { background: var(--F-1-2); }"));
}
