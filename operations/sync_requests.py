"""What the commands around the cloud are asked: sync, restore, verify, drill, conflicts, key, devices."""

from typing import Annotated, Literal

from msgspec import Meta

from .requests import Request


class SyncRequest(Request):
    """Push to and pull from the cloud."""

    asks_by = ("dry_run", "receipts")

    wait: Annotated[
        bool, Meta(description="Take in all notes first, and return when the cloud has confirmed everything.")
    ] = False
    timeout: Annotated[float, Meta(gt=0, le=86_400, description="Give up after this many seconds.")] = 60.0
    dry_run: Annotated[bool, Meta(description="Only show what would leave this device.")] = False
    receipts: Annotated[bool, Meta(description="Only list what was sent: hash, rows, bytes and time.")] = False
    redraw: Annotated[bool, Meta(description="Draw the whole readable picture again.")] = False
    adopt: Annotated[
        bool, Meta(description="Accept a cloud that was replaced or set back, and send it everything again.")
    ] = False


class RestoreRequest(Request):
    """Bring notes and memory back from the cloud onto this device."""

    from_: Annotated[str, Meta(description="The device to take over from, where there are several.")] = ""
    copy: Annotated[bool, Meta(description="Take copies of the notes without taking over from the device.")] = False
    merge: Annotated[bool, Meta(description="Write what is missing here and leave differing files as they are.")] = (
        False
    )
    deleted: Annotated[bool, Meta(description="Bring back notes that were deleted within 90 days.")] = False
    as_of: Annotated[
        str, Meta(description="The notes as they were at that time, e.g. 2026-02-13T10:00.", max_length=40)
    ] = ""


class VerifyRequest(Request):
    """Compare this memory with the cloud."""

    changes_by = ()

    deep: Annotated[bool, Meta(description="Read and fold every segment instead of comparing heads.")] = False


class DrillRequest(Request):
    """Prove that a restore works: into a temporary folder, everything compared."""


class ConflictsRequest(Request):
    """List notes that are not the same on all devices."""

    changes_by = ()


class KeyRequest(Request):
    """Encrypt what the cloud holds, show the recovery key, or change it."""

    asks_by = ("action",)

    action: Annotated[
        Literal["init", "show", "rotate"],
        Meta(description="init, show or rotate.", extra_json_schema={"argument": True}),
    ]
    file: Annotated[
        str,
        Meta(
            description="A file with the recovery key, for a device that joins (init).",
            extra_json_schema={"path": True},
        ),
    ] = ""


class DevicesRequest(Request):
    """List the devices that share this memory."""

    changes_by = ("retire",)

    retire: Annotated[str, Meta(description="Take over from this device, which is gone for good.", max_length=200)] = ""
