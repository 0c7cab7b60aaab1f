"""Stand-ins for NVIDIA's libraries, so that PyTorch's wheel of PyPI loads on a machine without a GPU.

The only Linux wheel of PyTorch on PyPI is built for CUDA. It is linked against libraries of more than two
gigabytes (cuBLAS, cuDNN, NCCL and so on), none of which a run on the CPU ever calls. This script builds one small
shared object that defines every function PyTorch takes from them; each prints its name and aborts when
called. The CUDA runtime itself is small and is not replaced: PyTorch asks it how many GPUs there are.

    python3 stand_ins.py DIR    DIR is where torch and nvidia-cuda-runtime are installed
"""

import pathlib
import subprocess
import sys

# Libraries that PyTorch is linked against and that are found nowhere else; cudart is the real one.
REPLACED = (
    "libcublas.so.13 libcublasLt.so.13 libcudnn.so.9 libcufft.so.12 libcufile.so.0 libcupti.so.13 libcurand.so.10 "
    "libcusparse.so.12 libcusparseLt.so.0 libcusolver.so.12 libnccl.so.2 libnvrtc.so.13 libnvshmem_host.so.3"
).split()

# Some libraries do not version their symbols: their functions are known by these beginnings.
UNVERSIONED = ("nccl", "cuFile", "cusparseLt", "nvshmem")


def symbols(library: pathlib.Path, which: str) -> set[str]:
    """The dynamic symbols that a library defines or leaves undefined, as nm writes them: NAME or NAME@VERSION."""
    listing = subprocess.run(["nm", "-D", which, library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in listing.splitlines()}


def wanted(libraries: list[pathlib.Path]) -> dict[str, set[str]]:
    """The functions that the libraries take from those replaced, by symbol version ("" for none)."""
    defined = set().union(*(symbols(library, "--defined-only") for library in libraries))
    missing = set().union(*(symbols(library, "--undefined-only") for library in libraries)) - defined
    by_version: dict[str, set[str]] = {"": set()}
    for symbol in missing:
        name, _, version = symbol.partition("@")
        if version in REPLACED or version == "NVSHMEM":
            by_version.setdefault(version, set()).add(name)
        elif not version and name.startswith(UNVERSIONED):
            by_version[""].add(name)
    return by_version


def main(root: pathlib.Path) -> None:
    """Builds the stand-in next to the real CUDA runtime, under every name that PyTorch looks for."""
    by_version = wanted(sorted((root / "torch" / "lib").glob("*.so")))
    target = root / "nvidia" / "cu13" / "lib"
    source = target / "stand_ins.c"
    versions = target / "stand_ins.map"
    functions = "".join(f"STAND_IN({name})\n" for name in sorted(set().union(*by_version.values())))
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n"
        "#define STAND_IN(name) void name(void) "
        '{ fputs(#name " was called, and is only a stand-in here\\n", stderr); abort(); }\n' + functions
    )
    named = {version: names for version, names in sorted(by_version.items()) if version}
    versions.write_text("".join(f"{v} {{ global: {'; '.join(sorted(names))}; }};\n" for v, names in named.items()))
    library = target / "stand_ins.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-w", source, f"-Wl,--version-script={versions}", "-o", library], check=True
    )
    for name in REPLACED:
        (target / name).unlink(missing_ok=True)
        (target / name).symlink_to(library.name)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
