//! A runtime that carries a plan out: every device does its row, every message has a value, and the
//! gradients that come out are compared with those of the whole model run one microbatch after the other.
//!
//! It shares nothing with what it judges but the definitions of actions. Values are numbers that depend on
//! everything they were made from, so a wrong input shows in every gradient made from it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use bubbleproof::comm::{Action, CommunicationPlan, Message, Payload, Semantics};
use bubbleproof::model::{Device, Kind, Microbatch, Pass, Stage};

/// How a run ends that does not end well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A device does something that it cannot do.
    Refused(String),
    /// Nothing can go on.
    Hang,
    /// Everything is done, and these stages have other gradients than they should.
    WrongGradients(Vec<Stage>),
}

fn value(parts: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

fn forward(stage: Stage, input: u64) -> u64 {
    value(("forward", stage, input))
}

fn loss(output: u64, microbatch: Microbatch) -> u64 {
    value(("loss", output, microbatch))
}

fn input_gradient(stage: Stage, input: u64, gradient: u64) -> u64 {
    value(("input gradient", stage, input, gradient))
}

fn weight_gradient(stage: Stage, input: u64, gradient: u64) -> u64 {
    value(("weight gradient", stage, input, gradient))
}

/// Scaling: what is added later stays as it is.
fn reduced(gradient: u64) -> u64 {
    gradient.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn start(microbatch: Microbatch) -> u64 {
    value(("data", microbatch))
}

/// The gradients of all stages, one microbatch after the other on one device.
fn expected(plan: &CommunicationPlan) -> Vec<u64> {
    let stages: Vec<Stage> = Stage::all(plan.schedule().placement().stages()).collect();
    let mut gradients = vec![0_u64; stages.len()];
    for microbatch in Microbatch::all(plan.schedule().microbatches()) {
        let mut inputs = Vec::new();
        let mut flowing = start(microbatch);
        for &stage in &stages {
            inputs.push(flowing);
            flowing = forward(stage, flowing);
        }
        let mut gradient = loss(flowing, microbatch);
        for &stage in stages.iter().rev() {
            let input = inputs[stage.index()];
            gradients[stage.index()] =
                gradients[stage.index()].wrapping_add(weight_gradient(stage, input, gradient));
            gradient = input_gradient(stage, input, gradient);
        }
    }
    gradients.into_iter().map(reduced).collect()
}

/// One end of a message that was posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Post {
    /// The device that posted it, the other one, and whether it sends.
    device: Device,
    peer: Device,
    sends: bool,
    message: Message,
    value: u64,
    complete: bool,
}

struct World<'a> {
    plan: &'a CommunicationPlan,
    semantics: Semantics,
    next: Vec<usize>,
    /// By stage and microbatch.
    inputs: BTreeMap<(Stage, Microbatch), u64>,
    outputs: BTreeMap<(Stage, Microbatch), u64>,
    gradients_in: BTreeMap<(Stage, Microbatch), u64>,
    gradients_out: BTreeMap<(Stage, Microbatch), u64>,
    waiting_for_weight: BTreeSet<(Stage, Microbatch)>,
    weights: Vec<u64>,
    /// Those of the last stage, as they are computed. As in PyTorch, the k-th one is taken for that of microbatch k.
    losses: Vec<u64>,
    /// Everything posted, in time.
    posts: Vec<Post>,
    waited: BTreeSet<Message>,
    reducing: Vec<Option<Stage>>,
    /// Whether a pass has used the weights that are gathered, by their stage.
    gathered: BTreeMap<Stage, bool>,
    gathers: bool,
}

/// What became of an action.
enum Step {
    Done,
    Blocked,
}

/// Carries a plan out.
pub fn run(plan: &CommunicationPlan, semantics: Semantics) -> Result<(), Failure> {
    let devices = plan.rows().len();
    let stages = plan.schedule().placement().stages() as usize;
    let mut world = World {
        plan,
        semantics,
        next: vec![0; devices],
        inputs: BTreeMap::new(),
        outputs: BTreeMap::new(),
        gradients_in: BTreeMap::new(),
        gradients_out: BTreeMap::new(),
        waiting_for_weight: BTreeSet::new(),
        weights: vec![0; stages],
        losses: Vec::new(),
        posts: Vec::new(),
        waited: BTreeSet::new(),
        reducing: vec![None; devices],
        gathered: BTreeMap::new(),
        gathers: plan.actions().any(|(_, action)| matches!(action, Action::Unshard(_) | Action::Reshard(_))),
    };
    loop {
        let mut moved = false;
        for device in Device::all(plan.schedule().devices()) {
            while let Some(&action) = plan.row(device).get(world.next[device.index()]) {
                match world.act(device, action).map_err(Failure::Refused)? {
                    Step::Done => world.next[device.index()] += 1,
                    Step::Blocked => break,
                }
                moved = true;
            }
        }
        moved |= world.deliver();
        if !moved {
            break;
        }
    }
    let finished = plan.rows().iter().zip(&world.next).all(|(row, &next)| next == row.len());
    if !finished {
        return Err(Failure::Hang);
    }
    world.end().map_err(Failure::Refused)?;
    let wrong: Vec<Stage> = expected(plan)
        .into_iter()
        .zip(&world.weights)
        .enumerate()
        .filter(|(_, (expected, found))| expected != *found)
        .map(|(stage, _)| Stage::at(stage))
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(Failure::WrongGradients(wrong)) }
}

