"""What the proofs prove, and what they rest on.

    python3 proofs/rocq/theorems.py SOURCES COMPILED

Reads every `.v` of SOURCES, and asks Rocq about what was compiled from it in COMPILED. Ends with status 1 where a source has a word
that leaves something unproved, a theorem rests on an axiom, `coqchk` finds one, or docs/trust.md names what is not there.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

# Words that leave a statement unproved, or add one without a proof.
FORBIDDEN = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|Primitive|bypass_check|"
    r"Unset\s+(?:Guard|Positivity|Universe)\s+Check\w*)\b"
)
# Outside a section these are axioms.
ASSUMED = re.compile(r"^\s*(Variables?|Hypothesis|Hypotheses|Context)\b")
OPENS = re.compile(r"^\s*(Section|Module)(?:\s+(?:Type|Import|Export))?\s+(\w+)(?!.*:=)")
CLOSES = re.compile(r"^\s*End\s+(\w+)\s*\.")
STATED = re.compile(r"^\s*(Theorem|Example)\s+(\w+)")
DEFINED = re.compile(r"^\s*(?:Theorem|Lemma|Example|Corollary|Definition|Fixpoint|Inductive|Record|Function)\s+(\w+)", re.MULTILINE)
CLOSED = "Closed under the global context"


class Stated(NamedTuple):
    """A theorem or an example: where, and its name from the outside."""

    kind: str
    file: str
    line: int
    name: str


def without_comments(text: str) -> str:
    """The text with blanks in place of comments, which nest, so that lines keep their numbers."""
    kept, depth, at = [], 0, 0
    while at < len(text):
        if text.startswith("(*", at):
            depth, at = depth + 1, at + 2
        elif depth and text.startswith("*)", at):
            depth, at = depth - 1, at + 2
        else:
            kept.append(text[at] if depth == 0 or text[at] == "\n" else " ")
            at += 1
    return "".join(kept)


def read(source: Path) -> tuple[list[Stated], list[str]]:
    """What a file states, and what is wrong with it."""
    stated, wrong = [], []
    inside: list[tuple[str, str]] = []
    for number, line in enumerate(without_comments(source.read_text(encoding="utf-8")).splitlines(), 1):
        place = f"{source.name}:{number}"
        if found := FORBIDDEN.search(line):
            wrong.append(f"{place}: `{found.group(1)}`")
        if found := OPENS.match(line):
            inside.append((found.group(1), found.group(2)))
        elif (found := CLOSES.match(line)) and inside and inside[-1][1] == found.group(1):
            inside.pop()
        elif ASSUMED.match(line) and not any(kind == "Section" for kind, _ in inside):
            wrong.append(f"{place}: assumed outside a section: {line.strip()}")
        elif found := STATED.match(line):
            modules = [name for kind, name in inside if kind != "Section"]
            stated.append(Stated(found.group(1), source.name, number, ".".join([source.stem, *modules, found.group(2)])))
    return stated, wrong


def named_in(page: Path, sources: Path) -> list[str]:
    """The names of a page that no source defines."""
    defined = {
        f"{source.stem}.{name}"
        for source in sources.glob("*.v")
        for name in DEFINED.findall(without_comments(source.read_text(encoding="utf-8")))
    }
    named = re.findall(r"`([A-Z]\w*)\.(\w+)`", page.read_text(encoding="utf-8"))
    return [
        f"{page.name}: there is no `{file}.{name}`" for file, name in named if name != "v" and f"{file}.{name}" not in defined
    ]


def asked(lines: list[str], compiled: Path) -> str:
    """What Rocq answers to a few commands."""
    question = compiled / "assumptions.v"
    question.write_text("\n".join(lines) + "\n", encoding="utf-8")
    ran = subprocess.run(
        ["coqc", "-R", ".", "Bubbleproof", question.name], cwd=compiled, capture_output=True, text=True, check=False
    )
    for left in compiled.glob("*assumptions.*"):
        left.unlink()
    if ran.returncode:
        sys.exit(f"Rocq cannot say what the theorems rest on:\n{ran.stderr}")
    return ran.stdout


def assumptions(stated: list[Stated], compiled: Path) -> list[str]:
    """What each rests on, as Rocq says it: asked about all at once, and about each only if the answer is not that it is nothing."""
    files = [f"Require Bubbleproof.{Path(one.file).stem}." for one in stated]
    required = list(dict.fromkeys(files))
    together = ", ".join(f"@Bubbleproof.{one.name}" for one in stated)
    if asked([*required, f"Definition all := ({together}).", "Print Assumptions all."], compiled).strip() == CLOSED:
        return [CLOSED] * len(stated)
    return [asked([file, f"Print Assumptions Bubbleproof.{one.name}."], compiled).strip() for file, one in zip(files, stated, strict=True)]


def checked_again(modules: list[str], compiled: Path) -> list[str]:
    """What `coqchk` finds wrong with the compiled files. It takes the standard library as it is installed."""
    command = ["coqchk", "-silent", "-o", "-R", ".", "Bubbleproof"]
    command += [word for module in modules for word in ("-norec", module)]
    ran = subprocess.run(command, cwd=compiled, capture_output=True, text=True, check=False)
    said = ran.stdout + ran.stderr
    axioms = re.findall(r"^ +(Bubbleproof\.\S+)", said, flags=re.MULTILINE)
    if ran.returncode or "* Axioms:" not in said:
        return [f"coqchk does not accept what was compiled:\n{said}"]
    return [f"coqchk: {axiom} is assumed" for axiom in axioms]


def main() -> None:
    """Prints the table, and ends with 1 where something is not proved."""
    sources, compiled = map(Path, sys.argv[1:])
    stated, wrong = [], []
    for source in sorted(sources.glob("*.v")):
        of_file, wrong_in_file = read(source)
        stated += of_file
        wrong += wrong_in_file
    rests_on = assumptions(stated, compiled)
    print(f"\n{'theorem':<58} {'where':<28} rests on")
    for one, answer in zip(stated, rests_on, strict=True):
        base = "nothing further" if answer == CLOSED else " ".join(answer.split())
        print(f"{one.name:<58} {one.file + ':' + str(one.line):<28} {base}")
        if answer != CLOSED:
            wrong.append(f"{one.file}:{one.line}: {one.name} rests on axioms")
    modules = [f"Bubbleproof.{source.stem}" for source in sorted(sources.glob("*.v"))]
    wrong += checked_again(modules, compiled)
    wrong += named_in(sources.parents[1] / "docs" / "trust.md", sources)
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        sys.exit(1)
    print(
        f"\n{sum(one.kind == 'Theorem' for one in stated)} theorems and {sum(one.kind == 'Example' for one in stated)} examples "
        f"in {len(modules)} files; coqchk accepts all of them, and finds no axiom of ours"
    )


if __name__ == "__main__":
    main()
