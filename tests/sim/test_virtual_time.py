from queueing.sim.virtual_time import VirtualTime


def test_happenings_run_in_order_of_time_and_then_of_planning() -> None:
    time = VirtualTime()
    seen: list[tuple[str, float]] = []
    time.at(5.0, lambda now: seen.append(("late", now)))
    time.at(1.0, lambda now: seen.append(("first", now)))
    time.at(1.0, lambda now: seen.append(("second", now)))
    assert time.next_at == 1.0
    assert time.step()
    assert seen == [("first", 1.0), ("second", 1.0)]
    assert time.step()
    assert seen[-1] == ("late", 5.0)
    assert not time.step()
    assert time.next_at is None


def test_what_a_happening_plans_for_now_still_happens_in_this_step() -> None:
    time = VirtualTime(now=10.0)
    seen: list[float] = []
    time.after(1.0, lambda _: time.at(0.0, seen.append))
    assert time.step()
    assert seen == [11.0], "the past is now"
