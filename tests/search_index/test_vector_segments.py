"""Nearest-vector search gives the same results however rows are stored (features 58 and 68)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from scrubjay.search_index import exact_vectors, vector_segments
from scrubjay.search_index.rotation import LENGTH, Rotation
from scrubjay.search_index.segment_file import SegmentFile, UnusableFile
from scrubjay.search_index.vector_codes import Bytes, Dots, Kernel, dot_product_by
from scrubjay.search_index.vector_segments import Nearest, VectorSegments
from tests.compiled import without_compiled

DIMENSIONS = 48
KERNELS: list[Kernel] = ["numkong", "numpy"]


def clustered(rows: int, dimensions: int = DIMENSIONS, seed: int = 0) -> list[bytes]:
    """Return hard vectors: clusters within clusters, few large dimensions, all on one side."""
    rng = np.random.default_rng(seed)
    spectrum = np.arange(1, dimensions + 1) ** -0.7
    coarse = np.random.default_rng(99).standard_normal((12, dimensions)) + 0.7
    fine = coarse[rng.integers(12, size=90)] + 0.6 * rng.standard_normal((90, dimensions))
    values = (fine[rng.integers(90, size=rows)] + 0.4 * rng.standard_normal((rows, dimensions))) * spectrum
    return halves(values)


def halves(values: NDArray[np.float64]) -> list[bytes]:
    return [row.tobytes() for row in (values / np.linalg.norm(values, axis=1, keepdims=True)).astype("<f2")]


def exact_cosines(query: bytes, vectors: Sequence[bytes]) -> NDArray[np.float64]:
    values = np.frombuffer(b"".join([query, *vectors]), dtype="<f2").reshape(len(vectors) + 1, -1).astype(np.float64)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    return values[1:] @ values[0]


def filled(vectors: Sequence[bytes], kernel: Kernel | None = None) -> VectorSegments:
    segments = VectorSegments(max(map(len, vectors)) // 2, kernel=kernel)
    segments.append(vectors)
    return segments


def plain(nearest: Nearest) -> list[tuple[int, float]]:
    return list(zip(nearest.rows.tolist(), nearest.cosines.tolist(), strict=True))


def answers(segments: VectorSegments, queries: Sequence[bytes]) -> list[list[tuple[int, float]]]:
    """Return the results without a mask, with one that allows many rows, and with one that allows few."""
    index = np.arange(segments.rows)
    masks = [None, index % 3 != 1, index % 17 == 5]
    return [plain(segments.nearest(query, 12, mask)) for query in queries for mask in masks]


@pytest.fixture(params=["every row is compared", "bits preselect"])
def search_mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search by comparing all rows, or by preselecting with bits."""
    if request.param == "bits preselect":
        monkeypatch.setattr(vector_segments, "EXACT_ROWS", 300)
        monkeypatch.setattr(vector_segments, "MIN_CANDIDATES", 400)


@pytest.fixture
def low_exact_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_segments, "EXACT_ROWS", 300)
    monkeypatch.setattr(vector_segments, "MIN_CANDIDATES", 400)


both_modes = pytest.mark.usefixtures("search_mode")


# -- results ---------------------------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_nearest_rows_are_found_best_first_with_accurate_cosines(kernel: Kernel) -> None:
    vectors, queries = clustered(4000), clustered(30, seed=1)
    segments = filled(vectors, kernel)
    index = np.arange(4000)
    hits = total = 0
    for query in queries:
        exact = exact_cosines(query, vectors)
        for mask in (index >= 0, index % 2 == 0, index % 50 == 7):
            nearest = segments.nearest(query, 40, mask)
            assert len(nearest.rows) == 40
            assert mask[nearest.rows].all()
            assert (np.diff(nearest.cosines) <= 0).all()
            assert np.abs(nearest.cosines - exact[nearest.rows]).max() < 0.01
            rows: list[int] = nearest.rows.tolist()
            refined = nearest.rows[np.argsort(-segments.refine(query, [vectors[row] for row in rows]))[:10]]
            best = np.argsort(-np.where(mask, exact, -2))[:10]
            hits, total = hits + len(np.intersect1d(refined, best)), total + 10
    assert hits / total > 0.99


