//! The command line: arguments in, an answer and an exit status out.
//!
//! One file for each subcommand. What a command finds goes to standard output, as text or (`--json`)
//! as one object; everything else goes to standard error. Errors name the place and the correction.
//!
//! ```
//! // As if `bubbleproof --version` had been typed.
//! let status = bubbleproof::cli::run(["bubbleproof".into(), "--version".into()]);
//! assert_eq!(status, std::process::ExitCode::SUCCESS);
//! ```

mod arguments;
mod block;
mod block_words;
mod caveats;
mod certify;
mod check;
mod communication;
mod compare;
mod completions;
mod convert;
mod deadline;
mod error;
mod estimate_job;
mod every_m;
mod excerpt;
mod explain;
mod family_input;
mod figures;
mod file_kind;
mod file_name;
mod frontier;
mod gap;
mod help;
mod input;
mod interrupt;
mod job;
mod library;
mod list;
mod man;
mod memory_limit;
mod number;
mod optimize;
mod output;
mod plan;
mod pool;
mod progress;
mod prove;
mod regress;
mod remedy;
mod render;
mod replay;
mod schedule_input;
mod search;
mod size;
mod sweep;
mod table;
mod theorems;
mod time_arg;
mod trace;
mod verdict;
mod verify;
mod violations;
mod wrap;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use error::{Error, Status};
use output::Output;

/// Finds and verifies schedules for pipeline-parallel training
///
/// A model file (TOML) says what a pipeline computes: devices, stages, microbatches, times and
/// memory. A schedule file (JSON) gives every device an order of passes. This tool makes schedules
/// from models, and checks schedules from any source against models.
///
/// A pass is written as stage, letter, microbatch: 3F0 is the forward of stage 3 for microbatch 0;
/// I and W are the two parts of the backward (input and weight gradient), B is both in one, R
/// recomputes a forward.
#[derive(Debug, Parser)]
#[command(name = "bubbleproof", version, max_term_width = 100, after_long_help = AFTER_HELP)]
struct Cli {
    /// Print one JSON object on standard output instead of text
    #[arg(long, global = true, display_order = 100)]
    json: bool,

    /// Print times and memory as whole numbers in the units of the model, with all their digits
    #[arg(long, global = true, display_order = 101)]
    exact: bool,

    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Results go to standard output, notes and progress to standard error.

Exit status:
  0  the answer is yes (valid, found, written)
  1  the answer is no (invalid, infeasible)
  2  the input or the usage is wrong
  3  the answer is unknown or incomplete (undecided, time limit reached, interrupted, a solver without an answer)
  4  an internal error: two parts of the tool contradict each other

Ctrl-C, SIGTERM and SIGHUP end the work and keep what was found so far; the status says whether
that is complete. A second signal ends the program at once, with status 130, 143 or 129. A command
overruns its time limit by at most a tenth of it or a second.";

#[derive(Debug, Subcommand)]
enum Command {
    #[command(after_long_help = OPTIMIZE_EXAMPLES)]
    /// Find the fastest schedule that fits in memory, with a proven lower bound
    ///
    /// Candidates come from building blocks, named schedules and list scheduling. Each is replayed independently, and
    /// small problems are solved exhaustively. Passes are recomputed only where memory requires it. No schedule can
    /// beat the lower bound. Ctrl-C and SIGTERM stop the search and keep the best schedule found.
    ///
    /// --devices, --microbatches and --memory take lists. Every combination is then a row of a table, or with --json an
    /// object in a list: by devices, then microbatches, then memory limits, each in the order given. Within one size,
    /// more memory never gives a worse schedule. The exit status is 0 if any combination has a schedule, 1 if all are
    /// infeasible, and 3 if one is undecided.
    Optimize(optimize::OptimizeArgs),

