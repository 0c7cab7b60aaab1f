//! The report in words and tables.

use std::fmt;

use super::{
    ComparisonReport, EarlyPass, ErrorsReport, Figures, FindingReport, Spans, TermsReport, TraceReport,
};
use crate::amounts::Amounts;
use crate::cli::figures::percentage;
use crate::cli::table::Table;
use crate::cli::violations::count;
use crate::replay::Rate;
use crate::trace::clocks::{ClockMethod, Clocks};
use crate::trace::statistics::Spread;

/// A share with its sign.
fn signed(rate: Rate) -> String {
    let text = percentage(rate);
    if text.starts_with('-') { text } else { format!("+{text}") }
}

/// A time with its sign.
fn signed_time(amounts: Amounts<'_>, ticks: i64) -> String {
    if ticks < 0 { amounts.time(ticks) } else { format!("+{}", amounts.time(ticks)) }
}

/// How times and memory of traces are shown: they are in nanoseconds and bytes.
fn shown(out: &fmt::Formatter<'_>) -> Amounts<'static> {
    Amounts::new(out.alternate(), "ns", "byte")
}

/// How many findings of a kind are listed.
const LISTED: usize = 20;

fn list(out: &mut fmt::Formatter<'_>, lines: impl ExactSizeIterator<Item = String>) -> fmt::Result {
    let more = lines.len().saturating_sub(LISTED);
    for line in lines.take(LISTED) {
        writeln!(out, "  {line}")?;
    }
    if more > 0 {
        writeln!(out, "  and {more} more; --json gives them all")?;
    }
    Ok(())
}

impl fmt::Display for TraceReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.schedule.as_deref().unwrap_or("schedule");
        writeln!(
            out,
            "{}: {name}, {}, {}, {}; {}, {}",
            self.file,
            count(self.devices as usize, "device", "devices"),
            count(self.microbatches as usize, "microbatch", "microbatches"),
            count(self.iterations, "iteration", "iterations"),
            self.origin,
            self.machine.name,
        )?;
        if !self.absent.is_empty() {
            writeln!(out, "not in the trace: {}", self.absent.join(", "))?;
        }
        if let Some(error) = &self.gradient_error {
            writeln!(out, "gradient error against one device: {error}")?;
        }
        if let Some(overhead) = self.host_overhead {
            let overhead = shown(out).time(overhead);
            writeln!(out, "host overhead per iteration and device: {overhead}")?;
        }
        if let Some(clocks) = &self.clocks {
            clock_lines(out, clocks)?;
        }
        self.order_lines(out)?;
        writeln!(out, "\npredicted by {}", self.basis_text)?;
        if let Some(reason) = &self.not_predicted {
            return writeln!(out, "nothing is predicted: {reason}");
        }
        let Some(figures) = &self.figures else { return Ok(()) };
        writeln!(out)?;
        figures.fmt(out)?;
        if let Some(terms) = &self.terms {
            writeln!(out)?;
            WithTerms { terms, figures, error: self.makespan_error }.fmt(out)?;
        }
        Ok(())
    }
}

impl TraceReport {
    fn order_lines(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.findings.is_empty() {
            writeln!(out, "all passes ran once, in the declared order, one at a time")?;
        } else {
            writeln!(out, "not as declared:")?;
            let amounts = shown(out);
            let line = |found: &FindingReport| {
                format!("{}: {}", found.rule, found.finding.in_words(|ticks| amounts.time(ticks)))
            };
            list(out, self.findings.iter().map(line))?;
        }
        if self.early.is_empty() {
            return Ok(());
        }
        writeln!(out, "by the clock, these started before what they need had ended:")?;
        let amounts = shown(out);
        let line = |early: &EarlyPass| {
            let EarlyPass { iteration, pass, needs, by } = early;
            format!("iteration {iteration}: `{pass}` {} before the end of `{needs}`", amounts.time(*by))
        };
        list(out, self.early.iter().map(line))
    }
}

/// Between which times half of the values are, where there are enough of them for that to say more than the least and the most.
fn half(amounts: Amounts<'_>, spread: &Spread) -> String {
    const FEW: usize = 3;
    if spread.count <= FEW {
        return String::new();
    }
    let [lower, upper] = [spread.lower_quartile, spread.upper_quartile].map(|time| amounts.time(time));
    format!(", half of them {lower} to {upper}")
}

fn clock_lines(out: &mut fmt::Formatter<'_>, clocks: &Clocks) -> fmt::Result {
    let how = match clocks.method {
        ClockMethod::Agree => "clocks: no message contradicts that they agree",
        ClockMethod::Given => "clocks: offsets as given",
        ClockMethod::Estimated => "clocks: offsets in the middle of what messages allow",
    };
    writeln!(out, "{how}")?;
    let amounts = shown(out);
    for (rank, clock) in clocks.ranks.iter().enumerate().skip(1) {
        let limit =
            |limit: Option<i64>| limit.map_or_else(|| "anything".to_owned(), |limit| amounts.time(limit));
        let possible = match clocks.contradiction {
            Some(_) => "none".to_owned(),
            None => format!("{} to {}", limit(clock.least), limit(clock.most)),
        };
        let offset = signed_time(amounts, clock.offset);
        writeln!(out, "  rank {rank}: {offset} against rank 0 (possible: {possible})")?;
    }
    Ok(())
}

impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amounts = shown(out);
        let mut table = Table::new(["", "measured", "predicted", "error"]);
        let spread = &self.makespan.measured;
        let relative = |measured: i64, predicted: i64| {
            if measured == 0 {
                return "-".to_owned();
            }
            signed(Rate::new(i128::from(predicted - measured), i128::from(measured)))
        };
        table.row([
            "makespan".to_owned(),
            amounts.time(spread.median),
            amounts.time(self.makespan.predicted),
            relative(spread.median, self.makespan.predicted),
        ]);
        if let Some(within) = self.with_measured_durations {
            table.row([
                "  with measured durations".to_owned(),
                String::new(),
                amounts.time(within),
                relative(spread.median, within),
            ]);
        }
        let [measured, predicted] = self.rates;
        let points = signed(predicted - measured).replace(" %", " points");
        table.row(["bubble rate".to_owned(), percentage(measured), percentage(predicted), points]);
        let devices = |peaks: &Option<Vec<i64>>| peaks.as_ref().map_or(0, Vec::len);
        let most = devices(&self.activation_peak.measured).max(devices(&self.activation_peak.predicted));
        for device in 0..most {
            let of = |peaks: &Option<Vec<i64>>| peaks.as_ref().and_then(|peaks| peaks.get(device).copied());
            let (measured, predicted) =
                (of(&self.activation_peak.measured), of(&self.activation_peak.predicted));
            let cell = |peak: Option<i64>| peak.map_or_else(|| "-".to_owned(), |peak| amounts.memory(peak));
            let error = measured.zip(predicted).map_or_else(|| "-".to_owned(), |(m, p)| relative(m, p));
            table.row([
                format!("activation peak of device {device}"),
                cell(measured),
                cell(predicted),
                error,
            ]);
        }
        write!(out, "{table}")?;
        if spread.count > 1 {
            writeln!(
                out,
                "(measured: iteration {}, whose makespan is the median)\nmakespans of the iterations: {} to {}{}",
                self.typical_iteration,
                amounts.time(spread.least),
                amounts.time(spread.most),
                half(amounts, spread)
            )?;
        }
        if self.highest_activation_peaks != self.activation_peak.measured
            && let Some(peaks) = &self.highest_activation_peaks
        {
            let peaks: Vec<String> = peaks.iter().map(|&peak| amounts.memory(peak)).collect();
            writeln!(out, "largest activation peaks of any iteration: {}", peaks.join(", "))?;
        }
        let headings = ["error of a pass", "median", "9 in 10 within", "median", "9 in 10", "worst"];
        let mut table = Table::new(headings);
        for (what, errors) in [("duration", &self.durations), ("start", &self.starts)] {
            let worst = errors.worst.iter().map(|worst| {
                format!("{} {}", worst.pass, signed_time(amounts, worst.predicted - worst.measured))
            });
            table.row([
                what.to_owned(),
                amounts.time(errors.median),
                amounts.time(errors.p90),
                percentage(errors.shares[0]),
                percentage(errors.shares[1]),
                worst.collect::<Vec<_>>().join(", "),
            ]);
        }
        write!(out, "\n{table}")?;
        writeln!(out, "(shares: of the predicted duration of the pass; of the predicted makespan)")
    }
}

/// The table of predictions with terms.
struct WithTerms<'a> {
    terms: &'a TermsReport,
    figures: &'a Figures,
    error: Option<Rate>,
}

impl fmt::Display for WithTerms<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { terms, figures, error } = self;
        let amounts = shown(out);
        if let Some(gaps) = &terms.gaps {
            let gaps: Vec<String> = gaps.iter().map(|&gap| amounts.time(gap)).collect();
            writeln!(out, "launch gaps of the devices: {}", gaps.join(", "))?;
        }
        if let Some(rates) = &terms.rates {
            let rates: Vec<String> = (1..)
                .zip(rates)
                .map(|(busy, rate)| format!("{busy}: {}.{:03}", rate / 1000, rate % 1000))
                .collect();
            writeln!(out, "rate of a device by number of busy devices: {}", rates.join(", "))?;
        }
        let headings =
            ["predicted with", "makespan", "error", "bubble rate", "duration, 9 in 10", "start, 9 in 10"];
        let mut table = Table::new(headings);
        let share = |errors: &ErrorsReport| percentage(errors.shares[1]);
        let maybe = |errors: &Option<ErrorsReport>| errors.as_ref().map_or_else(|| "-".to_owned(), share);
        let off = |error: Option<Rate>| error.map_or_else(|| "-".to_owned(), signed);
        table.row([
            "replay alone".to_owned(),
            amounts.time(figures.makespan.predicted),
            off(*error),
            percentage(figures.rates[1]),
            share(&figures.durations),
            share(&figures.starts),
        ]);
        for variant in &terms.variants {
            table.row([
                variant.with.to_owned(),
                amounts.time(variant.makespan),
                off(variant.exact),
                percentage(variant.rate),
                maybe(&variant.durations),
                maybe(&variant.starts),
            ]);
        }
        write!(out, "{table}")
    }
}

impl fmt::Display for ComparisonReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, report) in self.traces.iter().enumerate() {
            out.write_str(if at == 0 { "" } else { "\n" })?;
            report.fmt(out)?;
        }
        if let Some(Spans { exact, .. }) = &self.makespan_errors {
            let [least, median, most] = exact.map(signed);
            writeln!(out, "\nerror of the makespan over all traces: {least} to {most}, median {median}")?;
        }
        if let Some(tolerance) = self.tolerance {
            let verdict = if self.holds { "within" } else { "not all within" };
            writeln!(out, "\nas declared, and the makespan {verdict} {}", percentage(tolerance))?;
        }
        if let Some(drawing) = &self.drawing {
            write!(out, "\n{drawing}")?;
        }
        let mut before = "\n";
        for written in self.written.iter().chain(&self.scatter) {
            writeln!(out, "{before}wrote {written}")?;
            before = "";
        }
        Ok(())
    }
}
