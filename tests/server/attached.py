#!/usr/bin/env python3
"""Runs a program for as long as standard input stays open.

usage: attached.py [--stop SIGNAL] LOG COMMAND [ARGUMENT...]

A test holds the other end of the pipe, so the program ends with the test, however that dies. The program gets a
process group of its own; SIGNAL (TERM, or INT, which Postgres wants) goes to all of it, and KILL five seconds later.
Its output goes to LOG.
"""

import os
import signal
import subprocess
import sys
import threading


def main():
    arguments = sys.argv[1:]
    stop = signal.SIGTERM
    if arguments[:1] == ["--stop"]:
        stop = signal.Signals[f"SIG{arguments[1]}"]
        arguments = arguments[2:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    with open(arguments[0], "wb") as log:
        child = subprocess.Popen(
            arguments[1:], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )

    def end(number):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            pass

    def watch():
        # Not by sys.stdin: its lock would be held when the program ends by itself, and Python would abort.
        while os.read(0, 4096):
            pass
        end(stop)
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            end(signal.SIGKILL)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: end(stop))
    threading.Thread(target=watch, daemon=True).start()
    code = child.wait()
    end(signal.SIGKILL)  # what the program may have left in its group
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
