"""Empty modules in the place of packages that torchtitan imports and that splitting a model never calls.

Together they would be a gigabyte: Triton's compiler for GPU kernels, readers of data sets and pictures, tokenizers,
and recorders of metrics. Whatever is taken from one of these modules is a thing that does nothing.
"""

import importlib.abc
import importlib.machinery
import sys
import types

# What PyTorch does without Triton is decided when these are imported: before an empty one is there.
import torch._functorch.partitioners
import torch._inductor.compile_fx
import torch.distributed.pipelining
import torch.nn.attention.flex_attention
import torch.utils.flop_counter  # noqa: F401

ABSENT = ("triton", "datasets", "tokenizers", "PIL", "torchvision", "wandb", "torch.utils.tensorboard")


class Nothing:
    """Anything: it is a decorator, a base class, and has every attribute."""

    def __call__(self, *arguments, **options):
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) and not options else self

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __mro_entries__(self, _bases):
        return ()


class Empty(types.ModuleType):
    """A module that has everything, and nothing in it."""

    __path__: list[str] = []

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules that are absent."""

    def find_spec(self, name, path=None, target=None):
        if any(name == absent or name.startswith(f"{absent}.") for absent in ABSENT):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Empty(spec.name)

    def exec_module(self, module):
        pass


def install() -> None:
    """Puts the empty modules in place."""
    sys.meta_path.insert(0, Finder())
