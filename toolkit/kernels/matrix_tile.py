r"""A tile of an affine matrix product whose sums stay in vector registers (numba, any CPU).

**What.** With Z of rows of ``width`` reals, replicates innermost, and a matrix A of any strides,

    Z'[i, j] = keep·Z[i, j] + fixed[i] + gain·Σ_l A[i, l]·S[l, j],    i < rows, j < vectors·lanes,

where Z', Z and S are pieces of one array. A tile has ``rows·vectors`` sums, each a vector of
``lanes`` replicates. For one l, it loads ``vectors`` vectors of S and ``rows`` entries of A, which
are spread over the lanes, and does ``rows·vectors`` fused multiply-adds: at 6 × 4, 24 of them for
10 loads, so the units that multiply are the bound and not those that load (Goto and van de Geijn
2008; Van Zee and van de Geijn 2015). Neither A nor its transpose is copied: lanes run over
replicates, so A is read an entry at a time, in either order.

**How.** A compiler that vectorises loops keeps such sums in memory. Here the loop over l is written
in LLVM's vector types, one block for every height and width, and LLVM has nothing left to decide
but registers. Every sum is taken in the order of l, whatever the tile: the bits depend neither on
the number of threads nor on a replicate's neighbours. Where a host has no fused multiply-add,
LLVM multiplies and adds.
"""

from __future__ import annotations

from typing import Any, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types as numba_types
from numba.core.registry import cpu_target
from numba.extending import intrinsic


def _host() -> tuple[int, int, int]:
    """Return bytes of a vector register, and rows and vectors of the largest tile."""
    triple, _, features = cpu_target.target_context.codegen().magic_tuple()
    has = features.split(",")
    if "+avx512f" in has:
        return 64, 6, 4  # 24 sums, 4 vectors of S and one of A, of 32 registers
    if triple.startswith(("aarch64", "arm64")):
        return 16, 6, 4
    return 32 if "+avx" in has else 16, 6, 2  # 12 sums, 2 and 1, of 16


BYTES, ROWS, VECTORS = _host()
WIDTH_BYTES = 256
"""Bytes of a row of Z at most: S of 100 rows stays in a first-level cache of 32 KiB."""


def _tile(
    typing: Any,
    z: Any,
    places: Any,
    width: Any,
    a: Any,
    entries: Any,
    depth: Any,
    fixed: Any,
    row: Any,
    keep: Any,
    gain: Any,
    shape: Any,
) -> Any:
    """Write one tile of Z'.

    Args:
        z: array that holds Z', Z and S, contiguous.
        places: the reals before the tile in Z', before it in Z, and before S in its columns.
        width: reals of a row of Z.
        a: array that holds A, contiguous.
        entries: the reals before A's first row of the tile, from a row to the next, along a row.
        depth: how many l there are.
        fixed: what is added to each row of Z'.
        row: the number of the tile's first row in ``fixed``.
        keep, gain: the factors.
        shape: (rows, vectors), at most (``ROWS``, ``VECTORS``).
    """
    return _call_of(_Tile, z, a, fixed)


def _tile_of_lanes(
    typing: Any,
    z: Any,
    places: Any,
    width: Any,
    a: Any,
    entries: Any,
    depth: Any,
    fixed: Any,
    row: Any,
    keep: Any,
    gain: Any,
    shape: Any,
) -> Any:
    """Write one tile of Z' of one vector, each lane of which has a matrix of its own.

    The arguments are those of ``tile``. Every entry of A and of ``fixed`` is a vector: both have
    lanes innermost, and places in A count reals.
    """
    return _call_of(_TileOfLanes, z, a, fixed)


