"""Servers for the fault tests: a database, and a proxy with TLS."""

import os
import pwd
import shutil
import signal
import ssl
import subprocess
import tempfile
from pathlib import Path

from harness import PATIENCE, free_port, wait_for

POSTGRES = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"))), None)
CONFIGURATION = Path(__file__).parents[2] / "docs" / "nginx.conf"


class Postgres:
    """A PostgreSQL server in a temporary folder that its user may enter."""

    password = "the-Databases.4"

    def __init__(self, tools: Path) -> None:
        self.tools, self.port = tools, free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="bythebook-postgres-"))
        self.user: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL does not run as root
            self.user = ["runuser", "-u", "postgres", "--"]
            account = pwd.getpwnam("postgres")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        file = self.folder / "password"
        file.write_text(self.password)
        file.chmod(0o644)
        known = ["-A", "scram-sha-256", f"--pwfile={file}", "-U", "postgres"]
        self._do("initdb", "-D", str(self.data), *known)
        self.control("start")
        self._do("createdb", "-U", "postgres", "-h", "127.0.0.1", "-p", str(self.port), "mlflow")

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def store(self) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/mlflow"

    def control(self, *what: str) -> None:
        listen = f"-p {self.port} -h 127.0.0.1 -k {self.folder}"
        log = str(self.folder / "log")
        self._do("pg_ctl", "-D", str(self.data), "-o", listen, "-l", log, "-w", *what)

    def _do(self, tool: str, *arguments: str) -> None:
        subprocess.run(
            [*self.user, str(self.tools / tool), *arguments],
            check=True,
            cwd=self.folder,
            env={**os.environ, "PGPASSWORD": self.password},
            stdout=subprocess.DEVNULL,
            timeout=PATIENCE,
        )


class Nginx:
    """nginx with docs/nginx.conf, with another name, port, certificate and file of users."""

    def __init__(self, folder: Path, behind: int) -> None:
        self.folder, self.port = folder, free_port()
        folder.mkdir()
        self.certificate, self.users = folder / "mlflow.pem", folder / "mlflow.users"
        self.users.touch()
        self._certify()
        settings = CONFIGURATION.read_text()
        for old, new in (
            ("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
            ("server_name mlflow.example.org", "server_name localhost"),
            ("/etc/ssl/mlflow", str(folder / "mlflow")),
            ("/etc/nginx/mlflow.users", str(self.users)),
            ("127.0.0.1:5000", f"127.0.0.1:{behind}"),
        ):
            assert old in settings, old
            settings = settings.replace(old, new)
        names = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "".join(f"{name}_temp_path {folder}/{name};\n" for name in names)
        # The account that nginx changes to cannot read folders of root.
        user = "user root; " if os.geteuid() == 0 else ""
        configuration = folder / "nginx.conf"
        configuration.write_text(
            f"{user}daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
            f"http {{ access_log off;\n{temporary}{settings} }}\n"
        )
        self.process = subprocess.Popen(
            [_nginx() or "nginx", "-e", str(folder / "error.log"), "-c", str(configuration)],
            start_new_session=True,
        )
        wait_for((folder / "pid").exists)

    def add_user(self, name: str, secret: str) -> tuple[str, str]:
        """Add a user as docs/server.md does, and return its credentials."""
        hashed = subprocess.check_output(["openssl", "passwd", "-6", secret], text=True)
        with self.users.open("a") as file:
            file.write(f"{name}:{hashed}")
        return name, secret

    def remove_user(self, name: str) -> None:
        lines = self.users.read_text().splitlines(keepends=True)
        self.users.write_text("".join(ln for ln in lines if not ln.startswith(f"{name}:")))

    @property
    def trusted(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))

    @property
    def uri(self) -> str:
        return f"https://localhost:{self.port}"

    def _certify(self) -> None:
        key, name = self.folder / "mlflow.key", "subjectAltName=DNS:localhost"
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        command += ["-subj", "/CN=localhost", "-addext", name]
        command += ["-keyout", str(key), "-out", str(self.certificate)]
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(timeout=PATIENCE)


def _nginx() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def missing_postgres() -> str | None:
    """The reason why this machine cannot run PostgreSQL, if any."""
    if POSTGRES is None:
        return "no PostgreSQL on this machine (Debian: apt-get install postgresql)"
    if os.geteuid() == 0 and not shutil.which("runuser"):
        return "PostgreSQL does not run as root, and there is no runuser"
    return None


def missing_nginx() -> str | None:
    """The reason why this machine cannot run nginx, if any."""
    if _nginx() is None or shutil.which("openssl") is None:
        return (
            "no nginx or no openssl on this machine (Debian: apt-get install nginx-light openssl)"
        )
    return None
