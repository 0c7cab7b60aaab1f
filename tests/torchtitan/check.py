"""Loads what `convert --to torchtitan` writes in a release of torchtitan, and splits one of its models by it.

    python3 check.py TOOL    TOOL is the bubbleproof to ask; torchtitan is the one on PYTHONPATH

For every case of a list, with torchtitan's own functions:

1. Its configuration manager reads what was written, beside the configuration of its Llama 3 of six layers.
2. `pipeline_llm` splits that model for every rank (torch.distributed's fake backend stands for the others) and loads
   the CSV. Stages must lie where the schedule has them, the orders must be those of the CSV, the microbatches as many.
3. Every parameter of the model must be on one stage, and the stages run one after the other must give, bit by bit, what
   the whole model gives.
4. Negative control: with the last module named as in the other releases, 3 must fail.

Ends with status 1 when anything disagrees.
"""

import csv
import importlib.metadata
import logging
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import absent

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.testing._internal.distributed.fake_pg import FakeStore

absent.install()

from torchtitan.config import ConfigManager  # noqa: E402
from torchtitan.distributed.pipeline_parallel import pipeline_llm  # noqa: E402

RELEASE = importlib.metadata.version("torchtitan")
OLD = RELEASE.startswith("0.2.")
FORMAT, SETTINGS, LAST, OTHER = (
    ("torchtitan-0.2", "toml", "output", "lm_head") if OLD else ("torchtitan", "args", "lm_head", "output")
)


@dataclass(frozen=True)
class Case:
    """A named schedule, and how many of the six layers each stage gets."""

    name: str
    shape: str
    ranks: int
    microbatches: int
    layers: str | None = None


CASES = [
    Case("1f1b", "linear", 2, 4),
    Case("zb-h1", "linear", 4, 8, "1,2,2,1"),
    Case("1f1b", "linear", 4, 8, "0,3,3,0"),
    Case("interleaved-1f1b", "looped", 2, 4),
    Case("interleaved-1f1b", "looped", 2, 4, "2,1,1,2"),
    Case("v-half", "v", 2, 6),
    Case("v-min", "v", 2, 6, "1,2,3,0"),
    Case("v-zb", "v", 3, 6, "1"),
]


class Wrong(Exception):
    """Something that disagrees."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Wrong(what)


class Dims:
    """What pipeline_llm asks of torchtitan's parallel dimensions, with a pipeline and nothing else."""

    def __init__(self, ranks: int):
        self.pp = ranks
        self.mesh = init_device_mesh("cpu", (ranks,), mesh_dim_names=("pp",))

    def get_mesh(self, _names):
        return self.mesh


def configured(settings: pathlib.Path, text: str):
    """What torchtitan's configuration manager makes of the settings, with its model and that model's configuration."""
    if OLD:
        settings.write_text("[model]\nname = \"llama3\"\nflavor = \"debugmodel\"\n\n" + text)
        config = ConfigManager().parse_args(["--job.config_file", str(settings)])
        from torchtitan.models.llama3 import Transformer, llama3_args

        sizes = llama3_args["debugmodel"]
        return config, Transformer(sizes), sizes
    options = ["--module", "llama3", "--config", "llama3_debugmodel", *text.splitlines()]
    config = ConfigManager().parse_args(options)
    return config, config.model_spec.model.build(), config.model_spec.model


def pipeline(config, model, sizes, ranks: int):
    """The schedule and the parts of the model that torchtitan makes on every rank."""
    for rank in range(ranks):
        dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=ranks)
        try:
            common = {"parallel_dims": Dims(ranks), "device": torch.device("cpu"), "loss_fn": lambda *_: None}
            if OLD:
                made = pipeline_llm(
                    model, job_config=config, model_args=sizes, parallelize_fn=lambda part, *_: part, **common
                )
            else:
                made = pipeline_llm(
                    model,
                    training=config.training,
                    parallelism=config.parallelism,
                    compile_config=config.compile,
                    ac_config=config.activation_checkpoint,
                    dump_folder="",
                    model_config=sizes,
                    parallelize_fn=lambda part, **_: part,
                    **common,
                )
            yield rank, made[0]
        finally:
            dist.destroy_process_group()


