"""`python -m tests.golden DIR`: check a folder of vector files; exit 0 when all passed, 1 when anything did not."""

import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports transformers

import torch  # noqa: E402

from tests.golden import DATA, check_folder, summary  # noqa: E402


def main() -> int:
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        print(f"{__doc__}\nWithout DIR: {DATA}")
        return 1
    folder = Path(sys.argv[1]) if len(sys.argv) == 2 else DATA
    torch.set_num_threads(1)  # the models are too small to share out
    reports = check_folder(folder) if folder.is_dir() else []
    if not reports:
        print(f"{folder} is not a folder with vector files (*.json).")
        return 1
    print(summary(reports))
    return 0 if all(report.good for report in reports) and any(report.passed for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
