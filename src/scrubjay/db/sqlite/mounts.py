"""Detection of file systems that cannot hold a store."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePath

from scrubjay.core.errors import StoreUnusable

MOUNT_TABLE = Path("/proc/self/mountinfo")

# Machines that share these file systems do not share locks and memory maps, which SQLite's write-ahead log needs:
# acknowledged writes would be lost.
_NETWORK = frozenset(
    {"nfs", "nfs3", "nfs4", "cifs", "smb2", "smb3", "smbfs", "ncpfs", "davfs", "afs", "auristorfs", "coda", "ceph"}
    | {"glusterfs", "lustre", "beegfs", "gpfs", "orangefs", "pvfs2", "ocfs2", "gfs2", "vboxsf"}
)

# File systems in user space mostly reach other machines (sshfs, s3fs, rclone, gcsfuse, ...), and new ones appear every
# year: only those known to be local are trusted.
_LOCAL_FUSE = frozenset(
    f"fuse.{name}"
    for name in ("bindfs", "cryfs", "encfs", "exfat", "fuse-overlayfs", "gocryptfs", "mergerfs", "ntfs-3g", "zfs")
)


@dataclass(frozen=True, slots=True)
class Mount:
    """The mount point and type of a file system."""

    point: PurePath
    type: str

    @property
    def is_network(self) -> bool:
        if self.type == "9p":
            # As root it is the only disk of a sandbox (gVisor), whose processes share one kernel. Elsewhere it reaches
            # another kernel (WSL's Windows drives, shares of virtual machines), which does not see our locks.
            return self.point != PurePath("/")
        if self.type == "fuse" or self.type.startswith("fuse."):
            return self.type not in _LOCAL_FUSE
        return self.type in _NETWORK


def mount_of(path: PurePath, mount_table: str) -> Mount | None:
    """Return the mount of an absolute, resolved path. `mount_table` has the format of `/proc/self/mountinfo`."""
    found: Mount | None = None
    for line in mount_table.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split(" ")
        if not separator or len(fields) < 6:
            continue
        point = PurePath(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4]))
        # A point can be mounted over: the last entry counts.
        if path.is_relative_to(point) and (found is None or len(point.parts) >= len(found.point.parts)):
            found = Mount(point, after.split(" ", 1)[0])
    return found


def refuse_network_file_system(home: Path, mount_table: str | None = None) -> None:
    """Raise `StoreUnusable` for a folder on a network file system. Systems without a mount table are trusted."""
    resolved = home.resolve()  # before the table is read: resolving a path can trigger an automount
    if mount_table is None:
        if not MOUNT_TABLE.exists():
            return
        mount_table = MOUNT_TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    mount = mount_of(resolved, mount_table)
    if mount is not None and mount.is_network:
        raise StoreUnusable(
            f"{home} is on a network file system ({mount.type} at {mount.point}), where the store would lose writes",
            hint="set SCRUBJAY_HOME to a folder on a local disk",
            details={"file_system": mount.type, "mount_point": str(mount.point)},
        )
