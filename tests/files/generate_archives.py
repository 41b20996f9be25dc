"""Writes archives.lua: zip archives that lie, each with what Python's zipfile does when it reads all of it.

Run by hand: `python3 tests/files/generate_archives.py [FOLDER]`; FOLDER gets the archives as files, for other readers. A Python
of 3.11.8, 3.12.2 or later refuses one more, the quoted overlap. An archive holds two arrays of NumPy, a and b, and is made of
fields that a case changes. The suite itself needs no Python.
"""

import io
import os
import struct
import sys
import zipfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
FULL = 0xFFFFFFFF


def array(values):
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    header += " " * (-(11 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + bytes(values)


def deflated(content):
    z = zlib.compressobj(9, zlib.DEFLATED, -15)
    return z.compress(content) + z.flush()


class Entry:
    """An entry as its two headers tell of it; a field of `local` holds for the one in its place alone."""

    def __init__(self, name, content, method=0, data=None, tail=b"", local=None, **fields):
        self.data = data if data is not None else deflated(content) if method == 8 else content
        self.tail = tail
        self.central = dict(version=20, flags=0, method=method, crc=zlib.crc32(content), packed=len(self.data),
                            size=len(content), name=name, extra=b"", comment=b"", disk=0, offset=None)
        self.central.update(fields)
        self.local = dict(self.central, extra=b"")
        self.local.update(local or {})


def head(f):
    return struct.pack("<4s5H3I2H", b"PK\3\4", f["version"], f["flags"], f["method"], 0, 0x21, f["crc"], f["packed"], f["size"],
                       f.get("name_size", len(f["name"])), f.get("extra_size", len(f["extra"]))) + f["name"] + f["extra"]


def line(f, at):
    offset = at if f["offset"] is None else f["offset"]
    return struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, f["version"], f["flags"], f["method"], 0, 0x21, f["crc"], f["packed"], f["size"],
                       f.get("name_size", len(f["name"])), f.get("extra_size", len(f["extra"])),
                       f.get("comment_size", len(f["comment"])), f["disk"], 0, 0, offset) + f["name"] + f["extra"] + f["comment"]


def pack(entries, before=b"", gap=b"", after=b"", comment=b"", zip64=None, **end):
    """The archive; `end` changes fields of the record at its end, `zip64` those of the wide one, which it adds."""
    body, places = before, []
    for entry in entries:
        places.append(len(body))
        body += head(entry.local) + entry.data + entry.tail
    start = len(body)
    directory = b"".join(line(e.central, at) for e, at in zip(entries, places))
    body += directory + gap
    n = len(entries)
    if zip64 is not None:
        wide = dict(length=44, disk=0, start_disk=0, here=n, count=n, size=len(directory), offset=start, place=len(body), disks=1)
        wide.update(zip64)
        body += struct.pack("<4sQ2H2I4Q", b"PK\6\6", wide["length"], 45, 45, wide["disk"], wide["start_disk"], wide["here"],
                            wide["count"], wide["size"], wide["offset"])
        body += struct.pack("<4sIQI", b"PK\6\7", 0, wide["place"], wide["disks"])
    last = dict(disk=0, start_disk=0, here=n, count=n, size=len(directory), offset=start, comment_size=len(comment))
    last.update(end)
    return body + struct.pack("<4s4H2IH", b"PK\5\6", last["disk"], last["start_disk"], last["here"], last["count"], last["size"],
                              last["offset"], last["comment_size"]) + comment + after


A, B = array([1, 2, 3]), array([4, 5])


def two(a=None, b=None, **archive):
    """Entries a and b; a and b are changes to them."""
    return pack([Entry(**{"name": b"a.npy", "content": A, **(a or {})}), Entry(**{"name": b"b.npy", "content": B, **(b or {})})], **archive)


def wide(*numbers, size=None):
    return struct.pack("<2H", 1, 8 * len(numbers) if size is None else size) + b"".join(struct.pack("<Q", n) for n in numbers)


def described(content, name):
    """A data descriptor follows: the header in the entry's place does not know its sizes."""
    return dict(name=name, content=content, flags=8, local=dict(crc=0, packed=0, size=0),
                tail=struct.pack("<4s3I", b"PK\7\x08", zlib.crc32(content), len(content), len(content)))


def quoted_overlap():
    """Fifield's bomb of two entries: a begins with a stored block of deflate that holds the header of b, and goes on with b's data."""
    kernel = deflated(B)
    b = Entry(b"b.npy", B, 8)
    header = head(b.local)
    quote = struct.pack("<BHH", 0, len(header), len(header) ^ 0xFFFF) + header
    a = Entry(b"a.npy", header + B, 8, data=quote + kernel)
    first = head(a.local)
    b.central["offset"] = len(first) + 5
    b.data = b""
    body = first + quote + kernel
    directory = line(a.central, 0) + line(b.central, 0)
    return body + directory + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 2, 2, len(directory), len(body), 0)


