//! **The plain model below a model.** What the closed forms and the states of devices are derived on: passes one by one, and
//! memory that F keeps, of which I releases a part and W the rest.
//!
//! **Theorem.** Every lower bound of this model is one of the model.
//!
//! **Proof.** A schedule of the model holds no more under its [floor](Model::memory_floor), which has the same capacities and
//! the same times, so it is valid there too. What it offloads holds no less than the checkpoint of the
//! [floor without offloading](Model::offload_floor) between F and I, and is whole while these run; no bound uses more. The rest
//! is [the theorem on pairs](super::pairs).

use std::borrow::Cow;

use super::pairs::shortened;
use crate::model::Model;

/// The model of plain memory, without offloading and without cheaper pairs, of which each lower bound is one of the model. Where there is nothing
/// else, it is the model.
pub(super) fn relaxed(model: &Model) -> Cow<'_, Model> {
    match (model.memory_floor(), model.offload()) {
        (Cow::Borrowed(model), None) => shortened(model),
        (floor, _) => Cow::Owned(shortened(&floor.offload_floor()).into_owned()),
    }
}
