"""An interactive shell on a pseudo terminal: Ctrl-Z and fg, reading from the terminal, Ctrl-C,
programs in the background, under `record`."""
import os
import pty
import re
import select
import sys
import time

RECORD = f"{sys.argv[1]} record -q -o run.gpf -- "


class Shell:
    def __init__(self):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ["PS1"] = "$ "
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self.shown = ""
        self.until(r"\$ $")

    def until(self, pattern, seconds=30):
        """Reads until what was shown since the last call matches."""
        end = time.time() + seconds
        while not re.search(pattern, self.shown):
            assert time.time() < end, f"{pattern!r} does not come: {self.shown!r}"
            if select.select([self.terminal], [], [], 0.1)[0]:
                shown = os.read(self.terminal, 65536).decode("utf8", "replace")
                self.shown += re.sub(r"\x1b\[\?2004[hl]", "", shown).replace("\r", "")
        seen, self.shown = self.shown, ""
        return seen

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def ended_with(self, code):
        self.type("echo code=$?\n")
        self.until(rf"\ncode={code}\n")

    def close(self):
        os.close(self.terminal)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


shell = Shell()
shell.type(RECORD + "sh -c 'echo star''ted; sleep 2; exit 9'\n")
shell.until(r"\nstarted\n")
shell.type("\x1a")
shell.until(r"Stopped")
shell.type("fg\n")
shell.until(r"\$ $")
shell.ended_with(9)

shell.type(RECORD + "sh -c 'read x; echo \"got\":$x'\n")
time.sleep(1)
shell.type("hello\n")
shell.until(r"got:hello\n")
shell.ended_with(0)

shell.type(RECORD
           + "sh -c 'trap \"echo INTER''RUPTED; exit 6\" INT; echo star''ted; sleep 20; exit 1'\n")
shell.until(r"\nstarted\n")
shell.type("\x03")
shell.until(r"INTERRUPTED\n")
shell.ended_with(6)

# A loop ends with the program that the interrupt killed: the shell must see how it died.
shell.type("for i in 1 2 3; do " + RECORD + "sh -c 'echo star''ted; sleep 20'; echo ne''xt; done\n")
shell.until(r"\nstarted\n")
shell.type("\x03")
assert "next" not in shell.until(r"\n\$ $")
shell.ended_with(130)

shell.type(RECORD + "cat &\n")
shell.until(r"\[1\] \d+")
time.sleep(1.5)
shell.type("jobs\n")
shell.until(r"Stopped")
shell.type("fg\n")
shell.until(r"record[^\n]*\n")
shell.type("typed\n")
shell.until(r"typed\ntyped\n")
shell.type("\x04")
shell.ended_with(0)
shell.close()
print("ok: job control")
