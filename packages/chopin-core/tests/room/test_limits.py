"""How fast and how wrong one connection may be."""

from __future__ import annotations

from chopin_core.room.limits import Pace, Strikes, UpdateRate


def test_two_hundred_updates_a_second_are_taken_and_the_next_is_not() -> None:
    rate = UpdateRate()
    assert [rate.arrive(10.0 + number / 1000) for number in range(200)] == [Pace.TAKE] * 200
    assert rate.arrive(10.5) is Pace.DROP
    assert rate.arrive(11.3) is Pace.TAKE


def test_the_third_limited_second_in_a_row_cuts_the_connection() -> None:
    rate = UpdateRate()
    seen = [rate.arrive(number / 400) for number in range(1300)]
    assert Pace.CUT in seen
    assert seen.index(Pace.CUT) >= 800
    assert Pace.CUT not in seen[:800]


def test_limited_seconds_with_a_pause_between_them_never_cut() -> None:
    rate = UpdateRate()
    for start in (0.0, 5.0, 10.0, 15.0):
        assert Pace.CUT not in [rate.arrive(start + number / 1000) for number in range(250)]


def test_three_strikes_within_ten_minutes_are_out() -> None:
    strikes = Strikes()
    assert [strikes.strike(at) for at in (0.0, 300.0, 599.0)] == [False, False, True]


def test_strikes_are_forgotten_after_ten_minutes() -> None:
    strikes = Strikes()
    assert [strikes.strike(at) for at in (0.0, 599.0, 601.0, 1100.0)] == [False, False, False, True]