zeros = array(bytes(100000))
plain = two()
end_inside = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 0, 0, 0, 0, 0)

CASES = [
    # What other programs write, and has to be read.
    ("plain", plain),
    ("deflated", two(a=dict(method=8), b=dict(method=8))),
    ("zip64 records", two(zip64={}, here=0xFFFF, count=0xFFFF, size=FULL, offset=FULL)),
    ("zip64 sizes", two(a=dict(packed=FULL, size=FULL, extra=wide(len(A), len(A)),
                               local=dict(packed=FULL, size=FULL, extra=wide(len(A), len(A)))))),
    ("zip64 sizes in one place alone", two(a=dict(local=dict(packed=FULL, size=FULL, extra=wide(len(A), len(A)))))),
    ("data descriptors", two(a=described(A, b"a.npy"), b=described(B, b"b.npy"))),
    ("a comment", two(comment=b"a comment", a=dict(comment=b"of an entry"))),
    ("names that lead out of a folder", two(a=dict(name=b"../../a.npy"), b=dict(name=b"/b.npy"))),
    # Entries that lie where others do.
    ("two entries in one place", two(b=dict(name=b"b.npy", content=A, offset=0))),
    ("a quoted overlap", quoted_overlap()),
    ("an entry that reaches into the next", two(a=dict(size=len(A) + 60, packed=len(A) + 60))),
    ("an entry that reaches into the directory", two(b=dict(size=len(B) + 40, packed=len(B) + 40))),
    ("an entry in the directory", two(b=dict(offset=len(plain) - 22 - 51))),
    ("an entry outside of the file", two(b=dict(offset=0x7FFFFFF0))),
    ("an entry longer than the file", two(b=dict(packed=0x7FFFFFF0, size=0x7FFFFFF0))),
    # Names.
    ("two entries of one name", two(b=dict(name=b"a.npy"))),
    ("a zero byte in a name", two(a=dict(name=b"a.npy\0.txt"))),
    ("a name that is no UTF-8 and says so", two(a=dict(name=b"\xff\xfe.npy", flags=0x800))),
    ("a name longer than the directory", two(b=dict(local=dict(name_size=5), name_size=0xFFFF))),
    # Headers that tell of another entry than the directory.
    ("another name in its place", two(a=dict(local=dict(name=b"c.npy")))),
    ("another method in its place", two(a=dict(local=dict(method=8)))),
    ("another size in its place", two(a=dict(local=dict(size=1)))),
    ("another packed size in its place", two(a=dict(local=dict(packed=1)))),
    ("another checksum in its place", two(a=dict(local=dict(crc=1)))),
    ("encrypted in its place alone", two(a=dict(local=dict(flags=1)))),
    ("other zip64 sizes in its place", two(a=dict(local=dict(packed=FULL, size=FULL, extra=wide(1, 1))))),
    ("no header in its place", two(a=dict(offset=1))),
    ("an extra field longer than the entry in its place", two(a=dict(local=dict(extra_size=0xFFFF)))),
    # Lies about sizes.
    ("less than it promises", two(a=dict(method=8, size=len(A) + 1, local=dict(size=len(A) + 1)))),
    ("more than it promises", two(a=dict(method=8, content=zeros, size=200, local=dict(size=200)))),
    ("more than deflate can reach", two(a=dict(method=8, content=A, size=1 << 30, local=dict(size=1 << 30)))),
    ("stored, of two sizes", two(a=dict(size=len(A) + 1, local=dict(size=len(A) + 1)))),
    ("bytes after its compressed data", two(a=dict(method=8, data=deflated(A) + b"more"))),
    ("damaged data", two(a=dict(data=A[:-1] + b"x"))),
    ("damaged compressed data", two(a=dict(method=8, data=b"\xff" * 40))),
    # zip64 fields.
    ("a zip64 field that is missing", two(a=dict(size=FULL, packed=FULL))),
    ("a zip64 field that is too short", two(a=dict(size=FULL, packed=FULL, extra=wide(len(A))))),
    ("a zip64 field longer than the extra field", two(a=dict(size=FULL, packed=FULL, extra=wide(len(A), len(A), size=99)))),
    ("negative zip64 sizes", two(a=dict(size=FULL, packed=FULL, extra=wide(1 << 63, 1 << 63)))),
    ("a zip64 offset outside", two(a=dict(offset=FULL, extra=wide(1 << 62)))),
    ("a zip64 record outside", two(zip64=dict(place=1 << 40), here=0xFFFF, count=0xFFFF, size=FULL, offset=FULL)),
    ("a zip64 record that is none", two(zip64=dict(place=0), here=0xFFFF, count=0xFFFF, size=FULL, offset=FULL)),
    ("a zip64 record of other numbers", two(zip64=dict(here=1, count=1))),
    ("a zip64 record of an absurd directory", two(zip64=dict(size=1 << 62), here=0xFFFF, count=0xFFFF, size=FULL, offset=FULL)),
    ("a negative zip64 count", two(zip64=dict(here=1 << 63, count=1 << 63), here=0xFFFF, count=0xFFFF, size=FULL, offset=FULL)),
    # What the reader does not know.
    ("an encrypted entry", two(a=dict(flags=1))),
    ("a strongly encrypted entry", two(a=dict(flags=0x40))),
    ("a patched entry", two(a=dict(flags=0x20))),
    ("an unknown method", two(a=dict(method=99))),
    ("a version to come", two(a=dict(version=99))),
    ("an archive in several files", two(disk=1, start_disk=1)),
    ("an entry of another file", two(a=dict(disk=1))),
    # The end.
    ("a promise of more entries", two(here=9, count=9)),
    ("a promise of fewer entries", two(here=1, count=1)),
    ("a directory that begins elsewhere", two(offset=0)),
    ("a directory of another size", two(size=20)),
    ("a directory with a line cut short", two(b=dict(comment_size=9))),
    ("bytes after the directory", two(gap=b"gap!")),
    ("bytes before the archive", two(before=b"#!/bin/sh\n", offset=len(plain) - 22 - 102)),
    ("bytes after the archive", two(after=b"more")),
    ("an end in the comment", two(comment=end_inside)),
    ("a comment cut short", two(comment_size=9)),
    ("cut short", plain[:-30]),
]


def verdict(content):
    """What Python's zipfile does with the archive: None when it reads all of it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            for info in file.infolist():
                file.read(info)
            return None
    except Exception as error:  # whatever it raises is a refusal
        return type(error).__name__


def lua_string(content):
    return '"' + "".join("\\x%02x" % b for b in content) + '"'


def main():
    with open(os.path.join(HERE, "archives.lua"), "w") as out:
        out.write("-- Written by tests/files/generate_archives.py: a name, the archive, what zipfile of Python %d.%d.%d raises (nil: it reads it).\n"
                  % sys.version_info[:3])
        out.write("return {\n")
        for number, (name, content) in enumerate(CASES):
            raised = verdict(content)
            out.write("  { '%s',\n    %s, %s },\n" % (name, lua_string(content), "'%s'" % raised if raised else "nil"))
            if len(sys.argv) > 1:
                with open(os.path.join(sys.argv[1], "%02d %s.npz" % (number, name)), "wb") as file:
                    file.write(content)
        out.write("}\n")


main()
