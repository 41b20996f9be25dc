"""Writes the images of this folder, and images.lua: the values that Pillow finds in them.

Run by hand: `python tests/files/generate_images.py`. The suite itself needs no Python. The PNG files that Pillow cannot
write (16 bits of colour, interlaced) are put together here.
"""

import os
import struct
import zlib

import numpy as np
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH, HEIGHT = 11, 9
rng = np.random.default_rng(1)
y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
rgb = np.stack([x * 20 + 5, y * 25, (x + y) * 12], 2).astype(np.uint8)
rgba = np.dstack([rgb, (255 - x * 23).astype(np.uint8)])
expected = {}


def at(name):
    return os.path.join(HERE, name)


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def write_png(name, pixels, bits, color, interlaced=False, extra=b""):
    """pixels: (height, width, channels); every row unfiltered."""
    height, width = pixels.shape[:2]
    passes = [(0, 0, 1, 1)]
    if interlaced:
        passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    rows = b""
    for top, left, down, right in passes:
        for row in pixels[top::down, left::right]:
            if row.size:
                rows += b"\0" + row.astype(">u2" if bits == 16 else "u1").tobytes()
    header = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, int(interlaced))
    with open(at(name), "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(rows)) +
                   chunk(b"IEND", b""))


def note(name, pixels, mode="unchanged"):
    """pixels: (height, width) or (height, width, channels)."""
    expected.setdefault(name, {})[mode] = np.atleast_3d(np.asarray(pixels)).transpose(2, 0, 1)


def note_modes(name):
    image = Image.open(at(name))
    for mode, theirs in (("gray", "L"), ("rgb", "RGB"), ("rgba", "RGBA"), ("gray_alpha", "LA")):
        note(name, image.convert(theirs), mode)


# ---- PNG ----
Image.fromarray(rgb[:, :, 0]).save(at("gray.png"))
note("gray.png", rgb[:, :, 0])
Image.fromarray(rgb).save(at("rgb.png"))
note("rgb.png", rgb)
Image.fromarray(rgba).save(at("rgba.png"))
note("rgba.png", rgba)
Image.fromarray(rgba[:, :, [0, 3]], "LA").save(at("gray_alpha.png"))
note("gray_alpha.png", rgba[:, :, [0, 3]])
for name in ("gray.png", "rgb.png", "rgba.png", "gray_alpha.png"):
    note_modes(name)
Image.fromarray((x + y) % 2 == 0).save(at("one_bit.png"))
note("one_bit.png", ((x + y) % 2 == 0) * 255)
palette = Image.fromarray(rgb).quantize(8)
palette.save(at("palette.png"))
note("palette.png", palette.convert("RGB"))
palette.save(at("palette_transparent.png"), transparency=2)
note("palette_transparent.png", Image.open(at("palette_transparent.png")).convert("RGBA"))
write_png("interlaced.png", rgb, 8, 2, interlaced=True)
note("interlaced.png", Image.open(at("interlaced.png")))
assert (expected["interlaced.png"]["unchanged"] == rgb.transpose(2, 0, 1)).all()
wide = rng.integers(0, 65536, (HEIGHT, WIDTH, 4))
for name, channels, color in (("gray16.png", 1, 0), ("rgb16.png", 3, 2), ("rgba16.png", 4, 6)):
    write_png(name, wide[:, :, :channels], 16, color)
    note(name, np.rint(wide[:, :, :channels] / 257))
# Says that its values are linear light: Pillow and this library take them as they are.
write_png("gamma.png", rgb, 8, 2, extra=chunk(b"gAMA", struct.pack(">I", 100000)))
note("gamma.png", Image.open(at("gamma.png")))
# Promises more than its few bytes can hold.
with open(at("promise.png"), "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 20000, 20000, 8, 2, 0, 0, 0)) +
               chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b""))
# The rows end early, though every chunk is whole.
with open(at("short.png"), "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)) +
               chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b""))

# ---- JPEG ----
smooth = np.asarray(Image.fromarray(rgb).resize((23, 17), Image.BILINEAR))
for name, options in (("rgb.jpg", {}), ("progressive.jpg", {"progressive": True}), ("full.jpg", {"subsampling": 0, "quality": 95})):
    Image.fromarray(smooth).save(at(name), **options)
    note(name, Image.open(at(name)))
Image.fromarray(smooth[:, :, 0]).save(at("gray.jpg"))
note("gray.jpg", Image.open(at("gray.jpg")))
note("gray.jpg", Image.open(at("gray.jpg")).convert("RGB"), "rgb")
luminance = Image.open(at("rgb.jpg"))
luminance.draft("L", luminance.size)
note("rgb.jpg", luminance, "gray")
Image.fromarray(smooth).convert("CMYK").save(at("cmyk.jpg"))
note("cmyk.jpg", Image.open(at("cmyk.jpg")).convert("RGB"))

# ---- the values ----
with open(at("images.lua"), "w") as file:
    file.write("-- Written by tests/files/generate_images.py: for every image and mode its sizes and its values, in hexadecimal.\n")
    file.write("return {\n")
    for name, modes in expected.items():
        file.write(f"  ['{name}'] = {{\n")
        for mode, values in modes.items():
            sizes = ", ".join(str(size) for size in values.shape)
            file.write(f"    {mode} = {{{{ {sizes} }},\n      '{values.astype(np.uint8).tobytes().hex()}' }},\n")
        file.write("  },\n")
    file.write("}\n")
