"""Files that judge or pin the work: lock files, test runner configuration, CI configuration, and what a check names.

A module may change one of them only when its write scope names that very file: a folder or a glob that happens to cover
it is not enough. Files that hold runner configuration beside other things count too (pyproject.toml, setup.cfg,
package.json, Cargo.toml, vite.config.*, pom.xml, …): one added line there deselects a test, and naming the file costs
the plan one line.
"""

import fnmatch
import functools
import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence

_LOCKS = """
*.lock *.lockb *.lockfile *.lock.json *.lock.yml *.lock.yaml *.lock.toml *.lock.hcl *.opam.locked
package-lock.json npm-shrinkwrap.json pnpm-lock.yaml pnpm-lock.yml pylock.toml pylock.*.toml conda-lock.yml
conda-lock.yaml
go.sum go.work.sum gems.locked package.resolved cartfile.resolved packages.lock.json verification-metadata.xml
manifest.toml juliamanifest.toml cabal.project.freeze maven_install.json dub.selections.json
lake-manifest.json
project.lock.json module.bazel.lock rebar.lock
"""

_RUNNERS = """
conftest.py pytest.ini .pytest.ini pytest.toml .pytest.toml tox.ini tox.toml setup.cfg pyproject.toml
noxfile.py .coveragerc
coverage.toml sitecustomize.py usercustomize.py *.pth
package.json jest.config.* jest.setup.* vitest.config.* vitest.workspace.* vitest.setup.* vite.config.*
karma.conf.*
.mocharc .mocharc.* ava.config.* playwright.config.* playwright-ct.config.* cypress.config.* cypress.json
.nycrc .nycrc.*
.c8rc.json .taprc wallaby.js bunfig.toml deno.json deno.jsonc
cargo.toml nextest.toml
pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts testng.xml junit-platform.properties
*.runsettings xunit.runner.json *.csproj *.fsproj directory.build.props directory.build.targets
phpunit.xml phpunit.xml.dist phpunit.dist.xml codeception.yml codecept.yml behat.yml pest.php
.rspec .rspec-local spec_helper.rb rails_helper.rb test_helper.rb test_helper.exs
ctestcustom.cmake ctestconfig.cmake
"""

_RUNNER_PATHS = (".cargo/config", ".cargo/config.toml", ".config/nextest.toml")

_CI_FOLDERS = """
.github/workflows .github/actions .gitlab/ci .circleci .buildkite .woodpecker .teamcity .semaphore .tekton .ci
.builds
.azure-pipelines .azuredevops .forgejo/workflows .forgejo/actions .gitea/workflows .husky
"""

_CI_FILES = """
.gitlab-ci.yml .gitlab-ci.yaml *.gitlab-ci.yml jenkinsfile jenkinsfile.* azure-pipelines.yml
azure-pipelines.yaml .travis.yml
appveyor.yml .appveyor.yml bitbucket-pipelines.yml .drone.yml .drone.star .woodpecker.yml .woodpecker.yaml
.cirrus.yml
.cirrus.star .build.yml wercker.yml buildspec.yml buildspec.yaml cloudbuild.yaml cloudbuild.yml codemagic.yaml
.pre-commit-config.yaml .pre-commit-config.yml lefthook.yml .lefthook.yml
"""

_IMPLIED = {
    "make": ("makefile", "gnumakefile"),
    "gmake": ("makefile", "gnumakefile"),
    "just": ("justfile", ".justfile"),
    "task": ("taskfile.yml", "taskfile.yaml"),
    "rake": ("rakefile",),
    "nox": ("noxfile.py",),
    "invoke": ("tasks.py",),
    "inv": ("tasks.py",),
    "bazel": ("module.bazel", "workspace"),
    "ctest": ("cmakelists.txt",),
    "cmake": ("cmakelists.txt",),
    "composer": ("composer.json",),
    "mix": ("mix.exs",),
    "sbt": ("build.sbt",),
    "zig": ("build.zig",),
}
"""What a check runs without naming it, by the program's name."""

_ENTERING = frozenset({"cd", "-C", "--directory"})
"""What is followed by the folder to work in."""


def is_protected(path: str, checks: Sequence[str] = ()) -> str | None:
    """Say why `path` may only be written by a module that names it, or None; `checks` are the commands that judge."""
    lower = path.lower()  # a file system that ignores case would take one for the other
    name = posixpath.basename(lower)
    if _names(_LOCKS).match(name):
        return "a lock file"
    if _names(_RUNNERS).match(name) or any(lower == p or lower.endswith("/" + p) for p in _RUNNER_PATHS):
        return "test runner configuration"
    if _names(_CI_FILES).match(name) or lower.startswith(tuple(f"{folder}/" for folder in _CI_FOLDERS.split())):
        return "CI configuration"
    return next((f"named by the check `{check}`" for check in checks if names_file(check, path)), None)


@functools.cache
def _names(table: str) -> re.Pattern[str]:
    """Compile a table of file names and globs, on its first use."""
    return re.compile("|".join(fnmatch.translate(glob) for glob in table.split()))


def names_file(check: str, path: str) -> bool:
    """Say whether the command `check` names the file `path`, or runs a program that reads it by its usual name."""
    return any(word.lower() == path.lower() for word in paths_in(check))


def paths_in(check: str) -> Iterator[str]:
    """Give every path that the command may mean, relative to the root."""
    folder, entering, module = "", False, False
    implied: list[str] = []
    for word in _words(check):
        if entering:
            folder, entering = posixpath.normpath(posixpath.join(folder, word)), False
            yield from _placed(folder, *implied)
            continue
        if module:
            dotted = word.replace(".", "/")
            yield from _placed(folder, f"{dotted}.py", f"{dotted}/__main__.py", f"{dotted}/__init__.py")
        entering, module = word in _ENTERING, word == "-m"
        implied += _IMPLIED.get(posixpath.basename(word), ())
        if " " in word and word != check:
            yield from paths_in(word)  # sh -c "…"
        value = word.partition("=")[2] if "=" in word else ""
        plain = (word, word.partition("::")[0], value, word.partition(":")[0])
        yield from _placed(folder, *filter(None, plain), *_IMPLIED.get(posixpath.basename(word), ()))


def _placed(folder: str, *names: str) -> Iterator[str]:
    for name in names:
        yield posixpath.normpath(name)
        if folder:
            yield posixpath.normpath(posixpath.join(folder, name))


def _words(check: str) -> list[str]:
    lexer = shlex.shlex(check, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # an open quote: the shell will say so when the check runs
        return check.replace('"', " ").replace("'", " ").split()
