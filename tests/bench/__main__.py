"""python -m tests.bench [--quick] [--repeats N]: the driver against plain generate, then the page in Chromium.

It prints what it measured and fails on nothing: a time that is too long, or tokens that differ, are there to be read.
"""

import argparse
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before anything imports gradio or transformers
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from tests.bench import decoding, groups, machine, masks, noise, painting, peers, people, sessions  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smoke run of everything; its numbers mean nothing")
    parser.add_argument("--repeats", type=int, help="pairs a line, and starts of the server (default: 5 and 3)")
    args = parser.parse_args()
    if args.repeats is not None and args.repeats < 1:
        parser.error("--repeats takes a whole number from 1 on")
    print(machine(), flush=True)
    if args.quick:
        print("QUICK: a smoke run; these numbers mean nothing.")
    pairs, starts = args.repeats or (1 if args.quick else 5), args.repeats or (1 if args.quick else 3)
    parts = (decoding.lines(pairs, args.quick), groups.lines(pairs, args.quick), peers.lines(pairs, args.quick),
             people.lines(pairs, args.quick), sessions.lines(pairs, args.quick), painting.lines(starts, args.quick),
             noise.lines(args.quick), masks.lines(args.quick))
    for part in parts:
        print(flush=True)
        for line in part:
            print(line, flush=True)


if __name__ == "__main__":
    main()
