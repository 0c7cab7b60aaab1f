//! Models of plain memory below and above one that says more: what F keeps, of which I releases some part and W the rest.

use std::borrow::Cow;

use super::{Device, Memory, Model, ModelError, Sharding, Transient, Units};

impl Model {
    /// The model without workspaces, buffers and the memory of gathered weights, in which no I leaves more than F kept. Its
    /// devices hold no more than those of the model, whatever the orders, and have the same capacities. Where [memory is
    /// plain](Self::has_plain_memory), it is the model.
    #[must_use]
    pub fn with_kept_memory(&self) -> Cow<'_, Self> {
        if self.has_plain_memory() {
            return Cow::Borrowed(self);
        }
        let both = self.memory.retained_for_weight.iter().zip(&self.memory.activation);
        let retained_for_weight = both.map(|(&retained, &whole)| retained.min(whole)).collect();
        let memory = Memory { retained_for_weight, ..self.memory.clone() };
        Cow::Owned(self.with_only(memory))
    }

    /// The model [of what is kept](Self::with_kept_memory), with the room of every device lowered by what there is
    /// [beside](Self::least_beside) whenever more is kept. What no schedule can do here, none can do in the model: every lower
    /// bound holds there. Where memory is plain, it is the model.
    #[must_use]
    pub fn memory_floor(&self) -> Cow<'_, Self> {
        if self.has_plain_memory() {
            return Cow::Borrowed(self);
        }
        let kept = self.with_kept_memory();
        let capacity = Device::all(self.devices()).map(|device| {
            let room = kept.activation_capacity(device)?;
            Some((room - self.least_beside(device)).max(Units::ZERO))
        });
        Cow::Owned(kept.with_activation_capacity(capacity.collect()).expect("no capacity is negative"))
    }

    /// A model of plain memory that leaves as much room as anything beyond it can take: F keeps at once what its I leaves,
    /// and every capacity is lower by the [most](Self::memory_headroom) that workspaces, buffers and gathered weights take.
    /// So orders that keep to its capacities keep to those of the model. Nothing where a capacity has no such room.
    #[must_use]
    pub fn memory_ceiling(&self) -> Option<Cow<'_, Self>> {
        if self.has_plain_memory() {
            return Some(Cow::Borrowed(self));
        }
        let both = self.memory.retained_for_weight.iter().zip(&self.memory.activation);
        let activation = both.map(|(&retained, &whole)| retained.max(whole)).collect();
        let memory = Memory { activation, ..self.memory.clone() };
        let raised = self.with_only(memory);
        raised.with_less_room(&self.memory_headroom()).map(Cow::Owned)
    }

    /// By device: the most that workspaces, buffers and gathered weights take at a time, in units.
    #[must_use]
    pub fn memory_headroom(&self) -> Vec<Units> {
        Device::all(self.devices())
            .map(|device| {
                self.most_workspace(device) + self.most_buffers(device) + self.most_gathered(device)
            })
            .collect()
    }

    /// This memory in place of that of the model, and nothing beside it.
    fn with_only(&self, memory: Memory) -> Self {
        let sharding = self.sharding.as_ref().map(Sharding::without_memory);
        Self { memory, transient: Transient::default(), sharding, ..self.clone() }
    }

    /// The model with this memory, no workspaces and buffers, and gathered weights that take no memory.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_plain_memory(&self, memory: Memory) -> Result<Self, ModelError> {
        let recompute = self.recompute.clone().filter(|_| memory.checkpoint.is_some());
        Self { recompute, ..self.with_only(memory) }.checked()
    }

    /// The model with capacities that are lower by so much, one value per device. Nothing where one is lower than that and the
    /// weights.
    ///
    /// # Panics
    /// When there is not one value for each device.
    #[must_use]
    pub fn with_less_room(&self, less: &[Units]) -> Option<Self> {
        let capacity = Device::all(self.devices())
            .map(|device| self.activation_capacity(device).map(|room| room - less[device.index()]));
        // None may be negative.
        self.with_activation_capacity(capacity.collect()).ok()
    }
}