@both_modes
@pytest.mark.parametrize("dimensions", [3, 48, 256])
def test_numkong_and_numpy_give_identical_results(dimensions: int) -> None:
    vectors, queries = clustered(2500, dimensions), clustered(10, dimensions, seed=1)
    with_numkong, with_numpy = filled(vectors, "numkong"), filled(vectors, "numpy")
    assert answers(with_numkong, queries) == answers(with_numpy, queries)
    rows = np.arange(2499, 0, -7)
    for query in queries:
        assert with_numkong.cosines(query, rows).tolist() == with_numpy.cosines(query, rows).tolist()


@both_modes
def test_equal_vectors_have_equal_cosines_and_keep_their_order(tmp_path: Path) -> None:
    others = clustered(2000)
    twin = clustered(1, seed=2)[0]
    vectors = [twin if row % 97 == 13 else vector for row, vector in enumerate(others)]
    segments = store_in_pieces(tmp_path, vectors, [1, 700, 1100])
    twins = [row for row in range(2000) if row % 97 == 13]
    for query in (twin, clustered(1, seed=3)[0]):
        assert len(set(segments.cosines(query, np.array(twins)).tolist())) == 1
    nearest = segments.nearest(twin, len(twins))
    assert nearest.rows.tolist() == twins
    assert nearest.cosines.tolist() == pytest.approx([1.0] * len(twins), abs=1e-6)
    assert nearest.cosines.max() <= 1.0
    assert segments.nearest(twin, 3).rows.tolist() == twins[:3]


@pytest.mark.usefixtures("low_exact_limit")
def test_more_equal_vectors_than_candidates_are_found_in_order() -> None:
    twin = clustered(1, seed=2)[0]
    segments = filled([*clustered(50), *[twin] * 3000])
    assert segments.nearest(twin, 300).rows.tolist() == [*range(50, 350)]
    mask = np.arange(3050) % 2 == 1
    assert segments.nearest(twin, 5, mask).rows.tolist() == [51, 53, 55, 57, 59]


@both_modes
def test_groups_of_equal_vectors_keep_their_order() -> None:
    kinds = clustered(5, seed=4)
    segments = filled([kinds[row * row % 11 % 5] for row in range(1500)])
    cosines = segments.cosines(kinds[0], np.arange(1500)).tolist()
    in_order = sorted(range(1500), key=lambda row: (-cosines[row], row))
    assert segments.nearest(kinds[0], 1400).rows.tolist() == in_order[:1400]


@pytest.mark.usefixtures("low_exact_limit")
def test_only_candidates_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def counted(kernel: Kernel | None) -> Dots:
        def dots(query: Bytes, directions: Bytes) -> NDArray[Any]:
            compared.append(len(directions))
            return dot_product_by(kernel)(query, directions)

        return dots

    monkeypatch.setattr(vector_segments, "dot_product_by", counted)
    twin = clustered(1, seed=2)[0]
    segments = filled([*clustered(1000), *[twin] * 1000])
    segments.nearest(twin, 5)
    segments.nearest(twin, 30)
    segments.nearest(twin, 5, np.arange(2000) % 50 == 0)
    assert compared == [400, 600, 40]


