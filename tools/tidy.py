#!/usr/bin/env python3
"""Runs clang-tidy on the given sources, and skips those that are known to be clean.

    tools/tidy.py [--within=SECONDS] CLANG_TIDY BUILD_FOLDER SOURCE...

Checks them in the order given. --within: no check begins later than that; the summary says how many are left out.

A source is clean until it, a header that it includes, its compile command, its checks or clang-tidy change. A comment that
takes a line of its own does not count as a change, unless it addresses clang-tidy (NOLINT). Results are kept in
~/.cache/shiplog/tidy ($SHIPLOG_TIDY_CACHE); findings are never kept.
"""
import collections
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

OPTIONS = ["--quiet", "--extra-arg=-Wno-everything", "--warnings-as-errors=*"]
ROOT = pathlib.Path(__file__).resolve().parent.parent
UNCHANGED, CLEAN, FOUND, LEFT = "unchanged", "clean", "with findings", "left out"
CACHE = pathlib.Path(os.environ.get("SHIPLOG_TIDY_CACHE", pathlib.Path.home() / ".cache/shiplog/tidy"))


def digest(*parts):
    hashed = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        hashed.update(len(data).to_bytes(8, "little") + data)
    return hashed.hexdigest()


@functools.lru_cache(maxsize=None)
def content(path):
    """The hash of a file without comments that take a whole line; "" if it does not exist."""
    try:
        data = pathlib.Path(path).read_bytes()
    except OSError:
        return ""
    if path.startswith("/"):
        return digest(data)
    lines = data.split(b"\n")
    return digest(b"\n".join(line for line in lines if not line.lstrip().startswith(b"//") or b"NOLINT" in line))


def relative(path):
    """Files of the tree by their path in it, so that every clone has the same results."""
    absolute = os.path.normpath(os.path.join(ROOT, path))
    return os.path.relpath(absolute, ROOT) if absolute.startswith(f"{ROOT}/") else absolute


def configuration(source):
    """The checks that apply to a source: every .clang-tidy from its folder to the root."""
    folders = [ROOT.joinpath(source).parent, *ROOT.joinpath(source).parent.parents]
    return digest(*[content(relative(folder / ".clang-tidy")) for folder in folders if folder == ROOT or ROOT in folder.parents])


class Source:
    def __init__(self, name, folder, command, tidy, version):
        self.name = name
        self.folder = folder
        self.command = command
        self.tidy = tidy
        words = " ".join(command).replace(str(ROOT), ".")
        self.key = digest(version, OPTIONS, words, configuration(name), name)
        self.manifest = CACHE / "includes" / self.key

    def is_clean(self, includes):
        return bool(includes) and self.result(includes).exists()

    def result(self, includes):
        return CACHE / "clean" / digest(self.key, *[part for path in includes for part in (path, content(path))])

    def known_includes(self):
        try:
            return self.manifest.read_text().split("\n")
        except OSError:
            return []

    def find_includes(self):
        """Every file that the compiler reads for this source."""
        command = [*self.command, "-w", "-M", "-MT", "x"]
        made = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if made.returncode != 0:
            return []  # clang-tidy reports why
        paths = shlex.split(made.stdout.replace("\\\n", " "))[1:]
        includes = sorted({relative(os.path.join(self.folder, path)) for path in paths})
        write(self.manifest, "\n".join(includes))
        return includes

    def check(self, folder, deadline):
        """One of UNCHANGED, CLEAN, FOUND and LEFT, and what clang-tidy printed."""
        if self.is_clean(self.known_includes()):
            return UNCHANGED, ""
        if time.monotonic() > deadline:
            return LEFT, ""
        includes = self.find_includes()
        if self.is_clean(includes):
            return UNCHANGED, ""
        ran = subprocess.run([self.tidy, "-p", folder, *OPTIONS, self.name], cwd=ROOT, capture_output=True, text=True)
        if ran.returncode != 0:
            return FOUND, ran.stdout + ran.stderr
        if includes:
            write(self.result(includes), "")
        return CLEAN, ran.stdout


def write(path, text):
    """The file appears whole: several runs share the cache."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text)
    part.rename(path)


def commands(folder):
    """For each source the folder and the compile command, without its output."""
    found = {}
    for entry in json.loads(pathlib.Path(folder, "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if "ccache" in os.path.basename(words[0]):
            words = words[1:]
        kept = []
        skip = False
        for word in words:
            if skip or word == "-c":
                skip = False
            elif word == "-o":
                skip = True
            else:
                kept.append(word)
        found[relative(entry["file"])] = (entry["directory"], kept)
    return found


def main(within, tidy, folder, names):
    began = time.monotonic()
    version = subprocess.run([tidy, "--version"], capture_output=True, text=True, check=True).stdout
    known = commands(folder)
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit("tidy: not compiled by any target: " + " ".join(unknown))
    count = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        waiting = [pool.submit(Source(name, *known[name], tidy, version).check, folder, began + within) for name in names]
        for done in concurrent.futures.as_completed(waiting):
            result, output = done.result()
            count[result] += 1
            if result == FOUND:
                print(output, end="", flush=True)
    print(f"clang-tidy: {len(names)} files, {count[UNCHANGED]} unchanged, {count[CLEAN] + count[FOUND]} checked,"
          f" {count[FOUND]} with findings, {count[LEFT]} left out for lack of time, {time.monotonic() - began:.0f} s", file=sys.stderr)
    return 1 if count[FOUND] else 0


if __name__ == "__main__":
    words = sys.argv[1:]
    limit = float(words.pop(0).split("=")[1]) if words[0].startswith("--within=") else float("inf")
    sys.exit(main(limit, *words[:2], [relative(os.path.abspath(name)) for name in words[2:]]))