    #[command(after_long_help = PLAN_EXAMPLES)]
    /// Find the best plan for a model of layers and a machine: degrees, placement, cut and schedule
    ///
    /// A job file lists layers with their costs, the machine, and what may be chosen. Every choice gets a lower bound
    /// over all cuts of the layers into stages; choices that cannot beat the best plan are dropped, and the others are
    /// searched. No plan of the job can beat the lower bound. Ctrl-C and SIGTERM stop the search and keep the best plan
    /// found.
    ///
    /// A choice is named by what it chooses: `p4 t2 d1 b2 v` has the pipeline-parallel degree 4, the tensor-parallel degree
    /// 2, the data-parallel degree 1, and microbatches of 2 samples, with V placement. `recompute` and `offload` say what
    /// its plans may do to save memory, not that they do it.
    ///
    /// The search tries cuts near the best ones, not all of them. So it ends before --time-limit once the schedules of the
    /// best plans are proved optimal for their cuts, even if a gap to other cuts is left.
    Plan(plan::PlanArgs),

    #[command(after_long_help = ESTIMATE_EXAMPLES)]
    /// Estimate a job file from the dimensions of a transformer
    ///
    /// Operations and memory of every layer follow from the dimensions by published formulas; times follow from the share of
    /// the machine's peak that the file states. The job file says so in its comments. Measured costs are better.
    Estimate(estimate_job::EstimateArgs),

    #[command(after_long_help = BLOCK_EXAMPLES)]
    /// Find the best building block of a model, or inspect a block family
    ///
    /// A building block gives every pass of one microbatch (or of several) an offset; a schedule repeats
    /// it every interval. The block sets the throughput and the memory of the steady phase.
    Block(block::BlockArgs),

    #[command(after_long_help = PROVE_EXAMPLES)]
    /// Prove block families for every number of devices, or find the smallest counterexample
    ///
    /// Dependencies, collisions, the places of W, what lifespans allow, and every promise of the file: each is proved
    /// for all numbers of devices in the family's domain, or refuted with the smallest such number, the first device
    /// there, and the passes involved. The exit status is 1 when something is refuted, and 3 when nothing is refuted
    /// but something is unknown.
    Prove(prove::ProveArgs),

    #[command(after_long_help = REGRESS_EXAMPLES)]
    /// Compare designs with their recorded results: what got worse, what got better, which pass moved
    ///
    /// A manifest, regress.toml, lists block families, schedules and models. Everything about each is
    /// recomputed (validity, interval, lifespans, memory, makespan, bubble, bound, communication, theorems
    /// and promises) and compared with its record, a text file with one fact per line. Exit status 1:
    /// something is worse beyond its threshold, invalid, no longer proved, not recorded or gone, or a promise
    /// is broken.
    Regress(regress::RegressArgs),

    #[command(after_long_help = FRONTIER_EXAMPLES)]
    /// Show memory against interval and bubble: the best blocks, and the named schedules beside them
    ///
    /// Every point is the best block found with one microbatch per interval, from the least memory to full throughput,
    /// with what is proved about it. The named schedules are replayed and marked on the same diagram. The exit status
    /// is 3 when not every point was proved within the time limit. With lists of devices or microbatches there is a
    /// table for each size, one diagram for all, and with --json a list of objects.
    Frontier(frontier::FrontierArgs),

    #[command(after_long_help = EXPLAIN_EXAMPLES)]
    /// Explain what limits a schedule and what would help, or why none fits into memory
    ///
    /// Says where a schedule loses time (uneven work, idle time, messages, memory), what sets the time for each microbatch in the
    /// long run, why no schedule is shorter than the lower bound, which passes add up to the makespan, and how much each change
    /// could gain at most: no memory limits, messages in no time, work divided evenly, another order. If not even one microbatch
    /// fits into memory, says on which device.
    Explain(explain::ExplainArgs),

    #[command(after_long_help = VERIFY_EXAMPLES)]
    /// Check a schedule: every violation, each with its place
    ///
    /// Executes the schedule independently of the tool that made it, and reports every unknown, missing,
    /// duplicate, misplaced or misordered pass, every deadlock with its cycle, and every device that exceeds
    /// its memory limit. For PyTorch `compute_comms` files, verifies the sends and receives too. With
    /// --every-m, does all of that for every number of microbatches at once.
    Verify(verify::VerifyArgs),

