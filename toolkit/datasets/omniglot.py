"""Omniglot: 1,623 characters of 50 alphabets, each drawn by 20 people; 1-bit images of 105 × 105.

The published archives hold ALPHABET/characterNN/NNNN_DD.png in a folder of the archive's name; DD,
from 01 to 20, is the person. The two small background sets are parts of the background set and
share alphabets: a drawing that lies in several of them is taken once.

Ink is 1 and paper 0; in the files paper is white, the level 1.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from PIL import Image

from driftproof.toolkit.dataset import Data, DataSet, Split, dataset
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.file_reader import readable, wrong_at
from driftproof.toolkit.zip_reader import members

SIDE = 105
DRAWINGS = 20
PNG_BYTES = 2**14
"""Bytes of a PNG file; the longest of the small sets has 419."""
MOST_DRAWINGS = 40_000
"""Drawings of an archive; the background set has 19,280."""
NAME = re.compile(r"(?:.*/)?([^/]+)/character(\d\d)/\d{4}_(\d\d)\.png")
UNSEEN = re.compile(r"(?:.*/)?(?:\.DS_Store|Thumbs\.db|\._[^/]*)")
"""What file managers leave behind."""
PNG_HEAD = struct.pack(">8sI4sIIBB", b"\x89PNG\r\n\x1a\n", 13, b"IHDR", SIDE, SIDE, 1, 0)
"""How the PNG file of a 1-bit grey image of 105 × 105 begins: it is not decoded otherwise."""
BROKEN = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)
"""What Pillow raises for broken files."""

Character = tuple[str, int]
"""Alphabet, and the character's number in it."""
Drawing = tuple[str, int, int]
"""Alphabet, character and person."""


@dataset(
    name="omniglot",
    source="Lake, Salakhutdinov, Tenenbaum 2015, https://github.com/brendenlake/omniglot, MIT",
    statement="19,280 (and 13,180) drawings, 1-bit images of 105 × 105: 964 (and 659) characters, "
    "20 times each; groups by alphabet",
)
class Omniglot(DataSet):
    """The background set or its small parts to train on, the evaluation set for the test.

    A class is a character, a group an alphabet. The test has other characters than the training.
    """

    some = ("images_background.zip", "images_background_small1.zip", "images_background_small2.zip")
    optional = ("images_evaluation.zip",)
    stored = "zipped or unpacked"

    def candidates(self, folder: Path, name: str) -> Sequence[Path]:
        """Return archive and unpacked folder; a folder of alphabets is itself a background set."""
        places = [folder / name, folder / name.removesuffix(".zip")]
        if name == self.some[0] and any(folder.glob("*/character01")):
            places.append(folder)
        return places

    def read(self, paths: Mapping[str, Path]) -> Data:
        """Return the drawings, a row each, with their characters and alphabets."""
        read = {
            split: _drawings([paths[name] for name in names if name in paths])
            for split, names in (("train", self.some), ("test", self.optional))
            if any(name in paths for name in names)
        }
        every = [drawing for drawings, _ in read.values() for drawing in drawings]
        characters = sorted({(alphabet, number) for alphabet, number, _ in every})
        alphabets = sorted({alphabet for alphabet, _ in characters})
        splits = {
            name: _split(drawings, images, characters, alphabets)
            for name, (drawings, images) in read.items()
        }
        train = {(alphabet, number) for alphabet, number, _ in read["train"][0]}
        held = f"{len(train):,} characters of {len({a for a, _ in train})} alphabets to train on"
        return Data(
            f"Omniglot, {held}", len(characters), (SIDE, SIDE), splits, group_names=tuple(alphabets)
        )

    def sample(self, folder: Path) -> None:
        """Write a character or two an archive; the small sets share one."""
        for name, alphabets in (
            (self.some[0], {"Greek": 1}),
            (self.some[1], {"Greek": 1, "Latin": 1}),
            (self.some[2], {"Latin": 1}),
            (self.optional[0], {"Tibetan": 1}),
        ):
            with ZipFile(folder / name, "w") as archive:
                for alphabet, count in alphabets.items():
                    for number, person in np.ndindex(count, DRAWINGS):
                        path = f"{alphabet}/character{number + 1:02}/0001_{person + 1:02}.png"
                        archive.writestr(f"{name[:-4]}/{path}", _png(len(alphabet), person))


