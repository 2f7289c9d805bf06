"""A process that pretends to hold the sleeping library, and means harm to the recorder that comes:
hostile_page.py MODE VERSION trunc, unsealed: pages that are not the library's; the others answer, and leave in the recorder's folder what nobody should open."""
import ctypes
import fcntl
import mmap
import os
import struct
import sys
import time

MODE, VERSION = sys.argv[1], int(sys.argv[2])
SIZE = 16 + 48 + 4096
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
libc = ctypes.CDLL(None)
libc.prctl(4, 1, 0, 0, 0)  # dumpable again: root's recorder finds it as it finds any
page = os.memfd_create("gpufathom", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
os.ftruncate(page, SIZE)
if MODE not in ("trunc", "unsealed"):
    fcntl.fcntl(page, fcntl.F_ADD_SEALS,
                fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
memory = mmap.mmap(page, SIZE)
memory[0:8] = struct.pack("<Ii", VERSION, os.getpid())
print("ready", flush=True)


def attack(folder):
    path = f"{folder}/{os.getpid()}.rec"
    if MODE == "link":
        os.symlink("/etc/passwd", path)
    elif MODE == "hard":
        os.close(os.open(f"{folder}/other", os.O_WRONLY | os.O_CREAT, 0o600))
        os.link(f"{folder}/other", path)
    elif MODE == "fifo":
        os.mkfifo(path)
    elif MODE == "huge":
        with open(path, "wb") as file:
            file.truncate(1 << 40)
    elif MODE == "folder":
        os.makedirs(f"{path}/a/b/c")
    elif MODE == "noise":
        with open(path, "wb") as file:
            file.write(os.urandom(5_000_000))
    elif MODE == "many":
        for number in range(6000):
            os.close(os.open(f"{folder}/{100000 + number}.rec", os.O_WRONLY | os.O_CREAT, 0o600))


attacked = False
end = time.monotonic() + 120
while time.monotonic() < end:
    asked, served = struct.unpack("<II", memory[8:16])
    if asked == served:
        time.sleep(0.005)
        continue
    if MODE == "trunc":
        os.ftruncate(page, 0)
        break
    if not attacked:
        attack(memory[64:].split(b"\0")[0].decode())
        attacked = True
        print("attacked", flush=True)
    memory[12:16] = struct.pack("<I", asked)
    libc.syscall(202, 0)
time.sleep(30)
