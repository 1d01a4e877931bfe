"""Every fault that users of such tools met in public is a test here, or tests/README.md says why it cannot occur."""

import ast
import json
import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TABLE: dict[str, list[str]] = json.loads((HERE / "data" / "public_cases.json").read_text("utf-8"))
REASONS = dict(re.findall(r"^\| (B\d+) \| (.+?) \|$", (HERE / "README.md").read_text("utf-8"), re.M))
# The numbers of the list of cases, kept by hand so that a line that is lost from the table is noticed.
NUMBERS = [f"B{number}" for number in (
    "01 02 03 05 06 07 09 10 11 13 14 15 17 18 19 21 22 23 25 26 27 29 30 31 33 34 35 37 38 39 41 42 43 45 46 47 49 50 51 53 54 "
    "55 57 58 59 61 62 63 65 66 67 69 70 71 73 74 75 77 78 79 81 82 83 85 86 87 89 90 91 93 94 95 97 98 99 101 102 103 105 106 "
    "107 109 110 111 113 114 115 117 118 119").split()]
# Of search, of scores: each of these is a test, and no reason will do.
TESTED = {f"B{number}" for number in (
    "01 02 03 05 06 07 09 10 11 13 114 14 15 17 18 19 62 63 65 66 67 69 70 71 73 74 109 110 111").split()}


def test_every_case_is_in_the_table_or_has_a_reason():
    assert not set(TABLE) & set(REASONS)
    assert sorted([*TABLE, *REASONS]) == sorted(NUMBERS)
    assert set(TABLE) >= TESTED
    assert all(len(reason) > 40 for reason in REASONS.values())


@pytest.mark.parametrize("number", TABLE)
def test_the_tests_of_a_case_are_there(number):
    assert TABLE[number]
    for name in TABLE[number]:
        file, function = name.split("::")
        path = HERE.parent / file
        assert path.name.startswith("test_") and function.startswith("test_")
        assert function in {node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)}


def test_a_test_that_is_named_after_a_case_is_in_the_table():
    found = 0
    for path in HERE.rglob("test_*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and (named := re.match(r"test_((?:b\d+_)+)", node.name)):
                for number in named[1].upper().strip("_").split("_"):
                    assert f"{path.relative_to(HERE.parent).as_posix()}::{node.name}" in TABLE[number]
                    found += 1
    assert found > 20
