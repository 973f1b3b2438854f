"""The life of a request to save: its phases, the events between them, and the duty in each."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Phase(StrEnum):
    """The phase of a request."""

    SELECTED = "Selected"
    """The workload is to be stopped; its pods have not been notified yet."""
    NOTIFIED = "Notified"
    SAVING = "Saving"
    SAVED = "Saved"
    REFUSED = "Refused"
    """The pods asked for a later time, and got it."""
    UNRESPONSIVE = "Unresponsive"
    FAILED = "Failed"
    SUSPENDING = "Suspending"
    """The pods are told to end."""
    DRAINED = "Drained"
    RELEASED = "Released"
    """The quota is released."""
    REQUEUED = "Requeued"
    FINISHED = "Finished"
    """The workload finished by itself."""
    CANCELLED = "Cancelled"
    """The workload is not stopped."""


class RequestEvent(StrEnum):
    """What happens to a request."""

    NOTICE_DELIVERED = "NoticeDelivered"
    NOTICE_LOST = "NoticeLost"
    """It could not be delivered in any of the attempts."""
    NOT_ASKED = "NotAsked"
    """No pod is asked: the terms say so, no pod runs, or no time is left."""
    ACCEPTED = "Accepted"
    HEARD = "Heard"
    SAVED = "Saved"
    REFUSED = "Refused"
    REFUSED_TOO_OFTEN = "RefusedTooOften"
    FAILED = "Failed"
    ACK_OVERDUE = "AckOverdue"
    SAVE_OVERDUE = "SaveOverdue"
    SILENCE = "Silence"
    DELAY_OVER = "DelayOver"
    STOP = "Stop"
    SPARE = "Spare"
    WITHDRAWN = "Withdrawn"
    """The cause of the stop is gone: the quota is not needed any more, or the queue is open."""
    PODS_GONE = "PodsGone"
    QUOTA_RELEASED = "QuotaReleased"
    RETURNED = "Returned"
    ENDED = "Ended"


_P, _E = Phase, RequestEvent
_BEFORE_THE_STOP = (
    _P.SELECTED,
    _P.NOTIFIED,
    _P.SAVING,
    _P.SAVED,
    _P.REFUSED,
    _P.UNRESPONSIVE,
    _P.FAILED,
)
_OPEN = (*_BEFORE_THE_STOP, _P.SUSPENDING, _P.DRAINED, _P.RELEASED)

TRANSITIONS: Mapping[tuple[Phase, RequestEvent], Phase] = MappingProxyType(
    {
        (_P.SELECTED, _E.NOTICE_DELIVERED): _P.NOTIFIED,
        (_P.SELECTED, _E.NOTICE_LOST): _P.UNRESPONSIVE,
        (_P.SELECTED, _E.ACK_OVERDUE): _P.UNRESPONSIVE,
        (_P.SELECTED, _E.NOT_ASKED): _P.SUSPENDING,
        (_P.NOTIFIED, _E.ACCEPTED): _P.SAVING,
        (_P.NOTIFIED, _E.SAVED): _P.SAVED,
        (_P.NOTIFIED, _E.REFUSED): _P.REFUSED,
        (_P.NOTIFIED, _E.REFUSED_TOO_OFTEN): _P.FAILED,
        (_P.NOTIFIED, _E.FAILED): _P.FAILED,
        (_P.NOTIFIED, _E.ACK_OVERDUE): _P.UNRESPONSIVE,
        (_P.SAVING, _E.HEARD): _P.SAVING,
        (_P.SAVING, _E.SAVED): _P.SAVED,
        (_P.SAVING, _E.FAILED): _P.FAILED,
        (_P.SAVING, _E.SILENCE): _P.FAILED,
        (_P.SAVING, _E.SAVE_OVERDUE): _P.FAILED,
        (_P.REFUSED, _E.DELAY_OVER): _P.SELECTED,
        (_P.REFUSED, _E.SAVED): _P.SAVED,
        (_P.REFUSED, _E.FAILED): _P.FAILED,
        (_P.SAVED, _E.STOP): _P.SUSPENDING,
        (_P.UNRESPONSIVE, _E.STOP): _P.SUSPENDING,
        (_P.UNRESPONSIVE, _E.SPARE): _P.CANCELLED,
        (_P.FAILED, _E.STOP): _P.SUSPENDING,
        (_P.FAILED, _E.SPARE): _P.CANCELLED,
        (_P.SUSPENDING, _E.SAVED): _P.SUSPENDING,
        (_P.SUSPENDING, _E.PODS_GONE): _P.DRAINED,
        (_P.DRAINED, _E.SAVED): _P.DRAINED,
        (_P.DRAINED, _E.QUOTA_RELEASED): _P.RELEASED,
        (_P.RELEASED, _E.SAVED): _P.RELEASED,
        (_P.RELEASED, _E.RETURNED): _P.REQUEUED,
        **{(phase, _E.PODS_GONE): _P.DRAINED for phase in _BEFORE_THE_STOP},
        **{(phase, _E.WITHDRAWN): _P.CANCELLED for phase in _BEFORE_THE_STOP},
        **{(phase, _E.ENDED): _P.FINISHED for phase in _OPEN},
    }
)

TERMINAL = frozenset({_P.REQUEUED, _P.FINISHED, _P.CANCELLED})
HOLDS_THE_STOP = frozenset({*_BEFORE_THE_STOP, _P.CANCELLED})
"""Phases in which the pods must not be told to end."""


class Duty(StrEnum):
    """What must be done while a request is in a phase; each may be repeated."""

    NOTIFY = "Notify"
    LISTEN = "Listen"
    WAIT = "Wait"
    DECIDE = "Decide"
    STOP = "Stop"
    STAND_DOWN = "StandDown"
    NOTHING = "Nothing"


DUTIES: Mapping[Phase, Duty] = MappingProxyType(
    {
        _P.SELECTED: Duty.NOTIFY,
        _P.NOTIFIED: Duty.LISTEN,
        _P.SAVING: Duty.LISTEN,
        _P.SAVED: Duty.DECIDE,
        _P.REFUSED: Duty.LISTEN,
        _P.UNRESPONSIVE: Duty.DECIDE,
        _P.FAILED: Duty.DECIDE,
        _P.SUSPENDING: Duty.STOP,
        _P.DRAINED: Duty.WAIT,
        _P.RELEASED: Duty.WAIT,
        _P.REQUEUED: Duty.NOTHING,
        _P.FINISHED: Duty.NOTHING,
        _P.CANCELLED: Duty.STAND_DOWN,
    }
)