def run(model, values, whole):
    """A forward pass of a model or of a part of it. Where the release's model takes a mask, it is that of the whole."""
    if OLD:
        return model(values)
    from torch.nn.attention.flex_attention import flex_attention
    from torchtitan.models.common.attention import FlexAttention

    # As it is, without compiling it for this machine.
    FlexAttention._compiled_flex_attn = staticmethod(flex_attention)
    positions = torch.arange(values.shape[1]).repeat(values.shape[0], 1)
    return model(values, positions, whole.get_attention_masks(positions))


def check_split(parts: dict[int, torch.nn.Module], model: torch.nn.Module) -> None:
    """Every parameter on one stage, and the same numbers from the stages in a row as from the whole."""
    names = sorted(name for part in parts.values() for name, _ in part.named_parameters())
    require(names == sorted(name for name, _ in model.named_parameters()), "not every parameter is on one stage")
    tokens = torch.arange(64).reshape(2, 32)
    with torch.no_grad():
        values = tokens
        for stage in sorted(parts):
            values = run(parts[stage], values, model)
        require(bool(values.any()), "the model computes nothing")
        require(torch.equal(values, run(model, tokens, model)), "the stages in a row compute something else")


def check(case: Case, tool: str, folder: pathlib.Path) -> None:
    """Converts a case and holds what torchtitan makes of it against the CSV."""
    settings, table = folder / f"run.{SETTINGS}", folder / "run.csv"
    command = [tool, "convert", f"models/profiles/unit-{case.shape}.toml", "--schedule", case.name]
    command += ["--devices", str(case.ranks), "--microbatches", str(case.microbatches)]
    command += ["-o", str(settings), "--to", FORMAT, *(["--layers", case.layers] if case.layers else [])]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    rows = [[cell for cell in row if cell] for row in csv.reader(table.open())]
    text = settings.read_text()
    config, model, sizes = configured(settings, text)
    torch.manual_seed(0)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.02)
    model.eval()
    parts: dict[int, torch.nn.Module] = {}
    for rank, schedule in pipeline(config, model, sizes, case.ranks):
        require(schedule._n_microbatches == case.microbatches, "another number of microbatches")
        orders = [[str(action) for action in row if action] for row in schedule.pipeline_order.values()]
        require(orders == rows, "orders that are not those of the CSV")
        stages = {stage.stage_index: stage.submod for stage in schedule._stages}
        require(stages.keys() == {int(cell.split(cell.lstrip("0123456789"))[0]) for cell in rows[rank]}, "stages elsewhere")
        parts |= stages
    require(sorted(parts) == list(range(len(parts))), "not every stage is there")
    check_split(parts, model)
    if case.layers:
        refused = False
        config, _, _ = configured(settings, text.replace(LAST, OTHER))
        wrong = {
            stage.stage_index: stage.submod
            for _, schedule in pipeline(config, model, sizes, case.ranks)
            for stage in schedule._stages
        }
        try:
            check_split(wrong, model)
        except (Wrong, RuntimeError, TypeError):
            refused = True
        require(refused, f"a last module named {OTHER} is not noticed")


def main(tool: str) -> int:
    logging.disable(logging.WARNING)
    print(f"torchtitan {RELEASE}, PyTorch {torch.__version__}: {FORMAT}")
    failed = 0
    for case in CASES:
        about = f"{case.name}, {case.ranks} ranks, layers {case.layers or 'by torchtitan'}"
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(case, tool, pathlib.Path(folder))
            except Wrong as error:
                failed += 1
                about += f": {error}"
            else:
                about += ": loaded, split, the same numbers" + (f"; {OTHER} fails" if case.layers else "")
        print(f"  {about}", flush=True)
    print(f"{len(CASES) - failed} of {len(CASES)} cases hold")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
