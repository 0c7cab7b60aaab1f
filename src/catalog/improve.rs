//! Shortening a schedule that already runs and fits: its Ws float, its gaps are filled.

use std::collections::VecDeque;

use itertools::iproduct;

use crate::kernel::{
    EndTimes, GapFiller, IndexedOrders, IndexedPass, IndexedProblem, Lookahead, PartialSchedule, Policy,
    class, list_schedule,
};
use crate::model::Kind;
use crate::stop::Stop;

/// How often floating and filling alternate at most.
const ROUNDS: usize = 3;

pub(super) const RUNS: &str = "orders of the catalogue follow the dependencies";

/// How long a schedule is: device span, then makespan, in ticks.
pub(super) type Length = (i64, i64);

/// Orders with their length.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub orders: IndexedOrders,
    pub length: Length,
}

/// Makes schedules of a problem shorter, within its limits.
pub(super) struct Improver<'a> {
    problem: &'a IndexedProblem,
    stop: &'a Stop,
    times: EndTimes,
    filler: GapFiller,
}

impl<'a> Improver<'a> {
    pub fn new(problem: &'a IndexedProblem, stop: &'a Stop) -> Self {
        let filler = GapFiller::new(problem, Lookahead::NAMED);
        Self { problem, stop, times: EndTimes::default(), filler }
    }

    /// The shortest of what orders become by letting their Ws float and by filling their gaps. They must keep to
    /// the limits, and what is returned does, and is never longer. When it is time to stop, it is the shortest so
    /// far.
    pub fn improved(&mut self, orders: IndexedOrders) -> Measured {
        let mut best = self.measured(orders);
        for _ in 0..ROUNDS {
            if self.stop.is_due() {
                break;
            }
            let Some(floated) = self.shortest_float(&best.orders) else { break };
            let [filled, floated_and_filled] =
                [&best.orders, &floated.orders].map(|orders| self.filled(orders.clone()));
            let next =
                [filled, floated, floated_and_filled].into_iter().min_by_key(|candidate| candidate.length);
            match next {
                Some(next) if next.length < best.length => best = next,
                _ => break,
            }
        }
        best
    }

    /// The orders with floating Ws under the rule that makes them shortest, of those for which there is time;
    /// nothing where that is none.
    ///
    /// How much the Ws of a device may hold up the device before it depends on what both have to do
    /// afterwards, so several rules are tried: Ws in every gap or only in long ones, and with none, the
    /// last, or all passes of the cool-down undisturbed.
    pub fn shortest_float(&mut self, before: &IndexedOrders) -> Option<Measured> {
        let mut shortest: Option<Measured> = None;
        for (gaps, undisturbed) in iproduct!([Gaps::Long, Gaps::Any], [Some(1), Some(usize::MAX), None]) {
            if self.stop.is_due() {
                break;
            }
            let ending = match undisturbed {
                Some(last) => {
                    let Some(Measured { orders, .. }) = self.floated(before, gaps, Ending::Last(last)) else {
                        break;
                    };
                    Ending::Expect(last, self.firm_starts(&orders))
                }
                None => Ending::Alike,
            };
            let Some(next) = self.floated(before, gaps, ending) else { break };
            // The first of equally short ones stays.
            if shortest.as_ref().is_none_or(|known| next.length < known.length) {
                shortest = Some(next);
            }
        }
        shortest
    }

    /// Orders with their length.
    pub fn measured(&mut self, orders: IndexedOrders) -> Measured {
        assert!(self.problem.asap(&orders, &mut self.times), "{RUNS}");
        let (makespan, span) = self.problem.makespan_and_span(&orders, &self.times);
        Measured { orders, length: (span, makespan) }
    }

    fn filled(&mut self, mut orders: IndexedOrders) -> Measured {
        self.filler.fill_all(self.problem, &mut orders, self.stop);
        self.measured(orders)
    }

