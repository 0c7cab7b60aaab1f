//! A page about a plan: every alternative by its memory and its time, and of each its cut, what its devices do and hold, and its
//! timeline, beside the plan that needs no search. All that it needs is in the one file; it loads nothing.
//!
//! The figures and the best plan with the naive one are there without any script, and so on paper; the script shows other
//! alternatives.

mod axis;
mod chart;
mod choices;
mod detail;
mod palette;
mod summary;

use super::Picture;
use super::page::{self, Clock, PageError, data};
use super::svg::{Extent, Part, Svg, SvgError, apart};
use super::xml::escape;
use crate::amounts;
use crate::job::{Choice, Cut, Job};
use crate::model::{Ticks, Units};
use crate::replay::Rate;

#[cfg(feature = "cli")]
pub(crate) use choices::names_explained;

const PAGE: &str = include_str!("plan/page.html");
const STYLE: &str = include_str!("plan/style.css");
const SCRIPT: &str = include_str!("plan/plan.js");

/// Up to so many passes have their timelines on the page: some two megabytes.
const PASSES: usize = 300_000;

/// Up to so many passes are drawn for readers without a script, and for paper.
const DRAWN: usize = 60_000;

/// The width of these drawings, in pixels.
const WIDTH: u32 = 1040;

/// The height that they do not exceed without need, in pixels.
const HEIGHT: u32 = 560;

/// Alternatives of a job, and what they are compared with.
#[derive(Debug, Clone)]
pub struct PlanPage<'a> {
    /// The job.
    pub job: &'a Job,
    /// No plan of the job is shorter.
    pub none_below: Ticks,
    /// Whether the search was told to stop before it ended by itself.
    pub is_cut_short: bool,
    /// Every choice: plans first, the shortest at the front.
    pub choices: Vec<PlanChoice<'a>>,
    /// The plan that needs no search; nothing where there is none.
    pub naive: Option<NaiveShown<'a>>,
}

/// A choice with its plan, or with the reason why it has none.
#[derive(Debug, Clone)]
pub struct PlanChoice<'a> {
    /// The choice.
    pub choice: &'a Choice,
    /// No plan with this choice is shorter; or none is shorter than the best plan.
    pub none_below: Option<Ticks>,
    /// What became of it, in a word or two.
    pub status: &'static str,
    /// Why it is not the best plan, in words.
    pub because: String,
    /// Its plan, if it has one.
    pub plan: Option<Planned<'a>>,
}

/// A cut with a schedule that replay has executed.
#[derive(Debug, Clone)]
pub struct Planned<'a> {
    /// How many layers each stage has.
    pub cut: &'a Cut,
    /// The schedule with its times and its memory.
    pub picture: Picture<'a>,
    /// Samples per second over the whole machine, where that is known.
    pub samples_per_second: Option<Rate>,
    /// The share of the machine's speed that the model uses, where that is known.
    pub utilisation: Option<Rate>,
    /// What found it.
    pub engine: &'a str,
}

/// The plan that needs no search.
#[derive(Debug, Clone)]
pub struct NaiveShown<'a> {
    /// Its choice.
    pub choice: &'a Choice,
    /// Whether no device holds more than it has room for.
    pub fits: bool,
    /// The plan.
    pub plan: Planned<'a>,
}

impl Planned<'_> {
    /// The makespan.
    fn time(&self) -> Ticks {
        self.picture.makespan()
    }

    /// The most that any device holds.
    fn peak(&self) -> Units {
        self.picture.peak_memory.iter().copied().max().unwrap_or_default()
    }

    fn passes(&self) -> usize {
        self.picture.schedule.len()
    }
}

/// A plan of the page.
#[derive(Clone, Copy)]
struct Entry<'p, 'a> {
    /// What the chart, the tables and the script call it: the number in the order of the plans from 1, or `naive`.
    key: Key,
    choice: &'a Choice,
    /// No plan with this choice is shorter; unknown for the naive one.
    none_below: Option<Ticks>,
    because: &'p str,
    plan: &'p Planned<'a>,
    /// Its place among the timelines of the page; nothing where these would be too many.
    timeline: Option<usize>,
}

/// The name of a plan on its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Number(usize),
    /// Whether it fits.
    Naive(bool),
}

impl std::fmt::Display for Key {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Naive(_) => out.write_str("naive"),
        }
    }
}

impl Entry<'_, '_> {
    /// What it is called in headings.
    fn title(&self) -> String {
        match self.key {
            Key::Number(1) => format!("Best plan: {}", self.choice),
            Key::Number(number) => format!("Plan {number}: {}", self.choice),
            Key::Naive(true) => format!("Naive plan: {}, layers cut evenly, 1F1B", self.choice),
            Key::Naive(false) => {
                format!("Naive plan, which does not fit: {}, layers cut evenly, 1F1B", self.choice)
            }
        }
    }
}