/// A refusal, unless something holds.
fn require(holds: bool, action: Action) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{action} cannot be done now")) }
}

impl World<'_> {
    fn act(&mut self, device: Device, action: Action) -> Result<Step, String> {
        match action {
            Action::Run(pass) => self.run_passes(device, &[pass]),
            Action::Overlap(pair) => self.run_passes(device, &pair),
            Action::Send(message) => {
                let key = (message.from(), message.microbatch);
                let made = match message.payload {
                    Payload::Activation => self.outputs.get(&key),
                    Payload::Gradient => self.gradients_out.get(&key),
                };
                let value = *made.ok_or_else(|| format!("{action}: nothing to send"))?;
                self.post(device, message, value, true)
            }
            Action::Receive(message) => self.post(device, message, 0, false),
            Action::WaitSend(message) => {
                let post = self.posts.iter().find(|post| post.sends && post.message == message);
                let post = post.ok_or_else(|| format!("{action}: not sent"))?;
                if self.semantics != Semantics::Buffered && !post.complete {
                    return Ok(Step::Blocked);
                }
                if !self.waited.insert(message) {
                    return Err(format!("{action}: waited for already"));
                }
                Ok(Step::Done)
            }
            Action::Unshard(stage) => require(self.holds(device, stage), action).and_then(|()| {
                let before = self.gathered.insert(stage, false);
                require(before.is_none(), action)?;
                Ok(Step::Done)
            }),
            Action::Reshard(stage) => {
                let used = self.gathered.remove(&stage);
                require(used == Some(true), action)?;
                Ok(Step::Done)
            }
            Action::ReduceGradients(stage) => {
                require(self.reducing[device.index()].is_none(), action)?;
                self.reducing[device.index()] = Some(stage);
                self.weights[stage.index()] = reduced(self.weights[stage.index()]);
                Ok(Step::Done)
            }
            Action::WaitReduce(stage) => {
                let under_way = self.reducing[device.index()].take();
                require(under_way == Some(stage), action)?;
                Ok(Step::Done)
            }
        }
    }

    fn holds(&self, device: Device, stage: Stage) -> bool {
        self.plan.schedule().placement().stages_of(device).contains(&stage)
    }

    fn post(&mut self, device: Device, message: Message, value: u64, sends: bool) -> Result<Step, String> {
        let stages = self.plan.schedule().placement().stages();
        let (own, other) =
            if sends { (message.from(), message.to()) } else { (message.to(), message.from()) };
        if own.0.max(other.0) >= stages || !self.holds(device, own) || self.holds(device, other) {
            return Err(format!("{message:?}: nobody to exchange it with"));
        }
        if self.posts.iter().any(|post| post.sends == sends && post.message == message) {
            return Err(format!("{message:?}: posted twice"));
        }
        let peer = self.plan.schedule().placement().device_of(other);
        self.posts.push(Post { device, peer, sends, message, value, complete: false });
        Ok(Step::Done)
    }

    /// Lets messages arrive whose ends have met; whether any did.
    fn deliver(&mut self) -> bool {
        let mut moved = false;
        while let Some((send, receive)) = self.meeting() {
            self.posts[receive].value = self.posts[send].value;
            self.posts[send].complete = true;
            self.posts[receive].complete = true;
            moved = true;
        }
        moved
    }

    /// A send and a receive that may go: the k-th ones of their directed pair of devices.
    fn meeting(&self) -> Option<(usize, usize)> {
        let nth = |at: usize| {
            let post = self.posts[at];
            self.posts[..at]
                .iter()
                .filter(|other| {
                    (other.device, other.peer, other.sends) == (post.device, post.peer, post.sends)
                })
                .count()
        };
        (0..self.posts.len()).filter(|&send| self.posts[send].sends && !self.posts[send].complete).find_map(
            |send| {
                let from = self.posts[send];
                let receive = (0..self.posts.len()).find(|&receive| {
                    let to = self.posts[receive];
                    !to.sends && (to.device, to.peer) == (from.peer, from.device) && nth(receive) == nth(send)
                })?;
                (self.is_first(send) && self.is_first(receive)).then_some((send, receive))
            },
        )
    }

    /// Whether no message before it on the same stream has still to go.
    fn is_first(&self, at: usize) -> bool {
        let post = self.posts[at];
        !self.posts[..at].iter().any(|before| {
            !before.complete
                && before.device == post.device
                && match self.semantics {
                    Semantics::Buffered | Semantics::Rendezvous => false,
                    Semantics::PairStreams => before.peer == post.peer,
                    Semantics::DeviceStreams => true,
                }
        })
    }

    fn run_passes(&mut self, device: Device, passes: &[Pass]) -> Result<Step, String> {
        for &pass in passes {
            if let Some(message) = self.message_into(pass) {
                let post = self.posts.iter().find(|post| !post.sends && post.message == message);
                let post = *post.ok_or_else(|| format!("{pass}: its input was never asked for"))?;
                if !post.complete {
                    return Ok(Step::Blocked);
                }
                let inputs = if pass.kind == Kind::F { &mut self.inputs } else { &mut self.gradients_in };
                inputs.insert((pass.stage, pass.microbatch), post.value);
            }
        }
        for &pass in passes {
            let weights = self.gathered.get_mut(&pass.stage).map(|used| *used = true);
            if !self.holds(device, pass.stage) || self.gathers && weights.is_none() {
                return Err(format!("{pass}: no weights"));
            }
            self.compute(pass)?;
        }
        Ok(Step::Done)
    }

    fn message_into(&self, pass: Pass) -> Option<Message> {
        let placement = self.plan.schedule().placement();
        let neighbour = match pass.kind {
            Kind::F if pass.stage.0 > 0 => Stage(pass.stage.0 - 1),
            Kind::I | Kind::B if pass.stage.0 + 1 < placement.stages() => Stage(pass.stage.0 + 1),
            _ => return None,
        };
        let payload = if pass.kind == Kind::F { Payload::Activation } else { Payload::Gradient };
        let boundary = neighbour.min(pass.stage);
        (placement.device_of(neighbour) != placement.device_of(pass.stage)).then_some(Message {
            payload,
            boundary,
            microbatch: pass.microbatch,
        })
    }

    fn compute(&mut self, pass: Pass) -> Result<(), String> {
        let Pass { stage, microbatch, .. } = pass;
        let key = (stage, microbatch);
        let missing = || format!("{pass}: an input is missing");
        let last = stage.0 + 1 == self.plan.schedule().placement().stages();
        match pass.kind {
            Kind::F => {
                if stage.0 == 0 {
                    self.inputs.insert(key, start(microbatch));
                } else if self.message_into(pass).is_none() {
                    let output = self.outputs.get(&(Stage(stage.0 - 1), microbatch));
                    self.inputs.insert(key, *output.ok_or_else(missing)?);
                }
                let output = forward(stage, self.inputs[&key]);
                self.outputs.insert(key, output);
                if last {
                    self.losses.push(loss(output, microbatch));
                }
            }
            Kind::R => {}
            Kind::I | Kind::B => {
                let input = *self.inputs.get(&key).ok_or_else(missing)?;
                if !self.outputs.contains_key(&key) {
                    return Err(missing());
                }
                if last {
                    let loss = self.losses.get(microbatch.index()).ok_or_else(missing)?;
                    self.gradients_in.insert(key, *loss);
                } else if self.message_into(pass).is_none() {
                    let gradient = self.gradients_out.get(&(Stage(stage.0 + 1), microbatch));
                    self.gradients_in.insert(key, *gradient.ok_or_else(missing)?);
                }
                let gradient = self.gradients_in[&key];
                self.gradients_out.insert(key, input_gradient(stage, input, gradient));
                if pass.kind == Kind::B {
                    self.add(key);
                } else {
                    self.waiting_for_weight.insert(key);
                }
            }
            Kind::W => {
                if !self.waiting_for_weight.remove(&key) {
                    return Err(missing());
                }
                self.add(key);
            }
        }
        Ok(())
    }

    fn add(&mut self, key: (Stage, Microbatch)) {
        let gradient = weight_gradient(key.0, self.inputs[&key], self.gradients_in[&key]);
        let sum = &mut self.weights[key.0.index()];
        *sum = sum.wrapping_add(gradient);
    }

    /// What a runtime checks when every row is done.
    fn end(&self) -> Result<(), String> {
        let unwaited = self.posts.iter().find(|post| post.sends && !self.waited.contains(&post.message));
        if let Some(post) = unwaited {
            return Err(format!("{:?} was not waited for", post.message));
        }
        if self.reducing.iter().any(Option::is_some) || !self.gathered.is_empty() {
            return Err("a reduction or gathered weights are left".to_owned());
        }
        Ok(())
    }
}
