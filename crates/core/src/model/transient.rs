//! Memory beyond what is kept between passes: what a pass needs while it runs, and the buffers of messages.

use super::{Device, Kind, Model, ModelError, Stage, Units};

/// What a device needs for its passes besides what a microbatch keeps on its stages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transient {
    /// What passes need while they run; `None` if they need nothing more.
    pub workspace: Option<Workspace>,
    /// The buffer of an activation or a gradient that is received over a boundary, one per boundary (S-1 values). It counts
    /// only where the two stages lie on different devices. `None` if messages need no buffers of their own.
    pub receive: Option<Vec<Units>>,
}

/// What passes need while they run, by kind, one value per stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// What F needs.
    pub forward: Vec<Units>,
    /// What I needs.
    pub backward_input: Vec<Units>,
    /// What W needs.
    pub backward_weight: Vec<Units>,
    /// What B needs.
    pub backward: Vec<Units>,
    /// What R needs.
    pub recompute: Vec<Units>,
}

impl Workspace {
    /// The lists by kind: the key in model files, the kind, and the values.
    pub(crate) const fn lists(&self) -> [(&'static str, Kind, &Vec<Units>); 5] {
        [
            ("memory.workspace.forward", Kind::F, &self.forward),
            ("memory.workspace.backward_input", Kind::I, &self.backward_input),
            ("memory.workspace.backward_weight", Kind::W, &self.backward_weight),
            ("memory.workspace.backward", Kind::B, &self.backward),
            ("memory.workspace.recompute", Kind::R, &self.recompute),
        ]
    }

    /// The larger of what I and W need, by stage: what B needs unless the model says otherwise.
    #[must_use]
    pub fn larger_of_split(backward_input: &[Units], backward_weight: &[Units]) -> Vec<Units> {
        backward_input.iter().zip(backward_weight).map(|(&input, &weight)| input.max(weight)).collect()
    }
}

impl Transient {
    /// All lists with their keys in model files.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (&'static str, &Vec<Units>)> {
        let workspace = self.workspace.iter().flat_map(Workspace::lists).map(|(key, _, list)| (key, list));
        workspace.chain(self.receive.iter().map(|list| ("memory.receive", list)))
    }

    pub(super) fn check(&self, model: &Model) -> Result<(), ModelError> {
        let stages = model.stages() as usize;
        for (key, list) in self.lists() {
            let (expected, of) = match key {
                "memory.receive" => (stages - 1, "stage boundaries"),
                _ => (stages, "stages"),
            };
            if list.len() != expected {
                return Err(ModelError::Length { key, found: list.len(), expected, of });
            }
            if let Some(&Units(value)) = list.iter().find(|units| **units < Units::ZERO) {
                return Err(ModelError::Negative { key, value });
            }
        }
        match &self.workspace {
            Some(workspace)
                if model.memory().checkpoint.is_none() && workspace.recompute != workspace.forward =>
            {
                Err(ModelError::WorkspaceWithoutRecompute)
            }
            _ => Ok(()),
        }
    }
}

impl Model {
    /// The same pipeline with this workspace of passes and these buffers of messages.
    ///
    /// # Errors
    /// When a list has the wrong length, an amount is negative, the whole could overflow, or R needs something of its own
    /// where nothing is recomputed.
    pub fn with_transient(&self, transient: Transient) -> Result<Self, ModelError> {
        // With one stage there is no boundary to receive over.
        let receive = transient.receive.filter(|list| !list.is_empty());
        Self { transient: Transient { receive, ..transient }, ..self.clone() }.checked()
    }

    /// The workspace of passes and the buffers of messages.
    #[must_use]
    pub const fn transient(&self) -> &Transient {
        &self.transient
    }

