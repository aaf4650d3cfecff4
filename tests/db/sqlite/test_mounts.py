"""File systems that can hold a store, by the kernel's mount table."""

from pathlib import Path, PurePath

import pytest

from scrubjay.core.errors import StoreUnusable
from scrubjay.db.sqlite.mounts import Mount, mount_of, refuse_network_file_system

TABLE = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:22 / /proc rw - proc proc rw
30 22 0:30 / /home rw,relatime shared:2 master:3 - nfs4 server:/home rw,vers=4.2
31 30 254:1 / /home/ada/local rw - xfs /dev/vdb rw
32 22 0:32 / /mnt/with\\040space\\134 rw - cifs //server/share rw
33 22 0:33 / /over rw - ext4 /dev/vdc rw
34 33 0:34 / /over rw - fuse.sshfs me@server:/ rw
broken line
"""

NETWORK_IN_USER_SPACE = ["fuse", "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.unknown"]
NETWORK = ["nfs", "nfs4", "cifs", "smb3", "9p", "afs", "ceph", "glusterfs", "lustre", *NETWORK_IN_USER_SPACE]
LOCAL = ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuseblk", "fuse.gocryptfs", "virtiofs"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/var/lib", Mount(PurePath("/"), "ext4")),
        ("/home", Mount(PurePath("/home"), "nfs4")),
        ("/home/ada", Mount(PurePath("/home"), "nfs4")),
        ("/home/ada/local/deep", Mount(PurePath("/home/ada/local"), "xfs")),
        ("/homeward", Mount(PurePath("/"), "ext4")),
        ("/mnt/with space\\/x", Mount(PurePath("/mnt/with space\\"), "cifs")),
        ("/over/there", Mount(PurePath("/over"), "fuse.sshfs")),
    ],
)
def test_the_mount_of_a_path_is_the_nearest_one_above_it(path: str, expected: Mount) -> None:
    assert mount_of(PurePath(path), TABLE) == expected


def test_an_empty_mount_table_yields_no_mount() -> None:
    assert mount_of(PurePath("/x"), "") is None


@pytest.mark.parametrize("type", NETWORK)
def test_a_network_file_system_is_refused_with_a_hint(tmp_path: Path, type: str) -> None:
    table = f"1 0 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / {tmp_path} rw - {type} somewhere rw\n"
    with pytest.raises(StoreUnusable, match=type) as refusal:
        refuse_network_file_system(tmp_path / "not" / "there" / "yet", table)
    assert refusal.value.hint is not None
    assert "SCRUBJAY_HOME" in refusal.value.hint


@pytest.mark.parametrize(
    "type", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuseblk", "fuse.gocryptfs", "virtiofs"]
)
def test_a_local_file_system_is_accepted(tmp_path: Path, type: str) -> None:
    refuse_network_file_system(tmp_path, f"2 1 0:2 / {tmp_path} rw - {type} somewhere rw\n")


def test_a_sandbox_whose_only_disk_is_9p_is_accepted(tmp_path: Path) -> None:
    refuse_network_file_system(tmp_path, "1 0 0:1 / / rw - 9p none rw\n")


def test_a_link_to_a_network_file_system_is_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    table = f"1 0 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / {tmp_path}/real rw - nfs somewhere rw\n"
    with pytest.raises(StoreUnusable):
        refuse_network_file_system(tmp_path / "link" / "home", table)
