"""Are packets worth having: real commits taken for modules, and what their packets hold of what they came to need.

`scripts/bench packets GITDIR … [--commits 40] [--budget 6000]`, each a Python project's repository with its history. A
commit is a module: its files are the write scope, its subject the purpose, its body the notes. Needed are the symbols
outside of its files that it came to use and that those files did not mention before: by grace's own edges (`linked`),
and by the standard library's parser alone (`named`: a new name that at most three files outside define, so methods of
third-party objects are among them by chance). Beside it stands the repo map of aider at the same budget, with the same
files in its chat and the same message. A symbol is held where the part about a file that defines it has its name. Both
texts are counted by the same tokenizer, cl100k_base; so is the budget's own estimate held against it.

Aider is installed into an environment of its own, under `--place`; it needs network once, or `--aider PYTHON`.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parent))  # python runs us with -P: no module of a folder that we happen to be in

from packing.measure import Measuring, Tally
from packing.place import Aider, installed, missing

_PLACE = Path(tempfile.gettempdir()) / "grace-bench-packets"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="*", type=Path, help="git directories with their history")
    parser.add_argument("--commits", type=int, default=40, help="how many of each, the newest that fit")
    parser.add_argument("--budget", type=int, default=6000, help="tokens: packet_tokens, and aider's --map-tokens")
    parser.add_argument("--start", default="HEAD", help="where to begin to look for commits")
    parser.add_argument("--place", type=Path, default=_PLACE, help="a folder for clones, caches and aider")
    parser.add_argument("--aider", type=Path, help="the python of an environment that has aider-chat")
    parser.add_argument("--verbose", action="store_true", help="a line for each symbol, too")
    given = parser.parse_args()
    python = given.aider or installed(given.place / "aider")
    if lacks := missing(given.repositories, python):
        print(*lacks, sep="\n", file=sys.stderr)
        return 2
    behind = 0
    with Aider(python) as aider:
        for repository in given.repositories:
            tally = Tally(repository)
            for line in Measuring(tally, aider, given).lines():
                print(line, flush=True)
            print(*tally.lines(), sep="\n", flush=True)
            behind += not tally.ahead
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
