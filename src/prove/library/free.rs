//! Blocks whose offsets are left free: a window of devices, what their passes must keep, and what is
//! live, in linear integer arithmetic.
//!
//! The offset of F of chunk 0 on device 2 is `F0_2`. For passes a and b of a device there is an integer
//! `k_a_b`, the intervals by which a copy of b must be put off to follow a before a's next copy:
//! `t_a <= b - a + T*k_a_b <= T - t_b`, and `k_b_a = 1 - k_a_b`. When F of r starts, there are
//! `1 - k[F_r, W_s] - k[F_s, F_r]` live copies of chunk s, without the last term where s is r. Where W takes
//! no time it is left out, and I releases in its place.

use crate::prove::script::Script;

/// The passes of a device with V placement: kind and chunk.
pub(super) const V_STEPS: [&str; 6] = ["F0", "F1", "I1", "I0", "W1", "W0"];

/// The passes of a device with V placement, where W takes no time.
pub(super) const V_STEPS_WITHOUT_WEIGHT: [&str; 4] = ["F0", "F1", "I1", "I0"];

/// The passes of a device with linear placement.
pub(super) const LINEAR_STEPS: [&str; 3] = ["F0", "I0", "W0"];

/// The devices 0, 1, ... of a window, with unit times and without latency.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// The passes of every device.
    pub steps: &'static [&'static str],
    /// The interval, in ticks.
    pub interval: u32,
    /// The devices.
    pub devices: u32,
}

impl Window {
    /// What the names mean, for a header.
    pub fn legend(self) -> String {
        format!(
            "F0_2 is the offset of F of chunk 0 on device 2 of the window, in ticks. k_F0_I1_2 is the number of \
             intervals of {} ticks by which copies of I1 are put off to follow a copy of F0 there, before the next \
             one: 1 <= I1_2 - F0_2 + {0}*k <= {}. While F0 starts, 1 - k_F0_{2}1 - k_F1_F0 copies of chunk 1 are \
             live, and 1 - k_F0_{2}0 of chunk 0.",
            self.interval,
            self.interval - 1,
            self.releasing(),
        )
    }

    /// The kind of pass that releases an activation.
    fn releasing(self) -> &'static str {
        if self.steps.iter().any(|step| step.starts_with('W')) { "W" } else { "I" }
    }

    /// Declares the offsets, and asserts that no two passes of a device overlap modulo the interval.
    pub fn declare(self, script: &mut Script) {
        for device in 0..self.devices {
            for step in self.steps {
                script.declare(&format!("{step}_{device}"), "Int");
            }
            for (first, second) in self.pairs() {
                let k = format!("k_{first}_{second}_{device}");
                script.declare(&k, "Int");
                let gap = format!("(+ (- {second}_{device} {first}_{device}) (* {} {k}))", self.interval);
                script.assert(format!("(<= 1 {gap} {})", self.interval - 1));
            }
        }
    }

    fn pairs(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let steps = self.steps;
        steps
            .iter()
            .enumerate()
            .flat_map(|(at, &first)| steps[at + 1..].iter().map(move |&other| (first, other)))
    }

    /// The integer of a pair of passes, whichever way round it was declared.
    fn k(self, first: &str, second: &str, device: u32) -> String {
        let position = |step: &str| self.steps.iter().position(|&other| other == step);
        if position(first) < position(second) {
            format!("k_{first}_{second}_{device}")
        } else {
            format!("(- 1 k_{second}_{first}_{device})")
        }
    }

    /// What the device holds when F of a chunk starts, in stage activations.
    pub fn live(self, chunk: usize, device: u32) -> String {
        let forwards: Vec<&str> = self.steps.iter().copied().filter(|step| step.starts_with('F')).collect();
        let started = forwards[chunk];
        let mut terms = Vec::new();
        for &forward in &forwards {
            terms.push(self.k(started, &forward.replace('F', self.releasing()), device));
            if forward != started {
                terms.push(self.k(forward, started, device));
            }
        }
        format!("(- {} {})", forwards.len(), terms.join(" "))
    }

    /// That a device of the window holds at most so much when any of its F starts.
    pub fn peak_at_most(self, device: u32, most: &str) -> String {
        let chunks = self.steps.iter().filter(|step| step.starts_with('F')).count();
        let bounds: Vec<String> =
            (0..chunks).map(|chunk| format!("(<= {} {most})", self.live(chunk, device))).collect();
        if chunks == 1 { bounds.concat() } else { format!("(and {})", bounds.join(" ")) }
    }

    /// Asserts that a pass starts no sooner than so long after another one started.
    pub fn after(script: &mut Script, pass: &str, needed: &str, ticks: &str) {
        script.assert(format!("(>= (- {pass} {needed}) {ticks})"));
    }

    /// Asserts the dependencies of V placement, the window being the first devices of `d`. The stages
    /// that lie between the last device's two chunks are passed through without a pause.
    pub fn depend_as_v(self, script: &mut Script) {
        let last = self.devices - 1;
        for device in 0..last {
            let next = device + 1;
            for step in ["F0", "I1"] {
                Self::after(script, &format!("{step}_{next}"), &format!("{step}_{device}"), "1");
            }
            for step in ["F1", "I0"] {
                Self::after(script, &format!("{step}_{device}"), &format!("{step}_{next}"), "1");
            }
        }
        let between = format!("(- (* 2 d) {})", 2 * self.devices - 1);
        Self::after(script, &format!("F1_{last}"), &format!("F0_{last}"), &between);
        Self::after(script, &format!("I0_{last}"), &format!("I1_{last}"), &between);
        Self::after(script, "I1_0", "F1_0", "1");
        for device in 0..self.devices {
            for chunk in ["0", "1"] {
                Self::after(script, &format!("W{chunk}_{device}"), &format!("I{chunk}_{device}"), "1");
            }
        }
    }
}