    #[command(after_long_help = REPLAY_EXAMPLES)]
    /// Time a schedule: when every pass runs, and how busy every device is
    ///
    /// Each device runs its passes in order, each as early as its inputs allow. With --json the start
    /// and end of every pass are in `passes`. The device span, and the bubble rate within it, let a device begin
    /// later than that; `largest_span` is the largest span of a device in `passes`.
    Replay(replay::ReplayArgs),

    #[command(after_long_help = RENDER_EXAMPLES)]
    /// Draw the timeline of a schedule: in the terminal, as SVG, as a page for a browser, or as a trace
    ///
    /// One row for each device, time from left to right. The number in a cell is the microbatch. Messages on links,
    /// copies to the host and back, and reductions have rows of their own below their device. Drawings and
    /// pages also show memory, bubbles, the critical path, and warm-up, steady phase and cool-down: the
    /// steady phase begins when every stage has begun its first backward pass, and ends when the first stage
    /// has ended its last forward pass.
    Render(render::RenderArgs),

    #[command(after_long_help = CHECK_EXAMPLES)]
    /// Check the certificate that an optimised schedule carries, without any solver
    ///
    /// `optimize` writes its claims into the schedule file: the problem, the figures, a lower bound
    /// and why it holds. `check` derives every claim again and rejects any claim that was altered. A claim
    /// that only another search could confirm is shown as not checked.
    Check(check::CheckArgs),

    #[command(after_long_help = CERTIFY_EXAMPLES)]
    /// Find an optimal schedule for a small problem, with proofs for third-party checkers
    ///
    /// Writes the schedule; the statement that a shorter one exists, as FlatZinc and as OPB; and a refutation
    /// of each, for pumpkin-checker and for VeriPB. The exit status is 3 when there is no proof within the
    /// time limit.
    Certify(certify::CertifyArgs),

    #[command(after_long_help = CONVERT_EXAMPLES)]
    /// Write a schedule in another format: schedule file (JSON), PyTorch's CSV, files of other runtimes
    ///
    /// For json and pytorch the schedule need not be valid, only well formed. For the other formats it must
    /// run. The sends and receives of pytorch-comms and sail-sg are proved free of deadlock, with buffered
    /// and rendezvous messages, and to deliver every message correctly. If a runtime cannot run the schedule,
    /// convert says why.
    Convert(convert::ConvertArgs),

    #[command(after_long_help = COMPARE_EXAMPLES)]
    /// Compare the named schedules on a model: time, bubble and memory side by side
    ///
    /// Every schedule is replayed. One that does not fit the model's memory is shown with the figures
    /// it would have, marked invalid. The exit status is 0 when at least one is valid, and 3 when the time limit
    /// or a signal left out some: those are named. Several models are shown in one table. With lists of devices, microbatches or memory limits there is a table
    /// for each combination, and with --json a list of objects.
    Compare(compare::CompareArgs),

    /// Read measured traces: fit a model, compare them with predictions, or explain what a step lost
    ///
    /// A trace records when every pass really ran: a file that measure/measure.py writes, or one that
    /// torch.profiler writes for PyTorch's pipeline runtime. docs/traces.md describes these and others.
    Trace(trace::TraceArgs),

    /// Print a script that lets a shell complete arguments
    Completions(completions::CompletionsArgs),

