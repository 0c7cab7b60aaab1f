"""What replicas do together, as arithmetic: right where it is done, and seen where it is not."""

import unittest
from unittest import mock

import torch

import cpu
from replicas import Member, Replicas
from run import Bench, Refused
from test_cpu import LINEAR
from test_layers import schedule_of, small, zeros
from transformer import Reference, Transformer


def models(count: int, layers=(1, 1), microbatches: int = 2) -> list[Transformer]:
    """The models of so many replicas, on the CPU."""
    homes = [torch.device("cpu")] * sum(layers)
    first = Transformer(small(layer_counts=layers), microbatches, zeros, homes)
    return [first, *(Transformer(first.sizes, microbatches, zeros, homes, first) for _ in range(count - 1))]


class Wrong(unittest.TestCase):
    """What goes wrong between replicas gives no trace."""

    def refused(self, name: str, wrong, sharded: bool) -> None:
        with self.subTest(name=name, sharded=sharded), mock.patch.object(Member, name, wrong):
            with self.assertRaises(Refused) as raised:
                Bench(cpu.Machine("threads", 1, 30.0), replicas=2, sharded=sharded).run(LINEAR, small(), 0, 1)
            self.assertIn("the gradients are wrong", str(raised.exception))

    def test_gradients_that_are_not_reduced(self):
        for sharded in (False, True):
            self.refused("mean", lambda *_: None, sharded)

    def test_gradients_or_weights_that_are_not_copied(self):
        for sharded in (False, True):
            self.refused("collect", lambda *_: None, sharded)

    def test_a_sum_in_the_place_of_a_mean(self):
        right = Member.mean

        def doubled(member, tensors, stage):
            right(member, tensors, stage)
            for block in member.of_stage(tensors, stage):
                member.replicas.share(block[member.rank], member.rank).mul_(2)

        for sharded in (False, True):
            self.refused("mean", doubled, sharded)

    def test_a_norm_that_lacks_something(self):
        right = Member.squares

        def without_one(member, stage):
            return iter(list(right(member, stage))[1 if member.rank == 1 and stage == 0 else 0 :])

        for sharded in (False, True):
            self.refused("squares", without_one, sharded)


class Arithmetic(unittest.TestCase):
    def test_replicas_have_the_same_weights_and_other_data(self):
        one, other = models(2)
        for ours, theirs in zip(one.flat_values, other.flat_values, strict=True):
            self.assertTrue(torch.equal(ours, theirs))
            self.assertNotEqual(ours.data_ptr(), theirs.data_ptr())
        for ours, theirs in zip([*one.inputs, one.targets], [*other.inputs, other.targets], strict=True):
            self.assertGreater(float((ours - theirs).abs().min()), 0)
        # The first one has the data that it has alone.
        self.assertTrue(torch.equal(one.inputs[1], models(1)[0].inputs[1]))

    def test_the_reference_is_the_mean_of_the_references_of_the_replicas(self):
        made = models(3)
        together = Reference(made, zeros)
        alone = [Reference([model], zeros) for model in made]
        for reference in (together, *alone):
            reference.compute()
        self.assertEqual([float(loss) for loss in together.losses], [float(one.losses[0]) for one in alone])
        squares = 0.0
        for k, block in enumerate(together.gradients):
            for name, gradient in block.items():
                mean = sum(one.gradients[k][name] for one in alone) / 3
                torch.testing.assert_close(gradient, mean, rtol=1e-5, atol=1e-7)
                squares += float(gradient.double().square().sum())
        self.assertAlmostEqual(float(together.norm), squares**0.5, places=5)

    def test_reductions_give_every_replica_the_mean_and_sharded_ones_its_share_of_it(self):
        for sharded in (False, True):
            together = Replicas(models(3, layers=(2, 1)), sharded)
            generator = torch.Generator().manual_seed(1)
            for model in together.models:
                for block in model.flat_gradients:
                    block.copy_(torch.randn(block.shape, generator=generator))
            means = [sum(one[k] for one in (m.flat_gradients for m in together.models)) / 3 for k in range(3)]
            lists = [[Member(together, rank).phases("reduce", 0) for rank in range(3)]]
            lists.append([Member(together, rank).phases("reduce", 1) for rank in range(3)])
            for stage in lists:
                for phase in zip(*stage, strict=True):
                    for do in phase:
                        do()
            for rank, model in enumerate(together.models):
                for k, block in enumerate(model.flat_gradients):
                    own, mean = (together.share(x, rank) if sharded else x for x in (block, means[k]))
                    torch.testing.assert_close(own, mean)

    def test_sharded_optimisers_that_gather_do_what_the_whole_one_does(self):
        """With a learning rate, which a measurement does not have. The state is the share's only."""
        schedule = schedule_of([[0, 1]], 1, "0F0 1F0 1B0 0B0")
        whole, split = Replicas(models(1, microbatches=1)), Replicas(models(3, microbatches=1), True)
        for model in [*whole.models, *split.models]:
            for block in model.flat_gradients:
                block.copy_(torch.linspace(-1, 2, block.numel()))
        states = {}
        for together in (whole, split):
            for rank in range(together.count):
                optimizers = together.optimizers("adamw", schedule, 0, rank)
                for one in optimizers.values():
                    one.param_groups[0]["lr"] = 0.1
                    one.step()
                held = [state["exp_avg"] for one in optimizers.values() for state in one.state.values()]
                states[together.count, rank] = sum(tensor.numel() for tensor in held)
        total = sum(block.numel() for block in whole.models[0].flat_values)
        self.assertEqual(states[1, 0], total)
        self.assertEqual(sum(states[3, rank] for rank in range(3)), total)
        self.assertLess(max(states[3, rank] for rank in range(3)), total // 3 + 3)
        split.begin()
        for stage in (0, 1):
            for rank in range(3):
                for phase in Member(split, rank).phases("gather", stage):
                    phase()
        for model in split.models:
            for ours, theirs in zip(model.flat_values, whole.models[0].flat_values, strict=True):
                torch.testing.assert_close(ours, theirs)


if __name__ == "__main__":
    unittest.main()