@both_modes
def test_an_invalid_vector_is_never_found_and_has_no_cosine() -> None:
    vectors = clustered(1500)
    valid_vectors = dict(enumerate(vectors))
    odd = np.frombuffer(vectors[0], dtype="<f2").copy()
    invalid = [b"", bytes(2 * DIMENSIONS)]
    for value in (np.nan, np.inf, -np.inf):
        odd[5] = value
        invalid.append(odd.tobytes())
    for row in range(0, 1500, 3):
        vectors[row] = invalid[row // 3 % 5]
        del valid_vectors[row]
    segments = filled(vectors)
    exact = filled([*valid_vectors.values()])
    rows = np.array([*valid_vectors])
    for query in clustered(5, seed=1):
        actual, expected = segments.nearest(query, 1500), exact.nearest(query, 1500)
        assert actual.rows.tolist() == rows[expected.rows].tolist()
        assert actual.cosines.tolist() == expected.cosines.tolist()
        assert np.flatnonzero(np.isnan(segments.cosines(query, np.arange(1500)))).tolist() == [*range(0, 1500, 3)]
    for query in invalid:
        assert plain(segments.nearest(query, 10)) == []
        assert np.isnan(segments.cosines(query, rows)).all()
        assert np.isnan(segments.refine(query, [vectors[1]])).all()
    assert len(segments.nearest(vectors[1], 1200).rows) == 1000
    only_invalid = np.arange(1500) % 3 == 0
    assert plain(segments.nearest(vectors[1], 10, only_invalid)) == []


@both_modes
def test_many_invalid_vectors_do_not_displace_valid_ones() -> None:
    vectors = [*[b""] * 3000, *clustered(500)]
    segments = filled(vectors)
    turned = np.eye(DIMENSIONS, dtype=np.float32) * LENGTH
    Rotation(DIMENSIONS).rotate(turned)
    below_everything = halves(-turned.sum(axis=1)[np.newaxis].astype(np.float64))
    for query in [*clustered(5, seed=1), *below_everything]:
        best = segments.nearest(query, 10)
        exact = exact_cosines(query, vectors[3000:])
        assert np.abs(best.cosines - np.sort(exact)[::-1][:10]).max() < 0.01


def test_refined_cosines_are_exact() -> None:
    vectors, [query] = clustered(40, 256), clustered(1, 256, seed=1)
    segments = filled(vectors)
    assert segments.refine(query, vectors) == pytest.approx(exact_cosines(query, vectors), abs=1e-14)
    assert segments.refine(query, [vectors[3], b"", vectors[3]]).tolist() == pytest.approx(
        [segments.refine(query, [vectors[3]])[0], np.nan, segments.refine(query, [vectors[3]])[0]], abs=0, nan_ok=True
    )
    assert segments.refine(query, []).tolist() == []


@both_modes
def test_values_multiply_to_cosines_wherever_rows_are_stored(tmp_path: Path) -> None:
    vectors, queries = clustered(1200), clustered(5, seed=1)
    vectors[3] = vectors[1100] = vectors[700]
    segments, at_once = store_in_pieces(tmp_path, vectors, [400, 900]), filled(vectors)
    rows = np.array([1199, 3, 700, 1100, 400, 399, 899, 900, 0, 3])
    values = segments.values(rows)
    assert (values.dtype, values.shape) == (np.float32, (10, DIMENSIONS))
    assert_array_equal(values, at_once.values(rows))
    assert_array_equal(values[[1, 2, 3, 9]], values[[1]].repeat(4, axis=0))
    assert_allclose(np.linalg.norm(values, axis=1), 1, rtol=1e-6)
    row_list: list[int] = rows.tolist()
    for query in queries:
        query_values = segments.values_of_query(query)
        assert (query_values.dtype, query_values.shape) == (np.float32, (DIMENSIONS,))
        assert_allclose(values @ query_values, segments.cosines(query, rows), atol=1e-6)
        assert_allclose(values @ query_values, exact_cosines(query, [vectors[row] for row in row_list]), atol=0.01)
    assert_array_equal(segments.values_of_query(vectors[3]), values[1])
    assert segments.values(np.empty(0, dtype=np.int64)).shape == (0, DIMENSIONS)


def test_an_invalid_vector_has_no_values() -> None:
    vectors = [*clustered(2), b"", bytes(2 * DIMENSIONS)]
    segments = filled(vectors)
    invalid = np.isnan(segments.values(np.arange(4)))
    assert_array_equal(invalid, np.repeat([[False], [False], [True], [True]], DIMENSIONS, axis=1))
    for query in vectors[2:]:
        assert np.isnan(segments.values_of_query(query)).all()
    assert not np.isnan(segments.values_of_query(vectors[0])).any()


@both_modes
def test_limits_and_masks_may_leave_few_or_no_rows() -> None:
    vectors, [query] = clustered(1000), clustered(1, seed=1)
    segments = filled(vectors)
    assert plain(segments.nearest(query, 0)) == []
    assert plain(segments.nearest(query, 5, np.zeros(1000, dtype=np.bool_))) == []
    only = np.arange(1000) == 321
    assert segments.nearest(query, 5, only).rows.tolist() == [321]
    assert sorted(segments.nearest(query, 5000).rows.tolist()) == [*range(1000)]
    assert segments.cosines(query, np.empty(0, dtype=np.int64)).tolist() == []
    assert plain(VectorSegments(DIMENSIONS).nearest(query, 5)) == []


def test_vectors_of_another_length_are_rejected() -> None:
    segments = filled(clustered(3))
    for call in (
        lambda: segments.append([bytes(2)]),
        lambda: segments.nearest(bytes(2), 1),
        lambda: segments.cosines(bytes(2), np.array([0])),
        lambda: segments.refine(bytes(2), []),
        lambda: segments.values_of_query(bytes(2)),
    ):
        with pytest.raises(ValueError, match="a vector has 96 bytes"):
            call()
    assert segments.rows == 3


# -- storage ---------------------------------------------------------------------------------------


def store_in_pieces(folder: Path, vectors: Sequence[bytes], cuts: Sequence[int]) -> VectorSegments:
    """Store some rows in segments of a file, as different processes would append them, and the rest in memory."""
    path = folder / "vectors"
    SegmentFile.write(path, "m", {}, [])
    for first, last in zip([0, *cuts[:-1]], cuts, strict=True):
        process = load(path, len(vectors[0]) // 2)
        process.append(vectors[first:last])
        SegmentFile(path, "m").append({}, process.arrays_of(np.arange(first, last)))
    process = load(path, len(vectors[0]) // 2)
    process.append(vectors[cuts[-1] :])
    return process


def load(path: Path, dimensions: int = DIMENSIONS) -> VectorSegments:
    segments = VectorSegments(dimensions)
    for segment in SegmentFile(path, "m").segments:
        segments.attach(segment.arrays)
    return segments


@both_modes
def test_rows_appended_singly_or_together_give_the_same_results() -> None:
    vectors, queries = clustered(900), clustered(5, seed=1)
    at_once = filled(vectors)
    step_by_step = VectorSegments(DIMENSIONS)
    step_by_step.append([])
    step_by_step.append(vectors[: vector_segments.EXACT_ROWS + 1])
    for start in range(step_by_step.rows, 900, 7):
        step_by_step.append(vectors[start : start + 7])
    for query in queries:
        every = np.arange(900)
        assert step_by_step.cosines(query, every).tolist() == at_once.cosines(query, every).tolist()
        assert plain(step_by_step.nearest(query, 5)) == plain(at_once.nearest(query, 5))


@both_modes
@pytest.mark.parametrize("cuts", [[2000], [1, 2], [500, 1500], [100, 200, 1900], [250, 301, 302, 1999]])
def test_rows_in_a_file_and_in_memory_are_searched_as_one(tmp_path: Path, cuts: list[int]) -> None:
    vectors, queries = clustered(2000), clustered(8, seed=1)
    vectors[7] = vectors[1800] = b""
    segments, at_once = store_in_pieces(tmp_path, vectors, cuts), filled(vectors)
    assert segments.rows == 2000
    for query in queries:
        every = np.arange(2000)[::-1]
        theirs = at_once.cosines(query, every)
        assert np.array_equal(segments.cosines(query, every), theirs, equal_nan=True)
        mine = segments.nearest(query, 10)
        assert mine.cosines.tolist() == np.sort(theirs[~np.isnan(theirs)])[::-1][:10].tolist()


@both_modes
def test_a_reopened_file_gives_the_same_results(tmp_path: Path) -> None:
    vectors, queries = clustered(2000), clustered(8, seed=1)
    segments = filled(vectors)
    SegmentFile.write(tmp_path / "vectors", "m", {}, [({}, segments.arrays_of(np.arange(2000)))])
    reopened = load(tmp_path / "vectors")
    assert answers(reopened, queries) == answers(segments, queries)
    reopened.append(vectors[:50])
    segments.append(vectors[:50])
    assert answers(reopened, queries) == answers(segments, queries)


@both_modes
def test_a_compacted_file_contains_only_the_chosen_rows(tmp_path: Path) -> None:
    vectors, queries = clustered(2000), clustered(8, seed=1)
    segments = store_in_pieces(tmp_path, vectors, [900, 1500])
    alive = np.flatnonzero(np.arange(2000) % 5 != 2)
    SegmentFile.write(tmp_path / "vectors", "m", {}, [({}, segments.arrays_of(alive))])
    compacted = load(tmp_path / "vectors")
    assert compacted.rows == 1600
    for query in queries:
        assert compacted.cosines(query, np.arange(1600)).tolist() == segments.cosines(query, alive).tolist()
        mine, theirs = compacted.nearest(query, 10), segments.nearest(query, 10, np.arange(2000) % 5 != 2)
        assert (alive[mine.rows].tolist(), mine.cosines.tolist()) == (theirs.rows.tolist(), theirs.cosines.tolist())


def test_a_damaged_file_gives_an_error(tmp_path: Path) -> None:
    segments = filled(clustered(100))
    path = tmp_path / "vectors"
    for name, array in segments.arrays_of(np.arange(100)).items():
        SegmentFile.write(path, "m", {}, [({}, segments.arrays_of(np.arange(100)))])
        content = bytearray(path.read_bytes())
        content[content.index(array.tobytes()) + 17] ^= 4
        path.write_bytes(content)
        with pytest.raises(UnusableFile, match=f"has damaged {name}"):
            load(path)


@pytest.mark.usefixtures("low_exact_limit")
def test_segments_with_different_centres_are_compared_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_segments, "EXACT_ROWS", 300)
    monkeypatch.setattr(vector_segments, "MIN_CANDIDATES", 30)
    monkeypatch.setattr(vector_segments, "CANDIDATES_PER_HIT", 1)
    vectors = [*clustered(400), *clustered(400, seed=1)]
    one, other = filled(vectors[:400]), filled(vectors[400:])
    both = VectorSegments(DIMENSIONS)
    both.attach(one.arrays_of(np.arange(400)))
    both.append(vectors[400:])
    for name, second in (("strange", other.arrays_of(np.arange(400))), ("own", both.arrays_of(np.arange(400, 800)))):
        SegmentFile.write(tmp_path / name, "m", {}, [({}, one.arrays_of(np.arange(400))), ({}, second)])
    queries = clustered(20, seed=2)
    assert answers(load(tmp_path / "strange"), queries) == answers(load(tmp_path / "own"), queries)
    with pytest.raises(UnusableFile, match="48 dimensions"):
        load(tmp_path / "own", 47)


def test_exact_vectors_decide_where_codes_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_vectors, "READ_AHEAD", 0)  # count only the rows that codes cannot decide
    vectors, queries = clustered(3000), clustered(40, seed=1)
    segments = filled(vectors)
    requests: list[int] = []

    def exactly(rows: NDArray[np.int64]) -> list[bytes]:
        requests.append(len(rows))
        return [vectors[row] for row in rows.tolist()]

    right = rounded = 0
    for query in queries:
        exact = exact_cosines(query, vectors)
        best = set(np.argsort(-exact, kind="stable")[:10].tolist())
        right += best == set(segments.nearest(query, 10, exactly=exactly).rows.tolist())
        rounded += best == set(segments.nearest(query, 10).rows.tolist())
    assert (right, rounded < 40) == (40, True)
    assert max(requests) < 100


def test_all_bits_of_a_query_are_better_than_its_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random vectors, which have hardly anything in common, are the hardest case."""
    monkeypatch.setattr(vector_segments, "EXACT_ROWS", 300)
    monkeypatch.setattr(vector_segments, "MIN_CANDIDATES", 200)
    monkeypatch.setattr(vector_segments, "CANDIDATES_PER_HIT", 1)
    rng = np.random.default_rng(3)
    vectors, queries = halves(rng.standard_normal((10_000, 256))), halves(rng.standard_normal((20, 256)))
    segments = filled(vectors)
    found = 0
    for query in queries:
        best = np.argsort(-exact_cosines(query, vectors), kind="stable")[:10]
        found += len(np.intersect1d(best, segments.nearest(query, 20).rows))
    assert found / 200 > 0.7


def test_a_segment_cannot_follow_rows_in_memory() -> None:
    segments = filled(clustered(10))
    with pytest.raises(ValueError, match="only in memory"):
        segments.attach(segments.arrays_of(np.arange(10)))


@pytest.mark.parametrize("cut", [0, 1_500])
@pytest.mark.parametrize("dimensions", [DIMENSIONS, 7, 256])
def test_the_native_library_and_numpy_give_identical_results(cut: int, dimensions: int):
    vectors, queries = clustered(2_000, dimensions=dimensions), clustered(30, seed=1, dimensions=dimensions)
    vectors[3] = vectors[1_700] = b""
    segments = VectorSegments(dimensions)
    if cut:
        segments.attach(filled(vectors[:cut]).arrays_of(np.arange(cut)))
    segments.append(vectors[segments.rows :])
    allowed = np.random.default_rng(2).random(2_000) < 0.3

    def exactly(rows: NDArray[np.int64]) -> list[bytes]:
        return [vectors[row] for row in rows.tolist()]

    def answers() -> list[object]:
        return [
            plain(segments.nearest(query, limit, mask, exact))
            for query in queries
            for limit in (1, 12, 700, 2_000)
            for mask in (None, allowed)
            for exact in (None, exactly)
        ]

    native = answers()
    with without_compiled():
        assert answers() == native