impl<'a> PlanPage<'a> {
    /// The page as HTML. The same plan gives the same bytes.
    ///
    /// # Errors
    /// When there is no plan to show, or times or amounts are too large for the numbers of a browser.
    pub fn html(&self) -> Result<String, PageError> {
        let entries = self.entries();
        let shown: Vec<Picture<'a>> = entries
            .iter()
            .filter(|entry| entry.timeline.is_some())
            .map(|entry| entry.plan.picture.clone())
            .collect();
        let data = data::of(&shown, &Clock::of(&shown)?)?;
        let best = *entries.first().ok_or(PageError::Empty)?;
        let naive = entries.iter().find(|entry| matches!(entry.key, Key::Naive(_))).copied();
        let pair: Vec<Entry<'_, '_>> = [Some(best), naive].into_iter().flatten().collect();
        let details: String = entries.iter().map(|entry| detail::section(self.job, entry)).collect();
        let set = [
            ("title", escape(&format!("Plan of {}", self.job.name))),
            ("style", page::STYLE.to_owned() + STYLE + &palette::rules(&entries)),
            ("lead", summary::lead(self, best, naive)),
            ("facts", self.facts(&best)),
            ("comparison", summary::comparison(self.job, &pair)),
            ("chart", chart::Chart::of(self, &entries).svg()),
            ("details", details),
            ("toolbar", page::TOOLBAR.to_owned()),
            ("legend", detail::legend_of_timelines(&entries)),
            ("panels", panels(&pair)),
            ("stills", stills(&pair)),
            ("plans", choices::planned(self.job, &entries)),
            ("others", choices::others(self)),
            ("help", page::help("The wheel with Ctrl and a pinch zoom")),
            ("data", data),
            ("script", page::SCRIPT.concat() + SCRIPT),
        ];
        Ok(page::filled(PAGE, &set))
    }

    /// Every plan, the shortest first, and the naive one at the end.
    fn entries(&self) -> Vec<Entry<'_, 'a>> {
        let naive = self.naive.as_ref().map(|naive| Entry {
            key: Key::Naive(naive.fits),
            choice: naive.choice,
            none_below: None,
            because: "",
            plan: &naive.plan,
            timeline: None,
        });
        let planned = self.choices.iter().filter_map(|choice| Some((choice, choice.plan.as_ref()?)));
        let planned = planned.enumerate().map(|(at, (choice, plan))| Entry {
            key: Key::Number(at + 1),
            choice: choice.choice,
            none_below: choice.none_below,
            because: &choice.because,
            plan,
            timeline: None,
        });
        let mut entries: Vec<Entry<'_, 'a>> = planned.chain(naive).collect();
        // The best and the naive plan always have a timeline, the others as long as there is room.
        let (mut passes, mut timelines) = (0, 0);
        let always = |entry: &Entry<'_, '_>| matches!(entry.key, Key::Number(1) | Key::Naive(_));
        for entry in &mut entries {
            let more = passes + entry.plan.passes();
            if always(entry) || more <= PASSES {
                (passes, entry.timeline) = (more, Some(timelines));
                timelines += 1;
            }
        }
        entries
    }

    /// The integers of the answer, for programs that read the page.
    fn facts(&self, best: &Entry<'_, '_>) -> String {
        format!(
            "data-time-unit=\"{}\" data-memory-unit=\"{}\" data-lower-bound=\"{}\" data-makespan=\"{}\"",
            escape(&self.job.time_unit),
            escape(&self.job.memory_unit),
            self.none_below,
            best.plan.time(),
        )
    }
}

/// The places of the timelines that the script draws.
fn panels(pair: &[Entry<'_, '_>]) -> String {
    let panel = |entry: &Entry<'_, '_>| {
        let title = escape(&entry.title());
        format!(
            "<section class=\"panel\"><h3>{title}</h3>\n<div class=\"frame\"><div class=\"sheet\"><canvas tabindex=\"0\" \
             role=\"application\" aria-roledescription=\"timeline\" aria-describedby=\"spoken\" aria-label=\"Timeline of {title}. \
             Arrow keys go from pass to pass, a question mark lists all keys.\"></canvas></div></div></section>\n"
        )
    };
    pair.iter().map(panel).collect()
}

/// The timelines of the best and the naive plan as drawings, along one axis of time.
fn stills(pair: &[Entry<'_, '_>]) -> String {
    let passes: usize = pair.iter().map(|entry| entry.plan.passes()).sum();
    if passes > DRAWN {
        return format!(
            "<p>The timelines have {passes} passes, too many to be drawn without a script.</p>\n"
        );
    }
    let pictures: Vec<Picture<'_>> = pair.iter().map(|entry| entry.plan.picture.clone()).collect();
    let Ok(drawings) = drawings(&pictures) else {
        return "<p>The names are too long for a drawing without a script.</p>\n".to_owned();
    };
    let figure = |(entry, svg): (&Entry<'_, '_>, String)| {
        format!("<figure><figcaption>{}</figcaption>\n{svg}</figure>\n", escape(&entry.title()))
    };
    pair.iter().zip(drawings).map(figure).collect()
}

/// Drawings of few enough pixels for paper, with memory where there is room for it.
fn drawings(pictures: &[Picture<'_>]) -> Result<Vec<String>, SvgError> {
    let hidden = vec![Part::Title, Part::Figures];
    let natural = Svg { width: Some(WIDTH), height: None, hidden: hidden.clone(), extent: Extent::Whole };
    let devices = pictures.iter().map(|picture| picture.schedule.devices()).max().unwrap_or_default();
    if devices <= 8 {
        return apart(pictures, &natural);
    }
    let count = u32::try_from(pictures.len()).unwrap_or(1);
    let hidden = hidden.into_iter().chain([Part::Memory]).collect();
    let how = |height: u32| Svg {
        height: Some(height.saturating_mul(count)),
        hidden: Vec::clone(&hidden),
        ..natural
    };
    match apart(pictures, &how(HEIGHT)) {
        Err(SvgError::TooLow { least, .. }) => {
            apart(pictures, &how(u32::try_from(least).unwrap_or(u32::MAX)))
        }
        drawn => drawn,
    }
}

/// A time of a job, as people read it.
fn time(job: &Job, ticks: Ticks) -> String {
    escape(&amounts::time(ticks.0, &job.time_unit))
}

/// An amount of memory of a job, as people read it.
fn memory(job: &Job, units: Units) -> String {
    escape(&amounts::memory(units.0, &job.memory_unit))
}

#[cfg(test)]
mod tests;
