"""A Slurm cluster of one node on loopback, started and stopped by the tests."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

from harness import PATIENCE, free_port, wait_for

DAEMONS = ("munged", "slurmctld", "slurmd")
# No cgroups and no accounting: the minimal configuration, which works in a container.
CONFIGURATION = """ClusterName=bythebook
SlurmctldHost={name}(127.0.0.1)
SlurmctldPort={control}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={name} NodeAddr=127.0.0.1 CPUs=2 RealMemory=8000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str | None:
    """The reason why this machine cannot run a cluster, if any."""
    if os.geteuid() != 0:
        return "a Slurm cluster needs root"
    lacking = [name for name in (*DAEMONS, "sbatch", "squeue") if not shutil.which(name)]
    return (
        f"there is no {lacking[0]} (Debian: apt-get install slurm-wlm munge)" if lacking else None
    )


class OneNode:
    """munged, slurmctld and slurmd, which write only into one temporary folder."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bythebook-slurm-"))
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir(mode=0o700)
        key = self.folder / "munge" / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        self._running: list[subprocess.Popen[bytes]] = []
        settings = {
            "name": socket.gethostname().partition(".")[0],
            "folder": self.folder,
            "control": free_port(),
            "node": free_port(),
        }
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(**settings))

    def start(self) -> "OneNode":
        configured = ["-D", "-f", str(self.folder / "slurm.conf")]
        files = {"socket": "socket", "key-file": "key", "pid-file": "pid"}
        files |= {"log-file": "log", "seed-file": "seed"}
        munge = [f"--{option}={self.folder}/munge/{name}" for option, name in files.items()]
        for name in DAEMONS:
            options = ["--foreground", "--force", *munge] if name == "munged" else configured
            with (self.folder / f"{name}.log").open("ab") as log:
                self._running.append(subprocess.Popen([name, *options], stdout=log, stderr=log))
        state = ["sinfo", "--noheader", "--format=%t"]
        wait_for(lambda: self.ask(*state).strip() in ("idle", "mix", "alloc"), 120)
        return self

    def ask(self, *command: str) -> str:
        done = subprocess.run(
            command,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        return done.stdout

    def running(self) -> list[str]:
        """The ids of the running jobs."""
        return self.ask("squeue", "--noheader", "--array", "--states=R", "--format=%i").split()

    def stop(self) -> None:
        self.ask("scancel", "--user=root")
        for process in self._running[::-1]:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)
