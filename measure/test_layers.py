"""The split of the backward: right where it is done, and seen where it is not."""

import gc
import unittest
from unittest import mock

import torch

from layers import Block, Gelu, Residual
from ledger import Ledger
from replicas import Replicas
from schedule import Schedule, of, start_order
from transformer import TOLERANCE, Reference, Sizes, Transformer

# Tensors are small here: threads would only wait for each other.
torch.set_num_threads(1)


def zeros(shape, dtype):
    return torch.zeros(shape, dtype=dtype)


def model_of(sizes: Sizes, microbatches: int) -> Transformer:
    return Transformer(sizes, microbatches, zeros, [torch.device("cpu")] * sum(sizes.layers))


def small(dtype="float32", layer_counts=(1, 1)) -> Sizes:
    return Sizes(layer_counts, hidden=32, heads=2, sequence=8, microbatch_size=3, dtype=dtype, seed=5)


def schedule_of(placement, microbatches, *orders, **more) -> Schedule:
    file = {"format": "bubbleproof-schedule-1", "placement": placement, "microbatches": microbatches}
    return of(file | {"orders": [order.split() for order in orders]} | more)


def run_alone(schedule: Schedule, model: Transformer, after=lambda ledger, p: None) -> Ledger:
    """Runs a schedule of one device without any machinery."""
    book = Ledger(lambda: 0)
    stages = model.stages(schedule, 0, book)
    results = {}
    for p in start_order(schedule):
        source = schedule.source(p)
        taken = model.inputs[p.microbatch] if source is None and p.kind == "F" else results.pop(source, None)
        result = stages[p.stage].run(p, taken, schedule.recomputes(p))
        del taken
        if schedule.receiver(p) is not None:
            results[p] = result
        del result
        after(book, p)
    return book


SPLIT = "0F0 1F0 1I0 0I0 0F1 1F1 1I1 1W0 0W0 0I1 1W1 0W1"
FUSED = "0F0 1F0 1B0 0B0 0F1 1F1 1B1 0B1"
RECOMPUTED = "0F0 1F0 1R0 1I0 0R0 0I0 0F1 1F1 1R1 1B1 1W0 0W0 0R1 0B1"


class Gradients(unittest.TestCase):
    def error(self, order: str, dtype: str = "float32") -> float:
        model = model_of(small(dtype), 2)
        reference = Reference([model], zeros)
        reference.compute()
        with torch.no_grad():
            run_alone(schedule_of([[0, 1]], 2, order), model)
        return Replicas([model]).error(reference, [])

    def test_split_fused_and_recomputed_passes_give_the_gradients_of_autograd(self):
        for order in (SPLIT, FUSED, RECOMPUTED):
            for dtype in ("float32", "bfloat16"):
                with self.subTest(order=order, dtype=dtype):
                    error = self.error(order, dtype)
                    self.assertLess(error, TOLERANCE[dtype])
                    self.assertGreater(error, 0)

    def test_a_weight_gradient_that_never_runs_is_a_large_error(self):
        for order in (SPLIT.replace(" 0W1", ""), SPLIT.replace("1W0 ", "")):
            with self.subTest(order=order):
                self.assertGreater(self.error(order), 100 * TOLERANCE["float32"])
                self.assertGreater(self.error(order, "bfloat16"), TOLERANCE["bfloat16"])

    def test_a_wrong_formula_is_a_large_error(self):
        def without_derivative(self, saved, dy):
            return dy, ()

        def without_skip(self, saved, dy):
            dx, pending = right[Residual](self, saved, dy)
            return dx - dy, pending

        right = {kind: kind.input_gradient for kind in (Gelu, Residual)}
        for kind, wrong in ((Gelu, without_derivative), (Residual, without_skip)):
            with self.subTest(layer=kind.__name__), mock.patch.object(kind, "input_gradient", wrong):
                self.assertGreater(self.error(SPLIT), 100 * TOLERANCE["float32"])
                self.assertGreater(self.error(SPLIT, "bfloat16"), TOLERANCE["bfloat16"])

    def test_models_cut_into_other_stages_are_the_same_model(self):
        one, other = (model_of(small(layer_counts=counts), 1) for counts in ((3, 1), (1, 1, 1, 1)))
        for ours, theirs in zip(one.values, other.values, strict=True):
            for name in ours:
                torch.testing.assert_close(ours[name], theirs[name], rtol=0, atol=0)

    def test_each_part_of_the_backward_does_its_own_work_only(self):
        """I leaves the gradients alone, and W needs nothing that I gave away."""
        model = model_of(small(layer_counts=(1,)), 1)
        block = Block(model.values[0], model.gradients[0], 2, 8)
        with torch.no_grad():
            y, saved = block.forward(model.inputs[0])
            dx, pending = block.input_gradient(saved, torch.ones_like(y))
            self.assertTrue(all(float(g.abs().max()) == 0 for g in model.gradients[0].values()))
            dx.fill_(torch.nan)
            y.fill_(torch.nan)
            block.weight_gradient(pending)
        self.assertTrue(all(bool(g.isfinite().all()) for g in model.gradients[0].values()))
        self.assertTrue(all(float(g.abs().max()) > 0 for g in model.gradients[0].values()))


