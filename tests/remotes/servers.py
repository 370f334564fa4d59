"""The stores that DVC can push to, each on this machine alone: a folder, an OpenSSH server, an S3-compatible server."""

from __future__ import annotations

import getpass
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

BUCKET = "groundeval"
SSHD = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
Subsystem sftp internal-sftp
"""


class Objects(Protocol):
    """The objects of a store, behind DVC's back."""

    def alter(self, name: str) -> None:
        """Replace the object of that name (`ab/cdef...`) by other bytes."""


@dataclass(frozen=True)
class Store:
    """What a user tells DVC: settings of the remote, and the environment."""

    settings: dict[str, str]
    objects: Objects
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Folder:
    """Objects as files."""

    root: Path

    def alter(self, name: str) -> None:
        path = self.root / "files/md5" / name
        path.chmod(0o644)
        path.write_bytes(b"other " + path.read_bytes()[6:])


@dataclass(frozen=True)
class Bucket:
    """Objects behind the S3 protocol."""

    client: Any

    def alter(self, name: str) -> None:
        place = {"Bucket": BUCKET, "Key": f"store/files/md5/{name}"}
        content = self.client.get_object(**place)["Body"].read()
        self.client.put_object(**place, Body=b"other " + content[6:])


@contextmanager
def folder(scratch: Path) -> Iterator[Store]:
    """A folder, as on a shared file system."""
    yield Store({"url": str(scratch / "store")}, Folder(scratch / "store"))


@contextmanager
def ssh(scratch: Path) -> Iterator[Store]:
    """An OpenSSH server with a key of its own, and one for the user."""
    program = sshd()
    assert program
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(scratch / name)], check=True)
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    (scratch / "sshd_config").write_text(SSHD.format(port=port, folder=scratch), encoding="utf-8")
    Path("/run/sshd").mkdir(exist_ok=True)  # where it locks itself in
    command = ["setpriv", "--pdeathsig", "TERM", program, "-D", "-e", "-f", str(scratch / "sshd_config")]
    with (scratch / "sshd.log").open("wb") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            _wait(port)
            url = f"ssh://{getpass.getuser()}@127.0.0.1:{port}{scratch}/store"
            yield Store({"url": url, "keyfile": str(scratch / "user")}, Folder(scratch / "store"))
        finally:
            process.terminate()


@contextmanager
def s3(scratch: Path) -> Iterator[Store]:
    """An S3-compatible server."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint, region = f"http://{host}:{port}", "us-east-1"
        client = boto3.client(
            "s3", endpoint_url=endpoint, region_name=region, aws_access_key_id="a", aws_secret_access_key="b"
        )
        client.create_bucket(Bucket=BUCKET)
        credentials = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": region}
        yield Store({"url": f"s3://{BUCKET}/store", "endpointurl": endpoint}, Bucket(client), credentials)
    finally:
        server.stop()


def sshd() -> str | None:
    """Where the server's program is; it has to be called by its whole path."""
    return shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin")


def _wait(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("sshd does not answer")