def _call_of(tile: type[_Tile], z: Any, a: Any, fixed: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        tile(context, builder, signature.args, args).write()
        return context.get_dummy_value()

    n, types = numba_types.int64, cast("Any", numba_types)
    three, two = types.UniTuple(n, 3), types.UniTuple(n, 2)
    takes = (z, three, n, a, three, n, fixed, n, z.dtype, z.dtype, two)
    return types.void(*takes), generate


tile: Any = intrinsic(_tile)
tile_of_lanes: Any = intrinsic(_tile_of_lanes)


class _Tile:
    """Writes the blocks of a tile where an LLVM builder stands."""

    most = VECTORS

    def __init__(self, context: Any, builder: Any, kinds: Any, args: Any) -> None:
        z, places, self.width, a, entries, self.depth, fixed, row, keep, gain, shape = args
        self.builder = builder
        self.real = context.get_data_type(kinds[0].dtype)
        self.bytes = kinds[0].dtype.bitwidth // 8
        self.lanes = BYTES // self.bytes
        self.vector = ir.VectorType(self.real, self.lanes)
        begin = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in ((kinds[0], z), (kinds[3], a), (kinds[6], fixed))
        ]
        to, of, by = _entries(builder, places)
        at, self.down, self.along = _entries(builder, entries)
        self.to, self.of, self.by = (builder.gep(begin[0], [v]) for v in (to, of, by))
        self.a, self.fixed = builder.gep(begin[1], [at]), self._row_of(begin[2], row)
        self.keep, self.gain = self._spread(keep), self._spread(gain)
        self.rows, self.vectors = _entries(builder, shape)
        name = f"llvm.fmuladd.v{self.lanes}{self.real.intrinsic_name}"
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        self.fma = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)

    def write(self) -> None:
        """Write a block for every shape, and the choice between them."""
        builder, end = self.builder, self.builder.append_basic_block("end")
        shape = builder.add(builder.mul(self.rows, _int(self.most + 1)), self.vectors)
        choice = builder.switch(shape, end)
        for rows in range(1, ROWS + 1):
            for vectors in range(1, self.most + 1):
                block = builder.append_basic_block(f"tile{rows}x{vectors}")
                choice.add_case(_int(rows * (self.most + 1) + vectors), block)
                builder.position_at_end(block)
                self._finish(self._sums(rows, vectors))
                builder.branch(end)
        builder.position_at_end(end)

    def _sums(self, rows: int, vectors: int) -> list[list[Any]]:
        """Write the loop over l; return its sums, [rows][vectors]."""
        builder, before = self.builder, self.builder.basic_block
        loop, after = (builder.append_basic_block(name) for name in ("loop", "after"))
        builder.branch(loop)
        builder.position_at_end(loop)

        def carried(first: Any) -> Any:
            phi = builder.phi(first.type)
            phi.add_incoming(first, before)
            return phi

        l, a, s = carried(_int(0)), carried(self.a), carried(self.by)  # noqa: E741
        zero = ir.Constant(self.vector, [0.0] * self.lanes)
        running = [[carried(zero) for _ in range(vectors)] for _ in range(rows)]
        others = [self._load(s, v) for v in range(vectors)]
        sums = []
        for i in range(rows):
            own = self._factor(builder.gep(a, [builder.mul(self.down, _int(i))]))
            sums.append(
                [builder.call(self.fma, [own, others[v], running[i][v]]) for v in range(vectors)]
            )
        after_l = builder.add(l, _int(1))
        l.add_incoming(after_l, loop)
        a.add_incoming(builder.gep(a, [self.along]), loop)
        s.add_incoming(builder.gep(s, [self.width]), loop)
        for i in range(rows):
            for v in range(vectors):
                running[i][v].add_incoming(sums[i][v], loop)
        builder.cbranch(builder.icmp_signed("<", after_l, self.depth), loop, after)
        builder.position_at_end(after)
        return sums

    def _finish(self, sums: list[list[Any]]) -> None:
        """Write keep·Z + fixed + gain·sum to Z'."""
        builder = self.builder
        for i, in_row in enumerate(sums):
            add = self._factor(self._row_of(self.fixed, _int(i)))
            first = builder.mul(self.width, _int(i))
            of, to = builder.gep(self.of, [first]), builder.gep(self.to, [first])
            for v, total in enumerate(in_row):
                kept = builder.call(self.fma, [self.keep, self._load(of, v), add])
                result = builder.call(self.fma, [self.gain, total, kept])
                store = builder.store(result, self._place(to, v))
                store.align = self.bytes

    def _factor(self, there: Any) -> Any:
        """Return an entry of A or of what is added, for every lane."""
        return self._spread(self.builder.load(there))

    def _row_of(self, fixed: Any, row: Any) -> Any:
        return self.builder.gep(fixed, [row])

    def _place(self, begin: Any, number: int) -> Any:
        there = self.builder.gep(begin, [_int(number * self.lanes)])
        return self.builder.bitcast(there, self.vector.as_pointer())

    def _load(self, begin: Any, number: int) -> Any:
        vector = self.builder.load(self._place(begin, number))
        vector.align = self.bytes  # what numba hands out need not be aligned to a vector
        return vector

    def _spread(self, real: Any) -> Any:
        none = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(none, real, ir.Constant(ir.IntType(32), 0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, none, lanes)


class _TileOfLanes(_Tile):
    """The same where every lane has a matrix of its own: nothing is spread."""

    most = 1

    def _factor(self, there: Any) -> Any:
        return self._load(there, 0)

    def _row_of(self, fixed: Any, row: Any) -> Any:
        return self.builder.gep(fixed, [self.builder.mul(row, _int(self.lanes))])


def _entries(builder: Any, aggregate: Any) -> list[Any]:
    return [builder.extract_value(aggregate, i) for i in range(aggregate.type.count)]


def _int(value: int) -> Any:
    return ir.Constant(ir.IntType(64), value)


@numba.njit(error_model="numpy")
def aligned(size: int, like: np.ndarray) -> np.ndarray:
    """Return room for ``size`` reals that begins at a multiple of 64 bytes."""
    room = np.empty(size + 64 // like.itemsize, like.dtype)
    return room[(-room.ctypes.data % 64) // like.itemsize :][:size]