class Memory(unittest.TestCase):
    def test_the_ledger_says_what_is_really_allocated(self):
        """After every pass it counts the storages of all tensors that exist beyond the model and one result."""
        for order in (SPLIT, FUSED, RECOMPUTED):
            model = model_of(small(layer_counts=(2, 1)), 2)
            # What is frozen is left out from then on: the model, and everything of PyTorch.
            gc.collect()
            gc.freeze()
            self.addCleanup(gc.unfreeze)
            entries = {x.untyped_storage().data_ptr() for x in model.inputs}
            seen = []

            def compare(book: Ledger, p, entries=entries, seen=seen):
                gc.collect()
                made = dict(living())
                held = {k: size for k, (_, size) in book.held.items()}
                self.assertEqual(sum(held.values()), book.bytes)
                self.assertEqual(held, {k: made.get(k, size) for k, size in held.items()}, f"after {p}")
                # What a pass has just given to the next stage lives too, and is no activation of any stage yet.
                passing = {k: size for k, size in made.items() if k not in held}
                self.assertLessEqual(len(passing), 1, f"after {p}")
                self.assertLessEqual(set(held) - set(made), entries, f"after {p}")
                seen.append(book.bytes)

            with torch.no_grad():
                book = run_alone(schedule_of([[0, 1]], 2, order), model, compare)
            self.assertEqual(book.bytes, 0)
            self.assertEqual(book.notes[-1][1], 0)
            self.assertGreater(max(seen), 0)

    def test_what_f_keeps_and_what_i_leaves_for_w_are_the_sums_of_the_formulas(self):
        sizes = small(layer_counts=(1, 1))
        row = sizes.tokens * sizes.hidden * 4
        probabilities = sizes.tokens * sizes.heads * sizes.sequence * 4
        statistics = 4 * sizes.tokens * 4
        model = model_of(sizes, 1)
        with torch.no_grad():
            book = run_alone(schedule_of([[0, 1]], 1, "0F0 1F0 1I0 0I0 1W0 0W0"), model)
        values = [size for _, size in book.notes]
        kept = 16 * row + probabilities + statistics
        left = 20 * row + statistics
        self.assertEqual(values, [kept, 2 * kept, 2 * kept + row, kept + left, 2 * left, left, 0])

    def test_tensors_that_share_a_storage_count_once(self):
        book = Ledger(lambda: 0)
        x = torch.zeros(4, 4)
        book.hold([x, (x[0], x.t())])
        self.assertEqual(book.bytes, 64)
        book.drop([x.untyped_storage().data_ptr()] * 3)
        self.assertEqual((book.bytes, book.held), (0, {}))


def living():
    """The storages of all tensors that exist."""
    for thing in gc.get_objects():
        if type(thing) is torch.Tensor:
            storage = thing.untyped_storage()
            yield storage.data_ptr(), storage.nbytes()


if __name__ == "__main__":
    unittest.main()