    /// What a pass of this kind needs besides while it runs, in units.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn workspace(&self, stage: Stage, kind: Kind) -> Units {
        let Some(workspace) = &self.transient.workspace else { return Units::ZERO };
        let list = match kind {
            Kind::F => &workspace.forward,
            Kind::I => &workspace.backward_input,
            Kind::W => &workspace.backward_weight,
            Kind::B => &workspace.backward,
            Kind::R => &workspace.recompute,
        };
        list[stage.index()]
    }

    /// The buffer of a message between a stage and the next one, in units: nothing on one device.
    ///
    /// # Panics
    /// When `stage` is the last, or there is no such stage.
    #[must_use]
    pub fn receive_after(&self, stage: Stage) -> Units {
        let next = Stage(stage.0 + 1);
        match &self.transient.receive {
            Some(receive) if self.placement().device_of(stage) != self.placement().device_of(next) => {
                receive[stage.index()]
            }
            _ => Units::ZERO,
        }
    }

    /// Whether some pass needs memory of its own while it runs.
    #[must_use]
    pub fn has_workspace(&self) -> bool {
        let workspace = self.transient.workspace.iter().flat_map(Workspace::lists);
        workspace.flat_map(|(.., list)| list).any(|&units| units > Units::ZERO)
    }

    /// Whether some message needs a buffer.
    #[must_use]
    pub fn has_buffers(&self) -> bool {
        self.transient.receive.is_some()
            && Stage::all(self.stages())
                .filter(|&stage| self.placement().stage_after(stage).is_some())
                .any(|stage| self.receive_after(stage) > Units::ZERO)
    }

    /// Whether some I leaves more for its W than F kept.
    #[must_use]
    pub fn has_growth(&self) -> bool {
        let memory = self.memory();
        memory.retained_for_weight.iter().zip(&memory.activation).any(|(retained, whole)| retained > whole)
    }

    /// Whether memory is no more than what F keeps, of which I releases some part and W the rest: no workspace, no buffers,
    /// no gathered weights, and no I that leaves more than F kept.
    #[must_use]
    pub fn has_plain_memory(&self) -> bool {
        !(self.has_workspace() || self.has_buffers() || self.has_growth() || self.has_gathered_memory())
    }

    /// What a device holds at least, in units, beside what microbatches keep on it while a pass of this kind runs on its own: the
    /// workspace of the pass, the buffer of the message that it uses, and the gathered weights of its stage.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn beside(&self, stage: Stage, kind: Kind) -> Units {
        let placement = self.placement();
        let buffer = match kind {
            Kind::F => placement.stage_before(stage).map(|before| self.receive_after(before)),
            Kind::I | Kind::B => placement.stage_after(stage).map(|_| self.receive_after(stage)),
            Kind::R | Kind::W => None,
        };
        self.workspace(stage, kind) + buffer.unwrap_or_default() + self.gathered(stage)
    }

    /// The least that a device holds, in units, [beside](Self::beside) what microbatches keep on it when they come to keep more.
    /// F and R acquire; with offloading, any pass may come right behind what is brought back.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn least_beside(&self, device: Device) -> Units {
        let kinds: &[Kind] = match (self.offload().is_some(), self.memory().checkpoint.is_some()) {
            (true, _) => &[Kind::F, Kind::R, Kind::I, Kind::B, Kind::W],
            (false, true) => &[Kind::F, Kind::R],
            (false, false) => &[Kind::F],
        };
        let stages = self.placement().stages_of(device).iter();
        let all = stages.flat_map(|&stage| kinds.iter().map(move |&kind| self.beside(stage, kind)));
        all.min().unwrap_or_default()
    }

    /// The most that passes of a device need at a time while they run, in units: an overlapped pair needs what both need.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn most_workspace(&self, device: Device) -> Units {
        let stages = self.placement().stages_of(device);
        let most = |kinds: &[Kind]| {
            let needs =
                stages.iter().flat_map(|&stage| kinds.iter().map(move |&kind| self.workspace(stage, kind)));
            needs.max().unwrap_or_default()
        };
        let recompute = if self.memory().checkpoint.is_some() { most(&[Kind::R]) } else { Units::ZERO };
        recompute.max(most(&[Kind::F]) + most(&[Kind::I, Kind::W, Kind::B]))
    }

    /// What the buffers of a device never exceed, in units: those of every microbatch at once. On one stage a microbatch has
    /// one at a time, as its gradient is not sent before its F has run.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn most_buffers(&self, device: Device) -> Units {
        let placement = self.placement();
        let of_stage = |&stage: &Stage| {
            let before = placement.stage_before(stage).map(|before| self.receive_after(before));
            let after = placement.stage_after(stage).map(|_| self.receive_after(stage));
            before.max(after).unwrap_or_default()
        };
        let of_microbatch: Units = placement.stages_of(device).iter().map(of_stage).sum();
        of_microbatch * i64::from(self.microbatches())
    }
}