def _png(row: int, column: int) -> bytes:
    """Return an image of one bar of ink."""
    paper = np.ones((SIDE, SIDE), bool)
    paper[row : row + 50, column] = False
    file = BytesIO()
    Image.fromarray(paper).save(file, "PNG")
    return file.getvalue()


def _split(
    drawings: Sequence[Drawing],
    images: np.ndarray,
    characters: Sequence[Character],
    alphabets: Sequence[str],
) -> Split:
    label_of = {character: number for number, character in enumerate(characters)}
    group_of = {alphabet: number for number, alphabet in enumerate(alphabets)}
    labels = np.array([label_of[alphabet, number] for alphabet, number, _ in drawings], np.int64)
    groups = np.array([group_of[alphabet] for alphabet, _, _ in drawings], np.int64)
    return Split(images, labels, 1.0, groups)


def _drawings(sources: Iterable[Path]) -> tuple[list[Drawing], np.ndarray]:
    """Return what the rows are, and the rows, [drawings, pixels]: bytes 0 and 1.

    Raises:
        DriftproofError: a file is not what it should be, a character lacks a drawing, or two
            sources differ in one; names the archive or folder, and the file in it.
    """
    rows: dict[Drawing, int] = {}
    pixels = bytearray()
    for source in sources:
        held: dict[Character, set[int]] = {}
        for number, (place, drawing, content) in enumerate(_files(source)):
            if number == MOST_DRAWINGS:
                raise wrong_at(source, place, "more drawings", f"at most {MOST_DRAWINGS:,}")
            image = _image(source, place, content)
            at = rows.setdefault(drawing, len(rows)) * len(image)
            if at == len(pixels):
                pixels += image
            elif pixels[at : at + len(image)] != image:
                raise wrong_at(source, place, "another drawing than before", "the same one")
            held.setdefault(drawing[:2], set()).add(drawing[2])
        _check_whole(source, held)
    return list(rows), np.frombuffer(pixels, np.uint8).reshape(len(rows), -1)


def _check_whole(source: Path, held: Mapping[Character, set[int]]) -> None:
    if not held:
        raise wrong_at(source, "member '*.png'", "none", "ALPHABET/characterNN/NNNN_DD.png")
    for (alphabet, number), people in held.items():
        if people != set(range(1, DRAWINGS + 1)):
            place = f"member '{alphabet}/character{number:02}'"
            got = f"{len(people)} drawings, by {', '.join(map(str, sorted(people)))}"
            raise wrong_at(source, place, got, f"{DRAWINGS} drawings, 01 to {DRAWINGS}")


def _files(source: Path) -> Iterator[tuple[str, Drawing, bytes]]:
    """Yield where a PNG file lies in an archive or a folder, what it shows, and its bytes."""
    for name, content in _unpacked(source) if source.is_dir() else members(source, PNG_BYTES):
        place = f"member {name!r}"
        if UNSEEN.fullmatch(name):
            continue
        matched = NAME.fullmatch(name)
        if not matched:
            raise wrong_at(source, place, "an unknown file", "ALPHABET/characterNN/NNNN_DD.png")
        yield place, (matched[1], int(matched[2]), int(matched[3])), content


def _unpacked(folder: Path) -> Iterator[tuple[str, bytes]]:
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    for name in sorted(names):  # as an archive's members
        with readable(folder / name) as file:
            yield name, file.read(PNG_BYTES + 1)


def _image(source: Path, place: str, content: bytes) -> bytes:
    """Return the pixels of a PNG file, 1 for ink.

    Raises:
        DriftproofError: it is not a whole 1-bit grey image of 105 × 105.
    """
    if len(content) > PNG_BYTES:
        raise wrong_at(source, place, "a longer file", f"a PNG file of at most {PNG_BYTES:,} bytes")
    if not content.startswith(PNG_HEAD):
        raise wrong_at(source, place, "another beginning", "a 1-bit grey PNG image of 105 × 105")
    try:
        with Image.open(BytesIO(content), formats=["PNG"]) as image:
            image.verify()  # the checksums of all parts; it then has to be opened again
        with Image.open(BytesIO(content), formats=["PNG"]) as image:
            if image.size != (SIDE, SIDE) or image.mode != "1":
                raise _broken(source, place, f"mode {image.mode}, {image.size}")
            paper = np.asarray(image)
    except BROKEN as error:
        raise _broken(source, place, str(error)) from error
    return np.asarray(~paper, np.uint8).tobytes()


def _broken(source: Path, place: str, why: str) -> DriftproofError:
    return wrong_at(source, place, f"a broken image ({why})", "a whole PNG file")
