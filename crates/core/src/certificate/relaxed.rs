//! **The plain model below a model.** What the closed forms and the states of devices are derived on: passes one by one, and
//! memory that F keeps, of which I releases a part and W the rest.
//!
//! **Theorem.** Every lower bound of this model is one of the model.
//!
//! **Proof.** A schedule of the model is one of its [floor](Model::memory_floor), which has the same times: right after a pass has
//! acquired what makes a device hold the most there, the device holds the workspace and the buffer of that pass besides. With one
//! level that keeps the least and takes the least time of all ([`Model::level_floor`]), and with R wherever it is, every R takes no
//! longer and waits for no more, and from each F to its R no more is held. What it offloads holds no less than the checkpoint of the
//! [floor without offloading](Model::offload_floor) between F and I, and is whole while these run; no bound uses more. The rest is
//! [the theorem on pairs](super::pairs).

use std::borrow::Cow;

use super::pairs::shortened;
use crate::model::Model;

/// The model of plain memory, without offloading and without cheaper pairs, of which each lower bound is one of the model. Where there is nothing
/// else, it is the model.
pub(super) fn relaxed(model: &Model) -> Cow<'_, Model> {
    let floor = model.memory_floor();
    if model.offload().is_some() {
        // No model has both copies and several levels.
        return Cow::Owned(shortened(&floor.offload_floor()).into_owned());
    }
    match floor.level_floor() {
        Cow::Owned(floor) => Cow::Owned(shortened(&floor).into_owned()),
        Cow::Borrowed(_) => match floor {
            Cow::Borrowed(model) => shortened(model),
            Cow::Owned(floor) => Cow::Owned(shortened(&floor).into_owned()),
        },
    }
}