    /// Print the manual page, or write those of all commands to a folder
    Man(man::ManArgs),
}

const OPTIMIZE_EXAMPLES: &str = "\
Examples:
  bubbleproof optimize model.toml -o schedule.json
  bubbleproof optimize model.toml --memory 50% --time-limit 10
      with half of the memory that 1F1B needs, for ten seconds or until it is proved optimal
  bubbleproof optimize model.toml --devices 4 --microbatches 16 --json | jq '{makespan, gap}'
  bubbleproof optimize model.toml --memory 50%,75%,60GiB --microbatches 16,32 -o schedules/
      a table of all combinations, and a schedule file for each
  bubbleproof optimize job.toml --pipeline 8 --placement linear
      cuts the layers of a job file into stages, together with the schedule";

const PLAN_EXAMPLES: &str = "\
Examples:
  bubbleproof plan job.toml
  bubbleproof plan job.toml -o plan
      also writes the best plan: model, schedule, files for PyTorch and torchtitan, report.html
  bubbleproof plan job.toml --report plan.html
      only the report: one page for a browser with every plan, its cut, its memory and its timeline
  bubbleproof plan job.toml --store results.sqlite
      keeps what is found, and searches only for what is missing when it runs again
  bubbleproof plan job.toml --json | jq '.alternatives[] | {name, makespan, lower_bound, because}'";

const ESTIMATE_EXAMPLES: &str = "\
Examples:
  bubbleproof estimate models/transformers/llama-3-8b.toml -o job.toml
  bubbleproof plan job.toml
docs/estimates.md describes the input, and the formulas.";

const BLOCK_EXAMPLES: &str = "\
Examples:
  bubbleproof block model.toml
      the least memory at full throughput; with limits in the model, the best throughput within them
  bubbleproof block model.toml --memory 50% --minimize interval
  bubbleproof block family.toml --devices 16
      the block of a family for 16 devices, and whether it keeps its promises";

const PROVE_EXAMPLES: &str = "\
Examples:
  bubbleproof prove models/blocks/v-min.toml
  bubbleproof prove models/blocks/*.toml --emit proofs
      also writes every theorem as a file that any SMT solver can check
  bubbleproof prove --library
  bubbleproof prove family.toml --json | jq '.theorems[] | select(.status == \"refuted\")'";

const REGRESS_EXAMPLES: &str = "\
Examples:
  bubbleproof regress --init family.toml schedule.json -o designs
      a manifest for new designs
  bubbleproof regress designs --accept
      shows the changes, then records them
  bubbleproof regress designs
  bubbleproof regress designs --format github
      in a workflow: an annotation for every change
  bubbleproof regress designs --json | jq '.designs[] | select(.regressed)'";

const FRONTIER_EXAMPLES: &str = "\
Examples:
  bubbleproof frontier model.toml
  bubbleproof frontier model.toml --devices 16 -o frontier.svg
  bubbleproof frontier model.toml --whole --time-limit 120
      whole schedules: peak memory against makespan
  bubbleproof frontier model.toml --whole --microbatches 8,16,32 -o frontier.svg
      one curve for each number of microbatches
  bubbleproof frontier model.toml --json | jq '.points[] | {activation_peak_max, steady_bubble_rate}'";

const RENDER_EXAMPLES: &str = "\
Examples:
  bubbleproof render schedule.json
  bubbleproof render schedule.json --color always | less -R
  bubbleproof render schedule.json --model model.toml -o timeline.svg
  bubbleproof render schedule.json -o figure.svg --width 800 --height 300 --hide title,critical-path
      a figure of exactly this size, without title
  bubbleproof render schedule.json --model model.toml -o figure.svg --width 700 --caption
      two columns wide, and a caption for the paper
  bubbleproof render schedule.json --model model.toml -o start.svg --to 200ms
  bubbleproof render family.toml --block --devices 8 -o block.svg
      the building block, repeated, left-shifted and reordered; two families stand side by side
  bubbleproof render schedule.json --model model.toml -o timeline.html
  bubbleproof render one.json other.json -o both.html
      two schedules along one axis of time
  bubbleproof render schedule.json --model model.toml -o trace.json
      a trace to open at ui.perfetto.dev";

const CONVERT_EXAMPLES: &str = "\
Examples:
  bubbleproof convert schedule.json -o schedule.csv
      for PyTorch's _load_csv(..., format=\"compute_only\"), which adds the messages itself
  bubbleproof convert schedule.json -o schedule.csv --to pytorch-comms
      for format=\"compute_comms\": with sends, receives, waits and reductions
  bubbleproof convert model.toml --schedule v-half --devices 4 -o v-half.csv
  bubbleproof convert schedule.json -o run.args --to torchtitan --layers 3,4,4,4,4,4,4,3
      run.csv and the options that go with it, for torchtitan 0.3.0; --to torchtitan-0.2 writes run.toml
      for releases 0.2.0 to 0.2.2
  bubbleproof convert model.toml --schedule 1f1b -o run.args --to megatron --layers 7,8,8,7
  bubbleproof convert schedule.json --model model.toml -o nodes.json --to sail-sg
  bubbleproof convert schedule.csv -o - --to json";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  bubbleproof explain model.toml --memory 50%
  bubbleproof explain model.toml --memory 1
      why no schedule fits into that
  bubbleproof explain model.toml --json | jq '.reasons[] | select(.kind == \"conflict\")'";

const VERIFY_EXAMPLES: &str = "\
Examples:
  bubbleproof verify schedule.json
      with unit times and no memory limit
  bubbleproof verify schedule.json --model model.toml --memory 50%
      with the times of a model and half of the memory that 1F1B needs
  bubbleproof verify schedule.json --json | jq '.violations[].message'
  bubbleproof verify schedule.csv
      also verifies every send, receive, wait and reduction of a compute_comms file
  bubbleproof verify models/blocks/v-half.toml --devices 8 --every-m
      the schedules of a block family, for every number of microbatches
  bubbleproof verify schedule.json --every-m
      the schedule, and all schedules that repeat its steady phase more often";

const CHECK_EXAMPLES: &str = "\
Examples:
  bubbleproof check schedule.json
  bubbleproof check schedule.json --model model.toml --memory 50%
      also checks that the certificate is about this model and this limit";

const CERTIFY_EXAMPLES: &str = "\
Examples:
  bubbleproof certify model.toml --devices 2 --microbatches 4 -o proof
  veripb proof/makespan.opb proof/makespan.pbp
      (`cargo install veripb pumpkin-checker` installs the checkers)";

const REPLAY_EXAMPLES: &str = "\
Examples:
  bubbleproof replay schedule.json --model model.toml
  bubbleproof replay schedule.json --json | jq '.passes[] | select(.device == 0)'";

const COMPARE_EXAMPLES: &str = "\
Examples:
  bubbleproof compare model.toml
  bubbleproof compare model.toml --schedules 1f1b,zb-h1 --microbatches 64
  bubbleproof compare model.toml --memory 50%
  bubbleproof compare model.toml --devices 4,8 --memory 50%,100%
  bubbleproof compare linear.toml v.toml --schedules zb-h1,v-half,optimized
      two models in one table";

/// Runs the tool with these arguments, the first of which is its own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    status(arguments).into()
}

/// Runs the tool as [`run`] does, for a program that has the tool in it: the exit status as a number.
pub fn status(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let status = match help::parse(&arguments) {
        Ok(cli) => {
            let output = Output::new(cli.json).exact(cli.exact);
            cli.command.run(output).unwrap_or_else(|error| report(&error, output))
        }
        // With arguments that cannot be understood, --json is still worth honouring.
        Err(error) => {
            let output = Output::new(arguments.iter().any(|argument| argument == "--json"));
            arguments::refuse(&arguments::quoted_plainly(error, &arguments), output)
        }
    };
    status as u8
}

impl Command {
    fn run(&self, output: Output) -> Result<Status, Error> {
        match self {
            Self::Optimize(args) => optimize::run(args, output),
            Self::Plan(args) => plan::run(args, output),
            Self::Estimate(args) => estimate_job::run(args, output),
            Self::Block(args) => block::run(args, output),
            Self::Prove(args) => prove::run(args, output),
            Self::Regress(args) => regress::run(args, output),
            Self::Frontier(args) => frontier::run(args, output),
            Self::Explain(args) => explain::run(args, output),
            Self::Verify(args) => verify::run(args, output),
            Self::Replay(args) => replay::run(args, output),
            Self::Render(args) => render::run(args, output),
            Self::Check(args) => check::run(args, output),
            Self::Certify(args) => certify::run(args, output),
            Self::Convert(args) => convert::run(args, output),
            Self::Compare(args) => compare::run(args, output),
            Self::Trace(args) => trace::run(args, output),
            Self::Completions(args) => completions::run(args, output),
            Self::Man(args) => man::run(args, output),
        }
    }
}

/// Reports an error on standard error, and as an object where JSON was asked for.
fn report(error: &Error, output: Output) -> Status {
    // When not even that can be written, the exit status has to say it alone.
    _ = io::stderr().write_all(output::plain(&error.render()).as_bytes());
    if output.is_json() {
        _ = output::print_json(&error.object());
    }
    error.status()
}
