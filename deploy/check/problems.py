"""Collects what is wrong with the files of deploy/, so that one run reports everything."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
RULES = DEPLOY / "prometheus/rules.yml"


class Problems:
    """What is wrong, as lines for people."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def expect(self, is_right: bool, line: str) -> None:
        """Adds the line unless it is right."""
        if not is_right:
            self.lines.append(line)

    def run(self, command: list[str | Path], what: str, text: str | None = None, folder: Path = ROOT) -> str:
        """Runs a checker in a folder, with a text as its input. It must exit with 0. Returns its standard output."""
        ran = subprocess.run(command, input=text, capture_output=True, text=True, cwd=folder, check=False)
        self.expect(ran.returncode == 0, f"{what}: {(ran.stderr or ran.stdout).strip()}")
        return ran.stdout


def debian_program(program: str) -> str:
    """A program of Debian, installed or unpacked by scripts/setup.sh."""
    unpacked = [str(path) for path in ROOT.glob(f".cache/*/usr/bin/{program}")]
    found = [*unpacked, *filter(None, [shutil.which(program)])]
    if not found:
        raise SystemExit(f"deploy-check: {program} not found: run scripts/setup.sh deploy")
    return found[0]


def documents(text: str) -> list[dict[str, Any]]:
    """The YAML documents of a text."""
    return [document for document in yaml.load_all(text, yaml.CSafeLoader) if document]


def settings() -> set[str]:
    """The names of all settings, and of the files of secret ones."""
    text = (ROOT / ".env.example").read_text()
    return set(re.findall(r"^#(AKHAR_[A-Z_]+)=", text, re.MULTILINE)) | set(re.findall(r"\bAKHAR_[A-Z_]+_FILE\b", text))


def default(setting: str) -> int:
    """The default of a setting that is a whole number."""
    found = re.search(rf"^#{setting}=(\d+)$", (ROOT / ".env.example").read_text(), re.MULTILINE)
    if found is None:
        raise LookupError(f"{setting} has no default in .env.example")
    return int(found[1])