    /// Keeps the order of all passes but W; a W runs where its device would wait, and where the next
    /// forward finds no room.
    ///
    /// That can always go on: a forward that finds no room had it in the schedule before, after Ws that
    /// come before it there and can all run now. Nothing only when it is time to stop.
    fn floated(&mut self, before: &IndexedOrders, gaps: Gaps, ending: Ending) -> Option<Measured> {
        let problem = self.problem;
        let is_firm = |pass: &IndexedPass| problem.class_of(*pass).kind != Kind::W;
        let firm: Vec<VecDeque<IndexedPass>> =
            before.iter().map(|order| order.iter().copied().filter(is_firm).collect()).collect();
        let is_forward = |pass: &&IndexedPass| problem.class_of(**pass).kind == Kind::F;
        let forwards = firm.iter().map(|firm| firm.iter().filter(is_forward).count()).collect();
        let weights = vec![VecDeque::new(); firm.len()];
        let mut policy = Floating { gaps, ending, firm, forwards, weights };
        let orders = list_schedule(problem, &mut policy, self.stop);
        assert!(orders.is_some() || self.stop.is_due(), "a floating W never keeps a pass from running");
        orders.map(|orders| self.measured(orders))
    }

    /// The starts of all passes but W, by device, in the orders that were measured last.
    fn firm_starts(&self, measured: &IndexedOrders) -> Vec<VecDeque<i64>> {
        let start = |&pass: &IndexedPass| {
            let class = self.problem.class_of(pass);
            (class.kind != Kind::W).then(|| self.times.ends[class.cell(pass.microbatch)] - class.duration)
        };
        measured.iter().map(|order| order.iter().filter_map(start).collect()).collect()
    }
}

/// The gaps in which a W runs.
#[derive(Debug, Clone, Copy)]
enum Gaps {
    /// Those not known to be shorter than the W.
    Long,
    /// All: the W may delay the next pass.
    Any,
}

/// What becomes of the gaps before the last passes of a device, once it has started its last
/// forward. A delay there delays the end of the devices before it.
enum Ending {
    /// They are used as all others.
    Alike,
    /// Before this many passes, Ws wait until all of those have run.
    Last(usize),
    /// Before this many passes, a W runs where it ends before the next pass is expected to start.
    Expect(usize, Vec<VecDeque<i64>>),
}

/// The policy of [`Improver::floated`].
struct Floating {
    gaps: Gaps,
    ending: Ending,
    /// What each device has yet to run in this order.
    firm: Vec<VecDeque<IndexedPass>>,
    /// How many of it are forwards.
    forwards: Vec<usize>,
    /// The Ws that each device can run.
    weights: Vec<VecDeque<IndexedPass>>,
}

impl Floating {
    /// Takes the next pass in order.
    fn advance(&mut self, problem: &IndexedProblem, device: usize) -> Option<IndexedPass> {
        let pass = self.firm[device].pop_front()?;
        let of = problem.class_of(pass);
        match of.kind {
            Kind::F => self.forwards[device] -= 1,
            Kind::I => {
                let weight = IndexedPass { class: class(of.stage.0, Kind::W), ..pass };
                self.weights[device].push_back(weight);
            }
            Kind::R | Kind::W | Kind::B => {}
        }
        if let Ending::Expect(_, starts) = &mut self.ending {
            starts[device].pop_front();
        }
        Some(pass)
    }

    /// Whether a W that ends at `end` may run before the next pass in order, which arrives at
    /// `arrival` as far as that is known.
    fn suits(&self, device: usize, end: i64, arrival: Option<i64>) -> bool {
        let among = |last| self.forwards[device] == 0 && self.firm[device].len() <= last;
        match (&self.ending, self.gaps) {
            (&Ending::Last(last), _) if among(last) => false,
            (&Ending::Expect(last, ref starts), _) if among(last) => {
                starts[device].front().is_none_or(|&start| end <= start)
            }
            (_, Gaps::Long) => arrival.is_none_or(|arrival| end <= arrival),
            (_, Gaps::Any) => true,
        }
    }
}

impl Policy for Floating {
    fn choose(&mut self, so_far: &PartialSchedule<'_>, device: usize, now: i64) -> Option<IndexedPass> {
        let problem = so_far.problem;
        let Some(&next) = self.firm[device].front() else { return self.weights[device].pop_front() };
        let arrival = so_far.arrival(next);
        let fits = so_far.has_room(device, problem.class_of(next).held, problem.limits[device]);
        if fits && arrival.is_some_and(|arrival| arrival <= now) {
            return self.advance(problem, device);
        }
        let weight = *self.weights[device].front()?;
        let end = now + problem.class_of(weight).duration;
        if !fits || self.suits(device, end, arrival) { self.weights[device].pop_front() } else { None }
    }
}
